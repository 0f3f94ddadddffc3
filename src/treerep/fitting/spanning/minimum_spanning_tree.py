"""The minimum spanning tree, by Prim's algorithm (Prim 1957)."""

import numpy as np

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._graphs import check_root, joining_edges, sparse_graph
from ._prim import prim_complete
from ._spanning_kernels import grow_tree


def minimum_spanning_tree(
    metric: Metric,
    *,
    graph: str | None = None,
    k: int | None = None,
    root: int | str | None = None,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Tree:
    """Return the spanning tree of least total length.

    The tree has no Steiner nodes. If the triangle inequality holds, no distance becomes shorter.
    For data that is not a graph, the tree spans the complete graph, which is never stored
    (``graph="complete"``, the default), or the graph of nearest neighbors (``graph="knn"``).

    See Also
    --------
    fit : Fit a tree by any method.
    methods.bfs : Shortest paths from a root.
    methods.low_stretch : A spanning tree of low stretch.

    Notes
    -----
    Exact on trees whose nodes are all data points. O(n^2) time, or O(edges log n) for a graph;
    O(n) memory.

    If edges have equal lengths, the minimum spanning tree is not unique. In an unweighted graph
    every spanning tree is minimal. The tree grows from the point `root`, a random point by default.
    Among equally short edges, the algorithm takes the edge whose end has been in the tree longest,
    and then the edge to the point of smallest index. In an unweighted graph, the result is a
    breadth-first tree. Published scores of minimum spanning trees of unweighted graphs depend on
    unpublished rules.

    Prim, Bell Syst. Tech. J. 36, 1957.
    """
    rows = sparse_graph(metric, graph, k, n_jobs)
    n = len(metric)
    start = int(rng.integers(n)) if root is None else check_root(root, n, metric.labels)
    if rows is not None:
        joined_by = grow_tree(rows.indptr, rows.indices, rows.data, start, False)
        edges, lengths = joining_edges(rows, joined_by)
        return finished_tree(metric, edges, lengths)
    parents, lengths = prim_complete(metric, start)
    points = np.delete(np.arange(n), start)
    edges = np.column_stack([parents[points], points])
    return finished_tree(metric, edges, lengths[points])
