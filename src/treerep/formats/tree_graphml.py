"""GraphML: nodes with `label` and `steiner`, edges with `weight` and `support`, as `Tree.to_networkx` has them."""

import math
import re
from collections.abc import Iterator
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from ..tree.exchange import number_nodes
from ..tree.tree import Tree
from .attributes import Column, refuse_names

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBER = re.compile(r"\s*+[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?\s*+")
_TYPES = {"number": "double", "boolean": "boolean", "text": "string"}
_TRUE, _FALSE = ("true", "1"), ("false", "0")


def write(tree: Tree, *, attributes: dict[str, Column] | None = None) -> str:
    """Return the text of a GraphML file; nodes have the ids of the tree."""
    return "".join(_pieces(tree, attributes or {}))


def _pieces(tree: Tree, attributes: dict[str, Column]) -> Iterator[str]:
    refuse_names(attributes, ("label", "steiner"), "GraphML")
    yield '<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield '<key id="steiner" for="node" attr.name="steiner" attr.type="boolean"/>\n'
    columns = dict(attributes)
    if tree.labels is not None:
        columns = {"label": Column("text", list(tree.labels)), **columns}
    for k, (name, column) in enumerate(columns.items()):
        yield f'<key id="n{k}" for="node" attr.name={quoteattr(_checked(name))} attr.type="{_TYPES[column.kind]}"/>\n'
    for key in ("weight", "support")[: 1 if tree.support is None else 2]:
        yield f'<key id="{key}" for="edge" attr.name="{key}" attr.type="double"/>\n'
    yield '<graph edgedefault="undirected">\n'
    for point in range(tree.n_points):
        data = (_data(f"n{k}", column.values[point]) for k, column in enumerate(columns.values()))
        yield f'<node id="{point}"><data key="steiner">false</data>{"".join(data)}</node>\n'
    for node in range(tree.n_points, tree.n_nodes):
        yield f'<node id="{node}"><data key="steiner">true</data></node>\n'
    support = [math.nan] * len(tree.edges) if tree.support is None else tree.support.tolist()
    for (u, v), weight, share in zip(tree.edges.tolist(), tree.weights.tolist(), support, strict=True):
        sure = "" if math.isnan(share) else f'<data key="support">{share}</data>'
        yield f'<edge source="{u}" target="{v}"><data key="weight">{weight}</data>{sure}</edge>\n'
    yield "</graph>\n</graphml>\n"


def _data(key: str, value: object) -> str:
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'<data key="{key}">{escape(_checked(text), {chr(13): "&#13;"})}</data>'


def _checked(text: str) -> str:
    wrong = _FORBIDDEN.search(text)
    if wrong:
        raise ValueError(f"{text!r} holds {wrong.group()!r}, a character that XML does not allow: rename the point")
    return text


def read(text: str, *, default_length: float | None = None) -> Tree:
    """Read the one undirected tree of a GraphML file.

    Nodes are data points unless their attribute `steiner` says otherwise; their names are the attribute `label` or
    `name`, or else the id. Lengths are the attribute `weight` of edges, support is `support`; others are ignored.
    """
    reader = _Reader(text)
    return reader.tree(default_length)


