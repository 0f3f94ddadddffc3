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


def inner(tree: Tree, zero_edges: bool = False) -> set[frozenset[int]]:
    """The splits by definition: at least two points on both sides, and a length."""
    splits = naive_splits(tree).items()
    return {s for s, w in splits if 2 <= len(s) <= len(tree) - 2 and (zero_edges or w > 0)}


def test_by_hand() -> None:
    same = quartet(0, 1, 2, 3).difference(quartet(3, 2, 1, 0))
    assert same == (0, 0.0, 0.0)
    other = quartet(0, 1, 2, 3).difference(quartet(0, 2, 1, 3))
    # Splits 01|23 and 02|13; the distances of 01, 23, 02, 13 change by one.
    assert other == (2, 1.0, 2.0)
    assert other.robinson_foulds == 2
    # Point 1 moves from a leaf to the node itself. A point makes no split, but three distances are one less.
    inner = Tree(4, [[0, 1], [1, 5], [1, 4], [2, 5], [3, 5]], [1, 1, 0, 1, 1])
    assert quartet(0, 1, 2, 3).difference(inner) == (0, 0.0, math.sqrt(3))


def test_a_leaf_never_makes_a_split() -> None:
    short, long = (Tree.from_newick(f"((a:{length},b:1):1,c:1,d:1);") for length in (0, 1))
    assert short.difference(long, path=False)[:2] == (0, 0.0)
    assert short.difference(long, path=False, zero_edges=True)[:2] == (0, 0.0)
    three = [Tree.from_newick(text) for text in ("(a:0,b:1,c:1);", "(a:0,b:0,c:1);")]
    assert three[0].difference(three[1], path=False)[:2] == (0, 0.0)  # no tree has a split


def test_an_edge_of_length_0_makes_no_split() -> None:
    binary = Tree.from_newick("((a:1,b:1):0,(c:1,d:1):1,e:1);")
    same = Tree.from_newick("(a:1,b:1,(c:1,d:1):1,e:1);")
    assert binary.difference(same) == (0, 0.0, 0.0)
    assert binary.difference(same, zero_edges=True) == (1, 1 / 3, 0.0)
    assert binary.contracted().difference(same, zero_edges=True).robinson_foulds == 0
    tiny = Tree.from_newick("((a:1,b:1):1e-300,(c:1,d:1):1,e:1);")  # the limit is exactly 0
    assert tiny.difference(same, path=False)[:2] == (1, 1 / 3)


def test_edges_in_a_line_are_one_split() -> None:
    star = Tree.from_newick("(a:1,b:1,c:1,d:1);")
    for left, right, count in ((1, 1, 1), (0, 1, 1), (1, 0, 1), (0, 0, 0)):
        rooted = Tree.from_newick(f"((a:1,b:1):{left},(c:1,d:1):{right});")
        assert rooted.difference(star).robinson_foulds == count
        assert rooted.difference(star, zero_edges=True).robinson_foulds == 1


@given(trees(max_nodes=25), SEEDS, st.booleans())
def test_against_sets_of_splits(tree: Tree, seed: int, zero_edges: bool) -> None:
    other, n = neighbor(tree, seed), len(tree)
    one, two = (inner(t, zero_edges) for t in (tree, other))
    found = tree.difference(other, zero_edges=zero_edges)
    assert found.robinson_foulds == len(one ^ two)
    most = len(one) + len(two)
    assert found.normalized == (len(one ^ two) / most if most else 0.0)
    gap = (naive_distances(tree) - naive_distances(other))[:n, :n]
    assert found.path == pytest.approx(math.sqrt((gap**2).sum() / 2), abs=1e-12)
    assert other.difference(tree, zero_edges=zero_edges)[:2] == found[:2]


@given(trees(max_nodes=40), SEEDS, st.booleans())
def test_unrelated_trees(tree: Tree, seed: int, zero_edges: bool) -> None:
    rng = np.random.default_rng(seed)
    number = np.arange(tree.n_nodes)
    number[: len(tree)] = rng.permutation(len(tree))
    other = Tree(tree.n_points, number[tree.edges], tree.weights)
    found = tree.difference(other, path=False, zero_edges=zero_edges)
    assert found.robinson_foulds == len(inner(tree, zero_edges) ^ inner(other, zero_edges))


@given(trees(max_nodes=25), SEEDS)
def test_points_inside_count_as_leaves_with_edges_of_length_0(tree: Tree, seed: int) -> None:
    other = neighbor(tree, seed)
    found = tree.difference(other, path=False)
    assert tree.with_leaves().difference(other.with_leaves(), path=False)[:2] == found[:2]
    assert tree.contracted().difference(other.contracted(), path=False)[:2] == found[:2]


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
    with pytest.raises(ValueError, match="the other tree has no point 'b', which is in this tree"):
        one.difference(two)


@pytest.mark.parametrize(("other", "kind"), [(np.zeros((3, 3)), "ndarray"), (3, "int"), (None, "NoneType")])
def test_only_trees_are_compared(other: object, kind: str) -> None:
    for compare in (caterpillar(3).difference, caterpillar(3).isclose):
        with pytest.raises(TypeError, match=f"^expected a Tree to compare with, not {kind}: .*$"):
            compare(other)  # type: ignore[operator]


def test_path_is_left_out_on_request() -> None:
    assert math.isnan(caterpillar(5).difference(caterpillar(5), path=False).path)


def test_does_not_depend_on_threads() -> None:
    one, two = caterpillar(300), caterpillar(300, seed=1)
    assert one.difference(two, n_jobs=1) == one.difference(two, n_jobs=4)


@pytest.mark.parametrize(("change", "close"), [(1e-12, True), (1e-6, False)])
def test_isclose_forgives_rounding_only(change: float, close: bool) -> None:
    tree = quartet(0, 1, 2, 3)
    assert tree.isclose(tree.with_weights(tree.weights + np.array([0, 0, change, 0, 0]))) == close
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
