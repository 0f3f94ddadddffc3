"""`treerep warm-up`: compile the kernels for the common kinds of input; numba keeps the result on disk."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from rich.console import Console

import treerep as tr

from ..fitting.fit import METHODS

# Above the size at which a fit begins to split.
_MANY = 40_000


def compile_everything() -> None:
    """Fit and score an example of each common kind of metric, and say what took how long."""
    console = Console(highlight=False)
    begin = time.perf_counter()
    for name, make in examples().items():
        start = time.perf_counter()
        metric = make()
        tree = tr.fit(metric, trials=2)
        tr.average_distortion(tree, metric)
        if isinstance(metric, tr.GraphMetric):
            tr.mean_average_precision(tree, metric)
        console.print(f"{name:<28}{time.perf_counter() - start:6.1f} s")
    start = time.perf_counter()
    tr.hyperbolicity(tr.GraphMetric([[k, (k + 1) % 40] for k in range(40)]), method="exact")
    tr.hyperbolicity(np.random.default_rng(0).standard_normal((40, 3)), metric="euclidean", method="exact")
    console.print(f"{'hyperbolicity':<28}{time.perf_counter() - start:6.1f} s")
    small = tr.datasets.random_tree(64).distances()
    for method in METHODS:
        if method != "treerep":
            start = time.perf_counter()
            tr.fit(small, method=method)
            console.print(f"{method:<28}{time.perf_counter() - start:6.1f} s")
    console.print(f"{'in all':<28}{time.perf_counter() - begin:6.1f} s")


def examples() -> dict[str, Callable[[], tr.Metric]]:
    """Makers of a metric for each specialisation that users meet first.

    Matrices are small, all others just large enough for both phases of a fit: many points are split before they are
    finished, by kernels of their own.
    """
    points = np.random.default_rng(0).standard_normal((_MANY, 3))
    distances = tr.PointMetric(points).block(range(64), range(64))
    matrices = {
        f"matrix, {dtype}": partial(tr.MatrixMetric, (10 * distances).astype(dtype))
        for dtype in ("float64", "float32", "int64")
    }
    clouds = {
        f"points, {name}, {dtype}": partial(tr.PointMetric, points.astype(dtype), name)
        for name in ("euclidean", "cosine")
        for dtype in ("float32", "float64")
    }
    tree = tr.datasets.random_tree(_MANY)
    others: dict[str, Callable[[], tr.Metric]] = {
        "points, hyperboloid": partial(tr.datasets.hyperbolic_points, _MANY, 3),
        "graph, unweighted": partial(tr.GraphMetric, tree.edges),
        "tree": lambda: tree,
    }
    return {**matrices, **clouds, **others}