class _Reader:
    """What has been met so far, each node and edge with its values and the line where it begins."""

    def __init__(self, text: str) -> None:
        self.keys: dict[str, tuple[str, str]] = {}  # id of a key: what it is for, and its name
        self.defaults: dict[tuple[str, str], str] = {}
        self.nodes: dict[str, tuple[int, dict[str, str]]] = {}
        self.edges: list[tuple[int, str, str, dict[str, str]]] = []
        self.values: dict[str, str] | None = None  # of the node or edge that is open
        self.kind = self.key = ""
        self.inside: list[str] | None = None  # text of the <data> or <default> that is open
        self.graphs = 0
        parser = self.parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self._text, self._doctype
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise ValueError(
                f"GraphML, line {error.lineno} column {error.offset + 1}: this is no XML: {what}"
            ) from None

    def _fail(self, problem: str, line: int | None = None) -> NoReturn:
        raise ValueError(f"GraphML, line {self.parser.CurrentLineNumber if line is None else line}: {problem}")

    def _doctype(self, *_: object) -> None:
        self._fail("a document type is not expected in GraphML: remove the line")

    def _start(self, tag: str, given: dict[str, str]) -> None:
        tag = tag.rpartition(" ")[2]
        line = self.parser.CurrentLineNumber
        if tag == "key":
            self.keys[given.get("id", "")] = (given.get("for", "all"), given.get("attr.name", ""))
            self.kind, self.key = "key", given.get("id", "")
        elif tag == "graph":
            self.graphs += 1
            if self.graphs > 1 or given.get("edgedefault") == "directed":
                self._fail("a second or a directed graph: give one undirected tree")
        elif tag == "hyperedge" or (tag == "edge" and given.get("directed") in _TRUE):
            self._fail("a directed edge or a hyperedge: give an undirected tree")
        elif tag == "node":
            if given.get("id", "") in self.nodes:
                self._fail(f"the id {given.get('id', '')!r} occurs twice")
            self.kind, self.values = "node", {}
            self.nodes[given.get("id", "")] = line, self.values
        elif tag == "edge":
            self.kind, self.values = "edge", {}
            self.edges.append((line, given.get("source", ""), given.get("target", ""), self.values))
        elif tag == "data" or tag == "default":
            self.inside = []
            self.key = given.get("key", "") if tag == "data" else self.key

    def _text(self, data: str) -> None:
        if self.inside is not None:
            self.inside.append(data)

    def _end(self, tag: str) -> None:
        tag = tag.rpartition(" ")[2]
        if tag in ("node", "edge"):
            self.values = None
        elif tag in ("data", "default") and self.inside is not None:
            purpose, name = self.keys.get(self.key, ("", ""))
            content, self.inside = "".join(self.inside), None
            if tag == "default":
                self.defaults[purpose, name] = content
            elif self.values is not None and purpose in (self.kind, "all"):
                if name in self.values:
                    self._fail(f"{name!r} occurs twice in one {self.kind}")
                self.values[name] = content

    def tree(self, default_length: float | None) -> Tree:
        """Put nodes and edges together."""
        if not self.nodes:
            self._fail("there is no node: a <graph> with <node> elements is needed")
        names = [self._name(identifier, line, values) for identifier, (line, values) in self.nodes.items()]
        place = {identifier: k for k, identifier in enumerate(self.nodes)}
        ends, weights, support = [], [], []
        for line, source, target, values in self.edges:
            for end in (source, target):
                if end not in place:
                    self._fail(f"an edge leads to the node {end!r}, which is not there", line)
            ends.append((place[source], place[target]))
            weights.append(self._number("weight", values, line, default_length))
            support.append(self._number("support", values, line, math.nan))
        return Tree._of_fields(number_nodes(names, ends, weights, support))

    def _value(self, kind: str, name: str, values: dict[str, str]) -> str | None:
        found = values.get(name, self.defaults.get((kind, name)))
        return self.defaults.get(("all", name)) if found is None else found

    def _name(self, identifier: str, line: int, values: dict[str, str]) -> str | None:
        steiner = (self._value("node", "steiner", values) or "false").strip().lower()
        if steiner not in _TRUE + _FALSE:
            self._fail(f"steiner is true or false, not {steiner!r}", line)
        if steiner in _TRUE:
            return None
        label = self._value("node", "label", values)
        named = self._value("node", "name", values) if label is None else label
        return identifier if named is None else named

    def _number(self, name: str, values: dict[str, str], line: int, default: float | None) -> float:
        text = self._value("edge", name, values)
        if text is None:
            if default is None:
                self._fail("this edge has no weight: add one, or pass default_length=1.0 for all", line)
            return default
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not 0 <= number < math.inf:
            self._fail(f"the {name} of this edge is {text[:40]!r}, which is no number of 0 or more: fix it", line)
        return number
