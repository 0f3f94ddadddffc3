"""Time and memory compared with one pass over the data."""

from .common import Table, in_child

GRQC = """
import json, numpy as np, treerep as tr
from benchmarks.common import seconds
graph = tr.datasets.load("grqc").metric
every = np.arange(len(graph))
distances = graph.block(every, every)
metric = tr.MatrixMetric(distances)
tr.fit(metric, method="treerep", n_jobs=1)
fit = float(np.mean([seconds(lambda: tr.fit(metric, method="treerep", rng=seed, n_jobs=1), 5) for seed in range(10)]))
one_pass = seconds(lambda: distances.sum(), 10)
check = seconds(lambda: tr.MatrixMetric(distances), 5)
print(json.dumps({"fit": fit, "pass": one_pass, "construction": check}))
"""

POINTS = """
import json, sys, threading, time, numpy as np, treerep as tr
from benchmarks.common import seconds
n, jobs = int(sys.argv[1]), int(sys.argv[2])
points = tr.datasets.branching_cells(n, dim=50, levels=8).points
tr.fit(points[:70_000], metric="euclidean", method="treerep", n_jobs=jobs)
def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024
before, peak, done = resident(), 0, threading.Event()
def watch():
    global peak
    while not done.wait(0.002):
        peak = max(peak, resident())
watcher = threading.Thread(target=watch)
watcher.start()
metric = tr.PointMetric(points)
tree = tr.fit(metric, method="treerep", n_jobs=jobs)
done.set()
watcher.join()
del tree
fit = float(np.mean([seconds(lambda: tr.fit(metric, method="treerep", rng=seed, n_jobs=jobs), 2) for seed in range(3)]))
one_pass = seconds(lambda: np.sqrt(((points - points[0]) ** 2).sum(1)), 5)
print(json.dumps({"fit": fit, "pass": one_pass, "memory": (peak - before) / points.nbytes}))
"""


def measure() -> list[Table]:
    matrix = in_child(GRQC)
    large = {jobs: in_child(POINTS, 1_000_000, jobs) for jobs in (1, 2)}
    small = in_child(POINTS, 100_000, 2)
    rows = [
        {
            "measurement": "GrQC, 4158 x 4158 float64 matrix, one thread / one `D.sum()`",
            "target": "<= 0.5",
            "measured": matrix["fit"] / matrix["pass"],
            "seconds": matrix["fit"],
        },
        {
            "measurement": "construction and validation of that matrix / one `D.sum()`",
            "target": "goal 3",
            "measured": matrix["construction"] / matrix["pass"],
            "seconds": matrix["construction"],
        },
        *(
            {
                "measurement": f"1,000,000 x 50 float32 cells, {jobs} thread(s) / one NumPy pass",
                "target": "<= 25, goal 10" if jobs == 2 else "-",
                "measured": run["fit"] / run["pass"],
                "seconds": run["fit"],
            }
            for jobs, run in large.items()
        ),
        {
            "measurement": "peak memory beyond the input / the input, two threads",
            "target": "<= 1",
            "measured": large[2]["memory"],
            "seconds": "-",
        },
        {
            "measurement": "time at 1,000,000 / time at 100,000 cells, two threads",
            "target": "<= 15",
            "measured": large[2]["fit"] / small["fit"],
            "seconds": "-",
        },
    ]
    return [
        Table(
            "Speed of `fit` after warm-up, mean over seeds, better of two or three runs", rows
        )
    ]
