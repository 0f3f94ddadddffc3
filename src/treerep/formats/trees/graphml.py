"""Reader and writer for trees in GraphML, with the attributes of `Tree.to_networkx`.

Nodes have `label` and `steiner`, the root has `root`, and edges have `weight` and `support`.
"""

import math
import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from ...tree.exchange.node_graphs import number_nodes
from ...tree.tree import Tree
from .._graphml_parser import GraphML
from .._node_attributes import Column, refuse_names
from .._source import Source
from ..data.graphml import node_name

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TYPES = {"number": "double", "boolean": "boolean", "text": "string"}
_TRUE = ("true", "1")
_FALSE = ("false", "0")


def write(tree: Tree, *, attributes: dict[str, Column] | None = None) -> str:
    """Return the text of a GraphML file. Nodes have the ids of the tree."""
    return "".join(_pieces(tree, attributes or {}))


def _pieces(tree: Tree, attributes: dict[str, Column]) -> Iterator[str]:
    rooted = () if tree.root is None else ("root",)
    refuse_names(attributes, ("label", "steiner", *rooted), "GraphML")
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield '<key id="steiner" for="node" attr.name="steiner" attr.type="boolean"/>\n'
    if rooted:
        yield '<key id="root" for="node" attr.name="root" attr.type="boolean"/>\n'
    columns = dict(attributes)
    if tree.labels is not None or tree.clade_names:
        labels = tree.labels or tuple(map(str, range(tree.n_points)))
        columns = {"label": Column("text", list(labels)), **columns}
    for k, (name, column) in enumerate(columns.items()):
        quoted = quoteattr(_checked(name))
        kind = _TYPES[column.kind]
        yield f'<key id="n{k}" for="node" attr.name={quoted} attr.type="{kind}"/>\n'
    for key in ("weight", "support")[: 1 if tree.support is None else 2]:
        yield f'<key id="{key}" for="edge" attr.name="{key}" attr.type="double"/>\n'
    yield '<graph edgedefault="undirected">\n'
    for point in range(tree.n_points):
        data = (_data(f"n{k}", column.values[point]) for k, column in enumerate(columns.values()))
        mark = _mark(tree, point)
        yield f'<node id="{point}"><data key="steiner">false</data>{mark}{"".join(data)}</node>\n'
    clades = tree.clade_names
    for node in range(tree.n_points, tree.n_nodes):
        name = _data("n0", clades[node]) if node in clades else ""
        mark = _mark(tree, node)
        yield f'<node id="{node}"><data key="steiner">true</data>{mark}{name}</node>\n'
    support = [math.nan] * len(tree.edges)
    if tree.support is not None:
        support = tree.support.tolist()
    for (u, v), weight, share in zip(tree.edges.tolist(), tree.weights.tolist(), support, strict=True):
        sure = "" if math.isnan(share) else f'<data key="support">{share}</data>'
        yield f'<edge source="{u}" target="{v}"><data key="weight">{weight}</data>{sure}</edge>\n'
    yield "</graph>\n</graphml>\n"


def _mark(tree: Tree, node: int) -> str:
    return '<data key="root">true</data>' if node == tree.root else ""


def _data(key: str, value: object) -> str:
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'<data key="{key}">{escape(_checked(text), {chr(13): "&#13;"})}</data>'


def _checked(text: str) -> str:
    wrong = _FORBIDDEN.search(text)
    if wrong:
        raise ValueError(
            f"{text!r} contains the character {wrong.group()!r}, which XML does not allow: rename the point"
        )
    return text


def read(source: Source, *, default_length: float | None = None) -> Tree:
    """Read the single undirected tree of a GraphML file.

    Nodes are points unless their attribute `steiner` is true. Labels are the attribute `label` or
    `name`, or the id if a node has neither attribute. The root has the attribute `root`. Edges have
    the attributes `weight` and `support`. Other attributes are ignored.
    """
    known = "label", "name", "steiner", "root"
    graph = GraphML(source, nodes=known, edges=("weight", "support"))
    names: list[str | None] = []
    clades = {}
    roots = []
    for node, identifier in enumerate(graph.ids):
        inner = _is_true(graph, "steiner", node)
        names.append(None if inner else node_name(graph, node, identifier))
        clade = graph.value("node", "label", node) if inner else None
        if clade:
            clades[node] = clade
        if _is_true(graph, "root", node):
            roots.append(node)
    if len(roots) > 1:
        graph.fail("another node is the root too: keep one root", "node", roots[1])
    ends = graph.ends
    weights = [_number(graph, "weight", edge, default_length) for edge in range(len(ends))]
    support = [_number(graph, "support", edge, math.nan) for edge in range(len(ends))]
    top = roots[0] if roots else None
    return Tree._of_fields(number_nodes(names, ends, weights, support, root=top, clades=clades))


def _is_true(graph: GraphML, name: str, node: int) -> bool:
    written = (graph.value("node", name, node) or "false").strip().lower()
    if written not in _TRUE + _FALSE:
        graph.fail(f"{name} must be true or false, got {written[:40]!r}: correct it", "node", node)
    return written in _TRUE


def _number(graph: GraphML, name: str, edge: int, default: float | None) -> float:
    number = graph.number(name, edge)
    if number is None:
        if default is None:
            graph.fail(
                "this edge has no weight: add one, or pass default_length=1.0 for all",
                "edge",
                edge,
            )
        return default
    if not 0 <= number < math.inf:
        graph.fail(
            f"the {name} of this edge is {number}, but it must be at least 0: correct it",
            "edge",
            edge,
        )
    return number
