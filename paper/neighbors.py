"""Nearest-neighbor graphs, for methods that need a graph."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import treerep as tr

_ROWS = 512  # of distances at a time


def nearest_neighbors(metric: tr.Metric, k: int = 10) -> tr.GraphMetric:
    """Return the graph of the k nearest neighbors, with the shortest edges that connect it.

    If points are equally near, those with the smallest index are neighbors.
    """
    n = len(metric)
    points = np.arange(n)
    pairs = []
    for start in range(0, n, _ROWS):
        rows = points[start : start + _ROWS]
        block = metric.block(rows, points)
        block[np.arange(len(rows)), rows] = np.inf
        nearest = np.argsort(block, axis=1, kind="stable")[:, : min(k, n - 1)]
        pairs.append(np.column_stack([np.repeat(rows, nearest.shape[1]), nearest.ravel()]))
    edges = np.concatenate(pairs)
    graph = _graph(metric, edges)
    _, member = connected_components(graph, directed=False)
    if member.any():
        graph = _graph(metric, np.concatenate([edges, _bridges(metric, member)]))
    graph.data[:] = metric.pairs(*graph.nonzero())
    return tr.GraphMetric(graph)


def _graph(metric: tr.Metric, edges: NDArray[np.int64]) -> csr_array:
    """Return the symmetric matrix with a 1 for each edge."""
    i, j = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0).T
    return csr_array((np.ones(len(i)), (i, j)), shape=(len(metric), len(metric)))


def _bridges(metric: tr.Metric, member: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the shortest edges that connect the components.

    All of them are in a minimum spanning tree of all pairs, because any other edge between components is the longest of
    a cycle. So Kruskal's algorithm needs the edges of this tree only.
    """
    tree = tr.fit(metric, method="minimum_spanning_tree")
    member = member.copy()
    chosen = []
    for edge in np.argsort(tree.weights, kind="stable"):
        one, two = member[tree.edges[edge]]
        if one != two:
            member[member == two] = one
            chosen.append(tree.edges[edge])
    return np.array(chosen, np.int64).reshape(-1, 2)
