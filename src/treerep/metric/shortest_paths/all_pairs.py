"""All distances of a graph in a compact matrix, for graphs whose hub labels are too long.

In random graphs without structure, such as expanders, shortest paths have few vertices in common.
Labels then take longer to build than a search from every vertex, and are as large as a matrix.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..base import read_only
from ..oracle.classes import MatrixOracle

# The labels of fewer vertices are built in milliseconds.
_FEWEST = 1000
# The time of `few_hops` is proportional to the longest path.
_MOST_HOPS = 32
# Bytes of the largest matrix. This limit is the same on every machine, so the choice is as well.
_LARGEST = 1 << 28

#: A function that returns the distances from some vertices to all vertices.
SearchRows = Callable[[NDArray[np.int64]], NDArray[np.float64]]


class LabelsTooLongError(Exception):
    """The construction of hub labels costs more than searches."""


def matrix_may_pay(n: int) -> bool:
    """Return whether a matrix may be better than the labels of n vertices."""
    return n >= _FEWEST and n * n <= _LARGEST


def few_hops(starts: NDArray[np.integer], neighbors: NDArray[np.integer]) -> MatrixOracle | None:
    """Return all hop counts of a small graph as a matrix; None if the graph is large or long.

    For few vertices and short paths, this is faster than labels, and so are its distances.
    """
    from .all_pairs_kernels import all_hops

    n = len(starts) - 1
    if n >= _FEWEST:
        return None
    words = -(-n // 64) * 8  # eight counts per word
    hops = np.empty((n, words), np.uint64)
    if not all_hops(starts, neighbors, _MOST_HOPS, _spread_bits(), hops):
        return None
    return MatrixOracle(read_only(hops.view(np.uint8)[:, :n]))


@cache
def _spread_bits() -> NDArray[np.uint64]:
    """Return each of the eight bits of every byte as a byte, eight bytes in one number."""
    numbers = np.arange(256, dtype=np.uint8).reshape(-1, 1)
    bits = np.unpackbits(numbers, axis=1, bitorder="little")
    return read_only(bits.view(np.uint64).reshape(-1))


def all_pairs(n: int, search_rows: SearchRows, together: int) -> MatrixOracle | None:
    """Return all distances, whole numbers, as a matrix; None if it would be too large.

    together : number of vertices per call of `search_rows`
    """
    vertices = read_only(np.arange(n))
    # No distance is longer than a detour through the first vertex.
    longest = 2 * int(search_rows(vertices[:1]).max())
    dtype = np.min_scalar_type(longest)
    if n * n * dtype.itemsize > _LARGEST:
        return None
    distances = np.empty((n, n), dtype)
    for low in range(0, n, together):
        distances[low : low + together] = search_rows(vertices[low : low + together])
    return MatrixOracle(read_only(distances))
