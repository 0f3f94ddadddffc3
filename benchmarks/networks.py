"""Networks with known groups, compared with the clusters of trees."""

from collections.abc import Callable
from typing import Any, NamedTuple

import igraph
import networkx as nx
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

import treerep as tr

DRAWS = 5
METHODS = ("treerep", "relaxed_neighbor_joining", "minimum_evolution", "auto")
NOTE = (
    f"Adjusted Rand index of clusters and groups, mean of {DRAWS} draws of each random network. "
    "Distances are shortest paths, with unit lengths. Trees (by `Tree.cut`) and walktrap (igraph) get "
    "the true number of groups; louvain (networkx) chooses its own number."
)


class Network(NamedTuple):
    """A connected network and the group of each vertex."""

    graph: nx.Graph
    groups: NDArray[np.int64]


def karate(_: int) -> Network:
    """Return the unweighted karate club of Zachary (1977) and its two groups."""
    graph = nx.karate_club_graph()
    clubs = [graph.nodes[v]["club"] for v in graph]
    return _network(graph, clubs)


def blocks(sizes: list[int], inside: float, between: float) -> Callable[[int], Network]:
    """Return a generator of stochastic block models with given edge probabilities."""
    chances = np.full((len(sizes), len(sizes)), between)
    np.fill_diagonal(chances, inside)
    return lambda seed: _of_chances(sizes, chances, seed)


def nested(coarse: bool) -> Callable[[int], Network]:
    """Return a generator of four groups of four subgroups with 20 vertices each."""
    parent = np.arange(16) // 4
    chances = np.where(parent[:, None] == parent, 0.06, 0.01)
    np.fill_diagonal(chances, 0.5)

    def make(seed: int) -> Network:
        found = _of_chances([20] * 16, chances, seed)
        return found._replace(groups=parent[found.groups]) if coarse else found

    return make


def power_law(mixing: float, degree: int) -> Callable[[int], Network]:
    """Return a generator of networks of Lancichinetti, Fortunato and Radicchi (2008).

    Degrees and sizes of groups follow power laws. `mixing` is the share of edges of a vertex that
    leave its group.
    """

    def make(seed: int) -> Network:
        graph = nx.LFR_benchmark_graph(
            1000,
            3,
            1.5,
            mixing,
            average_degree=degree,
            min_community=20,
            max_degree=50,
            seed=seed,
        )
        return _network(graph, [min(graph.nodes[v]["community"]) for v in graph])

    return make


NETWORKS: dict[str, Callable[[int], Network]] = {
    "karate club": karate,
    "12 small blocks": blocks([10] * 7 + [9] * 5, 0.75, 0.04),
    "4 blocks": blocks([50] * 4, 0.3, 0.02),
    "4 blocks, more edges between": blocks([50] * 4, 0.3, 0.05),
    "5 blocks of 10 to 100": blocks([100, 60, 40, 20, 10], 0.3, 0.02),
    "nested blocks, 4 groups": nested(coarse=True),
    "nested blocks, 16 groups": nested(coarse=False),
    "LFR, mixing 0.2": power_law(0.2, 10),
    "LFR, mixing 0.3": power_law(0.3, 15),
}


def _of_chances(sizes: list[int], chances: NDArray[np.float64], seed: int) -> Network:
    graph = nx.stochastic_block_model(sizes, chances.tolist(), seed=seed)
    return _network(graph, [graph.nodes[v]["block"] for v in graph])


def _network(graph: nx.Graph, labels: list[Any]) -> Network:
    simple = nx.Graph(graph.edges)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))  # LFR creates some self-loops
    return Network(simple, np.unique(labels, return_inverse=True)[1])


def recovered(network: Network, seed: int) -> dict[str, float]:
    """Return the adjusted Rand index of each method."""
    edges, count = np.array(network.graph.edges), int(network.groups.max()) + 1
    metric = tr.GraphMetric(edges)
    found = {method: tr.fit(metric, method=method, rng=seed).cut(count) for method in METHODS}
    found["walktrap"] = (
        igraph.Graph(len(metric), edges.tolist()).community_walktrap().as_clustering(count).membership
    )
    found["louvain"] = np.empty(len(metric), np.int64)
    for k, members in enumerate(nx.community.louvain_communities(network.graph, seed=seed)):
        found["louvain"][list(members)] = k
    return {name: float(adjusted_rand_score(network.groups, clusters)) for name, clusters in found.items()}


def measured(name: str, draws: int = DRAWS) -> dict[str, Any]:
    """Return the row of a network."""
    networks = [NETWORKS[name](seed) for seed in range(1 if name == "karate club" else draws)]
    scores = [recovered(network, seed) for seed, network in enumerate(networks)]
    counts = sorted({int(network.groups.max()) + 1 for network in networks})
    row: dict[str, Any] = {
        "network": name,
        "vertices": len(networks[0].groups),
        "groups": str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}",
    }
    row |= {method: f"{np.mean([score[method] for score in scores]):.3f}" for method in scores[0]}
    print(row, flush=True)
    return row
