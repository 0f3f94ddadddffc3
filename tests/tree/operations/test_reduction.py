"""restrict and contracted: smaller trees with the same distances."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from treerep.tree.tree import Tree

from ..strategies import caterpillar, naive_distances, renumbered, trees

SEEDS = st.integers(0, 2**32 - 1)


def is_minimal(tree: Tree) -> bool:
    return bool((tree.degrees[tree.n_points :] >= 3).all())


def test_restrict_by_hand() -> None:
    # Two cherries (0, 1) and (2, 3) on a long edge.
    tree = Tree(4, [[0, 4], [1, 4], [4, 5], [2, 5], [3, 5]], [1, 2, 10, 3, 4], labels="abcd")
    assert tree.restrict(["d", "a"]) == Tree(2, [[0, 1]], [15.0], labels=["d", "a"])
    assert tree.restrict([2, 3, 0]) == Tree(
        3, [[0, 3], [1, 3], [2, 3]], [3.0, 4.0, 11.0], labels=["c", "d", "a"]
    )
    assert tree.restrict(np.array([1])) == Tree(1, [], [], labels=["b"])


@given(trees(), SEEDS)
def test_restrict_keeps_distances(tree: Tree, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.permutation(len(tree))[: rng.integers(1, len(tree) + 1)]
    part = tree.restrict(points)
    assert len(part) == len(points)
    assert is_minimal(part)
    assert Tree(part.n_points, part.edges, part.weights) == part == part.canonical()
    k = len(points)
    assert_allclose(naive_distances(part)[:k, :k], naive_distances(tree)[np.ix_(points, points)], rtol=1e-14)


@given(trees(), SEEDS)
def test_restrict_in_two_steps(tree: Tree, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(tree))
    some = order[: 1 + len(order) // 2]
    assert tree.restrict(order).restrict(np.arange(len(some))).isclose(tree.restrict(some), rtol=1e-14)


def test_restrict_sums_long_lines_exactly() -> None:
    tree = caterpillar(2000)
    assert tree.restrict([0, 1999]).weights[0] == pytest.approx(tree.pairs(0, 1999), rel=1e-15)


def test_restrict_refuses() -> None:
    tree = caterpillar(4)
    with pytest.raises(ValueError, match="choose at least one point"):
        tree.restrict([])
    with pytest.raises(ValueError, match="point 2 is chosen more than once"):
        tree.restrict([2, 1, 2])
    with pytest.raises(IndexError, match="point 4 does not exist: the 4 points"):
        tree.restrict([0, 4])  # a Steiner node
    with pytest.raises(ValueError, match="'a' is not in the tree"):
        tree.restrict(["a"])


def test_contracted_by_hand() -> None:
    # Steiner 4 sits on point 0, Steiner 5 on a line, 6 is a leaf; points 2 and 3 coincide and stay two nodes.
    edges = [[0, 4], [1, 4], [4, 5], [5, 2], [2, 3], [5, 6]]
    tree = Tree(4, edges, [0, 1, 2, 3, 0, 7])
    assert tree.contracted() == Tree(4, [[0, 1], [0, 2], [2, 3]], [1.0, 5.0, 0.0])
    assert tree.contracted(1.0) == Tree(4, [[0, 1], [0, 2], [2, 3]], [1.0, 5.0, 0.0])
    assert tree.contracted(2.0) == Tree(4, [[0, 1], [0, 2], [2, 3]], [1.0, 3.0, 0.0])


def test_a_point_takes_over_a_steiner_node_and_a_second_one_does_not() -> None:
    star = Tree(3, [[0, 3], [1, 3], [2, 3]], [5.0, 0.0, 0.0])
    assert star.contracted() == Tree(3, [[0, 1], [1, 2]], [5.0, 0.0])


@given(trees())
def test_contracted_keeps_the_metric(tree: Tree) -> None:
    small = tree.contracted()
    assert is_minimal(small)
    assert (
        Tree(small.n_points, small.edges, small.weights) == small == small.canonical() == small.contracted()
    )
    n = len(tree)
    assert_allclose(naive_distances(small)[:n, :n], naive_distances(tree)[:n, :n], rtol=1e-14)
    touches_steiner = (small.edges >= n).any(axis=1)
    assert (small.weights[touches_steiner] > 0).all()


@given(trees(leaves=True), SEEDS)
def test_contracted_does_not_depend_on_steiner_numbers(tree: Tree, seed: int) -> None:
    assert renumbered(tree, np.random.default_rng(seed)).contracted(0.3) == tree.contracted(0.3)


@given(trees(), st.sampled_from([0.1, 0.5, 2.0]))
def test_contracted_with_tolerance(tree: Tree, tol: float) -> None:
    small = tree.contracted(tol)
    n = len(tree)
    assert is_minimal(small)
    assert (small.weights[(small.edges >= n).any(axis=1)] > tol).all()
    assert small.contracted(tol) == small
    # A path loses at most the short edges on it.
    graph = tree.to_networkx()
    short = {frozenset(e): w for *e, w in graph.edges.data("weight") if w <= tol}
    before, after = naive_distances(tree), naive_distances(small)
    for i in range(n):
        for j, path in nx.single_source_shortest_path(graph, i).items():
            if j < n:
                loss = sum(short.get(frozenset(step), 0.0) for step in pairwise(path))
                assert before[i, j] - loss - 1e-12 <= after[i, j] <= before[i, j] + 1e-12


@pytest.mark.parametrize("tol", [-1.0, float("nan")])
def test_contracted_refuses(tol: float) -> None:
    with pytest.raises(ValueError, match="tol must be a length"):
        caterpillar(3).contracted(tol)
