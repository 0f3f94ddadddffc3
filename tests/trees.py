"""Comparisons of trees, shared by the tests."""

import numpy as np

from treerep.tree.tree import Tree


def assert_same(found: Tree, expected: Tree) -> None:
    """Assert that two trees have the same edges, weights and labels, bit for bit."""
    np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_array_equal(found.weights, expected.weights)
    assert found.labels == expected.labels
