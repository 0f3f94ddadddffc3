"""TreeRep on a local Dask cluster compared with threads, wave by wave.

The cost model is fitted to these results. Every worker is a process with one thread, and creates
its points itself. Sizes come from the environment: BENCH_POINTS (1,000,000), BENCH_DIM (50),
BENCH_WORKERS ("1 2 4").
"""

import os
import time
from typing import Any

import numpy as np

import treerep as tr
from treerep.backends.dask import _treerep_run as dask_run

from .common import Table

N = int(os.environ.get("BENCH_POINTS", 1_000_000))
DIM = int(os.environ.get("BENCH_DIM", 50))
WORKERS = tuple(map(int, os.environ.get("BENCH_WORKERS", "1 2 4").split()))
CHUNKS = 8  # chunks of the input, a multiple of every number of workers


class Clock:
    """Clock that records the seconds of the parts of a run, and the bytes sent between workers."""

    def __init__(self, client: Any) -> None:
        self.client, self.rows = client, list[dict[str, Any]]()
        self.kept = {name: getattr(dask_run.Run, name) for name in ("_wave", "_finish")}

    def sent(self) -> int:
        """Return the bytes that workers have sent to each other so far."""
        return sum(self.client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())

    def timed(self, name: str) -> Any:
        """Wrap a method of a run and record it."""
        plain = self.kept[name]

        def method(run: Any, *arguments: Any) -> Any:
            bytes_before, start = self.sent(), time.perf_counter()
            result = plain(run, *arguments)
            took = time.perf_counter() - start
            about = run.waves[-1] if name == "_wave" else {"zones": len(run.zones), "points": len(run.points)}
            self.rows.append(
                {
                    "part": name[1:],
                    **about,
                    "seconds": took,
                    "kB sent": (self.sent() - bytes_before) / 1e3,
                }
            )
            return result

        return method

    def __enter__(self) -> "Clock":
        for name in self.kept:
            setattr(dask_run.Run, name, self.timed(name))
        return self

    def __exit__(self, *error: object) -> None:
        for name, method in self.kept.items():
            setattr(dask_run.Run, name, method)


def reset_peak() -> float:
    """Reset the peak memory of this process and return its current memory in MB."""
    import psutil

    with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123
        file.write("5")
    return psutil.Process().memory_info().rss / 1e6


def peak() -> float:
    """Return the peak memory of this process since the reset, in MB."""
    with open("/proc/self/status") as file:  # noqa: PTH123
        return next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmHWM"))


def points() -> Any:
    import dask.array as da

    steps = da.random.default_rng(0).normal(size=(N, DIM), chunks=(-(-N // CHUNKS), DIM))
    return da.cumsum(steps, axis=1)  # correlated points, so that distances differ


def on_workers(count: int) -> tuple[dict[str, Any], list[dict[str, Any]], tr.Tree]:
    from distributed import Client, LocalCluster, wait

    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):
        array = points()
        tr.fit(
            array[: min(N, 100_000)], metric="euclidean", engine=client, method="treerep"
        )  # workers import and compile
        empty = max(client.run(reset_peak).values())
        array = array.rechunk((-(-N // count), DIM)).persist()
        wait(array)
        start = time.perf_counter()
        tree = tr.fit(array, metric="euclidean", engine=client, method="treerep")
        plain = time.perf_counter() - start
        most = max(client.run(peak).values()) - empty
        with Clock(client) as clock:
            tr.fit(array, metric="euclidean", engine=client, method="treerep")
    share = N * DIM * 8 / count / 1e6
    waves = [row for row in clock.rows if row["part"] == "wave"]
    row = {
        "engine": f"{count} workers" if count > 1 else "1 worker",
        "seconds": plain,
        "waves": len(waves),
        "seconds in waves": sum(wave["seconds"] for wave in waves),
        "seconds in the finish phase": clock.rows[-1]["seconds"],
        "peak per worker / its share of the data": most / share,
    }
    return row, clock.rows, tree


def measure() -> list[Table]:
    runs = [on_workers(count) for count in WORKERS]
    array = np.asarray(points().compute())
    tr.fit(array[:100_000], metric="euclidean", method="treerep")
    rows = []
    for jobs in sorted({1, *(count for count in WORKERS if count <= (os.cpu_count() or 1))}):
        start = time.perf_counter()
        tree = tr.fit(array, metric="euclidean", n_jobs=jobs, method="treerep")
        took = time.perf_counter() - start
        rows.append({"engine": f"{jobs} threads" if jobs > 1 else "1 thread", "seconds": took})
        assert all(tree == other for _, _, other in runs)
    filler = {key: "" for key in runs[0][0] if key not in rows[0]}
    overall = [run[0] for run in runs] + [{**row, **filler} for row in rows]
    note = "All trees are equal. Peak memory does not include the memory before the points were loaded."
    tables = [Table(f"Dask and threads, {N:,} points x {DIM}, float64", overall, note)]
    return tables + [
        Table(
            f"{row['engine']}: wave by wave",
            parts,
            "Only data sent between workers is counted.",
        )
        for row, parts, _ in runs
    ]
