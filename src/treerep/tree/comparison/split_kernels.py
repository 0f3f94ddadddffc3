"""Compiled sums over the points below each edge."""

from typing import Any

from ..._core.kernel import kernel


@kernel
def add_keys(order: Any, up: Any, point_keys: Any, keys: Any) -> None:
    """Write the exclusive or of the keys of the data points at and below each position. O(N).

    Parameters
    ----------
    order, up : (N,) a tree in preorder
    point_keys : (n_points, 2) uint64
    keys : (N, 2) uint64, zero on entry
    """
    for k in range(len(order) - 1, -1, -1):
        if order[k] < len(point_keys):
            keys[k, 0] ^= point_keys[order[k], 0]
            keys[k, 1] ^= point_keys[order[k], 1]
        if k > 0:
            keys[up[k], 0] ^= keys[k, 0]
            keys[up[k], 1] ^= keys[k, 1]
