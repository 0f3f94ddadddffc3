"""Validation of the arrays of a tree. Each message names the first fault."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metric.base import read_only


def check_edges(edges: ArrayLike, n_points: int, n_ids: int | None = None) -> NDArray[np.integer]:
    """Validate edges: an integer array (E, 2) with ids in 0 ... n_ids-1 (default E+1)."""
    array = np.asarray(edges)
    if array.size == 0:
        array = array.reshape(-1, 2).astype(np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"edges must be pairs of node ids, an array of shape (E, 2), not {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"edges must contain integer node ids, not {array.dtype}")
    if len(array) < n_points - 1:
        raise ValueError(
            f"a tree with {n_points} points needs at least {n_points - 1} edges, got {len(array)}"
        )
    limit = len(array) + 1 if n_ids is None else n_ids
    if len(array) and not (array.min() >= 0 and array.max() < limit):
        e = int(np.flatnonzero(((array < 0) | (array >= limit)).any(axis=1))[0])
        raise ValueError(
            f"edge {e} is {_pair(array[e])}, but with {len(array)} edges the node ids "
            f"must be 0 to {limit - 1}: number data points first, then Steiner nodes"
        )
    if limit >= np.iinfo(np.int32).max:
        raise ValueError(f"{limit:,} nodes are too many: a tree can have at most 2,147,483,646")
    return array


def check_weights(weights: ArrayLike, edges: NDArray[np.integer]) -> NDArray[np.float64]:
    """Validate weights: one float64 per edge, not negative, with a finite sum."""
    given = np.asarray(weights)
    if given.size and given.dtype.kind not in "iuf":
        raise TypeError(f"weights must be real numbers, not {given.dtype}")
    array = given.astype(np.float64, copy=False)
    if array.shape != (len(edges),):
        raise ValueError(
            f"got weights of shape {array.shape} for {len(edges)} edges: give one weight per edge"
        )
    if len(array) and not (array.min() >= 0 and array.max() < np.inf):
        e = int(np.flatnonzero(~((array >= 0) & (array < np.inf)))[0])
        raise ValueError(
            f"edge {e} {_pair(edges[e])} has weight {array[e]}: weights must be finite and not negative"
        )
    check_total(array)
    return array


def check_total(weights: NDArray[np.float64]) -> None:
    """Raise a ValueError unless the sum of the weights, and so every distance, is finite."""
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not total < np.inf:
        raise ValueError("the sum of the weights exceeds the range of float64: rescale them")


def check_tree(edges: NDArray[np.int64]) -> None:
    """Raise a ValueError unless edges with the ids 0 ... E form one tree. O(E), compiled."""
    from .structure.rooting_kernels import root_edges

    n_nodes = len(edges) + 1
    near = read_only(edges.astype(np.int32, copy=False))
    table = np.empty((n_nodes, 4), np.int32)
    removed = np.empty(n_nodes, np.int32)
    no_ranks = np.empty(0, np.int32)
    no_rows = np.empty((0, 4), np.int32)
    if not root_edges(near, 0, no_ranks, table, removed, no_rows):
        raise ValueError(fault(edges, n_nodes, n_nodes))


def fault(edges: NDArray[np.integer], n_ids: int, n_required: int) -> str:
    """Describe why edges do not form one tree with the nodes 0 ... n_required-1."""
    from .structure.rooting_kernels import find_fault

    cycle, unreached = find_fault(edges.astype(np.int64), n_ids, n_required)
    reasons = []
    if cycle >= 0:
        reasons.append(f"edge {cycle} {_pair(edges[cycle])} closes a cycle")
    if unreached >= 0:
        reasons.append(f"node {unreached} is not connected to node 0")
    return "the edges do not form a tree: " + " and ".join(reasons)


def _pair(edge: NDArray[np.integer]) -> str:
    return f"({int(edge[0])}, {int(edge[1])})"


def read_only_copy(array: NDArray[Any], given: object) -> NDArray[Any]:
    """Return a read-only array. The array is copied if the caller could still write to it."""
    shared = isinstance(given, np.ndarray) and given.flags.writeable and np.shares_memory(array, given)
    return read_only(array.copy() if shared else array)
