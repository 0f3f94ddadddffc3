"""Reader for graphs in GraphML: see `_graphml_parser`."""

import numpy as np
from numpy.typing import NDArray

from ...metric.base import Metric
from .._graphml_parser import GraphML
from .._request import Request
from .._source import Source
from .edges import check_lengths


def read(source: Source, request: Request) -> Metric:
    """Read a GraphML file. Edges have length 1 unless `weight` names an attribute.

    Labels of nodes are the attribute `label` or `name`, as in trees, if all values are
    distinct. Otherwise, the labels are the ids.
    """
    if request.kind not in (None, "graph"):
        raise request.not_a("a GraphML file")
    weight = request.weight if isinstance(request.weight, str) else None
    graph = GraphML(source, nodes=("label", "name"), edges=() if weight is None else (weight,))
    names = _names(graph)
    last = len(names) - 1
    # A self-loop at the last node does not change paths and sets the number of nodes.
    ends = np.append(graph.ends, [[last, last]], axis=0)
    lengths = None if weight is None else np.append(_lengths(graph, weight), 1.0)
    check_lengths(ends, lengths, names)
    return request.graph(ends, weights=lengths, labels=names)


def node_name(graph: GraphML, node: int, identifier: str) -> str:
    """Return the attribute `label` or `name` of a node, or its id."""
    label = graph.value("node", "label", node)
    name = graph.value("node", "name", node) if label is None else label
    return identifier if name is None else name


def _names(graph: GraphML) -> list[str]:
    names = [node_name(graph, node, identifier) for node, identifier in enumerate(graph.ids)]
    return names if len(set(names)) == len(names) else graph.ids


def _lengths(graph: GraphML, weight: str) -> NDArray[np.float64]:
    if not graph.has_edge_key(weight):
        raise ValueError(f"edges have no attribute {weight!r}: use a declared attribute")
    lengths = np.empty(len(graph.ends))
    for edge in range(len(lengths)):
        length = graph.number(weight, edge)
        if length is None:
            graph.fail(
                f"this edge has no {weight!r}: set it on every edge, or leave out weight",
                "edge",
                edge,
            )
        lengths[edge] = length
    return lengths
