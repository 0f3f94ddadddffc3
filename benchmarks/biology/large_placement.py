"""Time of placing a million points in a tree of 200,000 points, on all cores.

`python -m benchmarks.biology.large_placement` takes about a minute on two cores, and 1.5 GB. It
stores its table in benchmarks/results/large_placement.md and .json.
"""

import time
from typing import Any

import numpy as np

import treerep as tr

from ..common import Table, store

LEAVES = 200_000
NEW = 1_000_000


def measure() -> list[Table]:
    cells = tr.datasets.branching_cells(LEAVES + NEW, dim=20)
    order = np.random.default_rng(0).permutation(LEAVES + NEW)
    points = np.asarray(cells.points, np.float32)[order]
    tree = tr.fit(points[:LEAVES], metric="euclidean")
    options: dict[str, Any] = {"data": points[:LEAVES], "metric": "euclidean", "lengths": "given"}
    tr.place(tree, points[LEAVES : LEAVES + 2000], **options)  # compiles
    wall = time.perf_counter()
    processor = time.process_time()
    tr.place(tree, points[LEAVES:], **options)
    row = {"points of the tree": LEAVES, "new points": NEW}
    row["seconds"] = f"{time.perf_counter() - wall:.1f}"
    row["processor seconds"] = f"{time.process_time() - processor:.1f}"
    note = "Simulated cells with 20 coordinates; distances are computed on request."
    return [Table("Placing a million points", [row], note)]


if __name__ == "__main__":
    store("large_placement", measure(), command="python -m benchmarks.biology.large_placement")
