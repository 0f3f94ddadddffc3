"""Random trees: any shape, any of the nodes data points, some edges of length 0, in shuffled order."""

import numpy as np
from hypothesis import strategies as st

from tests.strategies import SHAPES, parents
from treerep.tree.tree import Tree


@st.composite
def trees(draw: st.DrawFn, max_nodes: int = 30, min_points: int = 1, leaves: bool = False) -> Tree:
    """Trees whose Steiner nodes may be leaves or lie on a line; with leaves=True every leaf is a data point."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes = draw(st.integers(min_points, max_nodes))
    parent = parents(draw(st.sampled_from(SHAPES)), nodes, rng)
    edges = np.column_stack([np.arange(1, nodes), parent])
    weights = (
        rng.integers(0, 4, nodes - 1).astype(float) if draw(st.booleans()) else rng.uniform(0, 1, nodes - 1)
    )
    weights[rng.random(nodes - 1) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    is_point = rng.random(nodes) < draw(st.sampled_from([0.3, 0.6, 1.0]))
    if leaves:
        is_point |= np.bincount(edges.ravel(), minlength=nodes) <= 1
    is_point[rng.permutation(nodes)[:min_points]] = True
    return shuffled(edges, weights, is_point, rng)


def shuffled(edges: np.ndarray, weights: np.ndarray, is_point: np.ndarray, rng: np.random.Generator) -> Tree:
    """Number data points and Steiner nodes at random, and put edges and their ends into a random order."""
    nodes = rng.permutation(len(is_point))
    number = np.empty(len(is_point), int)
    number[nodes[np.argsort(~is_point[nodes], kind="stable")]] = np.arange(len(is_point))
    order = rng.permutation(len(edges))
    mixed = np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])
    return Tree(int(is_point.sum()), number[mixed[order]].reshape(-1, 2), weights[order])


def renumbered(tree: Tree, rng: np.random.Generator) -> Tree:
    """The same tree with other Steiner numbers, edges in another order and turned at random."""
    number = np.arange(tree.n_nodes)
    number[tree.n_points :] = rng.permutation(number[tree.n_points :])
    order = rng.permutation(len(tree.edges))
    mixed = np.where(rng.random((len(order), 1)) < 0.5, tree.edges, tree.edges[:, ::-1])
    return Tree(tree.n_points, number[mixed[order]], tree.weights[order], tree.labels)


def caterpillar(n_points: int, seed: int = 0) -> Tree:
    """Points hung one by one from a row of Steiner nodes."""
    rng = np.random.default_rng(seed)
    row = n_points + np.arange(n_points)
    edges = np.concatenate(
        [np.column_stack([np.arange(n_points), row]), np.column_stack([row[:-1], row[1:]])]
    )
    return Tree(n_points, edges, rng.uniform(0.1, 1.0, len(edges)))


def naive_distances(tree: Tree) -> np.ndarray:
    """Path lengths between all nodes, by networkx."""
    import networkx as nx

    lengths = dict(nx.all_pairs_dijkstra_path_length(tree.to_networkx()))
    return np.array([[lengths[u][v] for v in range(tree.n_nodes)] for u in range(tree.n_nodes)])


def naive_splits(tree: Tree) -> dict[frozenset[int], float]:
    """Points beyond each edge, seen from point 0, with the total length of the edges that part the points so."""
    import networkx as nx

    splits: dict[frozenset[int], float] = {}
    graph = tree.to_networkx()
    for u, v, weight in list(graph.edges.data("weight")):
        graph.remove_edge(u, v)
        side = nx.node_connected_component(graph, u)
        graph.add_edge(u, v)
        far = frozenset(i for i in range(tree.n_points) if (i in side) != (0 in side))
        if far:
            splits[far] = splits.get(far, 0.0) + weight
    return splits
