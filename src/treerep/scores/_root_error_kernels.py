"""Kernel of the least largest error of trees that keep all distances from one point."""

from typing import Any

import numpy as np

from .._core.kernel import kernel


@kernel
def root_error(matrix: Any, root: int) -> float:
    """Return the largest of (chain product of x and y) - (product of x and y). O(n^2).

    The Gromov product (x, y) is the length that the paths from the root to x and y share. The
    chain product is the largest product that all steps of some chain of points from x to y
    reach. Prim's algorithm adds the points by decreasing products. If x is added before y, the
    chain product of x and y is the least product at which a point was added after x, up to y.
    """
    n = len(matrix)
    depth = matrix[root]
    best = np.full(n, -np.inf)  # largest product of a waiting point with an added point
    limit = np.full(n, np.inf)  # keeps `best` of the added points at -inf
    chain = np.full(n, -np.inf)  # chain product of an added point with the last added point
    x = root
    product_of_x = np.inf
    largest = 0.0
    for _ in range(n):
        row = matrix[x]
        limit[x] = best[x] = -np.inf
        for y in range(n):
            # (x, y)_r = (d(r, x) + d(r, y) - d(x, y)) / 2
            product = 0.5 * (depth[x] + depth[y] - row[y])
            chain[y] = min(chain[y], product_of_x)
            largest = max(largest, chain[y] - product)
            best[y] = min(max(best[y], product), limit[y])
        chain[x] = np.inf
        x = int(np.argmax(best))
        product_of_x = best[x]
    return largest
