"""networkx graphs in."""

from math import inf
from typing import TYPE_CHECKING, Any

from scipy.sparse import csr_array

from ..metric.base import MetricError

if TYPE_CHECKING:
    import networkx as nx


def read_graph(graph: "nx.Graph", weight: str | None = None) -> tuple[csr_array, list[Any]]:
    """Return the lengths of the edges of an undirected networkx graph as a sparse matrix, and the names of its nodes.

    Nodes come in the graph's own order. Of parallel edges the shortest counts. Every edge has length 1 unless `weight`
    names the attribute that holds it.

    >>> import networkx as nx
    >>> lengths, names = read_graph(nx.Graph([("a", "b"), ("b", "c")]))
    >>> lengths.nnz, names
    (4, ['a', 'b', 'c'])
    """
    if graph.is_directed():
        raise MetricError("the graph is directed, but a metric is symmetric: pass G.to_undirected()")
    names = list(graph)
    lengths = _edge_lengths(graph, {name: point for point, name in enumerate(names)}, weight)
    ends = [(u, v) for u, v in lengths] + [(v, u) for u, v in lengths if u != v]
    values = list(lengths.values()) + [length for (u, v), length in lengths.items() if u != v]
    rows, columns = zip(*ends, strict=True) if ends else ((), ())
    return csr_array((values, (rows, columns)), shape=(len(names), len(names)), dtype=float), names


def _edge_lengths(graph: Any, point: dict[Any, int], weight: str | None) -> dict[tuple[int, int], float]:
    """Return the length of the shortest edge between every two points that have one."""
    lengths: dict[tuple[int, int], float] = {}
    for u, v, attributes in graph.edges(data=True):
        length = 1.0 if weight is None else _length(u, v, attributes, weight)
        i, j = sorted((point[u], point[v]))
        lengths[i, j] = min(length, lengths.get((i, j), inf))
    return lengths


def _length(u: Any, v: Any, attributes: dict[str, Any], weight: str) -> float:
    """Return an edge's length; the checks by value are GraphMetric's, but only here the nodes have names."""
    if weight not in attributes:
        raise MetricError(f"edge ({u!r}, {v!r}) has no attribute {weight!r}: set it on every edge, or pass weight=None")
    try:
        length = float(attributes[weight])
    except (TypeError, ValueError) as error:
        raise MetricError(
            f"{weight!r} of edge ({u!r}, {v!r}) is {attributes[weight]!r}, which is not a number: fix or drop it"
        ) from error
    if not 0 < length < inf and not (u == v and length == 0):
        raise MetricError(
            f"{weight!r} of edge ({u!r}, {v!r}) is {length}, but lengths are positive: fix it, or merge the nodes"
        )
    return length
