"""Inspection of a distance matrix in one pass: each entry is read once, with its mirror image."""

from typing import Any

import numpy as np

from .._core.kernel import borrower, kernel

TILE = 64


@borrower
def _inspect_tile(distances: Any, bits: Any, rows: Any, cols: Any, out: Any) -> None:
    low = out[0]
    high = out[1]
    fractional = False
    wide = False
    # Unsigned indices: for signed ones, numba allows for negative indices, and the loop is not
    # compiled to vector instructions.
    for i in range(np.uint64(rows[0]), np.uint64(rows[1])):
        for j in range(np.uint64(cols[0]), np.uint64(cols[1])):
            low = min(low, bits[i, j])
            high = max(high, bits[i, j])
            value = distances[i, j]
            fractional |= value != np.floor(value)
            wide |= value != np.float32(value)
    out[0] = low
    out[1] = high
    out[2] |= fractional
    out[3] |= wide


@borrower
def _differs(bits: Any, rows: Any, cols: Any) -> bool:
    """Tell whether a tile differs from its mirror image in any bit. Most matrices are symmetric."""
    different = bits[0, 0] ^ bits[0, 0]
    for i in range(np.uint64(rows[0]), np.uint64(rows[1])):
        for j in range(np.uint64(cols[0]), np.uint64(cols[1])):
            different |= bits[i, j] ^ bits[j, i]
    return different != 0


@borrower
def _skew(distances: Any, rows: Any, cols: Any) -> float:
    """Return the largest |d_ij - d_ji| of a tile."""
    skew = 0.0
    for i in range(rows[0], rows[1]):
        for j in range(cols[0], cols[1]):
            skew = max(skew, abs(np.float64(distances[i, j]) - np.float64(distances[j, i])))
    return skew


@kernel
def inspect_band(distances: Any, bits: Any, start: int, out: Any) -> float:
    """Inspect a part of some rows, from the diagonal to the right, and its mirror image.

    The rows are start ... start + TILE - 1.

    `bits` is the same matrix as integers: the bits of the floats. Bits of non-negative floats have
    the order of the floats. Infinity and NaN are above all other bits, and negative numbers are
    below 0. The extremes of integers are found at the speed of memory; the extremes of floats take
    longer because of NaN.

    `out` receives the least bits, the greatest bits, 1 if some entry is not whole, and 1 if
    some entry is not exact in float32. Returns the largest |d_ij - d_ji|.
    """
    n = distances.shape[0]
    band = (start, min(start + TILE, n))
    out[0] = bits[start, start]
    out[1] = bits[start, start]
    out[2] = 0
    out[3] = 0
    skew = 0.0
    for left in range(start, n, TILE):
        side = (left, min(left + TILE, n))
        _inspect_tile(distances, bits, band, side, out)
        if left > start:
            _inspect_tile(distances, bits, side, band, out)
        if _differs(bits, band, side):
            skew = max(skew, _skew(distances, band, side))
    return skew
