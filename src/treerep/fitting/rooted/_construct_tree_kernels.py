"""Compiled pieces of ConstructTree: in which order points are removed, and next to whom."""

from typing import Any

import numpy as np

from ..._core.kernel import kernel
from ._gromov_kernels import gromov_product


@kernel
def find_partner(x: int, row: Any, depth: Any, size: Any, partner: Any, product: Any) -> None:
    """Return the largest product of x with a point that is left, and that point.

    From the distances of x to all points.
    """
    best = -1.0
    for y in range(len(row)):
        if size[y] > 0 and y != x:
            value = gromov_product(depth[x], depth[y], row[y])
            if value > best:
                best = value
                partner[x] = y
    # The same distance, read in another block, may be rounded differently; products must
    # not rise again.
    product[x] = min(product[x], best)


@kernel
def remove_points(
    depth: Any, size: Any, partner: Any, product: Any, merges: Any, heights: Any, done: int
) -> Any:
    """Remove points until the one with the largest product needs a new partner.

    It has none, or its partner was removed.

    Every point left stands for `size` points; those removed have size 0 and product -1. Each
    removal is written down: who was kept, who was removed, and their product. Returns how many
    are removed, and the point that needs a partner.
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
