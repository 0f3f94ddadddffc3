"""Kernel of minimum evolution that starts from a given binary tree."""

from typing import Any

import numpy as np

from ..._core.kernel import kernel
from ._minimum_evolution_kernels import Sides


@kernel
def read_tree(edges: Any, sides: Sides) -> None:
    """Fill `sides` with a binary tree whose leaves are the points. Averages are not computed."""
    n = (len(edges) + 3) // 2
    degree = np.zeros(2 * n - 2, np.int64)
    neighbor = np.empty((2 * n - 2, 3), np.int64)
    for a, b in edges:
        neighbor[a, degree[a]] = b
        neighbor[b, degree[b]] = a
        degree[a] += 1
        degree[b] += 1
    # Even sides in preorder, from the edge of point 0.
    node = np.empty(len(edges), np.int64)  # node at the lower end of an edge
    parent = np.empty(len(edges), np.int64)  # node at the upper end
    waiting = np.empty(len(edges), np.int64)
    node[0] = neighbor[0, 0]
    parent[0] = 0
    sides.point[1] = 0
    waiting[0] = 0
    height = 1
    made = 1
    while height > 0:
        height -= 1
        edge = waiting[height]
        here = node[edge]
        sides.point[2 * edge + 1] = -1 if edge else 0
        sides.point[2 * edge] = here if here < n else -1
        if here < n:
            continue
        slot = 0
        for k in range(3):
            if neighbor[here, k] != parent[edge]:
                node[made] = neighbor[here, k]
                parent[made] = here
                sides.child[2 * edge, slot] = 2 * made
                waiting[height] = made
                height += 1
                made += 1
                slot += 1
        one = sides.child[2 * edge, 0]
        two = sides.child[2 * edge, 1]
        sides.child[one + 1, 0] = two
        sides.child[two + 1, 0] = one
        sides.child[one + 1, 1] = 2 * edge + 1
        sides.child[two + 1, 1] = 2 * edge + 1
    for edge in range(len(edges) - 1, -1, -1):
        if sides.point[2 * edge] < 0:
            one = sides.child[2 * edge, 0]
            two = sides.child[2 * edge, 1]
            sides.size[2 * edge] = sides.size[one] + sides.size[two]
        sides.size[2 * edge + 1] = n - sides.size[2 * edge]
