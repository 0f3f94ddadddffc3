"""Kernels of rooted clustering.

Gromov products, Prim's tree, and the tree of a dendrogram.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel


@helper
def gromov_product(x: float, y: float, xy: float) -> float:
    """Return the Gromov product of two points: the length that their paths from the root share.

    x and y are the depths of the points. Values outside 0 ... min(x, y), from a violated
    triangle inequality or from rounding, are clipped, because they are impossible in a tree.
    """
    # (x, y)_r = (d(r, x) + d(r, y) - d(x, y)) / 2
    return max(0.0, min(0.5 * (x + y - xy), x, y))


@kernel
def extend(x: int, row: Any, depth: Any, best: Any, nearest: Any) -> int:
    """Add x, with these distances, to Prim's tree; return the next point to add.

    best[y] is the largest product of y with a point of the tree, nearest[y], or -1 if y is in the
    tree.
    """
    best[x] = -1.0
    following = x
    for y in range(len(row)):
        if best[y] < 0.0:
            continue
        product = gromov_product(depth[x], depth[y], row[y])
        if product > best[y]:
            best[y] = product
            nearest[y] = x
        if best[y] > best[following]:
            following = y
    return following


@kernel
def points_of_clusters(clusters: Any) -> Any:
    """Return a point of each of the two clusters of every merge.

    Points are clusters 0 ... n-1. Merge k makes cluster n + k.
    """
    n = len(clusters) + 1
    point = np.arange(2 * n - 1)
    first = np.empty(n - 1, np.int64)
    second = np.empty(n - 1, np.int64)
    for k in range(n - 1):
        first[k] = point[clusters[k, 0]]
        second[k] = point[clusters[k, 1]]
        point[n + k] = first[k]
    return first, second


@kernel
def dendrogram(first: Any, second: Any) -> Any:
    """Return the parent of each point and merge; -1 for the last merge, the top.

    Points are 0 ... n-1. Merge k, of the clusters of first[k] and second[k], is n + k.
    """
    n = len(first) + 1
    up = np.full(2 * n - 1, -1, np.int64)
    leader = np.arange(n)
    node = np.arange(n)
    for k in range(n - 1):
        a = find_leader(leader, first[k])
        b = find_leader(leader, second[k])
        up[node[a]] = up[node[b]] = n + k
        leader[b] = a
        node[a] = n + k
    return up


@helper
def find_leader(leader: Any, x: int) -> int:
    """Return the point that represents the cluster of x, and shorten the path to it."""
    while leader[x] != x:
        leader[x] = leader[leader[x]]
        x = leader[x]
    return x


@kernel
def tree_edges(up: Any, level: Any, root: int, tol: float) -> Any:
    """Write edges and lengths of a dendrogram with nodes at these distances from the root.

    The root is one of the points. A merge at most `tol` below another merge is combined with that
    merge into one node. A point at most `tol` below its merge replaces the merge. Distances are
    measured from the upper end, so they change by at most `tol`, however many nodes are combined.
    """
    n = (len(up) + 1) // 2
    top = 2 * n - 2
    place = np.arange(2 * n - 1)  # the merge with which a merge was combined
    for v in range(top - 1, n - 1, -1):
        above = place[up[v]]
        if level[v] - level[above] <= tol:
            place[v] = above
    name = np.arange(2 * n - 1)  # the point that replaced a merge
    name[top] = root
    edges = np.empty((2 * n - 2, 2), np.int64)
    lengths = np.empty(2 * n - 2)
    count = 0
    for v in range(top):
        if v == root or place[v] != v:
            continue
        above = place[up[v]]
        if v < n and name[above] == above and level[v] - level[above] <= tol:
            name[above] = v
            continue
        edges[count, 0] = v
        edges[count, 1] = above
        lengths[count] = level[v] - level[above]
        count += 1
    for e in range(count):
        edges[e, 0], edges[e, 1] = name[edges[e, 0]], name[edges[e, 1]]
    return edges[:count], lengths[:count]
