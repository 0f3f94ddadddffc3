"""GraphML, the XML of networkx, igraph, Gephi, yEd and Cytoscape, as far as graphs and trees need it.

Read by the XML parser of Python itself, as a stream: no graph of another library is built on
the way, none need be installed, and declarations of entities, which XML bombs are made of, are
refused. Memory is checked on the way, so that a small file that unpacks to a large one is
refused before memory is taken.
"""

from array import array
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from .._core.memory import check_memory
from ._numerals import is_number
from ._source import Source

_EDGE_BYTES = 200  # two ends and a length as Python's numbers, and then as arrays
_NODE_BYTES = 400  # the id and its number, twice, and the name
_CHARACTER_BYTES = 8  # of an attribute: up to four in Python, in pieces and joined
_LONGEST_TAG = 1 << 24  # bytes: the XML parser keeps a tag or a comment in memory until it ends
_TRUE = ("true", "1")


class GraphML:
    """The one undirected graph of a file: its nodes, its edges, and the attributes of both that are wanted."""

    def __init__(
        self, source: Source, *, nodes: tuple[str, ...], edges: tuple[str, ...]
    ) -> None:
        self._values: dict[
            str, dict[str, dict[int, str]]
        ] = {  # by kind, name of the attribute, and number
            "node": {name: {} for name in nodes},
            "edge": {name: {} for name in edges},
        }
        self._numbers: dict[str, int] = {}  # of nodes by their ids, as they are first met
        self._lines: dict[str, dict[int, int] | array[int]] = {"node": {}, "edge": array("q")}
        self._ends = array("q")
        self._keys: dict[str, tuple[str, str]] = {}  # id of a key: what it is for, and its name
        self._defaults: dict[tuple[str, str], str] = {}
        self._space: str | None = (
            None  # the namespace of the first element; what is in another is not GraphML
        )
        self._graphs = 0
        self._open: tuple[str, int] | None = (
            None  # kind and number of the node or edge that is being read
        )
        self._key = ""
        self._text: list[str] | None = (
            None  # of the <data> or <default> that is being read, if it is wanted
        )
        self._characters_kept = 0
        self._parse(source)
        self._check_nodes()

    @property
    def ids(self) -> list[str]:
        """The ids of the nodes, in the order of their numbers."""
        return list(self._numbers)

    @property
    def ends(self) -> NDArray[np.int64]:
        """The numbers of the two ends of each edge."""
        return np.array(self._ends, np.int64).reshape(-1, 2)

    def declares(self, kind: str, name: str) -> bool:
        """Whether a key says that nodes, or edges, may have this attribute."""
        return any(
            what in (kind, "all") and known == name for what, known in self._keys.values()
        )

    def value(self, kind: str, name: str, number: int) -> str | None:
        """Return what is written for an attribute of a node or an edge, or its default."""
        found = self._values[kind][name].get(number, self._defaults.get((kind, name)))
        return self._defaults.get(("all", name)) if found is None else found

    def number(self, name: str, edge: int) -> float | None:
        """Return a number that an edge has; None if it has none."""
        text = self.value("edge", name, edge)
        if text is None:
            return None
        if not is_number(text.strip()):
            self.fail(
                f"the {name} of this edge is {text.strip()[:40]!r}, which is no number: mend it",
                "edge",
                edge,
            )
        return float(text)

    def fail(self, problem: str, kind: str = "", number: int = 0) -> NoReturn:
        """Raise a ValueError that names the line of a node or an edge, or the one that is being read."""
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
                    self.fail(
                        f"a tag or a comment has more than {_LONGEST_TAG:,} bytes: shorten it"
                    )
                self._check_memory()
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise ValueError(
                f"line {error.lineno}: it is no well-formed XML ({error}): mend it"
            ) from error

    def _check_memory(self) -> None:
        needed = _EDGE_BYTES * len(self._lines["edge"]) + _NODE_BYTES * len(self._numbers)
        needed += _CHARACTER_BYTES * self._characters_kept
        check_memory(needed, "the graph", "use a smaller part of it")

    def _check_nodes(self) -> None:
        known = self._lines["node"]
        if not known:
            raise ValueError("it holds no graph with nodes: a graph has at least one")
        if len(known) < len(self._numbers):
            missing = next(place for place, end in enumerate(self._ends) if end not in known)
            end = self.ids[self._ends[missing]]
            self.fail(
                f"an end of this edge is {end!r}, which is no node: add the node",
                "edge",
                missing // 2,
            )

    def _entity(self, name: str, *_: Any) -> None:
        self.fail(
            f"it declares the entity {name!r}, which GraphML has no need of: remove the declaration"
        )

    def _declaration(self, *_: Any) -> None:
        self.fail(
            "it declares elements or their attributes, which GraphML has no need of: remove the declarations"
        )

    def _start(self, tag: str, given: dict[str, str]) -> None:
        space, _, tag = tag.rpartition(" ")
        if self._space is None:
            self._space = space
            if tag != "graphml":
                self.fail(f"the first element is <{tag}>, not <graphml>: this is no GraphML")
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
            self.fail("a hyperedge joins any number of nodes, an edge two: replace it by edges")
        elif tag in ("data", "default"):
            self._key = given.get("key", "") if tag == "data" else self._key
            self._text = [] if self._is_wanted() else None

    def _start_graph(self, given: dict[str, str]) -> None:
        self._graphs += 1
        if self._graphs > 1:
            self.fail("it holds more than one graph: keep one")
        if given.get("edgedefault") == "directed":
            self.fail("the graph is directed, but distances are symmetric: make it undirected")

    def _start_node(self, given: dict[str, str]) -> None:
        name = given.get("id")
        if name is None:
            self.fail("a node without id: give it one")
        self._characters_kept += len(name)
        number = self._numbers.setdefault(name, len(self._numbers))
        lines: Any = self._lines["node"]
        if number in lines:
            self.fail(f"the node {name!r} is there twice: remove one")
        lines[number] = self._parser.CurrentLineNumber
        self._open = "node", number

    def _start_edge(self, given: dict[str, str]) -> None:
        if given.get("directed") in _TRUE:
            self.fail("the edge is directed, but distances are symmetric: make it undirected")
        lines: Any = self._lines["edge"]
        self._open = "edge", len(lines)
        lines.append(self._parser.CurrentLineNumber)
        for end in ("source", "target"):
            if end not in given:
                self.fail(f"an edge without {end}: name the node")
            self._ends.append(self._numbers.setdefault(given[end], len(self._numbers)))

    def _is_wanted(self) -> bool:
        """Whether the attribute of the key that is being read is one that was asked for."""
        name = self._keys.get(self._key, ("", ""))[1]
        return any(name in wanted for wanted in self._values.values())

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
        wanted = self._values[kind].get(name)
        if wanted is None:
            return
        if number in wanted:
            self.fail(f"{name!r} occurs twice in one {kind}: remove one")
        wanted[number] = text
