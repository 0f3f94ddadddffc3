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
    """Return the spanning tree of least total length; see `fit`.

    It has no Steiner nodes, and if the triangle inequality holds it never makes a distance
    shorter. For data that is not a graph it is that of all pairs, never stored (graph="complete",
    the default), or of the nearest neighbors (graph="knn").

    Where lengths are equal the tree is not unique, and on an unweighted graph every spanning
    tree is minimal. It is the point `root` that the tree grows from, a random one by default,
    and the rule for equals that decide there: of equally short edges the one joins whose end in
    the tree has been there longest, then the one to the point of smallest index. So the tree of
    an unweighted graph is a breadth-first one. Published scores of "the" minimum spanning tree
    of such a graph depend on rules that are not published.

    Exact on trees all of whose nodes are data points. O(n^2) time, or O(edges log n) of a
    graph; O(n) memory. Prim, Bell Syst. Tech. J. 36, 1957.
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
