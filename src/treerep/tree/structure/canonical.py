"""The canonical form of a tree: equal trees have equal arrays."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...metric.base import read_only
from .._validation import check_edges, fault
from .rooted import lower_ends, preorder, preorder_rows


def canonical_edges(
    n_points: int, edges: ArrayLike, weights: ArrayLike, nodes: NDArray[np.int32] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Number Steiner nodes in depth-first order from point 0 and sort the edges.

    Children are visited in the order of the smallest data point in their subtree. Subtrees
    without data points come last, sorted by their smallest id. Each edge is (u, v) with u < v,
    and edges are sorted. Trees that differ only in the ids of Steiner nodes or the order of
    edges give the same arrays if every Steiner node has data points below it.

    Parameters
    ----------
    n_points : int
        Data points are 0 ... n_points-1, and all of them must occur.
    edges : (E, 2) whole numbers
        Steiner ids are arbitrary: at least n_points, below max(2 n_points, E+1), gaps allowed.
    weights : (E,) real numbers, not checked
    nodes : (n_points,) whole numbers, optional
        The node in `edges` that is data point i, a permutation; by default i itself. If
        neighbors have close numbers, all passes but the last stay in the cache.

    Returns
    -------
    edges : (E, 2) int64, weights : (E,) float64
        Without gaps: nodes are 0 ... E.

    Takes linear time: leaf pruning, sorted lists of children, and a counting sort. Raises a
    ValueError if the edges do not form one tree.

    >>> canonical_edges(3, [[5, 2], [5, 0], [1, 5]], [3.0, 1.0, 2.0])
    (array([[0, 3],
           [1, 3],
           [2, 3]]), array([1., 2., 3.]))
    """
    from .canonical_kernels import sort_edges

    n_edges = len(np.asarray(edges))
    limit = max(2 * n_points, n_edges + 1)
    array = check_edges(edges, n_points, limit)
    values = read_only(np.asarray(weights, dtype=np.float64))
    if values.shape != (n_edges,):
        raise ValueError(f"got weights of shape {values.shape} for {n_edges} edges: give one weight per edge")
    ranks = np.arange(limit, dtype=np.int32)
    names = ranks[:n_points].copy()
    root = 0
    if nodes is not None:
        root = int(nodes[0])
        names[nodes] = ranks[:n_points]
        ranks[:n_points] = names
    rows = preorder_rows(array, limit, root, ranks)
    sorted_edges = np.empty((n_edges, 2), np.int64)
    sorted_weights = np.empty(n_edges)
    starts = np.empty((2, n_edges + 2), np.int32)
    by_upper = np.empty(n_edges, np.int32)
    if rows is None or not sort_edges(
        n_points, names, rows, values, starts, by_upper, sorted_edges, sorted_weights
    ):
        raise ValueError(fault(array, limit, n_points))
    return sorted_edges, sorted_weights


def canonical_numbers(
    n_points: int, edges: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the canonical edges, the former number of each edge, and the new number of each node.

    >>> canonical_numbers(2, np.array([[1, 3], [3, 2], [2, 0]]))[1:]
    (array([2, 0, 1]), array([0, 1, 2, 3]))
    """
    # Edge numbers take the place of the lengths, to find the new order: exact up to 2^53.
    renumbered, numbers = canonical_edges(n_points, edges, np.arange(len(edges)))
    before = numbers.astype(np.int64)
    # From point 0, corresponding edges have corresponding lower ends.
    nodes = np.zeros(len(edges) + 1, np.int64)
    nodes[_lower_nodes(edges)[before]] = _lower_nodes(renumbered)
    return renumbered, before, nodes


def _lower_nodes(edges: NDArray[np.int64]) -> NDArray[np.int32]:
    view = preorder(edges, np.zeros(len(edges)), 0)
    return view.order[lower_ends(edges, view)]
