"""Time and memory of neighbor joining and minimum evolution on many points.

`python -m benchmarks.biology.large_phylogenies` takes about five minutes on two cores, and 16.4 GB of
memory for 64,000 points. Larger numbers of points than the memory allows are left out. The script
stores its table in benchmarks/results/large_phylogenies.md and .json.
"""

from typing import Any

from treerep._core.memory import available_memory

from ..common import Table, in_child, store

#: Numbers of points, by method.
SIZES = {"neighbor_joining": (8_000, 16_000, 64_000), "minimum_evolution": (4_000, 10_000)}
#: Bytes of memory per pair of points. Minimum evolution also simulates the alignment.
BYTES = {"neighbor_joining": 4, "minimum_evolution": 40}

SCRIPT = """
import json, resource, sys, time
import numpy as np
import treerep as tr
from benchmarks.alignments import Simulation, sequence_metric, simulate
from benchmarks.truth import wrong_splits

method, n = sys.argv[1], int(sys.argv[2])
wrong = "-"
if method == "neighbor_joining":
    points = np.random.default_rng(0).normal(size=(n, 5)).astype(np.float32)
    make = lambda count: tr.PointMetric(points[:count])
else:
    alignment = simulate(Simulation(n, 500, 1.0, 0.5), 0)
    every = np.arange(n)
    distances = sequence_metric(alignment.sequences, None).block(every, every)
    make = lambda count: tr.MatrixMetric(distances[:count, :count], symmetrize="mean")
tr.fit(make(600), method=method)  # compiles
metric = make(n)
wall, processor = time.perf_counter(), time.process_time()
tree = tr.fit(metric, method=method)
wall, processor = time.perf_counter() - wall, time.process_time() - processor
if method == "minimum_evolution":
    wrong = wrong_splits(tree, alignment.tree)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({"seconds": wall, "processor": processor, "GB": peak, "wrong": wrong}))
"""


def measure() -> list[Table]:
    rows: list[dict[str, Any]] = []
    for method, sizes in SIZES.items():
        for n in sizes:
            if BYTES[method] * n * n > available_memory():
                continue
            rows.append({"method": method, "points": n, **in_child(SCRIPT, method, n)})
            print(rows[-1], flush=True)
    note = (
        "Neighbor joining: float32 points in five dimensions. Minimum evolution: distances of a simulated alignment of "
        "500 sites, with the share of wrong splits. GB is the peak memory of the process, with the data."
    )
    return [Table("Many points", rows, note)]


if __name__ == "__main__":
    store(
        "large_phylogenies",
        measure(),
        command="python -m benchmarks.biology.large_phylogenies",
    )
