"""The four-point condition on a sample, compared with all quadruples."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.metric._four_point_condition import obeys_four_points


def brute(d: np.ndarray) -> bool:
    """Buneman's condition on all quadruples, repetitions included: of the three sums the two largest are equal."""
    slack = 1e-12 * d.max(initial=0.0)
    for w, x, y, z in product(range(len(d)), repeat=4):
        sums = sorted([d[w, x] + d[y, z], d[w, y] + d[x, z], d[w, z] + d[x, y]])
        if sums[2] - sums[1] > slack:
            return False
    return True


@given(tree_metrics(), st.sampled_from([1e-150, 1.0, 1e150]))
def test_tree_metrics_obey(d: np.ndarray, scale: float) -> None:
    assert obeys_four_points(d * scale)


@given(st.one_of(any_symmetric(7), integer_metrics(7), tree_metrics(7)))
def test_small_matrices_are_judged_as_by_all_quadruples(d: np.ndarray) -> None:
    assert obeys_four_points(d) == brute(d)


def test_a_square_does_not_obey() -> None:
    assert not obeys_four_points(np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0.0]]))


@pytest.mark.parametrize("digits", [3, 6])
def test_large_matrices_are_judged_by_a_sample(digits: int) -> None:
    truth = tr.datasets.random_tree(500, hidden=0.5, rng=3).distances()
    assert obeys_four_points(truth)
    assert not obeys_four_points(np.round(truth, digits))
