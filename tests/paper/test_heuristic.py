"""The heuristic of the paper: against the definition, with paths found from splits."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from paper.heuristic import path_matrix, with_heuristic_lengths


def test_paths_have_the_lengths_of_the_tree() -> None:
    tree = tr.datasets.random_tree(40, rng=1)
    i, j = np.random.default_rng(0).integers(tree.n_nodes, size=(2, 200))
    paths = path_matrix(tree, i, j)
    assert set(paths.data) == {1.0}
    assert_allclose(paths @ tree.weights, tree.pairs(i, j))


def test_the_steps_are_plain_descent() -> None:
    tree = tr.datasets.random_tree(15, rng=2)
    data = np.random.default_rng(3).uniform(1, 2, (15, 15))
    metric = tr.MatrixMetric((data + data.T) * (1 - np.eye(15)))
    rng = np.random.default_rng(7)
    i = rng.integers(15, size=15)
    j = (i + rng.integers(1, 15, size=15)) % 15
    # An edge is on a path if doubling its length makes the path longer.
    plain = tree.pairs(i, j)
    columns = []
    for edge in range(len(tree.edges)):
        weights = tree.weights.copy()
        weights[edge] += 1.0
        columns.append(tree.with_weights(weights).pairs(i, j) - plain)
    A = np.rint(np.column_stack(columns))
    w = tree.weights.copy()
    for _ in range(200):
        w = np.maximum(0, w - 1e-4 * 2 * A.T @ (A @ w - metric.pairs(i, j)))
    fitted = with_heuristic_lengths(tree, metric, rng=7)
    assert_allclose(fitted.weights, w, atol=1e-12)
    assert_array_equal(fitted.edges, tree.edges)


def test_too_large_steps_change_nothing() -> None:
    tree = tr.datasets.random_tree(30, rng=2)
    points = np.arange(30)
    metric = tr.MatrixMetric(1e6 * tree.block(points, points))
    huge = tree.with_weights(1e6 * tree.weights)
    assert with_heuristic_lengths(huge, metric) == huge
