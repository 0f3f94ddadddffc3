"""One fused look at a distance matrix: every entry is read once, beside its mirror image."""

from typing import Any

import numpy as np

from ..common.kernel import kernel

TILE = 64


@kernel
def inspect_band(distances: Any, start: int, out: Any) -> None:
    """Look at rows start ... start + TILE - 1 from the diagonal on, tile by tile.

    out = (1 if some entry is NaN, infinite, negative or a non-zero diagonal, largest entry, largest |d_ij - d_ji|,
    1 if some entry is no whole number). Tiles keep both an entry and its mirror image in cache.
    """
    n = distances.shape[0]
    stop = min(start + TILE, n)
    bad, fractional = False, False
    largest, skew = 0.0, 0.0
    for left in range(start, n, TILE):
        right = min(left + TILE, n)
        for i in range(start, stop):
            for j in range(max(left, i), right):
                a, b = np.float64(distances[i, j]), np.float64(distances[j, i])
                # Written so that NaN fails the comparison.
                bad |= not (a >= 0.0 and b >= 0.0 and a < np.inf and b < np.inf)
                largest = max(largest, a, b)
                skew = max(skew, abs(a - b))
                fractional |= a != np.floor(a)
        if left == start:
            for i in range(start, stop):
                bad |= distances[i, i] != 0
    out[0], out[1], out[2], out[3] = bad, largest, skew, fractional
