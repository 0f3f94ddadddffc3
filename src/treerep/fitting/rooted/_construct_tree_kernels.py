"""Compiled parts of ConstructTree: the order in which points are removed, and their partners."""

from typing import Any

import numpy as np

from ..._core.kernel import kernel
from ._gromov_kernels import gromov_product


@kernel
def find_partner(x: int, row: Any, depth: Any, size: Any, partner: Any, product: Any) -> None:
    """Return the largest product of x with a remaining point, and that point.

    `row` has the distances from x to all points.
    """
    best = -1.0
    for y in range(len(row)):
        if size[y] > 0 and y != x:
            value = gromov_product(depth[x], depth[y], row[y])
            if value > best:
                best = value
                partner[x] = y
    # The same distance, read in another block, may be rounded differently. Products must not
    # increase again.
    product[x] = min(product[x], best)


@kernel
def remove_points(
    depth: Any, size: Any, partner: Any, product: Any, merges: Any, heights: Any, done: int
) -> Any:
    """Remove points until the one with the largest product needs a new partner.

    A point needs a new partner if it has no partner, or if its partner was removed. Every remaining
    point represents `size` points. Removed points have size 0 and product -1. For each removal, the
    kept point, the removed point and their product are written. Returns the number of removed
    points, and the point that needs a partner.
    """
    while done < len(depth) - 1:
        x = np.argmax(product)
        y = partner[x]
        if y < 0 or size[y] == 0:
            return done, x
        kept = x
        removed = y
        if size[x] < size[y] or (size[x] == size[y] and depth[x] > depth[y]):
            kept = y
            removed = x
        merges[0, done] = kept
        merges[1, done] = removed
        heights[done] = product[x]
        size[kept] += size[removed]
        size[removed] = 0
        product[removed] = -1.0
        done += 1
    return done, 0
