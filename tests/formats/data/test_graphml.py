"""GraphML, as networkx writes it and as others do."""

import re

import networkx as nx
import numpy as np
import pytest

import treerep as tr
from tests.formats.files import distances, read
from treerep import formats

NAMESPACE = 'xmlns="http://graphml.graphdrawing.org/xmlns"'


def graphml(content: str, keys: str = "", graph: str = 'edgedefault="undirected"') -> str:
    return (
        f'<?xml version="1.0"?>\n<graphml {NAMESPACE}>{keys}\n<graph {graph}>\n{content}\n</graph></graphml>'
    )


NODES = '<node id="a"/><node id="b"/><node id="c"/>'
EDGES = '<edge source="a" target="b"/><edge source="b" target="c"/>'
KEY = '<key id="d0" for="edge" attr.name="weight" attr.type="double"><default> 4 </default></key>'


def test_networkx_agrees(tmp_path):
    graph = nx.Graph([("it's", "<b>", {"weight": 2.5}), ("<b>", "\N{DECIDUOUS TREE} 1", {"weight": 4.0})])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    for weight in (None, "weight"):
        theirs = tr.GraphMetric(graph, weight=weight)
        ours = formats.read(tmp_path / "g.graphml", weight=weight)
        assert ours.labels == theirs.labels
        np.testing.assert_array_equal(distances(ours), distances(theirs))
    assert tr.as_metric(tmp_path / "g.graphml", weight="weight").pairs(0, 2) == 6.5


def test_defaults_of_keys(tmp_path):
    edges = '<edge source="a" target="b"/><edge source="b" target="c"><data key="d0">1.5</data></edge>'
    assert read(tmp_path, graphml(NODES + edges, KEY), weight="weight").pairs(0, 2) == 5.5
    assert read(tmp_path, graphml(NODES + edges, KEY)).pairs(0, 2) == 2


def test_isolated_nodes_are_nodes(tmp_path):
    text = graphml(NODES + '<node id="z"/>' + EDGES)
    with pytest.raises(tr.MetricError, match="2 components"):
        read(tmp_path, text)
    assert read(tmp_path, text, largest_component=True).labels == ("a", "b", "c")
    assert len(read(tmp_path, graphml('<node id="only"/>'))) == 1


def test_names_are_those_of_trees(tmp_path):
    # As igraph and Gephi write it: ids are numbers, names are attributes; edges may come first.
    key = '<key id="k" for="node" attr.name="{}" attr.type="string"/>'
    named = (
        '<edge source="n0" target="n1"/><node id="n0"><data key="k">x</data></node><node id="n1">{}</node>'
    )
    for name in ("name", "label"):
        assert read(tmp_path, graphml(named.format('<data key="k">y</data>'), key.format(name))).labels == (
            "x",
            "y",
        )
    assert read(tmp_path, graphml(named.format(""), key.format("name"))).labels == ("x", "n1")
    assert read(tmp_path, graphml(named.format('<data key="k">x</data>'), key.format("name"))).labels == (
        "n0",
        "n1",
    )


def test_what_yed_draws_is_no_part_of_the_graph(tmp_path):
    drawing = '<data key="d"><y:Shape xmlns:y="yed"><y:node/><y:graph/>a</y:Shape></data>'
    text = graphml(f'<node id="a">{drawing}</node><node id="b"/><edge source="a" target="b">{drawing}</edge>')
    assert read(tmp_path, text.replace("<graphml", "<!DOCTYPE graphml SYSTEM 'x.dtd'>\n<graphml")).labels == (
        "a",
        "b",
    )


BOMB = """<?xml version="1.0"?>
<!DOCTYPE g [
<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;">]>
<graphml>&b;</graphml>"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "line 3: the file declares the entity 'a'"),
        ("<?xml version='1.0'?><svg/>", "line 1: the first element is <svg>, not <graphml>"),
        ("<graphml>", "the XML is not well-formed"),
        ("<graphml/>", "no graph with nodes"),
        (graphml(NODES, graph='edgedefault="directed"'), "line 3: the graph is directed"),
        (
            graphml(NODES + '<edge source="a" target="b" directed="true"/>'),
            "line 4: the edge is directed",
        ),
        (
            graphml(NODES + '<edge source="a" target="x"/>'),
            "line 4: an end of this edge is 'x', which is not a node",
        ),
        (graphml(NODES + '<edge source="a"/>'), "line 4: an edge has no target"),
        (graphml(NODES + '<node id="a"/>'), "the node 'a' occurs twice"),
        (graphml("<node/>"), "a node has no id"),
        (graphml(NODES + "<hyperedge/>"), "a hyperedge joins"),
        (graphml("<node id='a'><graph/></node>"), "more than one graph"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(tmp_path, text, "g.graphml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (graphml(NODES + EDGES), "no attribute 'weight'"),
        (
            graphml(NODES + EDGES, KEY.replace("<default> 4 </default>", "")),
            "line 4: this edge has no 'weight'",
        ),
        (
            graphml(NODES + EDGES, KEY.replace("4", "four")),
            "the weight of this edge is 'four', which is not a number",
        ),
        (graphml(NODES + EDGES, KEY.replace("4", "-4")), "edge ('a', 'b') has length -4.0"),
    ],
)
def test_lengths_that_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(tmp_path, text, "g.graphml", weight="weight")
