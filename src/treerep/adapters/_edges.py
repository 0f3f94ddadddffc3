"""Conversion of edges from other libraries to the sparse matrix that `GraphMetric` reads."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._core.checks import real_number
from ..metric.base import MetricError


def edge_matrix(n: int, ends: NDArray[np.int64], lengths: NDArray[np.float64]) -> csr_array:
    """Return a symmetric matrix of edge lengths. The shortest of parallel edges is kept.

    >>> edge_matrix(2, np.array([[0, 1], [1, 0]]), np.array([3.0, 2.0])).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    low, high = np.sort(ends.reshape(-1, 2), axis=1).T
    order = np.lexsort((lengths, high, low))
    low = low[order]
    high = high[order]
    lengths = lengths[order]
    kept = np.ones(len(low), bool)
    # Parallel edges are adjacent, the shortest first.
    kept[1:] = (np.diff(low) != 0) | (np.diff(high) != 0)
    low = low[kept]
    high = high[kept]
    lengths = lengths[kept]
    twice = low != high
    values = np.concatenate([lengths, lengths[twice]])
    rows = np.concatenate([low, high[twice]])
    columns = np.concatenate([high, low[twice]])
    return csr_array((values, (rows, columns)), shape=(n, n))


def edge_lengths(
    values: Sequence[object], ends: NDArray[np.int64], names: Sequence[object], weight: str
) -> NDArray[np.float64]:
    """Return an edge attribute as positive lengths. Raise an error for the first invalid value."""
    lengths = np.fromiter(map(real_number, values), np.float64, len(ends))
    # The length of a self-loop does not matter.
    loop = ends[:, 0] == ends[:, 1]
    positive = (lengths > 0) & (lengths < np.inf)
    allowed = positive | (loop & (lengths == 0))
    wrong = np.flatnonzero(~allowed)
    if len(wrong):
        u, v = (names[end] for end in ends[wrong[0]].tolist())
        value = values[wrong[0]]
        raise MetricError(
            f"{weight!r} of edge ({u!r}, {v!r}) is {value!r}, but lengths must be positive numbers: correct it"
        )
    return lengths
