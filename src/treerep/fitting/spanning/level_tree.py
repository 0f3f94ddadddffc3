"""LevelTree: the layering tree on the vertices of a graph.

Chepoi, Dragan, Estellon, Habib and Vaxes (SoCG 2008).
"""

import numpy as np

from ...metric.base import Metric
from ...metric.graph import GraphMetric
from ...tree.tree import Tree
from .._distances import checked_pairs
from .._finished_tree import finished_tree
from ._graphs import central_point, check_root, sparse_graph
from ._level_tree_kernels import layer_parents


def level_tree(
    metric: Metric,
    *,
    graph: str | None = None,
    k: int | None = None,
    root: int | str | None = None,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Tree:
    """Return the level tree (layering tree) of a graph.

    Layer k contains the vertices k edges away from the root. The default root is the point of least
    total distance. Vertices of one layer that are connected without coming nearer to the root form
    a cluster. All vertices of a cluster are joined to the same vertex of the layer above: the
    neighbor of smallest index. For data that is not a graph, the graph of the `k` nearest neighbors
    is used.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.bfs : Shortest paths from a root.

    Notes
    -----
    Exact on unweighted trees. In an unweighted graph, every edge has length 1, and d_T - 2 <= d <=
    d_T + D. D is the largest distance within a cluster, O(delta log n) in a delta-hyperbolic graph.
    For a graph with edge lengths, there is no guarantee, and the layers still count edges. The
    length of a tree edge is the distance between its ends.

    One sweep from the last layer to the first finds the clusters, in near O(edges) time and
    O(edges) memory. The published baseline compares clusters pairwise, in O(n^3) in practice,
    and its root is vertex 1.

    Chepoi, Dragan, Estellon, Habib and Vaxes, SoCG 2008.
    """
    if graph is None and not isinstance(metric, GraphMetric):
        graph = "knn"
    rows = sparse_graph(metric, graph, k, n_jobs)
    if rows is None:
        raise ValueError("every level tree of the complete graph is a star: use graph='knn' or method='bfs'")
    n = len(metric)
    start = central_point(metric, rng) if root is None else check_root(root, n, metric.labels)
    points = np.delete(np.arange(n), start)
    parents = layer_parents(rows.indptr, rows.indices, start)[points]
    unweighted = isinstance(metric, GraphMetric) and not metric.weighted
    lengths = np.ones(n - 1) if unweighted else checked_pairs(metric, points, parents.astype(np.int64))
    return finished_tree(metric, np.column_stack([parents, points]), lengths)
