"""Tests of the statistics against scipy, statsmodels and counting."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.stats.multitest import multipletests

from treerep.adapters.scverse._statistics import (
    benjamini_hochberg,
    order_agreement,
    proportion_test,
    rank_sum_test,
    welch_test,
)


def tables(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two tables with ties, zeros and a constant column."""
    rng = np.random.default_rng(seed)
    first = rng.poisson(1.0, (12, 6)).astype(float)
    second = rng.poisson(1.5, (9, 6)) + rng.choice([0.0, 0.25], (9, 6))
    first[:, 5] = 2.0
    second[:, 5] = 2.0
    return first, second


@given(st.integers(0, 2**32 - 1))
def test_rank_sums_are_those_of_scipy(seed: int) -> None:
    first, second = tables(seed)
    found = rank_sum_test(first, second)
    for k in range(5):
        expected = scipy.stats.mannwhitneyu(
            second[:, k], first[:, k], use_continuity=False, method="asymptotic"
        )
        assert_allclose(found.pvalue[k], expected.pvalue, rtol=1e-9)
        middle = len(first) * len(second) / 2
        assert np.sign(found.score[k]) == np.sign(expected.statistic - middle)
    assert found.score[5] == 0
    assert found.pvalue[5] == 1


@given(st.integers(0, 2**32 - 1))
def test_welch_is_that_of_scipy(seed: int) -> None:
    first, second = tables(seed)
    found = welch_test(first, second)
    expected = scipy.stats.ttest_ind(second[:, :5], first[:, :5], equal_var=False)
    assert_allclose(found.score[:5], expected.statistic, rtol=1e-9, atol=1e-12)
    assert_allclose(found.pvalue[:5], expected.pvalue, rtol=1e-9)
    assert (found.score[5], found.pvalue[5]) == (0, 1)


def test_one_row_has_no_variance() -> None:
    found = welch_test(np.ones((1, 2)), np.zeros((3, 2)))
    assert found.pvalue.tolist() == [1, 1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_p_values_are_those_of_statsmodels(pvalues: list[float]) -> None:
    expected = multipletests(pvalues, method="fdr_bh")[1]
    assert_allclose(benjamini_hochberg(pvalues), expected, rtol=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=2, max_size=25).filter(
        lambda rows: len({stage for stage, _ in rows}) > 1
    )
)
def test_agreement_is_counted(rows: list[tuple[int, int]]) -> None:
    scores = [1.0 if a[1] < b[1] else 0.5 if a[1] == b[1] else 0.0 for a in rows for b in rows if a[0] < b[0]]
    stage, time = zip(*rows, strict=True)
    assert order_agreement(stage, time) == pytest.approx(np.mean(scores), abs=1e-9)


def test_proportions() -> None:
    first = np.array([0.1, 0.2, 0.15])
    second = np.array([0.5, 0.4, 0.6, 0.45])
    score, pvalue = proportion_test(first, second)
    expected = scipy.stats.ttest_ind(np.arcsin(np.sqrt(second)), np.arcsin(np.sqrt(first)), equal_var=False)
    assert (score, pvalue) == pytest.approx((expected.statistic, expected.pvalue))
