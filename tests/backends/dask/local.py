"""Clusters of real processes on loopback, and distances that kill them."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from tests.metrics import Table


@contextmanager
def local_client(workers: int = 2) -> Iterator[Client]:
    """A client of so many processes of one thread each."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}, silence_logs=50,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
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
