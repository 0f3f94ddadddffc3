"""Contract negative arms, or set them to 0 at the end as the published code does: average distortion of TreeRep.

Measured with the reference implementation in plain Python of the tests, which is changed in one line for the second.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import treerep as tr
from tests.fitting.treerep import naive_treerep

from .common import Table

SEEDS = 10
OURS = "if arms[pivot] < tol"
PUBLISHED = "if abs(arms[pivot]) < tol"


def published_step() -> Callable[..., Any]:
    """Return one step of TreeRep that keeps negative arms."""
    source = inspect.getsource(naive_treerep.step)
    assert source.count(OURS) == 1
    names: dict[str, Any] = {}
    exec(source.replace(OURS, PUBLISHED), names)  # noqa: S102
    return names["step"]


@contextmanager
def negative_arms_kept() -> Iterator[None]:
    with mock.patch.object(naive_treerep, "step", published_step()):
        yield


def tree_of(distances: np.ndarray, seed: int, tol: float) -> tr.Tree:
    """Return the tree of a seed. Negative lengths become 0."""
    n = len(distances)
    edges = naive_treerep.treerep(distances, np.random.default_rng(seed).permutation(n).tolist(), tol)
    names = {node: k for k, node in enumerate(sorted({v for edge in edges for v in edge[:2]}))}
    return tr.Tree(n, [[names[u], names[v]] for u, v, _ in edges], [max(w, 0.0) for _, _, w in edges])


def inputs() -> dict[str, tr.Metric]:
    normal = np.random.default_rng(0).normal(size=(1000, 50))
    return {
        "1,000 normal points in 50 dimensions": tr.PointMetric(normal),
        "`branching_cells(1000)`, 10 dimensions": tr.PointMetric(
            tr.datasets.branching_cells(1000, dim=10, rng=0).points
        ),
        "C. elegans, 452 vertices": tr.datasets.load("celegans").metric,
        "Zeisel, 3,005 cells": tr.as_metric(tr.datasets.load("zeisel")),
    }


def row_of(name: str, metric: tr.Metric) -> dict[str, Any]:
    every = np.arange(len(metric))
    distances = np.array(metric.block(every, every), float)
    np.fill_diagonal(distances, 0.0)
    truth = tr.MatrixMetric(distances, symmetrize="mean")
    tol = 0.1 if isinstance(metric, tr.GraphMetric) else 1e-9 * float(distances.max())

    def score() -> str:
        values = [float(tr.average_distortion(tree_of(distances, seed, tol), truth)) for seed in range(SEEDS)]
        return f"{np.mean(values):.3f} ± {np.std(values) / SEEDS**0.5:.3f}"

    contracted = score()
    with negative_arms_kept():
        kept = score()
    row = {"data": name, "set to 0 at the end": kept, "contracted": contracted}
    print(row, flush=True)
    return row


def measure() -> list[Table]:
    note = f"Unscaled average distortion of TreeRep, mean of {SEEDS} seeds ± standard error."
    rows = [row_of(name, metric) for name, metric in inputs().items()]
    return [Table("Negative arms", rows, note)]
