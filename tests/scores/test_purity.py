import math
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.strategies import SHAPES, parents
from treerep.scores.purity import dendrogram_purity


def rooted_tree(shape, nodes, points, rng, zeros=False):
    """A tree of the given shape whose data points are random nodes, inner nodes among them."""
    parent = parents(shape, nodes, rng)
    number = rng.permutation(nodes)
    edges = np.column_stack([number[1:], number[parent]])
    lengths = rng.integers(0, 3, nodes - 1) if zeros else rng.uniform(0.1, 1, nodes - 1)
    return tr.Tree(points, edges, lengths.astype(float), root=int(number[0]))


def clade_of(tree):
    """Return a function from two points to their smallest clade, by networkx.

    Nodes at distance 0 are one node.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(tree.n_nodes))
    graph.add_edges_from(tree.edges[tree.weights == 0].tolist())
    place = {node: min(part) for part in nx.connected_components(graph) for node in part}
    down = nx.DiGraph()
    down.add_nodes_from(place.values())
    rooted = tree.rooted(tree.root)
    for child, parent in enumerate(rooted.parent):
        if parent >= 0 and place[child] != place[parent]:
            down.add_edge(place[parent], place[child])

    def clade(i, j):
        top = nx.lowest_common_ancestor(down, place[i], place[j])
        inside = nx.descendants(down, top) | {top}
        return {x for x in range(len(tree)) if place[x] in inside}

    return clade


def naive(tree, classes, mean):
    """The definition, pair by pair."""
    clade = clade_of(tree)
    n = len(tree)
    share = {}
    for i, j in combinations(range(n), 2):
        if classes[i] == classes[j]:
            inside = clade(i, j)
            share[i, j] = sum(classes[x] == classes[i] for x in inside) / len(inside)
    if mean == "pairs":
        return math.fsum(share.values()) / len(share) if share else 1.0
    each = []
    for i in range(n):
        own = [value for pair, value in share.items() if i in pair]
        each += [np.mean(own)] if own else []
    return np.mean(each) if each else 1.0


QUARTET = tr.Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5)


def test_hand_worked():
    # Cherries: a pair of one class is pure; the root has half of each class.
    tree, _ = QUARTET.root_at_midpoint()
    score = dendrogram_purity(tree, ["x", "x", "y", "y"])
    assert (score, score.pairs, score.exact) == (1.0, 2, True)
    assert repr(score) == "1 (all 2 pairs in 2 classes)"
    assert dendrogram_purity(tree, ["x", "y", "x", "y"]) == 0.5
    # 0, 1 and 3: the pair 0, 1 is pure, and two pairs meet at the root, where 3 of 4 points are of the class.
    # 2 is alone and does not count.
    assert dendrogram_purity(tree, [1, 1, 2, 1]) == pytest.approx((1 + 3 / 4 + 3 / 4) / 3)


def test_means_differ_for_classes_of_different_sizes():
    # Class 0 has 3 points and 3 pairs, all at the center (3 of 5). Class 1 has 2 points and 1 pair (2 of 5).
    star = tr.Tree(5, [[i, 5] for i in range(5)], [1.0] * 5)
    classes = [0, 0, 0, 1, 1]
    assert dendrogram_purity(star, classes) == pytest.approx((3 * 0.6 + 2 * 0.4) / 5)
    pairs = dendrogram_purity(star, classes, mean="pairs")
    assert pairs == pytest.approx((3 * 0.6 + 1 * 0.4) / 4)


def test_points_inside_the_tree_belong_to_the_clade_of_their_node():
    # The path 0 - 1 - 2 - 3, rooted at 0: 1 is above 2 and 3, so its clade is {1, 2, 3}.
    path = tr.Tree(4, [[0, 1], [1, 2], [2, 3]], [1.0] * 3, root=0)
    assert dendrogram_purity(path, [0, 1, 1, 1]) == 1.0
    assert dendrogram_purity(path, [0, 1, 0, 1]) == pytest.approx((2 / 4 + 2 / 3) / 2)
    # As leaves at distance 0 they are in the same clades.
    leaves = path.with_leaves()
    assert dendrogram_purity(leaves, [0, 1, 0, 1]) == dendrogram_purity(path, [0, 1, 0, 1])


def test_the_root_is_that_of_the_tree_or_the_midpoint():
    classes = [0, 0, 1, 1]
    long = QUARTET.with_weights([5.0, 1.0, 1.0, 1.0, 1.0])  # the midpoint is above point 0
    assert long.root is None
    middle = long.root_at_midpoint()[0]
    assert dendrogram_purity(long, classes) == dendrogram_purity(middle, classes) == 0.75
    assert dendrogram_purity(long.with_root(4), classes) == 0.75
    assert dendrogram_purity(QUARTET, classes) == 1.0


@settings(max_examples=120, deadline=None)
@given(
    nodes=st.integers(1, 16),
    seed=st.integers(0, 10**6),
    shape=st.sampled_from(SHAPES),
    kinds=st.integers(1, 6),
    zeros=st.booleans(),
    mean=st.sampled_from(["points", "pairs"]),
    data=st.data(),
)
def test_agrees_with_the_definition(nodes, seed, shape, kinds, zeros, mean, data):
    rng = np.random.default_rng(seed)
    tree = rooted_tree(shape, nodes, data.draw(st.integers(1, nodes)), rng, zeros)
    classes = rng.integers(0, kinds, len(tree)).tolist()
    score = dendrogram_purity(tree, classes, mean=mean)
    assert score == pytest.approx(naive(tree, classes, mean), abs=1e-12)
    sizes = np.bincount(classes)
    assert score.pairs == (sizes * (sizes - 1) // 2).sum()


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 60), st.integers(0, 10**6), st.integers(2, 8))
def test_clades_are_pure_and_only_clades(n, seed, k):
    tree = tr.datasets.random_tree(n, rng=seed)
    k = min(k, n)
    middle, root = tree.root_at_midpoint()
    rooted = middle.rooted(root)
    below = [{i} if i < n else set() for i in range(middle.n_nodes)]
    for node in rooted.order[:0:-1]:
        below[rooted.parent[node]] |= below[node]
    # A class is pure if and only if its points and no others are below a node.
    clades = [each for each in below if len(each) >= 2]
    chosen = clades[seed % len(clades)]
    classes = [-1 if i in chosen else i for i in range(n)]
    assert dendrogram_purity(tree, classes) == 1.0
    missing = sorted(chosen)[0]
    if len(chosen) > 2 and chosen - {missing} not in below:
        classes[missing] = missing
        assert dendrogram_purity(tree, classes) < 1.0


def test_many_classes_take_little_memory():
    tree = tr.datasets.random_tree(20_000, rng=0)
    classes = np.arange(20_000) // 2  # 10,000 classes: an array of nodes and classes has 3 GB
    score = dendrogram_purity(tree, classes)
    assert score.pairs == 10_000
    assert 0 < score < 0.2


def test_classes_are_matched_by_label():
    tree = tr.Tree.from_newick("((a:1,b:1):1,(c:1,d:1):1);")
    by_name = {"d": "y", "c": "y", "b": "x", "a": "x"}
    assert dendrogram_purity(tree, by_name) == 1.0
    assert dendrogram_purity(tree, pd.Series(by_name)) == 1.0
    assert dendrogram_purity(tree, pd.Series(by_name, dtype="category")) == 1.0
    # The order of a text file is not that of the data.
    with pytest.raises(ValueError, match="tree has labels in the order of a text file"):
        dendrogram_purity(tree, ["x", "x", "y", "y"])
    assert dendrogram_purity(tree.restrict("dacb"), ["y", "x", "y", "x"]) == 1.0
    assert dendrogram_purity(QUARTET, {0: "x", 1: "x", 2: "y", 3: "y"}) == 1.0


@pytest.mark.parametrize("nothing", [None, math.nan, pd.NA, pd.NaT])
def test_points_without_a_class_are_named(nothing):
    with pytest.raises(ValueError, match=r"^point 2 has no class: [^\n]*$"):
        dendrogram_purity(QUARTET, ["x", "x", nothing, "y"])


def test_bad_input_gets_one_clear_line():
    with pytest.raises(ValueError, match="classes has shape 3: give one class for each of the 4"):
        dendrogram_purity(QUARTET, [0, 1, 1])
    with pytest.raises(ValueError, match="classes has no entry for point 3: add its class"):
        dendrogram_purity(QUARTET, {0: 1, 1: 1, 2: 1})
    with pytest.raises(ValueError, match="mean must be one of 'points', 'pairs', not 'classes'"):
        dendrogram_purity(QUARTET, [0, 0, 1, 1], mean="classes")
    with pytest.raises(TypeError, match="dendrogram purity needs a tree, not TreeSum"):
        dendrogram_purity(tr.TreeSum([QUARTET]), [0, 0, 1, 1])


def test_without_pairs_it_is_perfect():
    score = dendrogram_purity(QUARTET, [0, 1, 2, 3])
    assert (score, score.pairs) == (1.0, 0)
    assert dendrogram_purity(tr.Tree(1, np.empty((0, 2), int), []), ["x"]) == 1.0
