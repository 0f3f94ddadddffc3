"""Compiled passes over a tree in preorder: see `rooted.Preorder`.

Parents precede their children. A loop over decreasing positions therefore sums from the leaves
to the root, and a loop over increasing positions propagates from the root to the leaves.
"""

from typing import Any

import numpy as np

from ..._core.kernel import kernel


@kernel
def subtree_sizes(up: Any, size: Any) -> None:
    """Write the number of nodes in the subtree of each position, including itself. O(N)."""
    size[:] = 1
    for k in range(len(up) - 1, 0, -1):
        size[up[k]] += size[k]


@kernel
def count_points(order: Any, up: Any, n_points: Any, below: Any) -> None:
    """Write the number of data points in the subtree of each position, including itself. O(N)."""
    for k in range(len(up)):
        below[k] = 1 if order[k] < n_points else 0
    for k in range(len(up) - 1, 0, -1):
        below[up[k]] += below[k]


@kernel
def find_heads(up: Any, merged: Any, head: Any) -> None:
    """Write the first position of each group. Merged positions are in the group of their parent. O(N)."""
    head[0] = 0
    for k in range(1, len(up)):
        head[k] = head[up[k]] if merged[k] else k


@kernel
def find_center(order: Any, up: Any, length: Any) -> Any:
    """Return the position whose farthest node is nearest; ties go to the smallest node id. O(N)."""
    n = len(up)
    farthest = np.zeros(n)
    second = np.zeros(n)
    above = np.zeros(n)
    for p in range(n - 1, 0, -1):
        reach = farthest[p] + length[p]
        q = up[p]
        if reach > farthest[q]:
            farthest[q], second[q] = reach, farthest[q]
        elif reach > second[q]:
            second[q] = reach
    best = farthest[0]
    center = 0
    for p in range(1, n):
        q = up[p]
        other = second[q] if farthest[p] + length[p] == farthest[q] else farthest[q]
        above[p] = length[p] + max(above[q], other)
        reach = max(above[p], farthest[p])
        if reach < best or (reach == best and order[p] < order[center]):
            best = reach
            center = p
    return center


@kernel
def reroot(
    order: Any,
    up: Any,
    length: Any,
    size: Any,
    root: Any,
    new_order: Any,
    new_up: Any,
    new_length: Any,
) -> None:
    """Write the preorder from the node at position `root`, by moving whole blocks. O(N).

    Everything below the new root comes first. Then, on the way to the old root, every node is
    followed by the rest of its subtree.
    """
    at = 0
    v = root
    came = root
    gone = 0
    above = -1
    edge = 0.0
    while v >= 0:
        # Copy from position v on to position `at` on, and skip the `gone` positions from `came`
        # on, which are already placed.
        for p in range(v, came):
            new_order[at + p - v] = order[p]
            new_length[at + p - v] = length[p]
            new_up[at + p - v] = at + up[p] - v
        for p in range(came + gone, v + size[v]):
            to = at + p - v - gone
            new_order[to] = order[p]
            new_length[to] = length[p]
            new_up[to] = at + up[p] - v - (gone if up[p] >= came + gone else 0)
        new_up[at] = above
        new_length[at] = edge
        above = at
        edge = length[v]
        at += size[v] - gone
        v, came, gone = up[v], v, size[v]
