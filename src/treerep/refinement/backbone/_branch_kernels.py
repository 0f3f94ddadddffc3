"""Kernels that join points attached to the same part of a tree into branches."""

from typing import Any

from ..._core.kernel import kernel
from ...fitting.rooted._gromov_kernels import find_leader


@kernel
def join_branches(
    first: Any,
    second: Any,
    shared: Any,
    short: float,
    height: Any,
    above: Any,
    top: Any,
    edges: Any,
    lengths: Any,
) -> int:
    """Join clusters of points in decreasing order of their shared height.

    Joining stops when the shared height is at most `short`.

    Point i is attached at position above[i] by an edge of length height[i]. Each cluster is
    represented by one of its points, i. top[i] is the tree node of the cluster: i itself for a
    point, n + k for the k-th join. A branch is attached at the mean position of its points. On
    return, height[i] is -1 for points that do not represent a cluster. Returns the number of
    joins.
    """
    n = len(height)
    leader = top.copy()
    count = top.copy()
    count[:] = 1
    joins = 0
    for k in range(len(first)):
        if shared[k] <= short:
            break
        a = find_leader(leader, first[k])
        b = find_leader(leader, second[k])
        node = n + joins
        # Distances to the tree do not change: the shared part is part of both heights.
        rise = min(shared[k], height[a], height[b])
        edges[2 * joins, 0] = top[a]
        edges[2 * joins, 1] = node
        lengths[2 * joins] = height[a] - rise
        edges[2 * joins + 1, 0] = top[b]
        edges[2 * joins + 1, 1] = node
        lengths[2 * joins + 1] = height[b] - rise
        above[a] = (count[a] * above[a] + count[b] * above[b]) / (count[a] + count[b])
        count[a] += count[b]
        height[a] = rise
        height[b] = -1.0
        top[a] = node
        leader[b] = a
        joins += 1
    return joins
