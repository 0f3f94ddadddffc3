"""Kernel of consensus trees: add compatible clusters to a tree, one after the other."""

from typing import Any

import numpy as np

from ..._core.kernel import kernel


@kernel
def add_clusters(
    orders: Any, starts: Any, sizes: Any, n_points: int, parent: Any, size: Any, accepted: Any
) -> int:
    """Add the clusters that are compatible with earlier clusters; return the number of nodes.

    A cluster fits if it is the union of some children of one node v. The points of the cluster are
    marked, and so is every node below which all points are marked. Then v is the only node with
    some, but not all, of its points marked. O(size of the cluster).

    Parameters
    ----------
    orders : nodes of all trees in preorder, one tree after the other
    starts, sizes : (C,) the nodes of cluster c are orders[starts[c] : starts[c] + sizes[c]]
    n_points : points 1 ... n-1 are leaves below node n; point 0 is above node n
    parent, size : (2n,) parents and numbers of points, written
    accepted : (C,) the node of each cluster, or -1, written
    """
    for point in range(n_points):
        parent[point] = n_points
        size[point] = 1
    parent[n_points] = -1
    size[n_points] = n_points - 1
    marked = np.zeros(2 * n_points, np.int32)  # number of marked points below
    touched = np.empty(2 * n_points, np.int32)
    full = np.empty(2 * n_points, np.int32)
    n_nodes = n_points + 1
    for c in range(len(starts)):
        n_touched = 0
        n_full = 0
        total = 0
        for k in range(starts[c], starts[c] + sizes[c]):
            if orders[k] >= n_points:
                continue
            total += 1
            node = orders[k]
            marked[node] = 1
            touched[n_touched] = node
            n_touched += 1
            # A node is full once, so all climbs together take linear time.
            while marked[node] == size[node]:
                full[n_full] = node
                n_full += 1
                above = parent[node]
                if above < 0:
                    break
                if marked[above] == 0:
                    touched[n_touched] = above
                    n_touched += 1
                marked[above] += size[node]
                node = above
        top = -1  # the one node with some of its points marked
        fits = True
        for k in range(n_touched):
            node = touched[k]
            if marked[node] < size[node]:
                fits = fits and top < 0
                top = node
        accepted[c] = -1
        if fits and top >= 0 and marked[top] == total:
            for k in range(n_full):
                if parent[full[k]] == top:
                    parent[full[k]] = n_nodes
            parent[n_nodes] = top
            size[n_nodes] = total
            accepted[c] = n_nodes
            n_nodes += 1
        for k in range(n_touched):
            marked[touched[k]] = 0
    return n_nodes
