"""Lengths of the trees of a cover, fitted together by the optimizer of sums of trees."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import treerep as tr
from treerep.refinement.lengths._path_sum_kernels import SMOOTH
from treerep.refinement.lengths._splits import distribute, gather
from treerep.refinement.lengths.least_distortion import SMOOTHING
from treerep.refinement.sums._sum_pairs import SumNeighborhoods, SumPairs

from .cover_kernels import cover_rows, smooth_cover_imprecision

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Trees = list[tr.Tree]


def cover_distances(trees: Sequence[tr.Tree]) -> Matrix:
    """Return the smallest distance of each pair in any tree."""
    return reduce(np.minimum, (tree.distances() for tree in trees))


class CoverPairs(SumPairs):
    """All pairs of points: see `SumPairs`. Only the smooth errors differ from those of a sum."""

    def sums(self, what: int, length: Vector, eps: float = 0.0) -> tuple[float, Vector]:
        """Return the sum of values over the pairs, and of derivatives over the paths of each edge."""
        if what != SMOOTH:
            return super().sums(what, length, eps)
        depth, _ = self.depths(length)
        # The reported value uses the minimum itself.
        sharp = eps if eps > SMOOTHING else 0.0

        def work(task: int) -> tuple[float, Vector, Vector]:
            at_node = np.zeros(len(depth))
            distance = self._distance(task)
            block = self.rows[task], distance, self._factor(task, distance)
            value = cover_rows(eps, sharp, self.forest, depth, *block, at_node)
            return value, np.zeros(self.n), at_node

        # The kernel visits each pair twice.
        value, slope = self.add_tasks(work, range(len(self.rows)))
        return value / 2, slope / 2


class CoverNeighborhoods(SumNeighborhoods):
    """The neighborhoods of the points of a cover: see `Precision`."""

    def __init__(self, graph: csr_array, pairs: CoverPairs, trees: Trees, judge: Any) -> None:
        super().__init__(graph, pairs)
        self.trees = trees
        self.judge = judge

    def loss(self, length: Vector) -> float:
        """Return 1 - mean average precision."""
        least = cover_distances(with_lengths(self.pairs, self.trees, length))
        return 1 - float(tr.mean_average_precision(tr.MatrixMetric(least), self.judge))

    def smooth_loss(self, length: Vector, width: float) -> tuple[float, Vector]:
        """Return the loss with smooth steps of this width, and its gradient."""
        pairs = self.pairs
        depth, _ = pairs.depths(length)

        def work(block: tuple[int, int]) -> tuple[float, Vector, Vector]:
            at_node = np.zeros(len(depth))
            value = smooth_cover_imprecision(pairs.forest, depth, self.neighbors, *block, width, at_node)
            return value, np.zeros(pairs.n), at_node

        value, slope = pairs.add_tasks(work, self.blocks)
        return value / pairs.n, slope / pairs.n


def with_lengths(pairs: SumPairs, trees: Trees, length: Vector) -> Trees:
    """Return the trees with other lengths."""
    fitted = []
    for tree, own, new in zip(trees, pairs.trees, pairs.parts(length * pairs.unit), strict=True):
        old = gather(own, tree.weights)
        fitted.append(tree.with_weights(distribute(own, tree.weights, new, old, 0.0)))
    return fitted
