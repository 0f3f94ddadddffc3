"""Points on branches to which no distance was measured."""

import numpy as np
import pytest

import treerep as tr
from tests.fitting.missing.patterns import random_binary_tree, without_pairs
from treerep.fitting.missing.nj_star import nj_star
from treerep.refinement.missing.free_branches import use_free_branches
from treerep.refinement.moves.search import rearrange

NAN = float("nan")


def siblings(beside):
    """The tree ((0, 1), 2, (3, 4)) with d(0, 1) missing, and point 0 beside the node of point 1."""
    truth = tr.Tree(5, [[0, 5], [1, 5], [5, 6], [2, 6], [6, 7], [3, 7], [4, 7]], np.ones(7))
    square = truth.distances()
    square[0, 1] = square[1, 0] = NAN
    # Point 0 begins on the edge to point 2, at distance `beside` from the node.
    edges = [[0, 8], [8, 6], [8, 2], [1, 6], [6, 7], [3, 7], [4, 7]]
    lengths = [2.0, beside, 1 - beside, 2.0, 1.0, 1.0, 1.0]
    placed = tr.Tree(5, np.array(edges) - (np.array(edges) == 8) * 3, np.array(lengths))
    return truth, placed, tr.MatrixMetric(square, missing=True)


def test_siblings_whose_distance_is_missing_are_joined():
    truth, placed, metric = siblings(beside=0.01)
    assert placed.difference(truth).robinson_foulds == 2
    found = use_free_branches(placed, metric)
    assert found.difference(truth).robinson_foulds == 0
    assert found.pairs(0, 1) == pytest.approx(2.0)  # halfway along the branch
    measured = ~np.isnan(metric.distances)
    np.testing.assert_allclose(found.distances()[measured], metric.distances[measured])


def test_a_point_stays_if_its_distances_speak_against_the_node():
    _, placed, metric = siblings(beside=0.5)
    square = np.where(np.isnan(metric.distances), NAN, placed.distances())
    noise = np.triu(np.random.default_rng(0).uniform(0.999, 1.001, (5, 5)), 1)
    noisy = tr.MatrixMetric(square * (noise + noise.T), missing=True)
    assert use_free_branches(placed, noisy).difference(placed).robinson_foulds == 0


@pytest.mark.parametrize("n", [2, 3, 4, 10, 25])
def test_complete_distances_leave_the_tree_unchanged(n):
    tree = random_binary_tree(max(n, 3), np.random.default_rng(n)).restrict(np.arange(n))
    assert use_free_branches(tree, tr.MatrixMetric(tree.distances())).isclose(tree)


def test_trees_with_noise_are_closer_to_the_truth():
    before, after = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = random_binary_tree(40, rng)
        noise = np.triu(rng.uniform(0.97, 1.03, (40, 40)), 1)
        square = without_pairs(truth.distances() * (noise + noise.T), 0.3, rng)
        metric = tr.MatrixMetric(square, missing=True)
        moved = rearrange(nj_star(metric, square), metric, power=4.0).tree
        before.append(moved.difference(truth).normalized)
        after.append(use_free_branches(moved, metric).difference(truth).normalized)
    assert np.mean(after) < np.mean(before)
