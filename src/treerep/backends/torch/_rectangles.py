"""All pairs of n points as rectangles: what a device works on when pairs of neighboring numbers belong together.

A rectangle pairs a run of points with the run that follows it. Within one, the lowest common
ancestors of the points of a tree are minima of one vector along each side (see `torch_trees`),
so no pair needs a look-up of its own.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.typing import TorchDevice

#: Pairs in one piece: half a gigabyte of float64 on a GPU, where launches cost more than
#: memory; a cache elsewhere.
GPU_ENTRIES = 1 << 26
CPU_ENTRIES = 1 << 20
_LARGEST_TILE = 1024
_SMALLEST_TILE = 32


class Rectangle(NamedTuple):
    """Several pieces of the same shape: each pairs the points of its row of `rows` with those of its row of `cols`."""

    rows: NDArray[np.int64]  # (pieces, height)
    cols: NDArray[np.int64]  # (pieces, width); the first is the one after the last of `rows`


def entries_on(device: TorchDevice) -> int:
    """How many pairs to work on at once on a torch device."""
    return CPU_ENTRIES if device.type == "cpu" else GPU_ENTRIES


def rectangles(n: int, entries: int) -> Iterator[Rectangle]:
    """Cut the pairs i < j of n points into rectangles of about `entries` pairs; each pair is in one of them.

    The points are cut into tiles. A tile and all points after it make a rectangle; what is
    within the tiles is halved again and again, all tiles together.

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
    while start < n:  # what is left, by powers of two
        size = 1 << ((n - start).bit_length() - 1)
        starts.append(start)
        sizes.append(size)
        start += size
    for start, size in zip(starts, sizes, strict=True):
        if start + size < n:
            yield Rectangle(
                np.arange(start, start + size)[None], np.arange(start + size, n)[None]
            )
    yield from _halves(np.arange(0, whole, tile), tile, entries)
    for start, size in zip(starts, sizes, strict=True):
        if start >= whole:
            yield from _halves(np.array([start]), size, entries)


def _halves(starts: NDArray[np.int64], size: int, entries: int) -> Iterator[Rectangle]:
    """The pairs within tiles of one size, a power of two."""
    half = size // 2
    while half > 0:
        begins = (starts[:, None] + np.arange(0, size, 2 * half)).ravel()
        together = max(1, entries // half**2)
        for k in range(0, len(begins), together):
            rows = begins[k : k + together, None] + np.arange(half)
            yield Rectangle(rows, rows + half)
        half //= 2
