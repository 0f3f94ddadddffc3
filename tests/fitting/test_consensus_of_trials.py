"""`fit(trials=, keep=)`: the consensus of the trials."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import treerep as tr
from treerep.citations import bibtex
from treerep.fitting._request import KEEP
from treerep.tree.comparison.consensus import METHODS

POINTS = np.random.default_rng(0).normal(size=(40, 3))


def test_names_are_those_of_consensus() -> None:
    assert set(KEEP) == {"best", *METHODS}


@pytest.mark.parametrize("keep", METHODS)
@pytest.mark.parametrize("method", ["treerep", "relaxed_neighbor_joining"])
def test_is_the_consensus_of_single_fits(method: str, keep: str) -> None:
    metric = tr.PointMetric(POINTS, labels=[f"p{i}" for i in range(40)])
    rng = np.random.default_rng(3)
    singles = [tr.fit(metric, rng=one, method=method) for one in [rng, *rng.spawn(6)]]
    expected = tr.consensus(singles, method=keep)
    for jobs in (1, 3):
        tree = tr.fit(metric, method=method, trials=7, keep=keep, rng=3, n_jobs=jobs)
        assert tree == expected
        assert_array_equal(tree.support, expected.support)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 25), st.sampled_from(METHODS), st.integers(0, 2**32))
def test_tree_metrics_are_recovered(n: int, keep: str, seed: int) -> None:
    truth = tr.datasets.random_tree(n, rng=seed)
    tree = tr.fit(truth, method="treerep", trials=3, keep=keep, rng=seed)
    np.testing.assert_allclose(tree.distances(), truth.distances(), rtol=1e-9, atol=1e-9)


def test_few_points() -> None:
    assert len(tr.fit([[0.0]], method="treerep", trials=2, keep="greedy")) == 1
    assert tr.fit([[0.0, 2], [2, 0]], method="treerep", trials=2, keep="greedy").pairs(0, 1) == 2


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="keep='greedy' needs several trees: add trials=100"):
        tr.fit(np.zeros((3, 3)), method="treerep", keep="greedy")
    with pytest.raises(ValueError, match="keep must be one of 'best', 'greedy'"):
        tr.fit(np.zeros((3, 3)), method="treerep", trials=3, keep="most")  # type: ignore[arg-type]


def test_is_cited() -> None:
    tr.fit(POINTS, metric="euclidean", method="treerep", trials=2, keep="majority")
    assert "margush1981" in bibtex()
