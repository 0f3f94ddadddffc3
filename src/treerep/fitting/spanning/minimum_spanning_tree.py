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
    """Return the spanning tree of minimum total length; see `fit`.

    The tree has no Steiner nodes. If the triangle inequality holds, the tree never shortens a
    distance. For data that is not a graph, it spans all pairs, which are never stored
    (graph="complete", the default), or the nearest neighbors (graph="knn").

    If lengths are equal, the tree is not unique. On an unweighted graph every spanning tree is
    minimal. The point `root` from which the tree grows, by default a random one, and two rules
    then determine the tree. Among equally short edges, the edge whose end in the tree joined
    earliest is used. Remaining ties go to the point with the smallest index. The tree of an
    unweighted graph is therefore a breadth-first tree. Published scores of "the" minimum
    spanning tree of such a graph depend on unpublished rules.

    Exact on trees whose nodes are all data points. O(n^2) time, or O(edges log n) for a graph;
    O(n) memory. Prim, Bell Syst. Tech. J. 36, 1957.
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
