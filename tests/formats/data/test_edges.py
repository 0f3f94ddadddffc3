"""Edge lists: numbers or names, lengths or none, and what is no edge."""

import gzip
import re

import networkx as nx
import numpy as np
import pytest

import treerep as tr
from tests.formats.files import distances, read
from treerep.metric.graph import GraphMetric

PATHS = {
    "blanks": "0 1\n1 2\n",
    "tabs": "0\t1\n1\t2",
    "commas": "0,1\n1,2\n",
    "comments": "# a comment\n% another\n\n0 1\n\n1 2\n",
    "CRLF": "0 1\r\n1 2\r\n",
    "byte order mark": "\ufeff0 1\n1 2\n",
    "both ways, and a loop": "0 1\n1 0\n1 1\n1 2\n",
    "header": "source,target\n0,1\n1,2\n",
    "a header that is not known": "Gene A;Gene B\n0;1\n1;2\n",
}


@pytest.mark.parametrize("form", PATHS)
def test_a_path_of_three(tmp_path, form):
    graph = read(tmp_path, PATHS[form], "g.edges")
    assert isinstance(graph, GraphMetric)
    assert graph.labels is None
    assert distances(graph).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_lengths(tmp_path):
    assert read(tmp_path, "0 1 2.5\n1 2 1e1\n", "g.edges").pairs(0, 2) == 12.5
    assert read(tmp_path, "0 1 2.5\n1 2 1e1\n", "g.edges", weight=False).pairs(0, 2) == 2
    assert read(tmp_path, "a,b,7\na,b,2\n", kind="graph").pairs(0, 1) == 2


def test_names_and_numbers_with_gaps_become_labels(tmp_path):
    assert read(tmp_path, "30 10\n10 20\n", kind="graph").labels == ("10", "20", "30")
    assert read(tmp_path, "-1 1\n", kind="graph").labels == ("-1", "1")
    assert read(tmp_path, "z a\na 1\n", kind="graph").labels == ("z", "a", "1")
    assert read(tmp_path, '"x, y",b\nb,\N{DECIDUOUS TREE}\n', kind="graph").labels == (
        "x, y",
        "b",
        "\N{DECIDUOUS TREE}",
    )
    assert read(tmp_path, "99999999999999999999 1\n", kind="graph").labels == (
        "99999999999999999999",
        "1",
    )


def test_the_csv_of_poincare_embeddings_is_recognized(tmp_path):
    graph = read(
        tmp_path,
        "id1,id2,weight\nmammal.n.01,dog.n.01,1\nmammal.n.01,cat.n.01,1\n",
        "mammals.csv",
    )
    assert graph.labels == ("mammal.n.01", "dog.n.01", "cat.n.01")
    assert graph.pairs(1, 2) == 2


@pytest.mark.parametrize("head", ["# FromNodeId\tToNodeId\n", "Source\tTarget\n", '"node1"\t"node2"\n'])
def test_headers_of_others_are_recognized(tmp_path, head):
    graph = read(tmp_path, "# Undirected graph: g.txt\n" + head + "5\t7\n7\t9\n", "g.txt")
    assert graph.labels == ("5", "7", "9")


def test_zeros_in_front_are_part_of_a_name(tmp_path):
    assert read(tmp_path, "007 7\n7 10\n10 100\n", "g.edges").labels == (
        "007",
        "7",
        "10",
        "100",
    )
    assert read(tmp_path, "0 1 1.05\n1 2 1e-05\n", "g.edges").labels is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mark", ["\t", " ", "  ", ",", ' "'])
def test_names_in_any_form(tmp_path, mark, weighted):
    # The plain forms take another way than those with quotes or runs of blanks.
    text = "".join(
        f"a{i}{mark}b{i * i % 7}{'' if mark != ' ' + chr(34) else chr(34)}"
        + f"{mark[0]}2.5" * weighted
        + "\n"
        for i in range(9)
    )
    graph = read(tmp_path, text + text, "g.edges", largest_component=True)
    assert graph.labels == ("a1", "b1", "a6", "a8")
    assert graph.pairs(0, 2) == (5.0 if weighted else 2)


def test_two_names_in_every_row_are_edges_perhaps(tmp_path):
    with pytest.raises(
        ValueError,
        match="each row starts with two names: if the rows are edges, pass kind='graph'",
    ):
        read(tmp_path, "a,b\nb,c\n", "pairs.dist")


def test_without_a_sign_of_edges_the_kind_must_be_said(tmp_path):
    with pytest.raises(
        ValueError,
        match="numbers: correct it, or pass kind='points' or kind='graph'",
    ):
        read(tmp_path, "0 1\n1 2\n2 3\n", "g.txt")
    assert len(read(tmp_path, "0 1\n1 2\n2 3\n", "g.txt", kind="graph")) == 4


def test_only_the_largest_component(tmp_path):
    with pytest.raises(tr.MetricError, match="largest_component=True"):
        read(tmp_path, "a b\nb c\nx y\n", kind="graph")
    assert read(tmp_path, "a b\nb c\nx y\n", kind="graph", largest_component=True).labels == (
        "a",
        "b",
        "c",
    )


def test_networkx_agrees(tmp_path):
    graph = nx.gnm_random_graph(60, 150, seed=1)
    graph = graph.subgraph(max(nx.connected_components(graph), key=len)).copy()
    rng = np.random.default_rng(0)
    for _, _, attributes in graph.edges(data=True):
        attributes["weight"] = float(rng.integers(1, 9))
    path = tmp_path / "g.edgelist.gz"
    nx.write_weighted_edgelist(graph, path)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    ours = tr.as_metric(path)
    nodes = sorted(graph)
    expected = nx.floyd_warshall_numpy(graph, nodes)
    np.testing.assert_array_equal(distances(ours), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("# nothing\n", "it is empty"),
        ("id1,id2,weight\n", "line 1 is a header, but no edges follow"),
        ("0 1 2 3\n", "line 1 has 4 columns"),
        ("0\n", "line 1 has 1 columns"),
        ("0 1\n1\n", "line 2 has 1 columns, but 2 are expected"),
        ("0 1 1\n1 2 x\n", "line 2: 'x' is not a valid length"),
        ("0,1,1\n1,2,1_0\n", "line 2: '1_0' is not a valid length"),
        ("a,b\nb,\n", "line 2 names only one end"),
        ("0 1 -1\n", "edge (0, 1) has length -1.0"),
        ("a b 0\n", "edge ('a', 'b') has length 0.0"),
        ("0 1 nan\n", "edge (0, 1) has length nan"),
        ('"a b\nc d\n', "line 1"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(tmp_path, text, "g.edges")
    assert "\n" not in str(caught.value)


def test_options_that_mean_nothing(tmp_path):
    with pytest.raises(ValueError, match="an edge list cannot hold points"):
        read(tmp_path, "0 1\n", "g.edges", kind="points")
    with pytest.raises(ValueError, match="weight='w' does not apply to an edge list"):
        read(tmp_path, "0 1\n", "g.edges", weight="w")
    with pytest.raises(ValueError, match="it cannot be True"):
        read(tmp_path, "0 1\n", "g.edges", weight=True)


def test_a_cut_gzip_is_damaged(tmp_path):
    packed = gzip.compress(b"0 1\n1 2\n" * 1000)
    with pytest.raises(ValueError, match="is damaged or truncated"):
        read(tmp_path, packed[:-9], "g.edges.gz")
