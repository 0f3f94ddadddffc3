"""networkx graphs in."""

from math import inf
from typing import TYPE_CHECKING, Any

from scipy.sparse import csr_array

from ..common.extras import require
from ..metric.base import MetricError
from ..metric.graph import GraphMetric

if TYPE_CHECKING:
    import networkx as nx


def graph_metric(graph: "nx.Graph", weight: str | None = None, *, largest_component: bool = False) -> GraphMetric:
    """Return the shortest-path metric of an undirected networkx graph.

    Points are the nodes in the graph's own order, and their names, as strings, the labels.

    Parameters
    ----------
    graph : networkx.Graph or MultiGraph
        Of parallel edges the shortest counts; self-loops do not matter.
    weight : str, optional
        Edge attribute that holds the length; None, as in networkx, counts edges.
    largest_component : bool
        Keep the largest connected component of a disconnected graph instead of refusing it.

    Examples
    --------
    >>> import networkx as nx
    >>> m = graph_metric(nx.Graph([("a", "b"), ("b", "c")]))
    >>> m.labels, m.pairs(0, 2)
    (('a', 'b', 'c'), array(2.))
    """
    if not isinstance(graph, require("networkx", "networkx").Graph):
        raise TypeError(f"this takes a networkx graph, not {type(graph).__name__}: give other graphs to GraphMetric")
    if graph.is_directed():
        raise MetricError("the graph is directed, but a metric is symmetric: pass G.to_undirected()")
    names = list(graph)
    lengths = _edge_lengths(graph, {name: point for point, name in enumerate(names)}, weight)
    ends = [(u, v) for u, v in lengths] + [(v, u) for u, v in lengths if u != v]
    values = list(lengths.values()) + [length for (u, v), length in lengths.items() if u != v]
    rows, columns = zip(*ends, strict=True) if ends else ((), ())
    adjacency = csr_array((values, (rows, columns)), shape=(len(names), len(names)), dtype=float)
    return GraphMetric(adjacency, labels=names, largest_component=largest_component)


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


def convert(graph: "nx.Graph", metric: str | None, **options: Any) -> GraphMetric:
    """Turn a graph into a metric for `as_metric`."""
    for name in options.keys() - {"weight", "largest_component"}:
        raise MetricError(f"{name} does not apply to a networkx graph: leave it out")
    if metric is not None:
        raise MetricError(f"a networkx graph has its own distances: leave metric={metric!r} out")
    return graph_metric(graph, **options)
