"""Distances for SciPy's linkage, and points of its clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics
from treerep.fitting.rooted._linkage import link, read_pairs
from treerep.fitting.rooted.gromov import gromov_products


def random_matrix(n: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, 3))
    return np.linalg.norm(x[:, None] - x[None], axis=-1)


@given(st.one_of(any_symmetric(), integer_metrics()))
def test_every_merge_has_a_point_of_each_cluster(d: np.ndarray) -> None:
    d = np.asarray(d, np.float64)
    if len(d) < 2:
        return
    first, second, height = link(squareform(d, checks=False))
    expected = linkage(squareform(d, checks=False), "average")
    members = {k: {k} for k in range(len(d))}
    for k, (a, b) in enumerate(expected[:, :2].astype(int)):
        assert first[k] in members[a] and second[k] in members[b]
        members[len(d) + k] = members[a] | members[b]
    assert_array_equal(height, expected[:, 2])


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n", [2, 3, 40, 1100])
def test_pairs_are_in_the_order_of_scipy(n: int, n_jobs: int) -> None:
    d = random_matrix(n, n)
    expected = squareform(d)
    # Entries below the diagonal are not read.
    uneven = d * np.where(np.tri(n, dtype=bool), 1 + 1e-10, 1)
    for metric in (tr.MatrixMetric(d), tr.MatrixMetric(uneven), Table(d)):
        assert_array_equal(read_pairs(metric, "upgma", n_jobs), expected)


def test_products_by_their_definition() -> None:
    d = random_matrix(30, 0)
    d[3, 7] = d[7, 3] = 100.0  # violates the triangle inequality
    depth = d[0]
    found = read_pairs(
        tr.MatrixMetric(d),
        "gromov",
        change=lambda row, x, others: gromov_products(depth[x], depth[others], row),
    )
    i, j = np.triu_indices(30, 1)
    raw = (depth[i] + depth[j] - d[i, j]) / 2
    assert_allclose(found, np.clip(raw, 0, np.minimum(depth[i], depth[j])))
    assert (raw < 0).any()
