"""Products of n x n matrices over (max, min) and (min, +), in tiles that stay in the cache.

Both go through a few rows x and a strip of columns y at a time and let z run; y > x only, since both are symmetric.
"""

from typing import Any

import numpy as np

from ..common.kernel import helper, kernel

ROWS = 8
_COLUMNS = 2048


@kernel
def gromov_products(distances: Any, base: int, first: int, last: int, out: Any) -> None:
    """out[x, y] = d(w, x) + d(w, y) - d(x, y): twice the Gromov product at w, the base."""
    row = distances[base]
    for x in range(first, last):
        for y in range(len(distances)):
            out[x, y] = out.dtype.type(row[x]) + row[y] - distances[x, y]


@helper
def _bottlenecks(products: Any, first: int, last: int, left: int, right: int, floor: Any, widest: Any) -> None:
    """widest[x - first, y - left] = max over z of min(P[x, z], P[z, y]); values up to `floor` may be missed."""
    for z in range(len(products)):
        row = products[z]
        for x in range(first, last):
            through = products[x, z]
            if through > floor:
                best = widest[x - first]
                for y in range(left, right):
                    reached = row[y] if row[y] < through else through
                    best[y - left] = reached if reached > best[y - left] else best[y - left]


@kernel
def largest_defect(products: Any, first: int, last: int, least: Any, h: Any) -> Any:
    """Return (h, x, y): the largest max over z of min(P[x, z], P[z, y]) - P[x, y] above h, of the rows x given.

    `least` is a lower bound of all products.
    """
    n = len(products)
    widest = np.empty((ROWS, _COLUMNS), products.dtype)
    at_x, at_y = -1, -1
    for top in range(first, last, ROWS):
        bottom = min(top + ROWS, last)
        for left in range(top, n, _COLUMNS):
            right = min(left + _COLUMNS, n)
            for x in range(bottom - top):
                for y in range(right - left):
                    widest[x, y] = least
            # min(P[x, z], P[z, y]) must exceed h + P[x, y] >= h + least.
            _bottlenecks(products, top, bottom, left, right, products.dtype.type(h + least), widest)
            for x in range(top, bottom):
                for y in range(max(left, x), right):
                    if widest[x - top, y - left] > h + products[x, y]:
                        h = products.dtype.type(widest[x - top, y - left] - products[x, y])
                        at_x, at_y = x, y
    return h, at_x, at_y


@kernel
def largest_violation(distances: Any, first: int, last: int, zero: Any) -> Any:
    """Return (v, x, y): the largest d(x, y) - min over z of d(x, z) + d(z, y), of rows x; 0 and -1 if none is > 0.

    `zero` is an array of one 0, of the type to add in.
    """
    n = len(distances)
    wide = zero.dtype.type
    shortest = np.empty((ROWS, _COLUMNS), zero.dtype)
    worst, at_x, at_y = zero[0], -1, -1
    for top in range(first, last, ROWS):
        bottom = min(top + ROWS, last)
        for left in range(top, n, _COLUMNS):
            right = min(left + _COLUMNS, n)
            for x in range(top, bottom):
                for y in range(left, right):
                    shortest[x - top, y - left] = distances[x, y]
            for z in range(n):
                row = distances[z]
                for x in range(top, bottom):
                    there = wide(distances[x, z])
                    best = shortest[x - top]
                    for y in range(left, right):
                        path = wide(there + row[y])
                        best[y - left] = path if path < best[y - left] else best[y - left]
            for x in range(top, bottom):
                for y in range(max(left, x + 1), right):
                    violation = wide(distances[x, y] - shortest[x - top, y - left])
                    if violation > worst:
                        worst, at_x, at_y = violation, x, y
    return worst, at_x, at_y
