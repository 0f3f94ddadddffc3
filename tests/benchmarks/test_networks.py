"""Networks with known groups are what their names say, and clusters are matched with the right vertices."""

import networkx as nx
import numpy as np
import pytest

from benchmarks import networks


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_networks_are_connected_and_groups_have_most_edges(name: str) -> None:
    graph, groups = networks.NETWORKS[name](0)
    assert nx.is_connected(graph) and sorted(graph) == list(range(len(groups)))
    inside = np.mean([groups[a] == groups[b] for a, b in graph.edges])
    by_chance = np.sum((np.bincount(groups) / len(groups)) ** 2)
    assert inside > by_chance + 0.2
    assert nx.number_of_selfloops(graph) == 0


def test_coarse_groups_are_unions_of_fine_ones() -> None:
    (graph, coarse), (same, fine) = (networks.nested(coarse)(3) for coarse in (True, False))
    assert nx.utils.graphs_equal(graph, same)
    assert len({*zip(coarse.tolist(), fine.tolist(), strict=True)}) == 16 and coarse.max() == 3


def test_clusters_are_matched_with_the_right_vertices() -> None:
    # A chain of cliques, numbered at random so that vertices come in another order in the edges.
    chain = nx.disjoint_union_all([nx.complete_graph(10)] * 4)
    chain.add_edges_from([(9, 10), (19, 20), (29, 30)])
    order = np.random.default_rng(0).permutation(40)
    groups = np.empty(40, np.int64)
    groups[order] = np.repeat(np.arange(4), 10)
    network = networks.Network(nx.relabel_nodes(chain, dict(enumerate(order.tolist()))), groups)
    assert networks.recovered(network, 0) == dict.fromkeys((*networks.METHODS, "walktrap", "louvain"), 1.0)
