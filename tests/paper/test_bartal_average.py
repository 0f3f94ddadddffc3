"""TreeAverage: the mean of trees, asked like any metric."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from paper.bartal_average import TreeAverage

PATH = tr.Tree(3, [[0, 1], [1, 2]], [1.0, 2.0], labels=["a", "b", "c"])
STAR = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [4.0, 5.0, 6.0], labels=["a", "b", "c"])
# By hand: PATH has 01: 1, 02: 3, 12: 2; STAR has 01: 9, 02: 10, 12: 11.
MEAN = np.array([[0, 5, 6.5], [5, 0, 6.5], [6.5, 6.5, 0]])


def test_hand_worked_mean() -> None:
    average = TreeAverage([PATH, STAR])
    assert_array_equal(average.block([0, 1, 2], [0, 1, 2]), MEAN)
    assert_array_equal(average.block([2], [0, 1]), [[6.5, 6.5]])
    assert_array_equal(average.pairs([0, 1], [1, 2]), [5, 6.5])
    assert average.pairs([[0], [1]], [1, 2]).shape == (2, 2)
    assert average.pairs(0, 2) == 6.5
    assert average.labels == ("a", "b", "c")
    assert len(average) == 3
    assert not average.integral
    assert repr(average) == "TreeAverage(3 points, 2 trees)"
    assert repr(TreeAverage([tr.datasets.random_tree(2000)])) == "TreeAverage(2,000 points, 1 tree)"


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 1000))
def test_blocks_and_pairs_are_means(n: int, count: int, seed: int) -> None:
    trees = [tr.datasets.random_tree(n, hidden=0.3, rng=seed + k) for k in range(count)]
    n = len(trees[0])
    trees = [tree for tree in trees if len(tree) == n]
    average = TreeAverage(iter(trees))
    expected = np.mean([tree.distances() for tree in trees], axis=0)
    points = np.random.default_rng(seed).permutation(n)
    assert_allclose(average.block(points, points), expected[np.ix_(points, points)], rtol=1e-12)
    assert_allclose(average.block(points[:1], points), expected[points[:1]][:, points], rtol=1e-12)
    assert_allclose(average.pairs(points, points[::-1]), expected[points, points[::-1]], rtol=1e-12)


def test_one_tree_is_its_own_mean_and_the_trees_are_not_changed() -> None:
    before = STAR.distances()
    average = TreeAverage([STAR])
    for _ in range(2):
        assert_array_equal(average.block([0, 1, 2], [0, 1, 2]), before)
    assert_array_equal(STAR.distances(), before)


def test_a_mean_of_trees_need_not_be_a_tree() -> None:
    # Two quartets, 01|23 and 02|13: of the three sums of opposite pairs the two largest would be equal in a tree.
    quartets = [
        tr.Tree(4, [[a, 4], [b, 4], [c, 5], [d, 5], [4, 5]], [1.0] * 5)
        for a, b, c, d in ((0, 1, 2, 3), (0, 2, 1, 3))
    ]
    average = TreeAverage(quartets)
    sums = sorted(average.pairs([0, 0, 0], [1, 2, 3]) + average.pairs([2, 1, 1], [3, 3, 2]))
    assert sums == [5, 5, 6]
    assert len(tr.fit(average, method="treerep")) == 4  # and every method takes it


def test_it_can_be_scored_pickled_and_learned_from() -> None:
    average = TreeAverage([PATH, STAR])
    assert tr.average_distortion(average, MEAN) == 0
    copy = pickle.loads(pickle.dumps(average))
    assert copy.trees == average.trees
    assert_array_equal(copy.block([0, 1, 2], [0, 1, 2]), MEAN)
    assert tr.fit(average, method="treerep").labels == average.labels


def test_only_points_are_asked_for_not_steiner_nodes() -> None:
    average = TreeAverage([STAR, STAR])
    for ask in (average.block, average.pairs):
        with pytest.raises(IndexError, match="point 3 does not exist: the 3 points"):
            ask([0], [3])


@pytest.mark.parametrize(
    ("trees", "error", "message"),
    [
        ([], ValueError, "there are no trees to average"),
        ([PATH, MEAN], TypeError, r"trees\[1\] is a ndarray, not a Tree"),
        (
            [PATH, tr.Tree(2, [[0, 1]], [1.0])],
            ValueError,
            r"trees\[1\] has 2 points and trees\[0\] has 3",
        ),
        (
            [PATH, tr.Tree(3, PATH.edges, PATH.weights, "axc")],
            ValueError,
            r"trees\[1\] has no point 'b'",
        ),
    ],
)
def test_what_cannot_be_averaged_is_refused(trees: list, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TreeAverage(trees)
