"""The tree of shortest paths from one point.

The paths come from breadth-first search, or from Dijkstra's algorithm if edges have lengths.
"""

import numpy as np

from ...metric.base import Metric
from ...tree.tree import Tree
from .._distances import checked_block
from .._finished_tree import finished_tree
from ._graphs import central_point, check_root, joining_edges, sparse_graph
from ._spanning_kernels import grow_tree


def bfs(
    metric: Metric,
    *,
    graph: str | None = None,
    k: int | None = None,
    root: int | str | None = None,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Tree:
    """Return the tree of shortest paths from a root.

    The default root is the point of least total distance. For data that is not a graph, the tree of
    the complete graph (``graph="complete"``, the default) is a star around the root. With
    ``graph="knn"``, paths lead from neighbor to neighbor, and distances from the root are those in
    the graph of nearest neighbors.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.minimum_spanning_tree : The shortest spanning tree.
    methods.level_tree : A tree with a guarantee for graphs.

    Notes
    -----
    Distances from the root are exact, and other distances never become shorter. Among several
    shortest paths, the path whose last node has the smallest index is used.

    O(n^2) time, or O(edges log n) for a graph, and up to n more searches to find the default
    root; O(n) memory. Dijkstra, Numer. Math. 1, 1959.
    """
    rows = sparse_graph(metric, graph, k, n_jobs)
    n = len(metric)
    start = central_point(metric, rng) if root is None else check_root(root, n, metric.labels)
    if rows is not None:
        joined_by = grow_tree(rows.indptr, rows.indices, rows.data, start, True)
        edges, lengths = joining_edges(rows, joined_by)
        return finished_tree(metric, edges, lengths)
    others = np.delete(np.arange(n), start)
    lengths = checked_block(metric, np.array([start]), others)[0]
    star = np.column_stack([np.full(n - 1, start), others])
    return finished_tree(metric, star, lengths)
