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
LARGEST = dict.fromkeys(METHODS[2:], 10_000)
NOTE = (
    "CPU seconds with one thread for `branching_cells(n, dim=50)` after warm-up, and the peak memory beyond the input. "
    "Methods of quadratic time or memory are not run (-) on more than 10,000 points."
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


def row_of(method: str) -> dict[str, Any]:
    """Fit one method to each size, each in a new process."""
    row: dict[str, Any] = {"method": f"`{method}`"}
    memory = {}
    for n in SIZES:
        if n > LARGEST.get(method, SIZES[-1]):
            row[f"n = {n:,}"] = "-"
            continue
        found = in_child(CHILD, n, method)
        row[f"n = {n:,}"] = two_digits(found["seconds"])
        memory[n] = found["MB"]
        print(method, n, found, flush=True)
    # The warm-up leaves some memory for the fit.
    used = memory[10_000]
    row["memory, n = 10,000"] = f"{two_digits(used)} MB" if used >= 10 else "< 10 MB"
    return row | {"memory grows like": GROWTH.get(method, "n²")}


def measure() -> list[Table]:
    return [Table("Seconds and memory of a fit", [row_of(name) for name in METHODS], NOTE)]
