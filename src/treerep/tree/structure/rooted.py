"""Rooted trees: `Preorder` by position, for computation, and `Rooted` by node, for users."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metric.base import read_only


class Rooted(NamedTuple):
    """A tree rooted at a node. Arrays have one entry per node and are read-only."""

    root: int
    parent: NDArray[np.int32]  # -1 at the root
    length: NDArray[np.float64]  # length of the edge to the parent; 0 at the root
    order: NDArray[np.int32]  # preorder: the root first, subtrees without gaps
    depth: NDArray[np.float64]  # distance to the root


class Preorder(NamedTuple):
    """A rooted tree by preorder position, read-only.

    Parents precede their children, and subtrees have no gaps: the subtree of position k is k
    ... k + size[k] - 1. Kernels receive a `Preorder`, so the names of their cache entries depend
    on its fields: see `_core.kernel_cache`.
    """

    order: NDArray[np.int32]  # node at each position
    position: NDArray[np.int32]  # position of each node
    up: NDArray[np.int32]  # position of the parent; -1 at position 0
    length: NDArray[np.float64]  # length of the edge to the parent; 0 at position 0
    size: NDArray[np.int32]  # number of nodes in the subtree


def preorder_rows(
    edges: NDArray[np.integer], n_ids: int, root: int, ranks: NDArray[np.int32] | None = None
) -> NDArray[np.int32] | None:
    """Return rows (node, position of parent, edge to parent, spare) in preorder.

    Returns None if the edges are not a tree. Children are sorted by the lowest rank in their
    subtree; by default, the rank of a node is its id. The rows therefore depend only on the tree
    and its numbering, not on the order of the edges. `ranks` is overwritten.
    """
    from .rooting_kernels import root_edges

    rows = np.empty((len(edges) + 1, 4), np.int32)
    lowest = np.arange(n_ids, dtype=np.int32) if ranks is None else ranks
    near = read_only(edges.astype(np.int32, copy=False))
    scratch = np.empty((n_ids, 4), np.int32)
    removed = np.empty(len(edges) + 1, np.int32)
    return rows if root_edges(near, root, lowest, scratch, removed, rows) else None


def preorder(edges: NDArray[np.int64], weights: NDArray[np.float64], root: int) -> Preorder:
    """Put a valid tree into preorder. O(N).

    >>> preorder(np.array([[0, 2], [1, 2]]), np.array([3.0, 4.0]), 0).order
    array([0, 2, 1], dtype=int32)
    """
    rows = preorder_rows(read_only(edges), len(edges) + 1, root)
    if rows is None:
        raise ValueError("the edges do not form a tree")
    order, up, via = (np.ascontiguousarray(rows[:, column]) for column in range(3))
    length = np.zeros(len(order))
    length[1:] = weights[via[1:]]
    return _with_positions(order, up, length)


def rerooted(view: Preorder, at: int) -> Preorder:
    """Return the same tree rooted at position `at`, by moving blocks. O(N).

    Unlike in `preorder`, children keep their order, and a former parent comes last.
    """
    from .preorder_kernels import reroot

    if at == 0:
        return view
    order = np.empty_like(view.order)
    up = np.empty_like(view.up)
    length = np.empty_like(view.length)
    reroot(view.order, view.up, view.length, view.size, at, order, up, length)
    return _with_positions(order, up, length)


def merged(view: Preorder) -> Preorder:
    """Merge nodes joined by edges of length 0; `order` contains the first node of each group. O(N)."""
    head = heads(view.up, view.length <= 0)
    kept = head == np.arange(len(head))
    number = (np.cumsum(kept) - 1).astype(np.int32)
    up = number[head[view.up[kept]]]
    up[0] = -1
    position = number[head[view.position]]
    return _with_sizes(view.order[kept], position, up, view.length[kept])


def _with_positions(
    order: NDArray[np.int32],
    up: NDArray[np.int32],
    length: NDArray[np.float64],
) -> Preorder:
    position = np.empty_like(order)
    position[order] = np.arange(len(order), dtype=np.int32)
    return _with_sizes(order, position, up, length)


def _with_sizes(
    order: NDArray[np.int32],
    position: NDArray[np.int32],
    up: NDArray[np.int32],
    length: NDArray[np.float64],
) -> Preorder:
    from .preorder_kernels import subtree_sizes

    size = np.empty_like(up)
    subtree_sizes(read_only(up), size)
    return Preorder(*(read_only(array) for array in (order, position, up, length, size)))


def heads(up: NDArray[np.int32], joined: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the first position of each group. Joined positions are in the group of their parent.

    >>> heads(np.array([-1, 0, 1, 0], np.int32), np.array([False, False, True, True]))
    array([0, 1, 1, 0], dtype=int32)
    """
    from .preorder_kernels import find_heads

    head = np.empty(len(up), np.int32)
    find_heads(read_only(up), read_only(joined), head)
    return head


def points_below(view: Preorder, n_points: int) -> NDArray[np.int32]:
    """Return the number of data points in the subtree of each position. O(N)."""
    from .preorder_kernels import count_points

    below = np.empty(len(view.up), np.int32)
    count_points(view.order, view.up, n_points, below)
    return below


def edges_of(view: Preorder) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return edges (child, parent) and lengths of a tree, in preorder."""
    order = view.order.astype(np.int64)
    return np.column_stack([order[1:], order[view.up[1:]]]), view.length[1:].copy()


def lower_ends(edges: NDArray[np.int64], view: Preorder) -> NDArray[np.int32]:
    """Return the position of the lower end of each edge, the larger of its two positions."""
    return np.maximum(view.position[edges[:, 0]], view.position[edges[:, 1]])


def exact_depths(view: Preorder) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distance to the root by position, as a float64 and its rounding error."""
    from .rooting_kernels import sum_depths

    depth = np.empty(len(view.up))
    rest = np.empty(len(view.up))
    sum_depths(view.up, view.length, depth, rest)
    return depth, rest


def by_node(view: Preorder) -> Rooted:
    """Index a rooted tree by node."""
    parent = np.empty_like(view.order)
    parent[view.order] = np.where(view.up < 0, -1, view.order[view.up])
    length = view.length[view.position]
    depth = exact_depths(view)[0][view.position]
    return Rooted(int(view.order[0]), read_only(parent), read_only(length), view.order, read_only(depth))
