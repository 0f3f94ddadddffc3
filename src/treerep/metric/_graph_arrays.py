"""Recognition of graphs in arrays without `metric`, which are read as distance matrices otherwise."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import MetricError
from .disk.mapped import is_large_map

#: The remedies in Python for an array that may be an adjacency matrix.
ADJACENCY = "for a graph pass scipy.sparse.csr_array(A), for distances add metric='precomputed'"
_SAMPLE = 64  # rows that decide whether all rows are read
_ROUNDING = 1e-6  # of the largest distance: differences of distances that may be rounding
_EDGES = 3  # columns of an edge list with lengths


def refuse_adjacency(array: NDArray[Any], remedy: str) -> None:
    """Raise a MetricError if a square array looks like the adjacency matrix of a graph.

    Points at distance 0 are the same point, so their distances to any other point are equal. An
    array that violates this rule is taken for an adjacency matrix if all entries are 0 or 1. All
    0/1 matrices that satisfy the triangle inequality satisfy the rule, including the adjacency
    matrices of complete multipartite graphs. Other arrays must have mostly entries of 0 off the
    diagonal, and rows that differ by more than half where they should be equal (in a sample of the
    rows): vertices that are not adjacent have few common neighbors, but distances of nearly equal
    genomes, with sites unknown, violate the rule a little.

    O(n) time for other matrices. O(n^2) time if the sample has only 0 and 1, or mostly 0.

    >>> refuse_adjacency(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), "...")
    >>> refuse_adjacency(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), "pass a graph")
    Traceback (most recent call last):
        ...
    treerep.metric.base.MetricError: the array looks like the adjacency matrix of a graph, because \
d(2, 0) is 0, but d(2, 1) is 0 and d(0, 1) is 1: pass a graph
    """
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind not in "biuf":
        return
    n = len(array)
    if n < 3:
        return
    rows = np.unique(np.linspace(0, n - 1, _SAMPLE).astype(np.int64))
    sample = array[rows]
    mostly_zero = np.count_nonzero(sample) < 0.5 * len(rows) * (n - 1)
    if not (mostly_zero or _is_binary(sample)) or np.diagonal(array).any():
        return
    if not is_large_map(array):
        rows = np.arange(n)
    found = _contradiction(array, rows, _ROUNDING * float(np.max(sample, initial=0)))
    if found is None:
        return
    is_weighted = mostly_zero and _disagreement(array, rows[:: -(-len(rows) // _SAMPLE)]) > 0.5
    if not (is_weighted or all(_is_binary(array[i]) for i in rows)):
        return
    i, j, k = found
    raise MetricError(
        f"the array looks like the adjacency matrix of a graph, because d({i}, {j}) is 0, but "
        f"d({i}, {k}) is {_number(array[i, k])} and d({j}, {k}) is {_number(array[j, k])}: {remedy}"
    )


def _is_binary(rows: NDArray[Any]) -> bool:
    return bool(((rows == 0) | (rows == 1)).all())


def _contradiction(
    array: NDArray[Any], rows: NDArray[np.int64], rounding: float
) -> tuple[int, int, int] | None:
    """Return i, j and k with d(i, j) = 0 and d(i, k) != d(j, k), or None if there are none.

    Each row is compared with the row of the first point at distance 0. If all of these rows are
    equal, then "distance 0" is an equivalence relation, and equivalent points have equal rows.
    """
    for i in rows.tolist():
        row = array[i]
        j = int(np.argmax(row == 0))
        if i != j:
            gap = np.abs(row.astype(np.float64) - array[j])
            if (gap > rounding).any():
                return i, j, int(np.argmax(gap > rounding))
    return None


def _disagreement(array: NDArray[Any], rows: NDArray[np.int64]) -> float:
    """Return how much the rows of points at distance 0 differ, from 0 (equal) to 1 (disjoint)."""
    apart = total = 0.0
    for i in rows.tolist():
        row = array[i].astype(np.float64)
        for j in np.flatnonzero(row == 0)[:_SAMPLE].tolist():
            apart += float(np.abs(row - array[j]).sum())
            total += float(row.sum() + array[j].sum(dtype=np.float64))
    return apart / total if total else 0.0


def _number(value: Any) -> str:
    return f"{float(value):g}"


def edge_columns(array: NDArray[Any]) -> int:
    """Return the number of columns if each row may be an edge: two vertices, perhaps a length. Otherwise 0.

    >>> edge_columns(np.array([[0, 1], [1, 2], [2, 3]])), edge_columns(np.array([[0.5, 1.5]]))
    (2, 0)
    """
    if array.ndim != 2 or array.shape[1] not in (2, _EDGES) or array.shape[0] == array.shape[1]:
        return 0
    if array.dtype.kind in "USO":
        return array.shape[1]
    ends = array[:, :2]
    whole = array.dtype.kind in "iuf" and bool(((ends >= 0) & (ends == np.floor(ends))).all())
    return array.shape[1] * whole


def not_square(array: NDArray[Any]) -> MetricError:
    """Return the error for an array that is not square, with the remedies for edges and for points.

    >>> print(not_square(np.array([[0.5, 1], [1, 2], [2, 3]])))
    expected a square distance matrix, got 3 x 2: for points add metric='euclidean'
    """
    size = " x ".join(map(str, array.shape)) or "a single value"
    remedies = [*_edge_remedies(array), "for points add metric='euclidean'"]
    return MetricError(f"expected a square distance matrix, got {size}: {', '.join(remedies)}")


def _edge_remedies(array: NDArray[Any]) -> list[str]:
    columns = edge_columns(array)
    if columns and array.dtype.kind in "USO":
        return ["for edges pass a networkx graph"]
    if columns:
        ends = "A" if columns < _EDGES else "A[:, :2]"
        whole = "" if array.dtype.kind in "iu" else ".astype(int)"
        lengths = "" if columns < _EDGES else ", weights=A[:, 2]"
        return [f"for edges pass tr.GraphMetric({ends}{whole}{lengths})"]
    if array.ndim == 2 and array.shape[0] == 2 and array.dtype.kind in "iu":
        return ["for edges pass tr.GraphMetric(A.T)"]
    return []
