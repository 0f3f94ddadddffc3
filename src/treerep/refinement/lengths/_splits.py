"""A tree as the sums over its paths see it: one edge for every way of parting the points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tree.structure.rooted import preorder_rows
from ...tree.tree import Tree
from ._path_sum_kernels import find_splits

Vector = NDArray[np.float64]


class Splits(NamedTuple):
    """A tree without what distances cannot tell apart, hung from a centroid, in preorder.

    Edges that part the points in the same way (a chain through Steiner nodes) are one edge; edges without points on one
    side are none. So the columns of the path matrix are linearly independent.
    """

    points: NDArray[np.int64]  # in the order of the preorder, which numbers them anew
    node: NDArray[np.int32]  # of each point
    up: NDArray[np.int32]  # parent; -1 at the root, node 0
    first: NDArray[np.int32]  # points below node k: first[k] ... last[k] - 1
    last: NDArray[np.int32]
    edge: NDArray[np.int64]  # for every edge of the tree, the node below it here, or -1


def find_tree_splits(tree: Tree) -> Splits:
    """Bring a tree into the form that the sums over paths need. O(N)."""
    n, nodes = tree.n_points, tree.n_nodes
    order, _, _, count, bottom, _ = _chains(tree, 0)
    # The lowest node with at least half of the points below: no branch at it has more than half.
    heavy = np.flatnonzero((2 * count >= n) & (bottom == np.arange(nodes)))[-1]
    order, _, via, count, bottom, above = _chains(tree, int(order[heavy]))
    kept = bottom == np.arange(nodes)
    number = (np.cumsum(kept) - 1).astype(np.int32)
    is_point = order < n
    before: NDArray[np.int32] = (np.cumsum(is_point) - is_point).astype(np.int32)
    parent = np.where(above >= 0, number[above], -1)[kept].astype(np.int32)
    edge = np.full(nodes - 1, -1)
    edge[via[1:]] = np.where(bottom[1:] >= 0, number[bottom[1:]], -1)
    return Splits(
        order[is_point].astype(np.int64), number[is_point], parent, before[kept], (before + count)[kept], edge
    )


def _chains(tree: Tree, root: int) -> tuple[NDArray[np.int32], ...]:
    rows = preorder_rows(tree.edges, tree.n_nodes, root)
    assert rows is not None, "a Tree is a tree"
    order, up, via = (np.ascontiguousarray(rows[:, column]) for column in range(3))
    count, bottom, above = (np.empty(tree.n_nodes, np.int32) for _ in range(3))
    find_splits(order, up, tree.n_points, count, bottom, above)
    return order, up, via, count, bottom, above


def gather(splits: Splits, weights: Vector) -> Vector:
    """Length of each split: the sum over the edges that make it."""
    used = splits.edge >= 0
    sums: Vector = np.bincount(splits.edge[used], weights[used], minlength=len(splits.up)).astype(np.float64)
    return sums


def distribute(splits: Splits, old: Vector, found: Vector, given: Vector, lower: float) -> Vector:
    """Weight of each edge: the chains of a split share what is above `lower` as before, or evenly if nothing was."""
    used = splits.edge >= 0
    edge = np.where(used, splits.edge, 0)
    chain = gather(splits, np.ones(len(old)))[edge]
    spare = np.maximum(old - lower, 0.0)
    total = gather(splits, spare)[edge]
    share = np.where(total > 0, spare / np.where(total > 0, total, 1.0), 1.0 / np.maximum(chain, 1.0))
    new = np.where(chain == 1, found[edge], lower + share * np.maximum(found[edge] - chain * lower, 0.0))
    # What has not changed keeps its bits, unless a part of the chain was too short.
    changed = (found != given) | (gather(splits, (old < lower).astype(np.float64)) > 0)
    return np.where(used & changed[edge], new, np.maximum(old, lower))
