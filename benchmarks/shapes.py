"""Trees of extreme shapes: long, wide, and with many duplicates."""

import time

import numpy as np

import treerep as tr

from .common import Table, seconds


def measure() -> list[Table]:
    rows = []
    for shape in ("path", "caterpillar"):
        small, large = (tr.datasets.random_tree(n, shape=shape, rng=0) for n in (10_000, 100_000))
        tr.fit(small, method="treerep")
        times = [seconds(lambda tree=tree: tr.fit(tree, method="treerep"), 3) for tree in (small, large)]
        rows.append(
            {
                "measurement": f"{shape}, t(100,000) / t(10,000), matrix-free",
                "target": "<= 20",
                "measured": times[1] / times[0],
                "seconds": times[1],
            }
        )
    star = tr.datasets.random_tree(20_000, shape="star", rng=0)
    start = time.perf_counter()
    tree = tr.fit(star, method="treerep")
    rows.append(
        {
            "measurement": "star of 20,000 leaves, matrix-free",
            "target": "completes",
            "measured": tree.isclose(star),
            "seconds": time.perf_counter() - start,
        }
    )
    times = []
    for n in (10_000, 100_000):
        points = np.zeros((n, 2), np.float32)
        points[:10] = np.random.default_rng(0).normal(size=(10, 2))
        tr.fit(points, metric="euclidean", method="treerep")
        times.append(seconds(lambda points=points: tr.fit(points, metric="euclidean", method="treerep"), 3))
    rows.append(
        {
            "measurement": "10 points and duplicates, t(100,000) / t(10,000)",
            "target": "linear",
            "measured": times[1] / times[0],
            "seconds": times[1],
        }
    )
    return [Table("Extreme shapes", rows)]
