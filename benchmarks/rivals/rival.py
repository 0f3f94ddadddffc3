"""What an adapter says of a rival."""

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

#: Programs and libraries get one thread each, ours too: then seconds are those of the algorithm.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def matrix_of(problem: Problem) -> Any:
    """What most rivals take: a float64 table of distances."""
    return problem.matrix()


def as_it_is(result: Any, problem: Problem) -> Any:  # noqa: ARG001
    """What needs no conversion."""
    return result


@dataclass(frozen=True)
class Rival:
    """A way to do one task. Only `compute` is timed; `prepare` and `convert` come before and after.

    `compute` may return `Timed`, where it knows better than the clock around it how long it took.
    """

    name: str
    task: str  # "tree", "delta", "paths" or "embedding"
    kind: str  # what it computes: rivals of one kind should agree, and are compared in seconds
    version: Callable[[], str | None]  # None where it is absent
    install: str  # how to get it
    compute: Callable[[Any], Any]
    prepare: Callable[[Problem], Any] = matrix_of
    convert: Callable[[Any, Problem], Any] = as_it_is  # into what `answers` checks
    ours: bool = False
    random: bool = False  # then several answers are scored, and the mean counts


@dataclass(frozen=True)
class Timed:
    """The result of a program: the seconds without its start and its reading, and the peak of its memory in bytes."""

    result: Any
    seconds: float
    memory: int


def package_version(package: str, module: str | None = None) -> Callable[[], str | None]:
    """Return a function that tells the version of a Python package, None where it cannot be found."""

    def version() -> str | None:
        try:
            found = importlib.util.find_spec(module or package)
            return importlib.metadata.version(package) if found else None
        except (importlib.metadata.PackageNotFoundError, ModuleNotFoundError):
            return None

    return version


def program_version(program: str, *arguments: str) -> Callable[[], str | None]:
    """Return a function that tells the version that a program prints, None where it is not on the PATH."""

    def version() -> str | None:
        if shutil.which(program) is None:
            return None
        if not arguments:
            return "version not told"
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
        return found[0] if found else "version not told"

    return version


def find(module: str, name: str) -> Rival:
    """Return a rival by the module that describes it and its name."""
    for rival in importlib.import_module(module).RIVALS:
        if rival.name == name:
            return rival
    raise LookupError(f"{module} has no rival named {name!r}")
