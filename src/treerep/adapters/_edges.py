"""Conversion of edges from other libraries to a sparse matrix of lengths or similarities."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._core.checks import real_number
from ..metric.base import MetricError


def edge_matrix(
    n: int, ends: NDArray[np.int64], lengths: NDArray[np.float64], similarity: bool = False
) -> csr_array:
    """Return a symmetric matrix of edge lengths, or of similarities.

    The shortest of parallel edges is kept. Similarities of parallel edges are added up.

    >>> edge_matrix(2, np.array([[0, 1], [1, 0]]), np.array([3.0, 2.0])).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    low, high = np.sort(ends.reshape(-1, 2), axis=1).T
    if similarity:
        return _symmetric(n, low, high, lengths)  # scipy adds up entries given twice
    order = np.lexsort((lengths, high, low))
    low = low[order]
    high = high[order]
    lengths = lengths[order]
    kept = np.ones(len(low), bool)
    # Parallel edges are adjacent, the shortest first.
    kept[1:] = (np.diff(low) != 0) | (np.diff(high) != 0)
    return _symmetric(n, low[kept], high[kept], lengths[kept])


def _symmetric(
    n: int, low: NDArray[np.int64], high: NDArray[np.int64], values: NDArray[np.float64]
) -> csr_array:
    twice = low != high
    values = np.concatenate([values, values[twice]])
    rows = np.concatenate([low, high[twice]])
    columns = np.concatenate([high, low[twice]])
    return csr_array((values, (rows, columns)), shape=(n, n))


def edge_lengths(
    values: Sequence[object],
    ends: NDArray[np.int64],
    names: Sequence[object],
    weight: str,
    similarity: bool = False,
) -> NDArray[np.float64]:
    """Return an edge attribute as positive lengths, or as similarities of at least 0.

    The first invalid value raises an error.
    """
    lengths = np.fromiter(map(real_number, values), np.float64, len(ends))
    # The length of a self-loop does not matter.
    loop = ends[:, 0] == ends[:, 1]
    positive = (lengths > 0) & (lengths < np.inf)
    allowed = positive | ((loop | similarity) & (lengths == 0))
    wrong = np.flatnonzero(~allowed)
    if len(wrong):
        u, v = (names[end] for end in ends[wrong[0]].tolist())
        value = values[wrong[0]]
        rule = (
            "similarities must be numbers of at least 0" if similarity else "lengths must be positive numbers"
        )
        raise MetricError(f"{weight!r} of edge ({u!r}, {v!r}) is {value!r}, but {rule}: correct it")
    return lengths
