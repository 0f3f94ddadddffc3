"""Join points that hang off the same part of a tree into branches."""

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
    """Join clusters of points in the order of falling shared heights.

    Joining ends when they share no more than `short`.

    Point i hangs at position above[i] by an edge of length height[i]. Clusters are known by one
    of their points; that of the tree's node is top[i]: i itself for a point, and n + k for the
    k-th join. A branch hangs at the mean position of its points. Afterwards height[i] is -1 for
    points that do not stand for a cluster. Returns the number of joins.
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
        # Distances from the tree are kept: what two clusters share is part of the height of
        # both.
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
