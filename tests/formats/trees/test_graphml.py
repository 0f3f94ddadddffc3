"""GraphML, with networkx and igraph as judges."""

import re
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_array_equal

from treerep.formats import read_tree, write_tree
from treerep.formats._source import Source
from treerep.formats.trees.graphml import read as read_source
from treerep.formats.trees.graphml import write
from treerep.tree.tree import Tree

from ..files import source
from ..strategies import HARD, named_trees


def read(text: str, **options: Any) -> Tree:
    return read_source(source(text), **options)


def graph(inside: str, keys: str = "", kind: str = "undirected") -> str:
    keys = keys or '<key id="w" for="edge" attr.name="weight"/><key id="s" for="node" attr.name="steiner"/>'
    return f'<graphml>{keys}\n<graph edgedefault="{kind}">\n{inside}</graph></graphml>'


@settings(max_examples=40)
@given(named_trees(controls=False))
def test_round_trip(tree: Tree) -> None:
    assume(set(tree.labels or "") != {str(i) for i in range(len(tree))})
    back = read(write(tree))
    assert back == tree
    assert_array_equal(
        back.support if back.support is not None else 0,
        tree.support if back.support is not None else 0,
    )
    assert (back.support is None) == (tree.support is None or bool((tree.support != tree.support).all()))


def test_white_space_survives() -> None:
    names = ["a\nb", "a\rb", "a\r\nb", "\t", " a ", "]]>", "&#13;"]
    star = Tree(7, [[i, 7] for i in range(7)], [1.0] * 7, labels=names)
    assert read(write(star)).labels == tuple(names)


@settings(max_examples=25)
@given(named_trees(controls=False))
def test_networkx_reads_ours(tmp_path_factory: pytest.TempPathFactory, tree: Tree) -> None:
    path = tmp_path_factory.mktemp("graphml") / "tree.graphml"
    write_tree(
        tree,
        path,
        attributes={
            "size": range(len(tree)),
            "seen": [True] * len(tree),
            "x": [None] * len(tree),
        },
    )
    theirs = nx.read_graphml(path, node_type=int)
    ours = tree.to_networkx()
    assert dict(theirs.edges) == dict(ours.edges)
    assert {node: data["steiner"] for node, data in theirs.nodes(data=True)} == dict(
        ours.nodes(data="steiner")
    )
    for point in range(len(tree)):
        data = theirs.nodes[point]
        assert (data["size"], data["seen"]) == (point, True) and "x" not in data
        assert _stripped(data.get("label")) == _stripped(ours.nodes[point].get("label"))


def _stripped(label: str | None) -> str:
    return "" if label is None else label.strip()  # networkx drops an empty value, and blanks about it


def test_we_read_networkx_and_igraph(tmp_path: Path) -> None:
    names = [name for name in HARD if name.strip()]
    n = len(names)
    tree = Tree(n, [[i, n] for i in range(n)], [1.5] * n, labels=names)
    nx.write_graphml(tree.to_networkx(), tmp_path / "networkx.graphml")
    assert read_tree(tmp_path / "networkx.graphml") == tree
    star = igraph.Graph.Star(4)
    star.vs["name"], star.es["weight"] = ["x", "<y>", "z", "w"], [1, 2, 3]
    star.write_graphml(str(tmp_path / "igraph.graphml"))
    assert read_tree(tmp_path / "igraph.graphml") == Tree(
        4, [[0, 1], [0, 2], [0, 3]], [1, 2, 3], ["x", "<y>", "z", "w"]
    )


def test_defaults_and_missing_lengths() -> None:
    inside = '<node id="a"/><node id="b"/><edge source="a" target="b"/>'
    assert read(
        graph(inside, '<key id="w" for="edge" attr.name="weight"><default>2.5</default></key>')
    ).weights == [2.5]
    assert read(graph(inside), default_length=3.0).weights == [3.0]
    with pytest.raises(
        ValueError, match="line 3: this edge has no weight: add one, or pass default_length=1.0"
    ):
        read(graph(inside))
    alien = '<?xml version="1.0" encoding="{}"?><g:graphml xmlns:g="x"><g:graph><g:node id="é"/></g:graph></g:graphml>'
    for encoding in ("utf-8", "iso-8859-1", "utf-16"):
        content = alien.format(encoding).encode(encoding)
        assert read_source(Source.of_bytes(content, name="test")).labels == ("é",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the XML is not well-formed (no element found"),
        ("<graphml>\n<graph></graphml>", "line 2: the XML is not well-formed (mismatched tag"),
        ("<graphml/>", "the file has no graph with nodes"),
        (
            "<phyloxml><phylogeny/></phyloxml>",
            "line 1: phyloXML is not read: convert the trees to Newick or Nexus",
        ),
        (graph("", kind="directed"), "line 2: the graph is directed"),
        (graph('<graph id="2"/>'), "line 3: the file has more than one graph"),
        (graph("<hyperedge/>"), "line 3: a hyperedge joins more than two nodes"),
        (graph('<edge directed="true"/>'), "line 3: the edge is directed"),
        (graph('<node id="a"/>\n<node id="a"/>'), "line 4: the node 'a' occurs twice"),
        (
            graph('<node id="a"/>\n<edge source="a" target="b"/>'),
            "line 4: an end of this edge is 'b', which is not a node",
        ),
        (
            graph('<node id="a"><data key="s">maybe</data></node>'),
            "line 3: steiner must be true or false, got 'maybe'",
        ),
        (
            graph('<node id="a"><data key="s">1</data><data key="s">1</data></node>'),
            "'steiner' occurs twice in one node",
        ),
        (
            graph('<node id="a"/><edge source="a" target="a"><data key="w">x</data></edge>'),
            "line 3: the weight of this edge is 'x', which is not a number",
        ),
        (
            graph('<node id="a"/><edge source="a" target="a"><data key="w">-1</data></edge>'),
            "the weight of this edge is -1.0, but it must be at least 0",
        ),
        (
            graph('<node id="a"/><edge source="a" target="a"><data key="w">1</data></edge>'),
            "edge 0 (0, 0) closes a cycle",
        ),
        (
            graph('<node id="a"><data key="s">true</data></node>'),
            "a tree needs at least one data point",
        ),
        (
            '<!DOCTYPE g [<!ENTITY a "b">]><graphml/>',
            "line 1: the file declares the entity 'a'",
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read(text)
    assert "\n" not in str(error.value)


def test_characters_that_xml_does_not_have() -> None:
    with pytest.raises(
        ValueError,
        match=r"'a\\x00' contains the character '\\x00', which XML does not allow: rename",
    ):
        write(Tree(1, [], [], labels=["a\0"]))


@pytest.mark.parametrize("labels", ["abcd", "0123"])
def test_roots_and_names_of_clades_are_kept(labels: str) -> None:
    a, b, c, d = labels
    tree = Tree.from_newick(f"((({a}:1,{b}:1)Canidae:1,{c}:2):1,{d}:5)Top;")
    again = read(write(tree))
    assert again.newick() == tree.newick()
    assert (again.labels, again.clade_names) == (tree.labels, tree.clade_names)
    at_a_point = tree.with_root(0)
    assert read(write(at_a_point)).root == 0


def test_two_roots_are_refused() -> None:
    text = write(Tree.from_newick("((a:1,b:1):1,c:2);"))
    twice = text.replace('<node id="0">', '<node id="0"><data key="root">true</data>')
    with pytest.raises(ValueError, match="another node is the root too: keep one root"):
        read(twice)
