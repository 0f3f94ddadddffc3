"""`treerep warm-up`: compile the kernels for common inputs. They are stored on disk."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import treerep as tr

from ..._core.parallel import count_jobs
from ...fitting.methods import METHODS

# Points. More than the size at which a fit begins to divide zones in waves.
_MANY = 40_000
# Points. Few enough for the default method to fit the whole tree at once.
_FEW = 64
# Methods with separate kernels for graphs.
_GRAPH_METHODS = ("minimum_spanning_tree", "level_tree", "low_stretch")


def compile_common(processes: int | None = None, names: Sequence[str] | None = None) -> None:
    """Run each kind of work on an example, in several processes. Print a line when one is done.

    `names` are the kinds of work to run. The default is all of them.
    """
    console = Console(highlight=False)
    begin = time.perf_counter()
    names = tuple(_jobs()) if names is None else names
    console.print(f"Compiling {len(names)} kinds of work. This takes a minute or two.")
    with _pool(processes) as pool:
        for position, (name, seconds) in enumerate(_finished(names, pool), start=1):
            console.print(f"{position:>2}/{len(names)}  {name:<28}{seconds:6.1f} s")
    console.print(f"{'total':<35}{time.perf_counter() - begin:6.1f} s")


def _pool(processes: int | None) -> AbstractContextManager[Executor | None]:
    """Return a pool of processes, or None to work in this process."""
    if processes is None:
        # One more than the cores: processes wait while another compiles what they need next.
        cores = count_jobs()
        processes = cores + 1 if cores > 1 else 1
    if processes == 1:
        return nullcontext()
    # Numba compiles in one thread at a time. A forked copy of a process with threads may hang.
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))


def _finished(names: Sequence[str], pool: Executor | None) -> Iterator[tuple[str, float]]:
    """Yield the kinds of work and their times, as they are done."""
    if pool is None:
        yield from map(_run, names)
        return
    try:
        for done in as_completed([pool.submit(_run, name) for name in names]):
            yield done.result()
    except BaseException:  # an interrupt, or an error in a process
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def _run(name: str) -> tuple[str, float]:
    """Do one kind of work, and return its name and its time."""
    start = time.perf_counter()
    _jobs()[name]()
    return name, time.perf_counter() - start


@cache
def _jobs() -> dict[str, Callable[[], object]]:
    """Return the kinds of work, the slow ones first. Neighbors have few kernels in common."""
    small = tr.datasets.random_tree(_FEW).distances()
    return {
        "default method": partial(_fit_by_default, small),
        "scores and edge lengths": compile_scores,
        "placement": _place,
        **{name: partial(_fit_and_score, make) for name, make in examples().items()},
        "graph methods": _fit_graphs,
        "hyperbolicity": partial(_measure_hyperbolicity, small),
        "refinement": partial(_refine, small),
        "sums of trees": _fit_sums,
        "lower bounds": _bound,
        "embedding": partial(_embed, small),
        **{
            method: partial(_fit_matrices, small, method)
            for method in METHODS
            if method not in ("treerep", "auto")
        },
    }


def compile_scores() -> None:
    """Score a tree and fit its edge lengths, for points and for a matrix."""
    rows = np.random.default_rng(0).standard_normal((_FEW, 3))
    points = tr.PointMetric(rows)
    tree = tr.datasets.random_tree(_FEW)
    distances = tr.MatrixMetric(points.block(range(_FEW), range(_FEW)))
    for metric in (points, distances, tr.PointMetric(rows.astype(np.float32))):
        tr.average_distortion(tree, metric)
        tr.refine(tree, metric, moves=False, balance=0.0)
    tree.contracted(0.1).block(range(2), range(2))


def _fit_and_score(make: Callable[[], tr.Metric]) -> None:
    metric = make()
    if metric.squared:
        tr.average_distortion(tr.fit(metric), metric)
        return
    tree = tr.fit(metric, method="treerep", trials=2)
    tr.average_distortion(tree, metric)
    if isinstance(metric, tr.GraphMetric):
        tr.mean_average_precision(tree, metric)
    if isinstance(metric, tr.PointMetric):
        tr.fit(tr.PointMetric(metric.points[:_FEW], metric.metric))
    if isinstance(metric, tr.SequenceMetric):
        tr.fit(metric.restrict(range(_FEW)))


def _fit_matrices(distances: NDArray[np.float64], method: str) -> None:
    for dtype in (np.float64, np.float32):
        tr.fit(distances.astype(dtype), method=method)


def _fit_graphs() -> None:
    for graph in (_ring(), _ring(weighted=True)):
        tr.fit(graph)
        for method in _GRAPH_METHODS:
            tr.fit(graph, method=method)


def _measure_hyperbolicity(distances: NDArray[np.float64]) -> None:
    points = np.random.default_rng(0).standard_normal((40, 3))
    tr.hyperbolicity(_ring(), method="exact")
    tr.hyperbolicity(_ring(weighted=True))
    tr.hyperbolicity(points, metric="euclidean", method="exact")
    tr.hyperbolicity(distances**0.9)


def _ring(*, weighted: bool = False) -> tr.GraphMetric:
    edges = [[k, (k + 1) % 40] for k in range(40)]
    return tr.GraphMetric(edges, weights=[1.5] * 40 if weighted else None)


def _embed(distances: NDArray[np.float64]) -> None:
    for embedding in (tr.embed(tr.fit(distances)), tr.embed(distances, method="hmds")):
        tr.average_distortion(embedding, distances)


def _place() -> None:
    points = np.random.default_rng(0).standard_normal((64, 3))
    tree = tr.fit(points[:48], metric="euclidean")
    for dtype in (np.float64, np.float32):
        typed = points.astype(dtype)
        tr.place(tree, typed[48:], data=typed[:48], metric="euclidean")
    tr.place(tree, tr.PointMetric(points).block(range(48, 64), range(48)))


def _fit_by_default(distances: NDArray[np.float64]) -> None:
    """Fit distances that are not a tree: few points, many points, and a matrix."""
    points = np.random.default_rng(0).standard_normal((2100, 3))
    for rows in (points[:_FEW], points):
        tr.fit(rows, metric="euclidean")
    tr.fit(distances**0.9)


def _refine(distances: NDArray[np.float64]) -> None:
    noisy = distances * np.random.default_rng(0).uniform(0.9, 1.1, distances.shape)
    metric = tr.MatrixMetric((noisy + noisy.T) / 2)
    for balance in (0.0, 0.5):
        tr.refine(tr.fit(metric), metric, balance=balance)


def _fit_sums() -> None:
    ring = _ring()
    trees = tr.fit(ring, trees=2)
    tr.refine(trees, ring)
    tr.average_distortion(trees, ring)


def _bound() -> None:
    points = tr.PointMetric(np.random.default_rng(0).standard_normal((100, 3)))
    for score in ("average_distortion", "worst_distortion"):
        tr.lower_bound(points, score=score)
    for graph in (_ring(), _ring(weighted=True)):
        tr.lower_bound(graph)


def examples() -> dict[str, Callable[[], tr.Metric]]:
    """Return a function that makes a metric for each common specialization of the kernels.

    Matrices are small. The other metrics are large enough for both phases of a fit, which use
    different kernels.
    """
    points = np.random.default_rng(0).standard_normal((_MANY, 3))
    distances = tr.PointMetric(points).block(range(_FEW), range(_FEW))
    matrices = {
        f"matrix, {dtype}": partial(tr.MatrixMetric, (10 * distances).astype(dtype))
        for dtype in ("float64", "float32", "int64")
    }
    clouds = {
        f"points, {name}, {dtype}": partial(tr.PointMetric, points.astype(dtype), name)
        for name in ("euclidean", "sqeuclidean", "cosine", "manhattan", "chebyshev")
        for dtype in ("float32", "float64")
    }
    tree = tr.datasets.random_tree(_MANY)
    bases = np.frombuffer(b"ACGT", np.uint8)
    letters = np.random.default_rng(0).choice(bases, (_MANY, 64))
    others: dict[str, Callable[[], tr.Metric]] = {
        "points, hyperboloid": partial(tr.datasets.hyperbolic_points, _MANY, 3),
        "graph, unweighted": partial(tr.GraphMetric, tree.edges),
        "graph, weighted": partial(tr.GraphMetric, tree.edges, weights=tree.weights),
        "sequences": partial(tr.SequenceMetric, letters, "p"),
        "tree": lambda: tree,
    }
    return {**matrices, **clouds, **others}
