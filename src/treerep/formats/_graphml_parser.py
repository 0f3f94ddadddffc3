"""Parser for GraphML, the XML format of networkx, igraph, Gephi, yEd and Cytoscape.

Python's XML parser reads the file as a stream, so no other library is needed. Entity
declarations, which XML bombs use, are rejected. Memory is checked during parsing, so that a
small gzip file that expands to a large file is rejected early.
"""

from array import array
from typing import NoReturn, cast
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from .._core.memory import check_memory
from ._numerals import is_number
from ._source import Source

_EDGE_BYTES = 200  # two ends and a length, as Python numbers and then as arrays
_NODE_BYTES = 400  # the id and its number, twice, and the name
_CHARACTER_BYTES = 8  # of an attribute: up to four in Python, in pieces and joined
_LONGEST_TAG = 1 << 24  # bytes; the XML parser keeps a tag or comment in memory until its end
_TRUE = ("true", "1")
# Formats of trees by their first element.
_OTHER_TREES = {"phyloxml": "phyloXML", "nexml": "NeXML"}


class GraphML:
    """The single undirected graph of a file: nodes, edges, and their requested attributes."""

    def __init__(self, source: Source, *, nodes: tuple[str, ...], edges: tuple[str, ...]) -> None:
        # Keyed by kind, attribute name, and number of the node or edge.
        self._values: dict[str, dict[str, dict[int, str]]] = {
            "node": {name: {} for name in nodes},
            "edge": {name: {} for name in edges},
        }
        self._numbers: dict[str, int] = {}  # numbers of nodes by id, in order of appearance
        self._lines: dict[str, dict[int, int] | array[int]] = {
            "node": {},
            "edge": array("q"),
        }
        self._ends = array("q")
        self._keys: dict[str, tuple[str, str]] = {}  # kind and name by id
        self._defaults: dict[tuple[str, str], str] = {}
        # The namespace of the first element. Elements of other namespaces are not GraphML.
        self._space: str | None = None
        self._graphs = 0
        # Kind and number of the current node or edge.
        self._open: tuple[str, int] | None = None
        self._key = ""
        # Key of the current <data> or <default>, if it is requested.
        self._text: list[str] | None = None
        self._characters_kept = 0
        self._parse(source)
        self._check_nodes()

    @property
    def ids(self) -> list[str]:
        """The ids of the nodes, in numerical order."""
        return list(self._numbers)

    @property
    def ends(self) -> NDArray[np.int64]:
        """The numbers of the two ends of each edge."""
        return np.array(self._ends, np.int64).reshape(-1, 2)

    def has_edge_key(self, name: str) -> bool:
        """Return whether a key declares an attribute for edges."""
        return any(what in ("edge", "all") and known == name for what, known in self._keys.values())

    def value(self, kind: str, name: str, number: int) -> str | None:
        """Return the text of an attribute of a node or an edge, or its default."""
        default = self._defaults.get((kind, name))
        found = self._values[kind][name].get(number, default)
        return self._defaults.get(("all", name)) if found is None else found

    def number(self, name: str, edge: int) -> float | None:
        """Return an attribute of an edge as a number, or None if the edge lacks it."""
        text = self.value("edge", name, edge)
        if text is None:
            return None
        if not is_number(text.strip()):
            self.fail(
                f"the {name} of this edge is {text.strip()[:40]!r}, which is not a number: correct it",
                "edge",
                edge,
            )
        return float(text)

    def fail(self, problem: str, kind: str = "", number: int = 0) -> NoReturn:
        """Raise a ValueError with the line of a node or an edge, or with the current line."""
        line = self._lines[kind][number] if kind else self._parser.CurrentLineNumber
        raise ValueError(f"line {line}: {problem}")

    def _parse(self, source: Source) -> None:
        parser = self._parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.ElementDeclHandler = parser.AttlistDeclHandler = self._declaration
        read = 0
        try:
            for piece in source.pieces():
                parser.Parse(piece, False)
                read += len(piece)
                if read - max(0, parser.CurrentByteIndex) > _LONGEST_TAG + len(piece):
                    self.fail(f"a tag or comment has more than {_LONGEST_TAG:,} bytes: shorten it")
                self._check_memory()
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise ValueError(
                f"line {error.lineno}: the XML is not well-formed ({error}): correct it"
            ) from error

    def _check_memory(self) -> None:
        needed = _EDGE_BYTES * len(self._lines["edge"]) + _NODE_BYTES * len(self._numbers)
        needed += _CHARACTER_BYTES * self._characters_kept
        check_memory(needed, "the graph", "use a smaller part of it")

    def _check_nodes(self) -> None:
        known = self._lines["node"]
        if not known:
            raise ValueError("the file has no graph with nodes: add at least one node")
        if len(known) < len(self._numbers):
            k = next(k for k, end in enumerate(self._ends) if end not in known)
            end = self.ids[self._ends[k]]
            edge = k // 2
            self.fail(
                f"an end of this edge is {end!r}, which is not a node: add the node",
                "edge",
                edge,
            )

    def _entity(self, name: str, *_: object) -> None:
        self.fail(
            f"the file declares the entity {name!r}, which GraphML does not need: remove the declaration"
        )

    def _declaration(self, *_: object) -> None:
        self.fail(
            "the file declares elements or attributes, which GraphML does not need: remove the declarations"
        )

    def _start(self, tag: str, given: dict[str, str]) -> None:
        space, _, tag = tag.rpartition(" ")
        if self._space is None:
            self._space = space
            if tag in _OTHER_TREES:
                self.fail(f"{_OTHER_TREES[tag]} is not read: convert the trees to Newick or Nexus")
            if tag != "graphml":
                self.fail(f"the first element is <{tag}>, not <graphml>: use a GraphML file")
        if space != self._space:
            return
        if tag == "key":
            self._key = given.get("id", "")
            self._keys[self._key] = given.get("for", "all"), given.get("attr.name", self._key)
        elif tag == "graph":
            self._start_graph(given)
        elif tag == "node":
            self._start_node(given)
        elif tag == "edge":
            self._start_edge(given)
        elif tag == "hyperedge":
            self.fail("a hyperedge joins more than two nodes: replace it by edges")
        elif tag in ("data", "default"):
            self._key = given.get("key", "") if tag == "data" else self._key
            self._text = [] if self._is_requested() else None

    def _start_graph(self, given: dict[str, str]) -> None:
        self._graphs += 1
        if self._graphs > 1:
            self.fail("the file has more than one graph: keep only one")
        if given.get("edgedefault") == "directed":
            self.fail("the graph is directed, but distances are symmetric: make it undirected")

    def _start_node(self, given: dict[str, str]) -> None:
        name = given.get("id")
        if name is None:
            self.fail("a node has no id: add one")
        self._characters_kept += len(name)
        number = self._numbers.setdefault(name, len(self._numbers))
        lines = cast("dict[int, int]", self._lines["node"])
        if number in lines:
            self.fail(f"the node {name!r} occurs twice: remove one of them")
        lines[number] = self._parser.CurrentLineNumber
        self._open = "node", number

    def _start_edge(self, given: dict[str, str]) -> None:
        if given.get("directed") in _TRUE:
            self.fail("the edge is directed, but distances are symmetric: make it undirected")
        lines = cast("array[int]", self._lines["edge"])
        self._open = "edge", len(lines)
        lines.append(self._parser.CurrentLineNumber)
        for end in ("source", "target"):
            if end not in given:
                self.fail(f"an edge has no {end}: name the node")
            self._ends.append(self._numbers.setdefault(given[end], len(self._numbers)))

    def _is_requested(self) -> bool:
        """Return whether the attribute of the current key is requested."""
        name = self._keys.get(self._key, ("", ""))[1]
        return any(name in attributes for attributes in self._values.values())

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)
            self._characters_kept += len(text)

    def _end(self, tag: str) -> None:
        space, _, tag = tag.rpartition(" ")
        if space != self._space:
            return
        if tag in ("node", "edge"):
            self._open = None
        elif tag in ("data", "default") and self._text is not None:
            text = "".join(self._text)
            self._text = None
            purpose, name = self._keys.get(self._key, ("", ""))
            if tag == "default":
                self._defaults[purpose, name] = text
            elif self._open is not None and purpose in (self._open[0], "all"):
                self._keep(name, text)

    def _keep(self, name: str, text: str) -> None:
        kind, number = self._open or ("", 0)
        values = self._values[kind].get(name)
        if values is None:
            return
        if number in values:
            self.fail(f"{name!r} occurs twice in one {kind}: remove one of them")
        values[number] = text
