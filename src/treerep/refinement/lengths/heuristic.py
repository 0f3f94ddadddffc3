"""The weights used in the paper's experiments, for comparison."""

import numpy as np

from ..._core.typing import RNGLike
from ...metric.base import Metric
from ...tree.tree import Tree
from ._pairs import Optimum
from ._path_sum_kernels import add_down, add_up, common_ancestors
from ._splits import SplitTree, Vector, gather

_STEPS = 200
_RATE = 1e-4


def heuristic(tree: Tree, metric: Metric, splits: SplitTree, lower: float, rng: RNGLike) -> Optimum:
    """Fit weights by a fixed number of small gradient steps on n random pairs of n points."""
    generator = np.random.default_rng(rng)
    n = len(tree)
    i = generator.integers(n, size=n)
    j = (i + generator.integers(1, n, size=n)) % n
    truth = metric.pairs(splits.points[i], splits.points[j])
    a = splits.node[i]
    b = splits.node[j]
    top = common_ancestors(splits.up, a, b)
    given = gather(splits, tree.weights)
    floor = gather(splits, np.full(len(tree.edges), lower))

    def path_sums(values: Vector) -> Vector:
        ends = np.concatenate([a, b, top, top])
        signed = np.concatenate([values, values, -values, -values])
        sums: Vector = np.bincount(ends, signed, minlength=len(splits.up)).astype(np.float64)
        add_up(splits.up, sums)
        sums[0] = 0.0
        return sums

    def errors(length: Vector) -> Vector:
        depth = length.copy()
        add_down(splits.up, depth)
        return depth[a] + depth[b] - 2 * depth[top] - truth

    def squared_error(length: Vector) -> float:
        return float(np.square(errors(length)).sum())

    raised = np.maximum(given, floor)
    length = raised
    for _ in range(_STEPS):
        # d/dw |A w - d|^2 = 2 A^T (A w - d)
        length = np.maximum(floor, length - _RATE * 2 * path_sums(errors(length)))
    start = squared_error(given)
    before = squared_error(raised)
    value = squared_error(length)
    if not value < before:  # the steps were too large for these distances
        length = raised
        value = before
    # Amount by which each edge would change if only that edge were free.
    pairs_through = np.maximum(path_sums(np.ones(n)), 1.0)
    best = np.maximum(floor, length - path_sums(errors(length)) / pairs_through)
    residual = float(np.abs((best - length)[1:]).max() / (truth.max() or 1.0))
    return Optimum(length, value, start, residual, _STEPS)
