"""difference and isclose, against sets of splits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treerep.tree.tree import Tree

from ..strategies import caterpillar, naive_distances, naive_splits, renumbered, trees

SEEDS = st.integers(0, 2**32 - 1)


def quartet(a: int, b: int, c: int, d: int) -> Tree:
    return Tree(4, [[a, 4], [b, 4], [4, 5], [c, 5], [d, 5]], np.ones(5))


def neighbor(tree: Tree, seed: int) -> Tree:
    """A tree on the same points that shares some splits: some points change places, some edges their length."""
    rng = np.random.default_rng(seed)
    number = np.arange(tree.n_nodes)
    some = rng.permutation(tree.n_points)[: rng.integers(0, 5)]
    number[some] = rng.permutation(some)
    weights = np.where(rng.random(len(tree.edges)) < 0.2, 0.0, tree.weights)
    return Tree(tree.n_points, number[tree.edges], weights)


def test_by_hand() -> None:
    same = quartet(0, 1, 2, 3).difference(quartet(3, 2, 1, 0))
    assert same == (0, 0.0, 0.0)
    other = quartet(0, 1, 2, 3).difference(quartet(0, 2, 1, 3))
    # Splits 01|23 and 02|13; the distances of 01, 23, 02, 13 change by one.
    assert other == (2, 1.0, 2.0)
    assert other.robinson_foulds == 2
    # Point 1 moves from a leaf to the node itself: its trivial split is gone, and its distances are one less.
    inner = Tree(4, [[0, 1], [1, 5], [1, 4], [2, 5], [3, 5]], [1, 1, 0, 1, 1])
    assert quartet(0, 1, 2, 3).difference(inner) == (1, 1 / 3, math.sqrt(3))


@given(trees(max_nodes=25), SEEDS)
def test_against_sets_of_splits(tree: Tree, seed: int) -> None:
    other, n = neighbor(tree, seed), len(tree)
    one, two = ({s for s, w in naive_splits(t).items() if w > 0} for t in (tree, other))
    trivial = {s for s in one & two if len(s) in (1, n - 1)}
    found = tree.difference(other)
    assert found.robinson_foulds == len(one ^ two)
    most = len(one) + len(two) - 2 * len(trivial)
    assert found.normalized == (len(one ^ two) / most if most else 0.0)
    gap = (naive_distances(tree) - naive_distances(other))[:n, :n]
    assert found.path == pytest.approx(math.sqrt((gap**2).sum() / 2), abs=1e-12)
    assert other.difference(tree)[:2] == found[:2]


@given(trees(max_nodes=40), SEEDS)
def test_unrelated_trees(tree: Tree, seed: int) -> None:
    rng = np.random.default_rng(seed)
    number = np.arange(tree.n_nodes)
    number[: len(tree)] = rng.permutation(len(tree))
    other = Tree(tree.n_points, number[tree.edges], tree.weights)
    one, two = ({s for s, w in naive_splits(t).items() if w > 0} for t in (tree, other))
    assert tree.difference(other, path=False).robinson_foulds == len(one ^ two)


@given(trees(), SEEDS)
def test_the_same_tree_written_otherwise(tree: Tree, seed: int) -> None:
    other = renumbered(tree, np.random.default_rng(seed))
    assert tree.difference(other)[:2] == (0, 0.0)
    assert tree.difference(other).path == pytest.approx(0, abs=1e-12)
    assert tree.isclose(other)
    assert tree.isclose(tree.contracted(), rtol=1e-14)


def test_matches_by_label() -> None:
    tree = Tree(4, [[0, 4], [1, 4], [4, 5], [2, 5], [3, 5]], [1, 2, 3, 4, 5], labels="abcd")
    assert tree.difference(tree.restrict(["d", "b", "a", "c"])) == (0, 0.0, 0.0)
    unnamed = Tree(4, tree.edges, tree.weights)
    assert tree.difference(unnamed) == (0, 0.0, 0.0)


def test_refuses() -> None:
    with pytest.raises(ValueError, match="the other tree has 4 points and this tree has 3"):
        caterpillar(3).difference(caterpillar(4))
    one, two = (Tree(2, [[0, 1]], [1.0], labels=names) for names in ("ab", "ax"))
    with pytest.raises(
        ValueError, match="the other tree has no point 'b', which is in this tree"
    ):
        one.difference(two)


@pytest.mark.parametrize(
    ("other", "kind"), [(np.zeros((3, 3)), "ndarray"), (3, "int"), (None, "NoneType")]
)
def test_only_trees_are_compared(other: object, kind: str) -> None:
    for compare in (caterpillar(3).difference, caterpillar(3).isclose):
        with pytest.raises(
            TypeError, match=f"^expected a Tree to compare with, not {kind}: .*$"
        ):
            compare(other)  # type: ignore[operator]


def test_path_is_left_out_on_request() -> None:
    assert math.isnan(caterpillar(5).difference(caterpillar(5), path=False).path)


def test_does_not_depend_on_threads() -> None:
    one, two = caterpillar(300), caterpillar(300, seed=1)
    assert one.difference(two, n_jobs=1) == one.difference(two, n_jobs=4)


@pytest.mark.parametrize(("change", "close"), [(1e-12, True), (1e-6, False)])
def test_isclose_forgives_rounding_only(change: float, close: bool) -> None:
    tree = quartet(0, 1, 2, 3)
    assert (
        tree.isclose(tree.with_weights(tree.weights + np.array([0, 0, change, 0, 0]))) == close
    )
    # A new edge that short is no difference either.
    split = Tree(4, [[0, 4], [1, 4], [4, 5], [2, 5], [5, 6], [3, 6]], [1, 1, 1, 1, change, 1])
    assert tree.isclose(split) == close
    assert split.isclose(tree) == close


def test_isclose_looks_at_topology_and_labels() -> None:
    assert not quartet(0, 1, 2, 3).isclose(quartet(0, 2, 1, 3))
    assert not caterpillar(3).isclose(caterpillar(4))
    one, two = (Tree(2, [[0, 1]], [1.0], labels=names) for names in ("ab", "ba"))
    assert not one.isclose(two)


def test_numbers_as_labels_match_a_tree_that_lost_them_to_newick() -> None:
    tree = Tree(
        4,
        [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        labels=["2", "0", "1", "3"],
    )
    back = Tree.from_newick(tree.newick())
    assert back.labels is None
    assert tree.difference(back) == (0, 0.0, 0.0)
    assert back.difference(tree) == (0, 0.0, 0.0)
