"""Distances, paths and rooted views, against networkx and against exact sums."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from treerep.metric._compiled import CompiledMetric
from treerep.metric.oracle.distance_kernels import lowest_common_ancestor
from treerep.tree.structure import walks
from treerep.tree.tree import Tree

from .strategies import caterpillar, naive_distances, trees


@given(trees())
def test_pairs_and_both_blocks_agree_with_networkx(tree: Tree) -> None:
    expected = naive_distances(tree)
    nodes = np.arange(tree.n_nodes)
    assert_allclose(tree.pairs(nodes[:, None], nodes), expected, rtol=4e-15, atol=0)
    assert_allclose(CompiledMetric.block(tree, nodes, nodes), expected, rtol=4e-15, atol=0)
    assert_allclose(walks.walked_block(tree._view, nodes, nodes), expected, rtol=4e-15, atol=0)
    assert_allclose(tree.block(nodes, nodes), expected, rtol=4e-15, atol=0)
    assert_allclose(tree.distances(), expected[: len(tree), : len(tree)], rtol=4e-15, atol=0)


@given(trees(max_nodes=80), st.integers(0, 2**32 - 1))
def test_any_rows_and_columns(tree: Tree, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, cols = (rng.integers(0, tree.n_nodes, size) for size in rng.integers(0, 6, 2))
    expected = naive_distances(tree)[np.ix_(rows, cols)]
    assert_allclose(tree.block(rows, cols), expected, rtol=1e-14, atol=0)
    assert tree.block(rows, cols).shape == (len(rows), len(cols))


@pytest.mark.parametrize(("i", "j"), [([[0]], [0]), ([[0], [1]], [2, 1, 0]), (1, 2), ([], []), (0, [1, 2])])
def test_pairs_broadcast_as_numpy_does(i: object, j: object) -> None:
    found = caterpillar(3).pairs(i, j)  # type: ignore[arg-type]
    expected = caterpillar(3).distances()[np.asarray(i, int), np.asarray(j, int)]
    assert_allclose(found, expected, rtol=4e-15)
    assert found.shape == expected.shape


@given(trees(), st.data())
def test_path(tree: Tree, data: st.DataObject) -> None:
    i, j = (data.draw(st.integers(0, tree.n_nodes - 1)) for _ in range(2))
    assert tree.path(i, j).tolist() == nx.shortest_path(tree.to_networkx(), i, j)


@given(trees(), st.data())
def test_rooted(tree: Tree, data: st.DataObject) -> None:
    root = data.draw(st.integers(0, tree.n_nodes - 1))
    view = tree.rooted(root)
    graph = tree.to_networkx()
    parents = {child: parent for parent, child in nx.bfs_edges(graph, root)}
    assert view.root == root
    assert view.parent[root] == -1
    assert view.length[root] == 0
    for child, parent in parents.items():
        assert view.parent[child] == parent
        assert view.length[child] == graph.edges[child, parent]["weight"]
    assert_allclose(view.depth, naive_distances(tree)[root], rtol=4e-15, atol=0)
    # Preorder, children by the smallest id below them.
    below = {node: {node} for node in range(tree.n_nodes)}
    for node in view.order[::-1].tolist():
        if node != root:
            below[int(view.parent[node])] |= below[node]
    expected, stack = [], [root]
    while stack:
        node = stack.pop()
        expected.append(node)
        stack += sorted(
            (c for c, p in parents.items() if p == node),
            key=lambda c: min(below[c]),
            reverse=True,
        )
    assert view.order.tolist() == expected


def test_rooted_is_kept_and_accepts_labels() -> None:
    tree = Tree(2, [[0, 2], [2, 1]], [1.0, 2.0], labels=["x", "y"])
    assert tree.rooted() is tree.rooted()
    assert tree.rooted().root == 0
    assert tree.rooted("y").root == 1
    assert tree.rooted("y").depth.tolist() == [3.0, 0.0, 2.0]


@njit
def ancestors(oracle, i, j, out):
    for k in range(len(i)):
        out[k] = lowest_common_ancestor(oracle, i[k], j[k])


@given(trees(max_nodes=70))
def test_lowest_common_ancestors(tree: Tree) -> None:
    parent = tree.rooted().parent
    lines = []
    for v in range(tree.n_nodes):
        line = [v]
        while parent[line[-1]] >= 0:
            line.append(int(parent[line[-1]]))
        lines.append(line)
    i, j = (x.ravel() for x in np.indices((tree.n_nodes, tree.n_nodes)))
    found = np.empty(len(i), np.int64)
    ancestors(tree.oracle, i, j, found)
    assert found.tolist() == [
        next(v for v in lines[a] if v in set(lines[b])) for a, b in zip(i, j, strict=True)
    ]


def test_near_points_far_from_the_root_keep_their_digits() -> None:
    tree = caterpillar(100_000)
    hang, row = tree.weights[:100_000], tree.weights[100_000:]
    for i, j in [
        (99_990, 99_991),
        (50_000, 50_003),
        (99_000, 99_500),
        (0, 99_999),
        (70_000, 99_999),
        (3, 3),
    ]:
        exact = math.fsum([*row[i:j], hang[i], hang[j]]) if i != j else 0.0
        assert tree.pairs(i, j) == pytest.approx(exact, rel=1e-15, abs=0)
        assert CompiledMetric.block(tree, [i], [j])[0, 0] == pytest.approx(exact, rel=1e-15, abs=0)
        assert walks.walked_block(tree._view, np.array([i]), np.array([j]))[0, 0] == pytest.approx(
            exact, rel=1e-11
        )


def test_tiny_edges_beside_huge_ones() -> None:
    # A path 0 - 1 - 2 - 3 whose far edges are below the rounding error of the depth.
    tree = Tree(4, [[0, 1], [1, 2], [2, 3]], [1e12, 1e-5, 3e-9])
    assert tree.pairs(1, 2) == pytest.approx(1e-5, rel=1e-12)
    assert tree.pairs(2, 3) == pytest.approx(3e-9, rel=1e-8)
    assert tree.block([2], range(4))[0, 3] == 3e-9  # a walk adds what it passes only


@settings(max_examples=25)
@given(trees(max_nodes=60))
def test_distances_are_a_metric_to_the_last_bit(tree: Tree) -> None:
    d = tree.distances()
    assert_array_equal(d, d.T)
    assert_array_equal(np.diag(d), 0)
    assert (d >= 0).all()
    nodes = np.arange(tree.n_nodes)
    assert (tree.pairs(nodes[:, None], nodes) >= 0).all()


def test_distances_do_not_depend_on_threads() -> None:
    tree = caterpillar(300)
    one = tree.distances(n_jobs=1)
    assert_array_equal(one, tree.distances(n_jobs=4))
    assert_allclose(one, tree.block(np.arange(300), np.arange(300)), rtol=4e-15)


def test_which_way_depends_on_shapes_alone() -> None:
    assert not walks.prefer_walk(1, 1000)
    assert walks.prefer_walk(1000, 1000)
