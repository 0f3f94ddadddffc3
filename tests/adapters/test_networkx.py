"""networkx graphs in, checked against networkx's own shortest paths."""

import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import treerep as tr
from treerep import MetricError, as_metric


def test_networkx_names_become_labels_and_hops_are_counted() -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("x", "y", 2.5), ("y", 7, 1.0), (7, 7, 3.0)])
    metric = tr.GraphMetric(graph)
    assert metric.labels == ("x", "y", "7")
    assert_array_equal(metric.pairs([0, 0], [1, 2]), [1, 2])
    assert_array_equal(tr.GraphMetric(graph, weight="weight").pairs([0, 0], [1, 2]), [2.5, 3.5])
    assert as_metric(graph).labels == metric.labels


@given(n=st.integers(1, 25), p=st.floats(0.05, 0.6), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_networkx_agrees_with_its_own_shortest_paths(n: int, p: float, seed: int) -> None:
    graph = nx.gnp_random_graph(n, p, seed=seed)
    for k, (u, v) in enumerate(graph.edges):
        graph[u][v]["cost"] = 1 + k % 3 / 4
    graph = graph.subgraph(max(nx.connected_components(graph), key=len))
    metric, names = tr.GraphMetric(graph, weight="cost"), list(graph)
    truth = dict(nx.all_pairs_dijkstra_path_length(graph, weight="cost"))
    everyone = range(len(names))
    assert_array_equal(metric.block(everyone, everyone), [[truth[u][v] for v in names] for u in names])


def test_networkx_multigraphs_keep_the_shortest_edge() -> None:
    graph = nx.MultiGraph()
    graph.add_weighted_edges_from([("a", "b", 3), ("b", "a", 2), ("a", "b", 5)])
    assert tr.GraphMetric(graph, weight="weight").pairs(0, 1) == 2
    assert tr.GraphMetric(graph).pairs(0, 1) == 1


def test_networkx_graphs_that_are_refused() -> None:
    missing = nx.Graph([("a", "b", {"km": 1}), ("b", "c")])
    for graph, weight, message in [
        (nx.DiGraph([(0, 1)]), None, "pass G.to_undirected()"),
        (nx.Graph(), None, "the graph is empty"),
        (nx.Graph([(0, 1), (2, 3)]), None, "largest_component=True"),
        (nx.Graph([(1, "1")]), None, "share the label '1'"),
        (missing, "km", "edge ('b', 'c') has no attribute 'km'"),
        (
            nx.Graph([("a", "b", {"km": "far"})]),
            "km",
            "'km' of edge ('a', 'b') is 'far', but lengths must be positive numbers",
        ),
        (nx.Graph([("a", "b", {"km": 0})]), "km", "'km' of edge ('a', 'b') is 0,"),
        (nx.Graph([("a", "b", {"km": np.nan})]), "km", "is nan, but lengths must be positive"),
    ]:
        with pytest.raises(MetricError, match=re.escape(message)):
            tr.GraphMetric(graph, weight=weight)
    assert tr.GraphMetric(nx.Graph([(0, 1), (1, 2), (3, 4)]), largest_component=True).labels == (
        "0",
        "1",
        "2",
    )
    with pytest.raises(MetricError, match="only networkx, igraph and networkit graphs have"):
        tr.GraphMetric([[0, 1]], weight="km")
    with pytest.raises(ValueError, match="leave out metric='euclidean'"):
        as_metric(nx.path_graph(3), metric="euclidean")
