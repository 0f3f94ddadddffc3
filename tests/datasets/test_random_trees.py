import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treerep.datasets import random_tree, random_tree_metric
from treerep.datasets.random_trees import _double_binary_tree

SHAPES = ["random", "path", "star", "caterpillar", "binary"]


def graph_of(tree):
    graph = nx.Graph()
    graph.add_nodes_from(range(tree.n_nodes))
    graph.add_edges_from(np.asarray(tree.edges).tolist())
    return graph


@given(st.integers(1, 60), st.sampled_from(SHAPES), st.floats(0, 1), st.integers(0, 2**32))
def test_is_a_tree_whose_steiner_nodes_are_branchings(n, shape, hidden, seed):
    tree = random_tree(n, shape=shape, hidden=hidden, rng=seed)
    graph = graph_of(tree)
    assert len(tree) == n
    assert graph.number_of_nodes() == 1 or nx.is_tree(graph)
    assert all(graph.degree(node) >= 3 for node in range(n, tree.n_nodes))
    assert ((tree.weights >= 0.1) & (tree.weights <= 1)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 50])
def test_leaves_of_a_binary_tree_are_the_points(n):
    graph = graph_of(random_tree(n, shape="binary"))
    assert graph.number_of_nodes() == max(n, 2 * n - 2)
    degrees = sorted(degree for _, degree in graph.degree)
    if n > 2:
        assert degrees == [1] * n + [3] * (n - 2)


def test_yule_trees_of_four_leaves_are_equally_likely():
    # By symmetry each of the three quartets has a third; a wrong sort of the lines of descent breaks this.
    sisters = []
    for seed in range(150):
        tree = random_tree(4, shape="binary", weights=(1, 1), rng=seed)
        sisters.append(int(tree.block([0], [1, 2, 3])[0].argmin()))
    assert (np.bincount(sisters, minlength=3) > 25).all()


def test_shapes():
    def degrees(**options):
        return sorted(degree for _, degree in graph_of(random_tree(6, **options)).degree)

    assert degrees(shape="path") == [1, 1, 2, 2, 2, 2]
    assert degrees(shape="star") == [1, 1, 1, 1, 1, 5]
    assert degrees(shape="star", hidden=1) == [1, 1, 1, 1, 1, 1, 6]
    assert degrees(shape="caterpillar") == [1] * 6 + [3] * 4
    assert nx.diameter(graph_of(random_tree(6, shape="caterpillar"))) == 5


def test_points_are_numbered_at_random():
    centers = {
        int(np.argmax(np.bincount(random_tree(9, shape="star", rng=seed).edges.ravel())))
        for seed in range(20)
    }
    assert len(centers) > 3


def test_weights_are_in_their_range():
    assert set(random_tree(50, weights=(2, 2)).weights.tolist()) == {2.0}
    wide = random_tree(2000, weights=(1e-9, 3e-9)).weights
    assert 1e-9 <= wide.min() < 1.1e-9
    assert 2.9e-9 < wide.max() <= 3e-9


@pytest.mark.parametrize("make", [random_tree, random_tree_metric])
def test_a_seed_is_a_tree(make):
    one, same, other = make(5, rng=3), make(5, rng=np.random.default_rng(3)), make(5, rng=4)
    assert np.array_equal(one.edges, same.edges)
    assert np.array_equal(one.weights, same.weights)
    assert not np.array_equal(one.weights, other.weights)


def test_double_binary_tree():
    graph = nx.Graph(_double_binary_tree(3).tolist())
    assert nx.is_tree(graph)
    assert sorted(degree for _, degree in graph.degree) == [1] * 8 + [3] * 6


@pytest.mark.parametrize(
    ("depth", "paper"), [(1, 11), (2, 40), (3, 89), (4, 191), (5, 362), (6, 817), (7, 1611)]
)
def test_the_papers_sizes_are_typical(depth, paper):
    cliques = 2 * (2**depth - 1)
    sizes = [len(random_tree_metric(depth, rng=seed)) for seed in range(20)]
    assert all(2 * cliques <= size <= 10 * cliques for size in sizes)
    assert min(sizes) * 0.8 < paper < max(sizes) * 1.2


def test_cliques_become_stars_below_their_first_node():
    # A breadth-first tree enters each clique at one node, which is tied to all the others: so diameters stay small.
    tree = random_tree_metric(6, rng=1)
    graph = graph_of(tree)
    assert nx.is_tree(graph)
    assert tree.n_nodes == len(tree)
    assert nx.diameter(graph) <= 4 * 6 + 2
    assert 0 < tree.weights.min() < 0.2
    assert 1.8 < tree.weights.max() < 2
    assert abs(tree.weights.mean() - 1) < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_points": 0}, "^n_points must be a positive whole number, not 0$"),
        ({"n_points": 5.0}, "^n_points must be a positive whole number, not 5.0$"),
        ({"n_points": 5, "shape": "bush"}, "unknown shape 'bush'"),
        ({"n_points": 5, "hidden": 1.5}, "hidden"),
        ({"n_points": 5, "hidden": float("nan")}, "hidden"),
        ({"n_points": 5, "weights": (2, 1)}, "weights"),
        ({"n_points": 5, "weights": (-1, 1)}, "weights"),
        ({"n_points": 5, "weights": (0, float("inf"))}, "weights"),
    ],
)
def test_bad_requests(options, message):
    with pytest.raises(ValueError, match=message):
        random_tree(options.pop("n_points"), **options)


@pytest.mark.parametrize("depth", [0, 2.0])
def test_bad_depth(depth):
    with pytest.raises(ValueError, match="^depth must be a positive whole number"):
        random_tree_metric(depth)
