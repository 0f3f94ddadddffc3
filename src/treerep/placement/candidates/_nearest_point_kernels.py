"""The nearest data point on each side of every edge."""

from typing import Any

import numpy as np

from ..._core.kernel import kernel
from ...tree.structure.rooted import Preorder


@kernel
def find_nearest_points(tree: Preorder, n_points: int, below: Any, above: Any) -> None:
    """Write the positions of the data points nearest to each node.

    `below` is the nearest point in the subtree of a node, and `above` is the nearest point
    outside the subtree. Both are -1 if there is no point. O(N).
    """
    n = len(tree.up)
    down = np.full(n, np.inf)  # distance to the nearest point in the subtree
    out = np.full(n, np.inf)  # distance from the parent to the nearest point outside the subtree
    passed = np.full(n, np.inf)  # distance to the nearest point outside, or in a passed branch
    passed_point = np.full(n, -1)
    for k in range(n):
        below[k] = -1
        above[k] = -1
        if tree.order[k] < n_points:
            below[k] = k
            down[k] = 0.0
    for k in range(n - 1, 0, -1):
        g = tree.up[k]
        # So far, the parent has its own point and those of later branches.
        out[k] = down[g]
        above[k] = below[g]
        far = down[k] + tree.length[k]
        if far < down[g]:
            down[g] = far
            below[g] = below[k]
    for k in range(1, n):
        g = tree.up[k]
        if passed[g] < out[k]:
            out[k] = passed[g]
            above[k] = passed_point[g]
        far = down[k] + tree.length[k]
        if far < passed[g]:
            passed[g] = far
            passed_point[g] = below[k]
        passed[k] = out[k] + tree.length[k]
        passed_point[k] = above[k]
