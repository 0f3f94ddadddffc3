"""The binary tree of minimum evolution: read from edges, and written as edges.

The leaves of the tree are the points. Edge e has two *sides*, 2e and 2e + 1. A side is the subtree at
one end of the edge, and side ^ 1 is the rest of the tree. Even sides do not contain point 0. Edge 0 is
the edge of point 0. A side that is not a leaf has two *children*: the two sides into which it falls
when its edge is removed.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import kernel


class Sides(NamedTuple):
    """A binary tree. All arrays are indexed by side."""

    # (2E, 2) sides, or -1 for a leaf; the second child of an odd side is odd, all others are
    # even
    child: Any
    point: Any  # point of a leaf, or -1
    size: Any  # number of points
    # balanced average distance between the children: of a part, each child of a side weighs 1/2
    pair: Any


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


@kernel
def write_tree(sides: Sides, edges: Any) -> None:
    """Write the ends of all edges. New nodes are numbered from n on."""
    count = len(edges)
    steiner = (count + 3) // 2
    upper = np.zeros(count, np.int64)  # node at the upper end of an edge
    waiting = np.empty(count, np.int64)
    waiting[0] = 0
    height = 1
    while height > 0:
        height -= 1
        edge = waiting[height]
        node = sides.point[2 * edge]
        if node < 0:
            node = steiner
            steiner += 1
            for slot in range(2):
                below = sides.child[2 * edge, slot] // 2
                upper[below] = node
                waiting[height] = below
                height += 1
        edges[edge, 0] = upper[edge]
        edges[edge, 1] = node
