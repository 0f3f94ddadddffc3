"""Least squares of distances over many decades, against scipy's active-set solver."""

import numpy as np
import pytest
from scipy.optimize import nnls

import treerep as tr
from treerep.refinement.lengths.weights import fit_weights


def paths(tree):
    """The matrix with a row per pair of points and a column per edge."""
    neighbors = [[] for _ in range(len(tree.edges) + 1)]
    for k, (u, v) in enumerate(tree.edges.tolist()):
        neighbors[u].append((v, k))
        neighbors[v].append((u, k))
    reached = np.zeros((len(tree), len(neighbors), len(tree.edges)))
    for source in range(len(tree)):
        stack = [(source, -1)]
        while stack:
            vertex, before = stack.pop()
            for v, k in neighbors[vertex]:
                if v != before:
                    reached[source, v] = reached[source, vertex]
                    reached[source, v, k] = 1
                    stack.append((v, vertex))
    return reached[np.triu_indices(len(tree), 1)]


def symmetric(upper):
    return np.triu(upper, 1) + np.triu(upper, 1).T


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("decades", [2, 4, 8, 10])
def test_weights_said_to_be_exact_are_those_of_nnls(power, decades):
    claimed = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 18))
        tree = tr.fit(symmetric(1 + rng.random((n, n))), method="treerep")
        d = symmetric(10.0 ** (decades * (rng.random((n, n)) - 0.5)))
        found = fit_weights(tree, tr.MatrixMetric(d), power=power)
        matrix, y = paths(tree), d[np.triu_indices(n, 1)]
        u = y ** (-power / 2)
        best = nnls(matrix * u[:, None], y * u, maxiter=10_000)[1] ** 2
        value = float((((matrix @ found.tree.weights - y) * u) ** 2).sum())
        assert found.value == pytest.approx(value, rel=1e-9)
        assert value >= best * (1 - 1e-9)
        assert not found.exact or value <= best * (1 + 1e-8)
        claimed += found.exact
        assert found.iterations < 200  # edges that were cut off at the floor used to take thousands
    assert claimed == 8


def test_a_tree_metric_over_many_decades_is_recovered():
    rng = np.random.default_rng(3)
    tree = tr.datasets.random_tree(12, rng=3)
    tree = tree.with_weights(10.0 ** rng.uniform(-4, 4, len(tree.edges)))
    flat = tree.with_weights(np.ones(len(tree.edges)))
    found = fit_weights(flat, tr.MatrixMetric(tree.distances()), power=2.0)
    assert found.exact and found.value < 1e-12
