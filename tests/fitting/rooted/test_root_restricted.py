"""The best tree that keeps the distances from a root: by hand, and its error on any metric."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import treerep as tr
from tests.scores.test_largest_error import cycle
from tests.strategies import integer_metrics, tree_metrics
from treerep.fitting.rooted.root_restricted import root_restricted_tree
from treerep.scores.largest_error import root_errors


def restricted(d: np.ndarray, root: int) -> tuple[np.ndarray, float]:
    """Return the distances of the tree, and the root error."""
    error = float(root_errors(d, np.array([root]), 1)[0])
    tree = root_restricted_tree(tr.MatrixMetric(d), d, root, error)
    return tree.distances(), error


def test_a_square_by_hand() -> None:
    # All products of the three other points are reduced from 1 to 1/2: they share a path of length
    # 1/2 from the root. The neighbors 1 and 3 get the distance 1/2 + 1/2, and had 2.
    found, error = restricted(cycle(4), 0)
    assert error == 1.0
    assert_allclose(found, [[0, 1, 2, 1], [1, 0, 2, 1], [2, 2, 0, 2], [1, 1, 2, 0]])


@given(integer_metrics(), st.integers(0, 24))
def test_distances_from_the_root_are_kept_and_the_error_is_the_root_error(d: np.ndarray, start: int) -> None:
    root = start % len(d)
    if len(d) > 1:
        found, error = restricted(d, root)
        assert_allclose(found[root], d[root], atol=1e-12)
        assert np.abs(found - d).max() == pytest.approx(error, abs=1e-12)


@given(tree_metrics(), st.integers(0, 39))
def test_tree_metrics_come_back(d: np.ndarray, start: int) -> None:
    if len(d) > 1:
        found, _ = restricted(d, start % len(d))
        assert_allclose(found, d, atol=1e-9 * d.max())
