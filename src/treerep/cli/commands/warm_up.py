"""`treerep warm-up`: compile the kernels for common inputs. numba stores them on disk."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import treerep as tr

from ...fitting.methods import METHODS

# Points. More than the size at which a fit begins to divide zones in waves.
_MANY = 40_000


def compile_everything() -> None:
    """Run each kind of work on an example and print the times."""
    console = Console(highlight=False)
    begin = time.perf_counter()
    small = tr.datasets.random_tree(64).distances()
    jobs: dict[str, Callable[[], object]] = {
        **{name: partial(_fit_and_score, make) for name, make in examples().items()},
        "hyperbolicity": _measure_hyperbolicity,
        "refinement": partial(_refine, small),
        "default": partial(_fit_by_default, small),
        "placing": _place,
        "embedding": partial(_embed, small),
        **{
            method: partial(tr.fit, small, method=method)
            for method in METHODS
            if method not in ("treerep", "auto")
        },
    }
    for name, work in jobs.items():
        start = time.perf_counter()
        work()
        console.print(f"{name:<28}{time.perf_counter() - start:6.1f} s")
    console.print(f"{'in all':<28}{time.perf_counter() - begin:6.1f} s")


def _fit_and_score(make: Callable[[], tr.Metric]) -> None:
    metric = make()
    tree = tr.fit(metric, method="treerep", trials=2)
    tr.average_distortion(tree, metric)
    if isinstance(metric, tr.GraphMetric):
        tr.mean_average_precision(tree, metric)


def _measure_hyperbolicity() -> None:
    points = np.random.default_rng(0).standard_normal((40, 3))
    tr.hyperbolicity(_ring(), method="exact")
    tr.hyperbolicity(points, metric="euclidean", method="exact")


def _ring() -> tr.GraphMetric:
    return tr.GraphMetric([[k, (k + 1) % 40] for k in range(40)])


def _embed(distances: NDArray[np.float64]) -> None:
    embedding = tr.embed(tr.fit(distances))
    embedding.block(range(64), range(64))


def _place() -> None:
    points = np.random.default_rng(0).standard_normal((64, 3))
    tree = tr.fit(points[:48], metric="euclidean")
    for dtype in (np.float64, np.float32):
        typed = points.astype(dtype)
        tr.place(tree, typed[48:], data=typed[:48], metric="euclidean")
    tr.place(tree, tr.PointMetric(points).block(range(48, 64), range(48)))


def _fit_by_default(distances: NDArray[np.float64]) -> None:
    """Fit distances that are not a tree: few and many points, a matrix and a graph."""
    points = np.random.default_rng(0).standard_normal((2100, 3))
    for rows in (points[:64], points):
        tr.fit(rows, metric="euclidean")
    tr.fit(distances**0.9)
    tr.fit(_ring())


def _refine(distances: NDArray[np.float64]) -> None:
    noisy = distances * np.random.default_rng(0).uniform(0.9, 1.1, distances.shape)
    metric = tr.MatrixMetric((noisy + noisy.T) / 2)
    for balance in (0.0, 0.5):
        tr.refine(tr.fit(metric), metric, balance=balance)


def examples() -> dict[str, Callable[[], tr.Metric]]:
    """Return a function that makes a metric for each common specialization.

    Matrices are small. The others are large enough for both phases of a fit, which run
    different kernels.
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
