"""Description of a library in the comparison."""

import importlib
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .problems import Problem

#: All libraries use one thread, so that times are comparable.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def matrix_of(problem: Problem) -> Any:
    """Return a float64 table of distances, the input of most libraries."""
    return problem.matrix()


def as_it_is(result: Any, problem: Problem) -> Any:  # noqa: ARG001
    """Return the result without conversion."""
    return result


@dataclass(frozen=True)
class Rival:
    """One way to do a task. Only `compute` is timed; `prepare` and `convert` run before and after.

    `compute` may return `Timed` if it measures its time itself.
    """

    name: str
    task: str  # "tree", "delta", "paths" or "embedding"
    kind: str  # what it computes; libraries of one kind are compared with each other
    version: Callable[[], str | None]  # None if not installed
    install: str  # installation instructions
    compute: Callable[[Any], Any]
    prepare: Callable[[Problem], Any] = matrix_of
    convert: Callable[[Any, Problem], Any] = as_it_is  # converts to the input of `answers`
    ours: bool = False
    random: bool = False  # several results are scored, and the mean is reported


@dataclass(frozen=True)
class Timed:
    """Result of a program, the seconds without start-up and reading, and the peak memory in bytes."""

    result: Any
    seconds: float
    memory: int


def package_version(package: str, module: str | None = None) -> Callable[[], str | None]:
    """Return a function that returns the version of a Python package, or None if not installed."""

    def version() -> str | None:
        try:
            found = importlib.util.find_spec(module or package)
            return importlib.metadata.version(package) if found else None
        except (importlib.metadata.PackageNotFoundError, ModuleNotFoundError):
            return None

    return version


def program_version(program: str, *arguments: str) -> Callable[[], str | None]:
    """Return a function that returns the version that a program prints, or None if not installed."""

    def version() -> str | None:
        if shutil.which(program) is None:
            return None
        if not arguments:
            return "version unknown"
        done = subprocess.run([program, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
        return found[0] if found else "version unknown"

    return version


def find(module: str, name: str) -> Rival:
    """Return a library by its module and name."""
    for rival in importlib.import_module(module).RIVALS:
        if rival.name == name:
            return rival
    raise LookupError(f"{module} has no rival named {name!r}")
