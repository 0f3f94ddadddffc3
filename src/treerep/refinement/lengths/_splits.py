"""A tree as the sums over its paths see it: one edge for every way of parting the points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tree.structure.rooted import Preorder, lower_ends, points_below
from ...tree.tree import Tree
from ._path_sum_kernels import MeasuredSplits, add_down, find_chains

Vector = NDArray[np.float64]


class SplitTree(NamedTuple):
    """A tree without what distances cannot tell apart, hung from a centroid, in preorder.

    Edges that part the points in the same way (a chain through Steiner nodes) are one edge;
    edges without points on one side are none. So the columns of the path matrix are linearly
    independent.
    """

    points: NDArray[np.int64]  # in the order of the preorder, which numbers them anew
    node: NDArray[np.int32]  # of each point
    up: NDArray[np.int32]  # parent; -1 at the root, node 0
    first: NDArray[np.int32]  # points below node k: first[k] ... last[k] - 1
    last: NDArray[np.int32]
    edge: NDArray[np.int64]  # for every edge of the tree, the node below it here, or -1


def find_tree_splits(tree: Tree) -> SplitTree:
    """Bring a tree into the form that the sums over paths need. O(N)."""
    n = tree.n_points
    here = np.arange(tree.n_nodes)
    view = tree._view
    chains = _chains(view, n)
    # The lowest node with at least half of the points below: no branch at it has more than
    # half.
    heavy = np.flatnonzero((2 * chains.points >= n) & (chains.bottom == here))[-1]
    view = tree._view_from(int(view.order[heavy]))
    chains = _chains(view, n)
    # The lowest position of each chain stays. `number` is its place among those that stay.
    kept = chains.bottom == here
    number = (np.cumsum(kept) - 1).astype(np.int32)
    parent = np.where(chains.above >= 0, number[chains.above], -1)[kept].astype(np.int32)
    below = np.where(
        chains.bottom >= 0, number[chains.bottom], -1
    )  # the node here below each edge
    # The points below position k follow each other in preorder, from number before[k] on.
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
    """Edges that part the points in the same way, by position: see `find_chains`."""

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
    """Distance of each node to the root."""
    depth = length.copy()
    depth[0] = 0.0
    add_down(splits.up, depth)
    return depth


def measured(splits: SplitTree, depth: Vector) -> MeasuredSplits:
    """Return the tree with the depths of its nodes, as the kernels take it."""
    points = depth[splits.node]
    return MeasuredSplits(splits.up, splits.first, splits.last, splits.node, depth, points)


def gather(splits: SplitTree, weights: Vector) -> Vector:
    """Length of each split: the sum over the edges that make it."""
    used = splits.edge >= 0
    sums: Vector = np.bincount(
        splits.edge[used], weights[used], minlength=len(splits.up)
    ).astype(np.float64)
    return sums


def distribute(
    splits: SplitTree,
    old: Vector,
    found: Vector,
    given: Vector,
    lower: float,
) -> Vector:
    """Weight of each edge: the chains of a split share what is above `lower` as before, or evenly if nothing was."""
    used = splits.edge >= 0
    edge = np.where(used, splits.edge, 0)
    chain = gather(splits, np.ones(len(old)))[edge]
    spare = np.maximum(old - lower, 0.0)
    total = gather(splits, spare)[edge]
    share = np.where(
        total > 0, spare / np.where(total > 0, total, 1.0), 1.0 / np.maximum(chain, 1.0)
    )
    new = np.where(
        chain == 1, found[edge], lower + share * np.maximum(found[edge] - chain * lower, 0.0)
    )
    # What has not changed keeps its bits, unless a part of the chain was too short.
    changed = (found != given) | (gather(splits, (old < lower).astype(np.float64)) > 0)
    return np.where(used & changed[edge], new, np.maximum(old, lower))
