"""Trees of networkx and scikit-bio, and SciPy's linkage."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, is_valid_linkage, linkage
from scipy.spatial.distance import pdist, squareform
from skbio import TreeNode

from treerep.tree.tree import Tree

from ..strategies import caterpillar, trees

NAN = float("nan")
QUARTET = Tree(
    4,
    [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]],
    [1.0, 2, 3, 4, 5],
    labels=["a b", "it's", "<", "😀"],
    support=[NAN] * 4 + [0.7],
)


@settings(max_examples=30)
@given(trees())
def test_networkx_round_trip(tree: Tree) -> None:
    assert Tree.from_networkx(tree.to_networkx()) == tree.canonical()


def test_networkx_keeps_names_and_support() -> None:
    back = Tree.from_networkx(QUARTET.to_networkx())
    assert back == QUARTET
    assert_array_equal(back.support if back.support is not None else [], QUARTET.support)


def test_networkx_trees_of_others() -> None:
    path = nx.Graph([("x", "y"), ("y", 7)])
    tree = Tree.from_networkx(path, weight=None)
    assert tree.labels == ("x", "y", "7")
    assert_array_equal(tree.distances(), [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    for graph, message in [
        (path, r"edge \('x', 'y'\) has no attribute 'weight'"),
        (
            nx.DiGraph([(0, 2), (1, 2)]),
            "has 2 edges to node 2, but the edges of a rooted tree go",
        ),
        (nx.DiGraph([(0, 1), (2, 3)]), "has 2 nodes without a parent"),
        (nx.DiGraph([(0, 1), (1, 0)]), "has 0 nodes without a parent"),
        (nx.Graph(), "at least one data point"),
        (nx.Graph([(0, 1, {"weight": -1.0})]), "weights must be finite and not negative"),
        (nx.cycle_graph(3), "has no attribute"),
    ]:
        with pytest.raises(ValueError, match=message):
            Tree.from_networkx(graph)
    for graph in (
        nx.cycle_graph(3),
        nx.Graph([(0, 1), (2, 3)]),
        nx.MultiGraph([(0, 1), (0, 1)]),
    ):
        with pytest.raises(ValueError, match="do not form a tree|needs at least"):
            Tree.from_networkx(graph, weight=None)


def test_directed_networkx_trees_are_rooted_and_their_leaves_are_points() -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("r", "p", 1), ("r", "C", 4), ("p", "A", 2), ("p", "B", 3)])
    tree = Tree.from_networkx(graph)
    assert tree.newick() == "(C:4.0,(A:2.0,B:3.0):1.0);"
    graph.nodes["p"]["label"] = "clade"
    assert list(Tree.from_networkx(graph).clade_names.values()) == ["clade"]
    graph.nodes["p"].clear()
    graph.nodes["p"]["steiner"] = False
    assert Tree.from_networkx(graph, weight=None).labels == ("p", "C", "A", "B")


@settings(max_examples=30)
@given(trees(leaves=True))
def test_skbio_round_trip(tree: Tree) -> None:
    back = Tree.from_skbio(tree.to_skbio())
    assert back == tree.with_leaves().canonical()
    assert back.isclose(tree)


def test_skbio_keeps_names_and_support() -> None:
    other = QUARTET.to_skbio(root="it's")
    assert {tip.name for tip in other.tips()} == {"a b", "it's", "<", "😀"}
    assert other.name is None and "it's" in {child.name for child in other.children}
    back = Tree.from_skbio(QUARTET.to_skbio())
    assert_array_equal(back.distances(QUARTET.labels), QUARTET.distances())
    assert back.support is not None
    assert_array_equal(back.support, QUARTET.support)


@settings(max_examples=20)
@given(trees(max_nodes=20, leaves=True))
def test_skbio_measures_the_same_distances(tree: Tree) -> None:
    other = tree.to_skbio()
    nodes = {node.name: node for node in other.traverse() if node.name is not None}
    assert len(nodes) == len(tree)
    for i in range(len(tree)):
        assert_allclose(nodes["0"].distance(nodes[str(i)]), tree.pairs(0, i), rtol=1e-12)


def test_skbio_trees_of_others() -> None:
    tree = Tree.from_skbio(TreeNode.read(["((a:1,b:2)0.9:1,(c:1,d:1)1:3,e:3)root;"]))
    assert tree.labels == tuple("abcde")
    assert tree.clade_names == {tree.root: "root"}
    assert tree.support is not None
    assert sorted(tree.support[~np.isnan(tree.support)].tolist()) == [0.9, 1.0]
    bare = TreeNode.read(["((a,b),c);"])
    assert Tree.from_skbio(bare, default_length=2.0).total_length == 8
    for text, message in [
        ("((a,b):1,c:1);", "the edge above 'a' has no length"),
        ("(a:1,:2);", "leaf of the tree has no name"),
        ("(a:1,b:2):-3;", "the length of the root is -3.0"),
        ("(a:1,a:2);", "share the label 'a'"),
    ]:
        with pytest.raises(ValueError, match=message):
            Tree.from_skbio(TreeNode.read([text]))


def test_deep_trees() -> None:
    deep = caterpillar(100_000).canonical()
    assert Tree.from_skbio(deep.to_skbio()) == deep
    assert Tree.from_networkx(deep.to_networkx()) == deep


@settings(max_examples=40)
@given(
    st.integers(2, 20),
    st.sampled_from(["average", "single", "complete"]),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_linkage_has_the_distances_of_the_tree(n: int, method: str, seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (n, 2)).astype(float) if ties else rng.random((n, 2))
    expected = linkage(pdist(points), method)
    tree = tree_of_linkage(expected)
    for each in (
        tree,
        tree.contracted(),
    ):  # with ties, contraction makes nodes of many branches
        found = each.to_linkage()
        assert is_valid_linkage(found)
        assert_allclose(squareform(cophenet(found)), tree.distances(), atol=1e-9)
        assert_allclose(found[:, 2], expected[:, 2], atol=1e-9)


def tree_of_linkage(merges: np.ndarray) -> Tree:
    n = len(merges) + 1
    height = np.concatenate([np.zeros(n), merges[:, 2] / 2])
    edges = [(int(child), n + k) for k, row in enumerate(merges) for child in row[:2]]
    return Tree(n, edges, [max(height[p] - height[c], 0.0) for c, p in edges])


def test_linkage_of_small_trees() -> None:
    assert Tree(1, [], []).to_linkage().shape == (0, 4)
    assert_array_equal(Tree(2, [[0, 1]], [3.0]).to_linkage(), [[0, 1, 3, 2]])
    assert_array_equal(Tree(2, [[0, 1]], [0.0]).to_linkage(), [[0, 1, 0, 2]])
    star = Tree(3, [[0, 3], [1, 3], [2, 3], [3, 4]], [1.0, 1, 1, 0.5])  # and a Steiner leaf
    assert_array_equal(star.to_linkage(), [[1, 2, 2, 2], [0, 3, 2, 3]])
    duplicates = Tree(3, [[0, 1], [1, 3], [2, 3]], [0.0, 1.0, 1.0])
    assert_array_equal(duplicates.to_linkage(), [[0, 1, 0, 2], [2, 3, 2, 3]])


def test_trees_that_are_no_linkage() -> None:
    with pytest.raises(
        ValueError,
        match="not ultrametric \\(point 'c' is at distance 1 from the midpoint .*, another point at 1.5",
    ):
        Tree(3, [[0, 3], [1, 3], [2, 3]], [1.5, 1.5, 1.0], labels="abc").to_linkage()
    with pytest.raises(ValueError, match="not ultrametric \\(point 1 is at distance 0 from"):
        Tree(3, [[0, 1], [1, 2]], [1.0, 1.0]).to_linkage()
    nearly = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.5, 1.5, 1.49])
    assert nearly.to_linkage(rtol=0.1).shape == (2, 4)
    assert not math.isnan(nearly.to_linkage(rtol=0.1).sum())


def test_percentages_of_skbio_are_support() -> None:
    theirs = TreeNode.read(["((a:1,b:2)95:1,(c:1,d:1)100:1);"])
    assert sorted(set(Tree.from_skbio(theirs).support[-2:])) == [0.95, 1.0]
    for node in theirs.non_tips():
        node.support, node.name = float(node.name) / 100, None
    assert sorted(set(Tree.from_skbio(theirs).support[-2:])) == [0.95, 1.0]
