"""Graphs in GraphML, the XML of networkx, igraph, Gephi and yEd.

Read by the XML parser of Python itself, as a stream: no graph of another library is built on the way, none need be
installed, and declarations of entities, which XML bombs are made of, are refused.
"""

from typing import Any
from xml.parsers import expat

import numpy as np

from ..common.memory import check_memory
from ..metric.base import Metric, MetricError
from .edge_list import check_lengths
from .numerals import is_number
from .request import Request
from .source import Source

_CHUNK = 1 << 20
_EDGE_BYTES = 200  # two ends and a length as Python's numbers, and then as arrays


def read(source: Source, request: Request) -> Metric:
    """Read a GraphML file; `weight` names the attribute of edges that holds their lengths, which are 1 otherwise."""
    if request.kind not in (None, "graph"):
        raise request.not_a("a GraphML file")
    reader = _Reader(request.weight if isinstance(request.weight, str) else None)
    with source.open() as file:
        while chunk := file.read(_CHUNK):
            reader.feed(chunk)
            check_memory(_EDGE_BYTES * len(reader.ends), "the graph", "use a smaller part of it")
        reader.feed(b"", last=True)
    if not reader.names:
        raise ValueError("it holds no graph with nodes: a graph has at least one")
    last = len(reader.names) - 1
    # A loop at the last node counts for no path, and tells the number of nodes.
    ends = np.array([*reader.ends, (last, last)], np.int64)
    lengths = None if reader.weight is None else np.array([*reader.lengths, 1.0])
    names = list(reader.names)
    check_lengths(ends, lengths, names)
    return request.graph(ends, weights=lengths, labels=names)


class _Reader:
    """What the parser has seen so far."""

    def __init__(self, weight: str | None) -> None:
        self.weight = weight
        self.names: dict[str, int] = {}
        self.ends: list[tuple[int, int]] = []
        self.lengths: list[float] = []
        self._open: list[str] = []  # the elements that are open
        self._key: str | None = None  # that of the attribute `weight`
        self._in_key = False  # whether its declaration is being read
        self._default: str | None = None
        self._text: list[str] | None = None  # of the element that is being read
        self._found: str | None = None  # the length of the edge that is being read
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def feed(self, chunk: bytes, last: bool = False) -> None:
        """Parse the next bytes."""
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            raise ValueError(f"line {error.lineno}: it is no well-formed XML ({error}): mend it") from error

    def _fail(self, message: str) -> ValueError:
        return MetricError(f"line {self._parser.CurrentLineNumber}: {message}")

    def _entity(self, name: str, *_: Any) -> None:
        raise self._fail(f"it declares the entity {name!r}, which GraphML has no need of: remove the declaration")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if not self._open and tag != "graphml":
            raise self._fail(f"the first element is <{tag}>, not <graphml>: this is no GraphML")
        is_length = tag == "data" and self._key is not None and attributes.get("key") == self._key
        begin = {"key": self._start_key, "graph": self._start_graph, "node": self._start_node, "edge": self._start_edge}
        if tag in begin:
            begin[tag](attributes)
        elif tag == "hyperedge":
            raise self._fail("a hyperedge joins any number of nodes, an edge two: replace it by edges")
        elif is_length or (tag == "default" and self._in_key):
            self._text = []
        self._open.append(tag)

    def _start_key(self, attributes: dict[str, str]) -> None:
        if self.weight is None or attributes.get("for", "all") not in ("edge", "all"):
            return
        if attributes.get("attr.name", attributes.get("id")) == self.weight:
            self._key, self._in_key = attributes.get("id"), True

    def _start_graph(self, attributes: dict[str, str]) -> None:
        if "graph" in self._open or self.names:
            raise self._fail("it holds more than one graph: keep one")
        if attributes.get("edgedefault") == "directed":
            raise self._fail("the graph is directed, but a metric is symmetric: make it undirected")
        if self.weight is not None and self._key is None:
            raise self._fail(f"no attribute of edges is named {self.weight!r}: name one that the keys declare")

    def _start_node(self, attributes: dict[str, str]) -> None:
        name = attributes.get("id")
        if name is None or name in self.names:
            raise self._fail("a node without id" if name is None else f"the node {name!r} is there twice: remove one")
        self.names[name] = len(self.names)

    def _start_edge(self, attributes: dict[str, str]) -> None:
        if attributes.get("directed") == "true":
            raise self._fail("the edge is directed, but a metric is symmetric: make it undirected")
        ends = attributes.get("source"), attributes.get("target")
        for end in ends:
            if end is None or end not in self.names:
                raise self._fail(f"the edge {ends[0]!r} - {ends[1]!r} has an end that is no node above: add it there")
        self.ends.append((self.names[ends[0] or ""], self.names[ends[1] or ""]))
        self._found = None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        tag = self._open.pop()
        text = "".join(self._text or ()).strip()
        if tag == "key":
            self._in_key = False
        elif tag == "default" and self._text is not None:
            self._default = text
        elif tag == "data" and self._text is not None:
            self._found = text
        elif tag == "edge" and self.weight is not None:
            self._end_edge()
        self._text = None

    def _end_edge(self) -> None:
        written = self._default if self._found is None else self._found
        if written is None:
            raise self._fail(f"an edge has no {self.weight!r}: set it on every edge, or leave weight out")
        if not is_number(written):
            raise self._fail(f"{self.weight!r} is {written[:40]!r}, which is no number: mend it")
        self.lengths.append(float(written))
