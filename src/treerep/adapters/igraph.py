"""Reader for igraph graphs."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from ..metric.base import MetricError
from ._edges import edge_lengths, edge_matrix

if TYPE_CHECKING:
    import igraph


def read_graph(
    graph: "igraph.Graph", weight: str | None = None, *, similarity: bool = False
) -> tuple[csr_array, list[str] | None]:
    """Return the edge lengths of an undirected igraph graph, and the names of its vertices.

    Names are the vertex attribute "name", if it exists. The shortest of parallel edges is
    kept. Every edge has length 1 unless `weight` names an attribute with lengths.

    >>> import igraph
    >>> lengths, names = read_graph(igraph.Graph.TupleList([("a", "b"), ("b", "c")]))
    >>> lengths.nnz, names
    (4, ['a', 'b', 'c'])
    """
    if graph.is_directed():
        raise MetricError("the graph is directed, but a metric is symmetric: pass G.as_undirected()")
    names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    lengths = np.ones(len(ends))
    if weight is not None:
        if weight not in graph.es.attributes():
            raise MetricError(
                f"the edges have no attribute {weight!r}: set it on every edge, or pass weight=None"
            )
        lengths = edge_lengths(graph.es[weight], ends, names or range(graph.vcount()), weight, similarity)
    return edge_matrix(graph.vcount(), ends, lengths, similarity), names
