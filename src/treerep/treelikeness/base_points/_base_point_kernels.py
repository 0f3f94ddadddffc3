"""Products of n x n matrices over (max, min) and (min, +), in tiles that stay in the cache.

Both kernels process a few rows x and a strip of columns y at a time, and loop over z. The
products are symmetric, so only y > x is computed.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel

ROWS = 8
_COLUMNS = 2048


@kernel
def gromov_products(distances: Any, base: int, first: int, last: int, out: Any) -> None:
    """Write out[x, y] = d(w, x) + d(w, y) - d(x, y), twice the Gromov product at the base w."""
    row = distances[base]
    for x in range(first, last):
        for y in range(len(distances)):
            out[x, y] = out.dtype.type(row[x]) + row[y] - distances[x, y]


@helper
def _bottlenecks(keys: Any, first: int, last: int, left: int, right: int, floor: Any, widest: Any) -> None:
    """Write max over z of min(P[x, z], P[z, y]) to `widest`; values up to `floor` may be missed."""
    for x in range(last - first):
        for y in range(right - left):
            widest[x, y] = floor
    for z in range(len(keys)):
        # counted from 0: numba does not vectorize if an index might be negative
        row = keys[z, left:right]
        for x in range(first, last):
            through = keys[x, z]
            if through > floor:
                best = widest[x - first]
                for y in range(len(row)):
                    reached = row[y] if row[y] < through else through
                    best[y] = reached if reached > best[y] else best[y]


@kernel
def largest_defect(products: Any, keys: Any, first: int, last: int, h: Any) -> Any:
    """Return (h, x, y): the largest max over z of min(P[x, z], P[z, y]) - P[x, y] above h.

    No product is negative. `keys` are the bits of the products as integers, which have the same
    order. Unlike floats, integers are compared 4 to 32 at a time.
    """
    n = len(products)
    widest = np.empty((ROWS, _COLUMNS), keys.dtype)
    values = widest.view(products.dtype)
    floor = np.zeros(1, products.dtype)
    floor_key = floor.view(keys.dtype)
    at_x = -1
    at_y = -1
    for top in range(first, last, ROWS):
        bottom = min(top + ROWS, last)
        for left in range(top, n, _COLUMNS):
            right = min(left + _COLUMNS, n)
            # min(P[x, z], P[z, y]) must exceed h + P[x, y] >= h.
            floor[0] = h
            _bottlenecks(keys, top, bottom, left, right, floor_key[0], widest)
            for x in range(top, bottom):
                for y in range(max(left, x), right):
                    if values[x - top, y - left] > h + products[x, y]:
                        h = products.dtype.type(values[x - top, y - left] - products[x, y])
                        at_x = x
                        at_y = y
    return h, at_x, at_y


@kernel
def largest_violation(distances: Any, first: int, last: int) -> Any:
    """Return (v, x, y): the largest d(x, y) - min over z of d(x, z) + d(z, y), or (0, -1, -1)."""
    n = len(distances)
    wide = distances.dtype.type
    shortest = np.empty((ROWS, _COLUMNS), distances.dtype)
    worst = wide(0)
    at_x = -1
    at_y = -1
    for top in range(first, last, ROWS):
        bottom = min(top + ROWS, last)
        for left in range(top, n, _COLUMNS):
            right = min(left + _COLUMNS, n)
            for x in range(top, bottom):
                for y in range(left, right):
                    shortest[x - top, y - left] = distances[x, y]
            for z in range(n):
                row = distances[z, left:right]
                for x in range(top, bottom):
                    there = distances[x, z]
                    best = shortest[x - top]
                    for y in range(len(row)):
                        path = wide(there + row[y])
                        best[y] = path if path < best[y] else best[y]
            for x in range(top, bottom):
                for y in range(max(left, x + 1), right):
                    violation = wide(distances[x, y] - shortest[x - top, y - left])
                    if violation > worst:
                        worst = violation
                        at_x = x
                        at_y = y
    return worst, at_x, at_y
