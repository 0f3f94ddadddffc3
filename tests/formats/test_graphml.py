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
    return f'<?xml version="1.0"?>\n<graphml {NAMESPACE}>{keys}\n<graph {graph}>\n{content}\n</graph></graphml>'


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


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE g [\n<!ENTITY a "aaaaaaaaaa">\n<!ENTITY b "&a;&a;&a;">]>\n<graphml>&b;</graphml>'
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "line 3: it declares the entity 'a'"),
        ("<?xml version='1.0'?><svg/>", "line 1: the first element is <svg>, not <graphml>"),
        ("<graphml>", "it is no well-formed XML"),
        ("<graphml/>", "no graph with nodes"),
        (graphml(NODES, graph='edgedefault="directed"'), "line 3: the graph is directed"),
        (graphml(NODES + '<edge source="a" target="b" directed="true"/>'), "line 4: the edge is directed"),
        (graphml(NODES + '<edge source="a" target="x"/>'), "the edge 'a' - 'x' has an end that is no node"),
        (graphml(NODES + '<edge source="a"/>'), "the edge 'a' - None has an end"),
        (graphml(NODES + '<node id="a"/>'), "the node 'a' is there twice"),
        (graphml("<node/>"), "a node without id"),
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
        (graphml(NODES + EDGES), "no attribute of edges is named 'weight'"),
        (graphml(NODES + EDGES, KEY.replace("<default> 4 </default>", "")), "an edge has no 'weight'"),
        (graphml(NODES + EDGES, KEY.replace("4", "four")), "'weight' is 'four', which is no number"),
        (graphml(NODES + EDGES, KEY.replace("4", "-4")), "edge ('a', 'b') has length -4.0"),
    ],
)
def test_lengths_that_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(tmp_path, text, "g.graphml", weight="weight")
