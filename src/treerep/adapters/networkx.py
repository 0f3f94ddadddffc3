"""Reader for networkx graphs."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from ..metric.base import MetricError
from ._edges import edge_lengths, edge_matrix

if TYPE_CHECKING:
    import networkx as nx


def read_graph(
    graph: "nx.Graph", weight: str | None = None, *, similarity: bool = False
) -> tuple[csr_array, list[object]]:
    """Return the edge lengths of an undirected networkx graph, and the names of its nodes.

    Nodes keep their order. The shortest of parallel edges is kept. Every edge has length 1
    unless `weight` names an attribute with lengths.

    >>> import networkx as nx
    >>> lengths, names = read_graph(nx.Graph([("a", "b"), ("b", "c")]))
    >>> lengths.nnz, names
    (4, ['a', 'b', 'c'])
    """
    if graph.is_directed():
        raise MetricError("the graph is directed, but a metric is symmetric: pass G.to_undirected()")
    names = list(graph)
    point = {name: number for number, name in enumerate(names)}
    pairs = [(point[u], point[v]) for u, v in graph.edges()]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    lengths = np.ones(len(ends))
    if weight is not None:
        lengths = edge_lengths(_values(graph, weight), ends, names, weight, similarity)
    return edge_matrix(len(names), ends, lengths, similarity), names


def _values(graph: "nx.Graph", weight: str) -> list[object]:
    values = []
    for u, v, attributes in graph.edges(data=True):
        if weight not in attributes:
            raise MetricError(
                f"edge ({u!r}, {v!r}) has no attribute {weight!r}: set it on every edge, or pass weight=None"
            )
        values.append(attributes[weight])
    return values
