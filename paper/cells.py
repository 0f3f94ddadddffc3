"""Cells: results of one method on one data set, stored as soon as they are computed."""

import importlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import time
from collections.abc import Iterable
from contextlib import nullcontext
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from .files import whole_file

FOLDER = Path(__file__).parent / "cells"
SHARED = Path(__file__).parents[2] / "shared" / "data"
#: Seconds that one cell may take, as in the paper.
LIMIT = 4 * 3600.0

if "TREEREP_DATA" not in os.environ and SHARED.is_dir():
    os.environ["TREEREP_DATA"] = str(SHARED)

Values = dict[str, Any]


class Key(NamedTuple):
    """Key of a cell: the names of a data set and of a method."""

    data: str
    method: str

    def __str__(self) -> str:
        return f"{self.data}/{self.method}"


class Store:
    """Cells of one experiment in a JSON file, which is rewritten atomically after every cell."""

    def __init__(self, experiment: str, folder: Path = FOLDER) -> None:
        self.experiment = experiment
        self.path = folder / f"{experiment}.json"
        self.cells: dict[str, Values] = json.loads(self.path.read_text()) if self.path.is_file() else {}

    def __contains__(self, key: Key) -> bool:
        return str(key) in self.cells

    def __getitem__(self, key: Key) -> Values:
        return self.cells[str(key)]

    def get(self, data: str, method: str, value: str) -> Any:
        """Return one value of a cell, or None if it was not computed."""
        return self.cells.get(f"{data}/{method}", {}).get(value)

    def put(self, key: Key, values: Values) -> None:
        """Store a cell."""
        self.cells[str(key)] = values
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(self.path) as file:
            lines = [f"{json.dumps(name)}: {json.dumps(cell)}" for name, cell in sorted(self.cells.items())]
            file.write("{\n" + ",\n".join(lines) + "\n}\n")


def compute(
    store: Store,
    wanted: Iterable[Key],
    *,
    limit: float = LIMIT,
    again: bool = False,
    worker: "Worker | None" = None,
) -> list[Key]:
    """Compute the cells that are not stored yet, or all of them if `again`; return the new ones."""
    missing = [key for key in wanted if again or key not in store]
    own = Worker() if worker is None else nullcontext(worker)
    with (
        own as measuring,
        tqdm(missing, store.experiment, unit="cells", disable=None) as bar,
    ):  # in a terminal
        for key in bar:
            bar.set_postfix_str(str(key))
            store.put(key, measuring.measure(store.experiment, key, limit))
    return missing


class Worker:
    """Process that measures one cell after another, and is stopped if a cell takes too long."""

    def __init__(self) -> None:
        self.process: Any = None
        self.pipe: Any = None

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")  # forking a process with threads is not safe
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def _end(self) -> None:
        if self.process is not None:
            self.pipe.close()  # an idle worker ends by itself ...
            self.process.join(1)
            self.process.kill()  # ... and a busy one is stopped
            self.process.join()
            self.process = None

    def measure(self, experiment: str, key: Key, limit: float) -> Values:
        """Return the values of a cell, or that it exceeded the limit."""
        if self.process is None:
            self._begin()
        start = time.perf_counter()
        self.pipe.send((experiment, key))
        if not self.pipe.poll(limit):
            self._end()
            return {"over": limit}
        try:
            values, error = self.pipe.recv()
        except EOFError:  # killed, most likely out of memory
            self._end()
            raise RuntimeError(f"the process that measured {experiment} {key} died") from None
        if error is not None:
            raise RuntimeError(f"{experiment} {key}: {error}")
        return {
            **_rounded(values),
            "took": round(time.perf_counter() - start, 3),
            "machine": machine(),
        }


def _serve(pipe: Connection) -> None:
    """Receive names of cells and send their values or errors, until the connection ends."""
    while True:
        try:
            experiment, key = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            measure = importlib.import_module(f"{__package__}.{experiment}").measure
            pipe.send((measure(*key), None))
        except KeyboardInterrupt:
            return
        except Exception as error:
            pipe.send((None, f"{type(error).__name__}: {error}"))


def _rounded(value: Any) -> Any:
    """Round all numbers to six digits."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def machine() -> str:
    """Describe the machine in a few words."""
    cores = len(os.sched_getaffinity(0))
    versions = " ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "numba"))
    device = os.environ.get("TREEREP_DEVICE_NAME")
    return f"{platform.machine()}, {cores} cores{f', {device}' if device else ''}, {versions}"
