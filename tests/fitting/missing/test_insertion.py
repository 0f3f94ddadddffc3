"""Completion of tree metrics with missing distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fitting.missing.patterns import determining, random_binary_tree, without_pairs
from tests.strategies import tree_metrics
from treerep.fitting.missing.insertion import complete_tree_metric
from treerep.metric._four_point_condition import obeys_four_points

TOL = 1e-10


def test_a_quartet_by_hand():
    # The tree ((0:1,1:1):1,(2:1,3:2)). Any one distance between the two sides follows from the
    # others: d(0, 2) + d(1, 3) = d(0, 3) + d(1, 2).
    distances = np.array([[0, 2, 3, 4], [2, 0, 3, 4], [3, 3, 0, 3], [4, 4, 3, 0.0]])
    for i, j in ((0, 2), (0, 3), (1, 2), (1, 3)):
        square = distances.copy()
        square[i, j] = square[j, i] = np.nan
        np.testing.assert_allclose(complete_tree_metric(square, TOL), distances)


def test_siblings_whose_distance_is_missing_stay_siblings():
    # d(0, 1) is between 0 and 4, where 0 and 1 are both at distance 2 from the node of 2 and 3.
    distances = np.array([[0, np.nan, 3, 4], [np.nan, 0, 3, 4], [3, 3, 0, 3], [4, 4, 3, 0]])
    found = complete_tree_metric(distances, TOL)
    assert 0 < found[0, 1] < 4


def test_a_matrix_that_is_not_a_tree_metric():
    rng = np.random.default_rng(0)
    points = rng.random((12, 2))
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    square = without_pairs(distances, 0.3, rng)
    assert square is not None
    assert complete_tree_metric(square, TOL) is None
    # No complete quadruple shows it: a triangle that violates the triangle inequality.
    assert complete_tree_metric(np.array([[0, 1, 9], [1, 0, 1], [9, 1, 0.0]]), TOL) is None


@given(tree_metrics(max_nodes=30), st.sampled_from([0.1, 0.3, 0.5]), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_measured_distances_are_those_of_the_tree(distances, share, seed):
    square = without_pairs(distances, share, np.random.default_rng(seed))
    if square is None or len(square) < 2:
        return
    found = complete_tree_metric(square, TOL * max(distances.max(), 1))
    assert found is not None
    measured = ~np.isnan(square)
    np.testing.assert_allclose(found[measured], square[measured], atol=1e-8 * distances.max())
    assert (found >= -1e-8).all()
    if len(found) <= 32:
        assert obeys_four_points(np.round(found, 9)) or obeys_four_points(found)


@pytest.mark.parametrize("n", [10, 20, 50, 100])
def test_the_tree_comes_back_if_the_measured_pairs_determine_it(n):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        tree = random_binary_tree(n, rng)
        distances = tree.distances()
        square = determining(distances, tree, rng)
        assert np.isnan(square).any()
        found = complete_tree_metric(square, TOL * distances.max())
        np.testing.assert_allclose(found, distances, atol=1e-8)
