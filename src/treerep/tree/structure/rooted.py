"""A tree seen from a root: who is whose parent, and in which order to visit the nodes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metric.base import frozen


class Rooted(NamedTuple):
    """A tree hung from one of its nodes; every array has one entry per node and is read-only."""

    root: int
    parent: NDArray[np.int32]  # -1 at the root
    length: NDArray[np.float64]  # of the edge to the parent; 0 at the root
    order: NDArray[np.int32]  # preorder: the root first, every subtree in one piece
    depth: NDArray[np.float64]  # distance to the root


class Preorder(NamedTuple):
    """The same tree by preorder position rather than by node: passes over it read memory from front to back."""

    order: NDArray[np.int32]  # node at each position
    position: NDArray[np.int32]  # position of each node
    up: NDArray[np.int32]  # position of the parent; -1 at position 0
    length: NDArray[np.float64]  # of the edge to the parent; 0 at position 0


def preorder_rows(
    edges: NDArray[np.integer], n_ids: int, root: int, visit: NDArray[np.int32] | None = None
) -> NDArray[np.int32] | None:
    """Return rows (node, position of parent, edge to parent, spare) in preorder; None if it is no tree with that root.

    Children come in the order of the smallest id in their subtree (or of what `visit` names first), so the rows depend
    on the tree and its numbering alone, not on the order of the edges.
    """
    from .rooting_kernels import root_edges

    rows = np.empty((len(edges) + 1, 4), np.int32)
    order = np.arange(n_ids, dtype=np.int32) if visit is None else visit
    near = frozen(edges.astype(np.int32, copy=False))
    return rows if root_edges(near, root, frozen(order), np.empty((n_ids, 4), np.int32), rows) else None


def preorder(edges: NDArray[np.int64], weights: NDArray[np.float64], root: int) -> Preorder:
    """Put a valid tree into preorder. O(N).

    >>> preorder(np.array([[0, 2], [1, 2]]), np.array([3.0, 4.0]), 0).order
    array([0, 2, 1], dtype=int32)
    """
    rows = preorder_rows(frozen(edges), len(edges) + 1, root)
    if rows is None:
        raise ValueError("the edges do not form a tree")
    order, up, via = (np.ascontiguousarray(rows[:, column]) for column in range(3))
    position = np.empty_like(order)
    position[order] = np.arange(len(order), dtype=np.int32)
    length = np.zeros(len(order))
    length[1:] = weights[via[1:]]
    return Preorder(*(frozen(array) for array in (order, position, up, length)))


def exact_depths(view: Preorder) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distance to the root by position, as a float64 and the rest that it rounded off."""
    from .rooting_kernels import sum_depths

    depth, rest = np.empty(len(view.up)), np.empty(len(view.up))
    sum_depths(view.up, view.length, depth, rest)
    return depth, rest


def hang(view: Preorder) -> Rooted:
    """Turn positions back into nodes."""
    parent = np.empty_like(view.order)
    parent[view.order] = np.where(view.up < 0, -1, view.order[view.up])
    length, depth = view.length[view.position], exact_depths(view)[0][view.position]
    return Rooted(int(view.order[0]), frozen(parent), frozen(length), view.order, frozen(depth))
