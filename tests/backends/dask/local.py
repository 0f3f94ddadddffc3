"""Clusters on loopback, and distances that kill them."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

from tests.metrics import Table

# What takes workers longest to import: they are forked from a process that has imported it once. It has not imported
# treerep, so that each of them does, as on other machines. The workers of `engine="dask"` and of the documentation's
# scripts import everything themselves.
_LIBRARIES = [
    "distributed",
    "dask.array",
    "numba.core.typing.templates",
    "numba.np.arraymath",
    "numba.np.linalg",
    "numba.np.npyimpl",
    "scipy.sparse.csgraph",
    "scipy.optimize",
]


@contextmanager
def _forked() -> Iterator[None]:
    """Fork workers that are started in this block, and those that replace them, where the system can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context()  # which names its own libraries, and many more, on the first call
        multiprocessing.set_forkserver_preload(_LIBRARIES)
        yield


@contextmanager
def local_client(
    workers: int = 2, threads: int = 1, processes: bool = True, **others: Any
) -> Iterator[Client]:
    """Yield a client of so many workers, each a process of its own or all in this process."""
    options: dict[str, Any] = {"host": "127.0.0.1", "silence_logs": 50} if processes else {}
    # Dask looks a hundred times a second at what each of its threads does, for a dashboard that nobody opens.
    unwatched = dask.config.set({"distributed.worker.profile.enabled": False})
    with (
        _forked(),
        unwatched,
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=processes,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            **options,
            **others,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


class Deadly(Table):
    """Distances that kill the process of a worker which asks for those of the last point, once for every mark."""

    def __init__(self, distances: Any, marks: Path, deaths: int) -> None:
        super().__init__(distances)
        self.marks, self.home = marks, os.getpid()
        for k in range(deaths):
            (marks / str(k)).touch()

    def block(self, rows: Any, cols: Any) -> np.ndarray:
        if os.getpid() != self.home and np.isin(len(self) - 2, rows):
            for mark in self.marks.iterdir():
                mark.unlink(missing_ok=True)
                os.kill(os.getpid(), signal.SIGKILL)
        return super().block(rows, cols)
