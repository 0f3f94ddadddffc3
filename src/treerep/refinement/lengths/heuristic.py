"""The weights of the paper's experiments, for comparison."""

import numpy as np

from ..._core.typing import RNGLike
from ...metric.base import Metric
from ...tree.tree import Tree
from ._pairs import Optimum
from ._path_sum_kernels import add_down, add_up, common_ancestors
from ._splits import SplitTree, Vector, gather

_STEPS = 200
_RATE = 1e-4


def heuristic(
    tree: Tree, metric: Metric, splits: SplitTree, lower: float, rng: RNGLike
) -> Optimum:
    """Fit weights by a fixed number of small steps on as many random pairs as points."""
    generator = np.random.default_rng(rng)
    n = len(tree)
    i = generator.integers(n, size=n)
    j = (i + generator.integers(1, n, size=n)) % n
    truth = metric.pairs(splits.points[i], splits.points[j])
    a = splits.node[i]
    b = splits.node[j]
    top = common_ancestors(splits.up, a, b)
    given, floor = (gather(splits, w) for w in (tree.weights, np.full(len(tree.edges), lower)))

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

    raised = length = np.maximum(given, floor)
    for _ in range(_STEPS):
        # d/dw |A w - d|^2 = 2 A^T (A w - d)
        length = np.maximum(floor, length - _RATE * 2 * path_sums(errors(length)))
    start, before, value = (float(np.square(errors(x)).sum()) for x in (given, raised, length))
    if not value < before:  # the steps were too large for these distances
        length = raised
        value = before
    moved = (
        np.maximum(
            floor, length - path_sums(errors(length)) / np.maximum(path_sums(np.ones(n)), 1.0)
        )
        - length
    )
    residual = float(np.abs(moved[1:]).max() / (truth.max() or 1.0))
    return Optimum(length, value, start, residual, _STEPS)
