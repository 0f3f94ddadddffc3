"""Trees with one edge per split, for sums over paths."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tree.structure.rooted import Preorder, lower_ends, points_below
from ...tree.tree import Tree
from ._path_sum_kernels import add_down, find_chains
from ._row_walk_kernels import MeasuredSplits

Vector = NDArray[np.float64]


class SplitTree(NamedTuple):
    """A tree with one edge per split, rooted at a centroid, in preorder.

    Distances cannot distinguish edges with the same split (a chain through Steiner nodes), so
    these edges are merged. Edges without points on one side are dropped. As a result, the
    columns of the path matrix are linearly independent.
    """

    points: NDArray[np.int64]  # in preorder; point k of a SplitTree is points[k]
    node: NDArray[np.int32]  # node of each point
    up: NDArray[np.int32]  # parent; -1 at the root, node 0
    first: NDArray[np.int32]  # points below node k: first[k] ... last[k] - 1
    last: NDArray[np.int32]
    edge: NDArray[np.int64]  # node below each edge of the original tree, or -1


def find_tree_splits(tree: Tree) -> SplitTree:
    """Convert a tree to the form that sums over paths require. O(N)."""
    n = tree.n_points
    here = np.arange(tree.n_nodes)
    view = tree._view
    chains = _chains(view, n)
    # The lowest node with at least half of the points below it is a centroid: none of its
    # branches has more than half of the points.
    heavy = np.flatnonzero((2 * chains.points >= n) & (chains.bottom == here))[-1]
    view = tree._view_from(int(view.order[heavy]))
    chains = _chains(view, n)
    # Keep the lowest position of each chain. `number` is its index among the positions kept.
    kept = chains.bottom == here
    number = (np.cumsum(kept) - 1).astype(np.int32)
    parent = np.where(chains.above >= 0, number[chains.above], -1)[kept].astype(np.int32)
    # For each edge, the node below it.
    below = np.where(chains.bottom >= 0, number[chains.bottom], -1)
    # The points below position k are consecutive in preorder, starting at number before[k].
    is_point = view.order < n
    before: NDArray[np.int32] = (np.cumsum(is_point) - is_point).astype(np.int32)
    return SplitTree(
        points=view.order[is_point].astype(np.int64),
        node=number[is_point],
        up=parent,
        first=before[kept],
        last=(before + chains.points)[kept],
        edge=below[lower_ends(tree.edges, view)].astype(np.int64),
    )


class _Chains(NamedTuple):
    """Edges with the same split, by position: see `find_chains`."""

    points: NDArray[np.int32]  # number of points below
    bottom: NDArray[np.int32]
    above: NDArray[np.int32]


def _chains(view: Preorder, n_points: int) -> _Chains:
    count = points_below(view, n_points)
    bottom = np.empty_like(count)
    above = np.empty_like(count)
    find_chains(view.up, count, bottom, above)
    return _Chains(count, bottom, above)


def depths(splits: SplitTree, length: Vector) -> Vector:
    """Return the distance of each node from the root."""
    depth = length.copy()
    depth[0] = 0.0
    add_down(splits.up, depth)
    return depth


def measured(splits: SplitTree, depth: Vector) -> MeasuredSplits:
    """Return the tree with the depths of its nodes, as input for the kernels."""
    points = depth[splits.node]
    return MeasuredSplits(splits.up, splits.first, splits.last, splits.node, depth, points)


def gather(splits: SplitTree, weights: Vector) -> Vector:
    """Return the length of each split, which is the sum over its edges."""
    used = splits.edge >= 0
    sums: Vector = np.bincount(splits.edge[used], weights[used], minlength=len(splits.up)).astype(np.float64)
    return sums


def distribute(splits: SplitTree, old: Vector, found: Vector, given: Vector) -> Vector:
    """Return the weight of each edge.

    The edges of a split share its length in their old proportions, or evenly if all were 0.
    """
    used = splits.edge >= 0
    edge = np.where(used, splits.edge, 0)
    chain = gather(splits, np.ones(len(old)))[edge]
    total = gather(splits, old)[edge]
    share = np.where(total > 0, old / np.where(total > 0, total, 1.0), 1.0 / np.maximum(chain, 1.0))
    new = np.where(chain == 1, found[edge], share * found[edge])
    # Unchanged lengths keep their exact values.
    return np.where(used & (found != given)[edge], new, old)
