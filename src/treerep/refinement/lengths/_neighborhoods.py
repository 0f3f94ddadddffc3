"""Neighborhoods as part of an objective: smoothed mean average precision.

The precision at a neighbor u of v is a quotient of two counts of points that are closer to v than u
is. Replacing each comparison by a smooth step turns the precision into a differentiable function of
the tree distances. The derivatives are summed over paths, as for any other objective. Brown et al.
(Smooth-AP, ECCV 2020) do the same for embeddings.
"""

from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from ..._core.parallel import Workers
from ...fitting.spanning._graphs import sparse_graph
from ...metric.base import Metric
from ...metric.graph import GraphMetric
from ._path_sum_kernels import add_up
from ._rank_kernels import imprecision, smooth_imprecision
from ._splits import SplitTree, Vector, depths, measured

# Without a graph, the neighbors of a point are this many nearest points.
_NEIGHBORS = 10
_ROWS = 128
# Distances count as equal if they differ by less than this fraction of the largest.
_TIE = 1e-9


def neighbor_graph(metric: Metric) -> csr_array:
    """Return the neighbors of each point: those of a graph, or the ten nearest points."""
    if isinstance(metric, GraphMetric):
        return metric.adjacency
    graph = sparse_graph(metric, "knn", _NEIGHBORS)
    assert graph is not None
    return graph


def typical_distance(graph: csr_array) -> float:
    """Return a typical difference between distances of neighbors: their median distance."""
    apart = graph.data[graph.data > 0]
    return float(np.median(apart)) if len(apart) else 1.0


class Precision(Protocol):
    """The mean average precision of one tree or of a sum of trees."""

    near: float  # a typical difference between distances of neighbors, in the unit of the lengths

    def loss(self, length: Vector) -> float:
        """Return 1 - mean average precision."""

    def smooth_loss(self, length: Vector, width: float) -> tuple[float, Vector]:
        """Return the loss with smooth steps of this width, and its gradient."""


class Neighborhoods:
    """The neighborhoods of the points of a tree. Points are numbered as in `splits`."""

    def __init__(self, graph: csr_array, splits: SplitTree, unit: float, workers: Workers) -> None:
        self.splits = splits
        self.workers = workers
        rows = graph[splits.points][:, splits.points]
        self.starts = rows.indptr.astype(np.int64)
        self.neighbors = rows.indices.astype(np.int64)
        self.near = typical_distance(graph) / unit
        n = len(splits.points)
        self.blocks = [(low, min(low + _ROWS, n)) for low in range(0, n, _ROWS)]

    def loss(self, length: Vector) -> float:
        """Return 1 - mean average precision."""
        return loss_of_blocks(self, imprecision, (self.starts, self.neighbors), length)

    def smooth_loss(self, length: Vector, width: float) -> tuple[float, Vector]:
        """Return the loss with smooth steps of this width, and its gradient."""
        return smooth_loss_of_blocks(self, smooth_imprecision, (self.starts, self.neighbors), length, width)


class Blocks(Protocol):
    """The points of a tree in blocks, whose losses are added."""

    splits: SplitTree
    workers: Workers
    blocks: list[tuple[int, int]]


def loss_of_blocks(points: Blocks, kernel: Any, tables: tuple[Any, ...], length: Vector) -> float:
    """Return the mean loss of the points. The kernel returns the loss of a block."""
    splits = points.splits
    tree = measured(splits, depths(splits, length))
    slack = 2.0 * _TIE * float(tree.leaf_depth.max())
    parts = points.workers.map(lambda block: kernel(tree, *tables, *block, slack), points.blocks)
    return sum(parts) / len(splits.points)


def smooth_loss_of_blocks(
    points: Blocks, kernel: Any, tables: tuple[Any, ...], length: Vector, width: float
) -> tuple[float, Vector]:
    """Return the mean loss with smooth steps of this width, and its gradient."""
    splits = points.splits
    tree = measured(splits, depths(splits, length))
    n = len(splits.points)

    def work(block: tuple[int, int]) -> tuple[float, Vector, Vector]:
        at_point = np.zeros(n)
        at_node = np.zeros(len(length))
        value = kernel(tree, *tables, *block, width, at_point, at_node)
        return value, at_point, at_node

    value = 0.0
    ends = np.zeros(n)
    sums = np.zeros(len(length))
    for part, at_point, at_node in points.workers.map(work, points.blocks):
        value += part
        ends += at_point
        sums += at_node
    sums[splits.node] += ends
    add_up(splits.up, sums)
    sums[0] = 0.0
    return value / n, sums / n
