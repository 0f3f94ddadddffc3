"""Kernels of rooted clustering.

Gromov products, Prim's tree, linkage, and the tree of a dendrogram.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel

# Rows and columns of a tile: 64 lines of 64 bytes.
_TILE = 64


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
def negate_products(matrix: Any, depth: Any) -> None:
    """Overwrite distances by minus the products, which are small if points are close."""
    n = len(depth)
    for x in range(n):
        for y in range(n):
            matrix[x, y] = -gromov_product(depth[x], depth[y], matrix[x, y])


@kernel
def link(matrix: Any, complete: bool) -> Any:
    """Cluster by average or complete linkage with nearest-neighbor chains.

    O(n^2). Only entries above the diagonal are read.

    Returns two points, one from each cluster, and the height of every merge. Merges are not
    sorted by height, but the merges inside a cluster precede the merge of the cluster. The
    matrix is overwritten.

    A merge writes only the row of the new cluster, because columns are slow to write. The row of any
    other cluster is brought up to date before it is read.
    """
    n = len(matrix)
    _mirror(matrix)
    first = np.empty(n - 1, np.int64)
    second = np.empty(n - 1, np.int64)
    height = np.empty(n - 1)
    # each cluster is represented by one of its points; 0 for all other points
    size = np.ones(n, np.int64)
    seen = np.zeros(n, np.int64)  # number of merges that a row includes
    chain = np.empty(n, np.int64)
    length = 0
    start = 0
    for k in range(n - 1):
        if length == 0:
            while size[start] == 0:
                start += 1
            chain[0] = start
            length = 1
        while True:
            x = chain[length - 1]
            _update(matrix, x, first, second, seen, k)
            # among equally close clusters, the previous cluster, so that chains do not cycle
            y = _nearest(matrix[x], chain[length - 2] if length > 1 else x)
            if length > 1 and y == chain[length - 2]:
                break
            chain[length] = y
            length += 1
        length -= 2
        _update(matrix, y, first, second, seen, k)
        first[k] = x
        second[k] = y
        height[k] = matrix[x, y]
        _unite(matrix, x, y, size, complete)
        seen[y] = k + 1
    return first, second, height


@helper
def _mirror(matrix: Any) -> None:
    """Copy the entries above the diagonal below it, in tiles that fit in a cache."""
    n = len(matrix)
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    matrix[i, j] = matrix[j, i]
    for i in range(n):
        matrix[i, i] = np.inf


@helper
def _update(matrix: Any, x: int, first: Any, second: Any, seen: Any, merges: int) -> None:
    """Bring the row of x up to date. The row of a cluster that grew later has its distance to x."""
    row = matrix[x]
    for k in range(seen[x], merges):
        row[second[k]] = matrix[second[k], x]
        row[first[k]] = np.inf
    seen[x] = merges


@helper
def _nearest(row: Any, y: int) -> int:
    """Return the position of the smallest entry: y, or else the first position."""
    n = len(row)
    # Four independent minima, because each comparison waits for the one before.
    a = b = c = d = row[y]
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        a = min(a, row[i])
        b = min(b, row[i + 1])
        c = min(c, row[i + 2])
        d = min(d, row[i + 3])
    for i in range(whole, n):
        a = min(a, row[i])
    least = min(min(a, b), min(c, d))
    if row[y] == least:
        return y
    i = 0
    while row[i] != least:
        i += 1
    return i


@helper
def _unite(matrix: Any, x: int, y: int, size: Any, complete: bool) -> None:
    """Let y represent the clusters of x and y, and let x represent no cluster."""
    share = size[x] / (size[x] + size[y])
    size[y] += size[x]
    size[x] = 0
    of_x = matrix[x]
    of_y = matrix[y]
    for i in range(len(size)):
        low = min(of_x[i], of_y[i])
        high = max(of_x[i], of_y[i])
        # If rounding moved a mean out of its range, chains could cycle.
        mean = max(low, min(share * of_x[i] + (1.0 - share) * of_y[i], high))
        of_y[i] = high if complete else mean
    of_y[x] = of_y[y] = np.inf


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
