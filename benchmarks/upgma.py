"""Compare UPGMA with scikit-bio and SciPy, in one run on the same matrices."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

import treerep as tr

from .common import Table, in_child, seconds
from .neighbor_joining import noisy_tree

SIZES = (512, 2048, 4096)
ROUNDS = 7

# The first call in a new process; treerep's machine code is in its cache on disk.
COLD = """
import json, sys, time
import numpy as np
name, n = sys.argv[1], int(sys.argv[2])
x = np.random.default_rng(0).normal(size=(n, 8))
d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=-1))
start = time.perf_counter()
if name == "treerep":
    import treerep as tr
    tr.fit(d, method="upgma")
elif name == "skbio":
    from skbio import DistanceMatrix
    from skbio.tree import upgma
    upgma(DistanceMatrix(d))
else:
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform
    linkage(squareform(d), "average")
print(json.dumps({"seconds": time.perf_counter() - start}))
"""


def points(n: int) -> np.ndarray:
    """Return distances of normal points in eight dimensions."""
    return squareform(pdist(np.random.default_rng(0).normal(size=(n, 8))))


def interleaved(works: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the shortest time of each function. They take turns, so noise hits all of them."""
    rounds = [{name: seconds(work, 1) for name, work in works.items()} for _ in range(ROUNDS)]
    return {name: min(times[name] for times in rounds) for name in works}


def warm_row(name: str, d: np.ndarray) -> dict[str, Any]:
    from skbio import DistanceMatrix
    from skbio.tree import upgma

    metric = tr.MatrixMetric(d)
    theirs = DistanceMatrix(d)
    times = interleaved(
        {
            "treerep": lambda: tr.fit(d, method="upgma"),
            "treerep, given a metric": lambda: tr.fit(metric, method="upgma"),
            "scikit-bio, given a DistanceMatrix": lambda: upgma(theirs),
            "scikit-bio": lambda: upgma(DistanceMatrix(d)),
            "SciPy linkage": lambda: linkage(squareform(d, checks=False), "average"),
        }
    )
    metric_time, other = (
        times["treerep, given a metric"],
        times["scikit-bio, given a DistanceMatrix"],
    )
    return {
        "matrix": f"{name}, n = {len(d):,}",
        **{column: 1000 * time for column, time in times.items()},
        "treerep / scikit-bio": times["treerep"] / times["scikit-bio"],
        "given a metric / given a DistanceMatrix": metric_time / other,
        "treerep / given a DistanceMatrix (bar 1.0, goal 0.5)": times["treerep"] / other,
        "treerep / SciPy": times["treerep"] / times["SciPy linkage"],
    }


def cold_row(n: int) -> dict[str, Any]:
    times = {
        name: min(in_child(COLD, name, n)["seconds"] for _ in range(3))
        for name in ("treerep", "skbio", "scipy")
    }
    return {
        "n": n,
        "treerep": times["treerep"],
        "scikit-bio": times["skbio"],
        "SciPy linkage": times["scipy"],
        "treerep / scikit-bio": times["treerep"] / times["skbio"],
    }


def measure() -> list[Table]:
    tr.fit(points(8), method="upgma")  # compiles
    warm = [
        warm_row(name, make(n))
        for name, make in (("noisy tree", noisy_tree), ("points", points))
        for n in SIZES
    ]
    warm_note = (
        f"The least of {ROUNDS} runs. The programs take turns. treerep, scikit-bio and SciPy start from a NumPy "
        "matrix, and the first two validate it. SciPy's linkage matrix is not a tree yet."
    )
    cold_note = (
        "The least of three new processes, from before the import to the tree. treerep's machine code is "
        "in its cache on disk."
    )
    return [
        Table("UPGMA, milliseconds after warm-up", warm, warm_note),
        Table("UPGMA, seconds of the first call", [cold_row(n) for n in SIZES[:2]], cold_note),
    ]
