"""Trees in which every data point is a leaf."""

import numpy as np
from numpy.typing import NDArray


def points_inside(edges: NDArray[np.int64], n_points: int, root: int | None) -> NDArray[np.int64]:
    """Return the data points that are not leaves of the rooted tree.

    If no Steiner node can be the root, point 0 is among these points, because a root has branches.

    >>> points_inside(np.array([[0, 1], [1, 2]]), 3, None)
    array([1])
    """
    degrees = np.bincount(edges.ravel(), minlength=n_points)
    inside = degrees[:n_points] > 1
    if len(edges) and root is not None and root < n_points:
        inside[root] = True
    if len(edges) == 1 and root is None and n_points == 2:
        inside[0] = True
    return np.flatnonzero(inside)


def leaf_edges(
    edges: NDArray[np.int64], weights: NDArray[np.float64], inside: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Replace some points by new Steiner nodes, and attach the points to these nodes as leaves.

    Returns edges, lengths, and the node that takes the place of each former node.
    """
    n_nodes = len(edges) + 1
    nodes = np.arange(n_nodes)
    nodes[inside] = n_nodes + np.arange(len(inside))
    new = np.column_stack([inside, nodes[inside]])
    lengths = np.concatenate([weights, np.zeros(len(inside))])
    return np.concatenate([nodes[edges], new]), lengths, nodes
