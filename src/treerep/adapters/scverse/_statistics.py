"""Statistical tests of the tools for cells. Arrays in, arrays out.

`scipy.stats` is slow to import, so the functions import it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


class Test(NamedTuple):
    """Statistics and two-sided p-values, one per gene. Positive: larger in the second group."""

    score: FloatArray
    pvalue: FloatArray


def order_agreement(stage: ArrayLike, time: ArrayLike) -> float:
    """Return the share of pairs from different stages whose times have the order of the stages.

    Equal times count as half. 0.5 is chance. O(n log n).

    >>> order_agreement([0, 0, 1, 2], [0.0, 1.0, 3.0, 2.0])
    0.8
    """
    from scipy.stats import kendalltau

    pairs = _untied_pairs(stage)
    tau = float(kendalltau(stage, time).statistic)
    if np.isnan(tau):  # all times are equal
        return 0.5
    # Kendall's tau-b is (agreeing - opposed pairs) / sqrt(untied stages * untied times).
    excess = tau * np.sqrt(_untied_pairs(time) / pairs)
    return round(float(1 + excess) / 2, 12)


def _untied_pairs(values: ArrayLike) -> float:
    counts = np.unique(np.asarray(values), return_counts=True)[1].astype(float)
    return float(counts.sum() ** 2 - (counts**2).sum()) / 2


def rank_sum_test(first: FloatArray, second: FloatArray) -> Test:
    """Compare the columns of two tables by the Mann-Whitney test with tie correction.

    The p-values are those of the normal approximation without continuity correction, as in
    ``scanpy.tl.rank_genes_groups(method="wilcoxon", tie_correct=True)``.
    """
    from scipy.stats import norm, rankdata

    n1 = len(first)
    n2 = len(second)
    n = n1 + n2
    together = np.vstack([first, second])
    ranks = rankdata(together, axis=0)
    rank_sum = ranks[n1:].sum(axis=0)
    # Var = n1 n2 / 12 ((n + 1) - sum of (t^3 - t) / (n (n - 1))), t equal values
    ties = np.array([_tie_sum(column) for column in together.T])
    variance = n1 * n2 / 12 * ((n + 1) - ties / (n * max(n - 1, 1)))
    excess = rank_sum - n2 * (n + 1) / 2
    score = np.divide(
        excess, np.sqrt(variance), out=np.zeros(len(excess)), where=variance > 1e-12 * n
    )
    return Test(score, 2 * norm.sf(np.abs(score)))


def _tie_sum(values: FloatArray) -> float:
    counts = np.unique(values, return_counts=True)[1].astype(float)
    return float((counts**3 - counts).sum())


def welch_test(first: FloatArray, second: FloatArray) -> Test:
    """Compare the columns of two tables by Welch's t-test. Constant columns have p-value 1."""
    from scipy.stats import t as student

    n1 = len(first)
    n2 = len(second)
    change = second.mean(axis=0) - first.mean(axis=0)
    if min(n1, n2) < 2:
        return Test(np.zeros(len(change)), np.ones(len(change)))
    error1 = first.var(axis=0, ddof=1) / n1
    error2 = second.var(axis=0, ddof=1) / n2
    error = error1 + error2
    varies = error > 0
    safe = np.where(varies, error, 1.0)
    score = np.where(varies, change / np.sqrt(safe), 0.0)
    # Welch-Satterthwaite: (e1 + e2)^2 / (e1^2 / (n1 - 1) + e2^2 / (n2 - 1))
    parts = error1**2 / (n1 - 1) + error2**2 / (n2 - 1)
    freedom = safe**2 / np.where(varies, parts, 1.0)
    return Test(score, np.where(varies, 2 * student.sf(np.abs(score), freedom), 1.0))


def log_fold_change(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the log2 ratio of the mean counts of two tables of log(1 + counts), as scanpy does."""
    small = 1e-9  # scanpy's constant, so that genes without counts have a finite ratio
    before = np.expm1(first.mean(axis=0)) + small
    after = np.expm1(second.mean(axis=0)) + small
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log2(after / before)


def benjamini_hochberg(pvalues: ArrayLike) -> FloatArray:
    """Return p-values adjusted for the false discovery rate.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5])
    array([0.04      , 0.05333333, 0.05333333, 0.5       ])
    """
    given = np.asarray(pvalues, float)
    order = np.argsort(given, kind="stable")
    scaled = given[order] * len(given) / np.arange(1, len(given) + 1)
    # The smallest value from here on, so that the result is monotone.
    monotone = np.minimum.accumulate(scaled[::-1])[::-1]
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(monotone, 1.0)
    return adjusted


def proportion_test(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Compare the shares of two groups of samples: Welch's t of arcsin(sqrt(share))."""
    test = welch_test(np.arcsin(np.sqrt(first))[:, None], np.arcsin(np.sqrt(second))[:, None])
    return float(test.score[0]), float(test.pvalue[0])
