"""Reader for NetworKit graphs."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from ..metric.base import MetricError
from ._edges import edge_lengths, edge_matrix

if TYPE_CHECKING:
    import networkit


def read_graph(
    graph: "networkit.Graph", weight: str | None = None, *, similarity: bool = False
) -> tuple[csr_array, list[str] | None]:
    """Return the edge lengths of an undirected NetworKit graph, and the labels of its nodes.

    Node numbers become labels if nodes were removed. The shortest of parallel edges is kept.
    Every edge has length 1 unless weight="weight", which uses the weights of the graph.

    >>> import networkit
    >>> graph = networkit.Graph(3)
    >>> graph.addEdge(0, 1), graph.addEdge(1, 2)
    (True, True)
    >>> read_graph(graph)[0].nnz
    4
    """
    if graph.isDirected():
        raise MetricError(
            "the graph is directed, but a metric is symmetric: pass networkit.graphtools.toUndirected(G)"
        )
    if weight not in (None, "weight"):
        raise MetricError(f"unknown weight={weight!r}: pass weight='weight' to use NetworKit's edge weights")
    if weight is not None and not graph.isWeighted():
        raise MetricError("the graph has no weights: pass weight=None, or a graph created with weighted=True")
    nodes = np.fromiter(graph.iterNodes(), np.int64, graph.numberOfNodes())
    edges = list(graph.iterEdgesWeights())
    table = np.array(edges, dtype=np.float64).reshape(-1, 3)
    ends = np.searchsorted(nodes, table[:, :2].astype(np.int64))
    names = nodes.tolist()
    lengths = np.ones(len(ends))
    if weight is not None:
        lengths = edge_lengths(table[:, 2].tolist(), ends, names, weight, similarity)
    complete = len(nodes) == 0 or names[-1] == len(nodes) - 1
    labels = None if complete else [str(node) for node in names]
    return edge_matrix(len(nodes), ends, lengths, similarity), labels
