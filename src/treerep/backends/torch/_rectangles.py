"""All pairs of n points as rectangles of consecutive points.

A rectangle pairs a run of points with the run that follows it. If points are in the preorder of
a tree, the lowest common ancestors in a rectangle are minima of one vector along each side (see
`_tree_distances.py`). No lookup per pair is needed.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.typing import TorchDevice

#: Number of pairs in one piece. On a GPU, where launches cost more than memory, a piece is half a
#: gigabyte of float64. On other devices, a piece fits into a cache.
GPU_ENTRIES = 1 << 26
CPU_ENTRIES = 1 << 20
_LARGEST_TILE = 1024
_SMALLEST_TILE = 32


class Rectangle(NamedTuple):
    """Several pieces of the same shape. Piece k pairs the points rows[k] with cols[k]."""

    rows: NDArray[np.int64]  # (pieces, height)
    cols: NDArray[np.int64]  # (pieces, width); starts right after the last of `rows`


def entries_on(device: TorchDevice) -> int:
    """Return how many pairs to process at once on a torch device."""
    return CPU_ENTRIES if device.type == "cpu" else GPU_ENTRIES


def rectangles(n: int, entries: int) -> Iterator[Rectangle]:
    """Cut the pairs i < j of n points into rectangles of about `entries` pairs.

    The points are cut into tiles. A tile and all points after it form a rectangle. The pairs
    within tiles are split in half repeatedly, for all tiles together.

    >>> [(piece.rows.tolist(), piece.cols.tolist()) for piece in rectangles(3, 100)]
    [([[0, 1]], [[2]]), ([[0]], [[1]])]
    """
    tile = _LARGEST_TILE
    while tile > max(_SMALLEST_TILE, entries // max(n, 1)) or tile > max(n, 1):
        tile //= 2
    whole = n // tile * tile
    starts = list(range(0, whole, tile))
    start = whole
    sizes = [tile] * len(starts)
    while start < n:  # the remainder, by powers of two
        size = 1 << ((n - start).bit_length() - 1)
        starts.append(start)
        sizes.append(size)
        start += size
    for start, size in zip(starts, sizes, strict=True):
        if start + size < n:
            yield Rectangle(np.arange(start, start + size)[None], np.arange(start + size, n)[None])
    yield from _halves(np.arange(0, whole, tile), tile, entries)
    for start, size in zip(starts, sizes, strict=True):
        if start >= whole:
            yield from _halves(np.array([start]), size, entries)


def _halves(starts: NDArray[np.int64], size: int, entries: int) -> Iterator[Rectangle]:
    """Yield the pairs within tiles of one size, a power of two."""
    half = size // 2
    while half > 0:
        begins = (starts[:, None] + np.arange(0, size, 2 * half)).ravel()
        together = max(1, entries // half**2)
        for k in range(0, len(begins), together):
            rows = begins[k : k + together, None] + np.arange(half)
            yield Rectangle(rows, rows + half)
        half //= 2
