"""igraph and NetworKit graphs in: the same metrics and trees as from networkx."""

import re
from typing import Any

import igraph
import networkit
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import treerep as tr
from treerep import MetricError, as_metric


def random_graph(seed: int, n: int = 20) -> nx.Graph:
    rng = np.random.default_rng(seed)
    graph = nx.random_labeled_tree(n, seed=seed)
    graph.add_edges_from(rng.integers(0, n, (n // 2, 2)).tolist())
    for u, v in graph.edges:
        graph[u][v]["weight"] = float(rng.integers(1, 9)) / 4
    return graph


def in_networkit(graph: nx.Graph) -> Any:
    other = networkit.Graph(len(graph), weighted=True)
    for u, v, weight in graph.edges(data="weight"):
        other.addEdge(u, v, weight)
    return other


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([None, "weight"]))
def test_fits_are_those_of_networkx(seed: int, weight: str | None) -> None:
    graph = random_graph(seed)
    expected = tr.fit(tr.GraphMetric(graph, weight=weight), rng=0)
    from_igraph = igraph.Graph.from_networkx(graph)
    del from_igraph.vs["_nx_name"]
    for other in (from_igraph, in_networkit(graph)):
        metric = as_metric(other, weight=weight)
        assert metric.labels is None
        assert_array_equal(
            metric.block(range(20), range(20)),
            as_metric(graph, weight=weight).block(range(20), range(20)),
        )
        assert_array_equal(tr.fit(metric, rng=0).edges, expected.edges)
        assert_array_equal(tr.fit(metric, rng=0).weights, expected.weights)


def test_igraph_names_and_parallel_edges() -> None:
    graph = igraph.Graph.TupleList(
        [("x", "y", 3.0), ("y", "x", 2.0), ("y", "it's", 1.0), ("x", "x", 0.0)], weights=True
    )
    metric = tr.GraphMetric(graph, weight="weight")
    assert metric.labels == ("x", "y", "it's")
    assert_array_equal(metric.pairs([0, 0], [1, 2]), [2, 3])
    assert_array_equal(tr.GraphMetric(graph).pairs([0, 0], [1, 2]), [1, 2])
    assert len(as_metric(igraph.Graph(1))) == 1


def test_networkit_nodes_that_were_removed_leave_their_numbers() -> None:
    graph = networkit.Graph(4)
    for u, v in [(0, 1), (1, 3), (3, 2)]:
        graph.addEdge(u, v)
    graph.removeNode(0)
    metric = as_metric(graph)
    assert metric.labels == ("1", "2", "3")
    assert metric.pairs(0, 1) == 2


def test_graphs_that_are_refused() -> None:
    edges = [("a", "b", 1.0), ("b", "c", 0.0)]
    named = igraph.Graph.TupleList(edges, weights="km")
    missing = igraph.Graph.TupleList([("a", "b")])
    missing.es["km"] = [None]
    plain, weighted = networkit.Graph(2), networkit.Graph(2, weighted=True)
    plain.addEdge(0, 1)
    weighted.addEdge(0, 1, -1.0)
    for graph, weight, message in [
        (igraph.Graph([(0, 1)], directed=True), None, "pass G.as_undirected()"),
        (named, "miles", "the edges have no attribute 'miles'"),
        (named, "km", "'km' of edge ('b', 'c') is 0.0, but lengths must be positive numbers"),
        (missing, "km", "'km' of edge ('a', 'b') is None"),
        (igraph.Graph(2), None, "largest_component=True"),
        (igraph.Graph(), None, "the graph is empty"),
        (networkit.Graph(0), None, "the graph is empty"),
        (networkit.Graph(2, directed=True), None, "networkit.graphtools.toUndirected(G)"),
        (plain, "weight", "the graph has no weights"),
        (plain, "km", "NetworKit's edge weights"),
        (weighted, "weight", "'weight' of edge (0, 1) is -1.0"),
    ]:
        with pytest.raises(MetricError, match=re.escape(message)):
            tr.GraphMetric(graph, weight=weight)
    for graph, library in [(named, "igraph"), (plain, "networkit")]:
        with pytest.raises(
            ValueError,
            match=f"a {library} graph defines its distances: leave out metric='cosine'",
        ):
            as_metric(graph, metric="cosine")
        with pytest.raises(ValueError, match=f"symmetrize does not apply to a {library} graph"):
            as_metric(graph, symmetrize="mean")
