"""The mean of Bartal's trees: a metric whose distances are the means of those of the trees."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from paper.bartal_average import bartal_average, tree_average

PATH = tr.Tree(3, [[0, 1], [1, 2]], [1.0, 2.0], labels=["a", "b", "c"])
STAR = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [4.0, 5.0, 6.0], labels=["a", "b", "c"])
# By hand: PATH has 01: 1, 02: 3, 12: 2; STAR has 01: 9, 02: 10, 12: 11.
MEAN = np.array([[0, 5, 6.5], [5, 0, 6.5], [6.5, 6.5, 0]])


def test_hand_worked_mean() -> None:
    average = tree_average([PATH, STAR])
    assert_allclose(average.distances(), MEAN, rtol=1e-15)
    assert (average.labels, len(average)) == (("a", "b", "c"), 3)
    assert_array_equal(STAR.weights, [4, 5, 6])  # the trees are not changed


def test_a_mean_of_trees_need_not_be_a_tree() -> None:
    # Two quartets, 01|23 and 02|13: of the three sums of opposite pairs the two largest would be equal in a tree.
    quartets = [
        tr.Tree(4, [[a, 4], [b, 4], [c, 5], [d, 5], [4, 5]], [1.0] * 5)
        for a, b, c, d in ((0, 1, 2, 3), (0, 2, 1, 3))
    ]
    average = tree_average(quartets)
    sums = sorted(average.pairs([0, 0, 0], [1, 2, 3]) + average.pairs([2, 1, 1], [3, 3, 2]))
    assert sums == [5, 5, 6]


def test_the_trees_are_those_that_one_fit_compares() -> None:
    metric = tr.datasets.hyperbolic_points(40, 2, rng=1)
    average = bartal_average(metric, trees=8, rng=5)
    drawn = [tree.with_weights(tree.weights * 8) for tree in average.trees]
    best = min(drawn, key=lambda tree: tr.average_distortion(tree, metric, scale="optimal"))
    assert best == tr.fit(metric, method="bartal", draws=8, rng=5)
