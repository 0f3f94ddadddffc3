"""Time and memory of `fit` for 1,000 to 1,000,000 points, by method."""

from typing import Any

from .common import Table, in_child

SIZES = (1000, 10_000, 100_000, 1_000_000)
METHODS = (
    "auto",
    "treerep",
    "neighbor_joining",
    "relaxed_neighbor_joining",
    "minimum_evolution",
    "gromov",
    "upgma",
    "minimum_spanning_tree",
)
GROWTH = {"auto": "n", "treerep": "n", "minimum_spanning_tree": "n"}
# The largest number of points for methods of quadratic time or memory.
LARGEST = dict.fromkeys(METHODS[2:], 10_000) | {"minimum_spanning_tree": 100_000}
NOTE = (
    "CPU seconds of `fit(points, method=..., n_jobs=1)` for `branching_cells(n, dim=50)`, after warm-up, and the peak "
    "memory beyond the input. Not run (-): for 100,000 points the matrix needs 80 GB, and the spanning tree of "
    "1,000,000 points needs hours."
)

# Memory of the process is read a hundred times a second.
CHILD = """
import json, sys, threading, time, numpy as np, treerep as tr
n, method = int(sys.argv[1]), sys.argv[2]
points = np.ascontiguousarray(tr.datasets.branching_cells(n, dim=50, rng=0).points)
fit = lambda points: tr.fit(points, metric="euclidean", method=method, n_jobs=1)
fit(points[: 50_000 if method == "treerep" else 2500])  # compile, for large zones as well
used = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
before = peak = used()
done = threading.Event()
def watch():
    global peak
    while not done.wait(0.01):
        peak = max(peak, used())
watcher = threading.Thread(target=watch)
watcher.start()
taken = []
for _ in range(3 if n <= 1000 else 1):
    start = time.process_time()
    fit(points)
    taken.append(time.process_time() - start)
done.set()
watcher.join()
print(json.dumps({"seconds": min(taken), "MB": peak - before}))
"""


def two_digits(value: float) -> str:
    """Return a number with two significant digits and without an exponent."""
    return f"{float(f'{value:.2g}'):,.10g}"


def entry(seconds: float, megabytes: float) -> str:
    return f"{two_digits(seconds)} s, {two_digits(max(megabytes, 1.0))} MB"


def row_of(method: str) -> dict[str, Any]:
    """Fit one method to each size, each in a new process."""
    row: dict[str, Any] = {"method": f"`{method}`"}
    for n in SIZES:
        if n > LARGEST.get(method, SIZES[-1]):
            row[f"n = {n:,}"] = "-"
            continue
        found = in_child(CHILD, n, method)
        row[f"n = {n:,}"] = entry(found["seconds"], found["MB"])
        print(method, n, found, flush=True)
    return row | {"memory grows like": GROWTH.get(method, "n²")}


def measure() -> list[Table]:
    return [Table("Time and memory of a fit", [row_of(name) for name in METHODS], NOTE)]
