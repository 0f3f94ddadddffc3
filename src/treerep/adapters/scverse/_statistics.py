"""Statistical tests of the tools for cells. Arrays in, arrays out.

`scipy.stats` is slow to import, so the functions import it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
# scanpy's constant: genes without counts have a finite fold change.
_SMALL = 1e-9


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

    tau = float(kendalltau(stage, time).statistic)
    if np.isnan(tau):  # all times are equal
        return 0.5
    # Kendall's tau-b is (agreeing - opposed pairs) / sqrt(untied stages * untied times).
    pairs = _untied_pairs(stage)
    ratio = _untied_pairs(time) / pairs
    excess = tau * ratio**0.5
    return round((1 + excess) / 2, 12)


def _untied_pairs(values: ArrayLike) -> float:
    n = np.size(values)
    _, counts = np.unique(values, return_counts=True)
    tied = np.sum(counts.astype(float) ** 2)
    return float(n**2 - tied) / 2


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
    excess = rank_sum - n2 * (n + 1) / 2
    # Var = n1 n2 / 12 ((n + 1) - sum of (t^3 - t) / (n (n - 1))), t equal values
    ties = np.array([_tie_sum(column) for column in together.T])
    correction = ties / (n * (n - 1))
    variance = n1 * n2 / 12 * (n + 1 - correction)
    varies = variance > 1e-12 * n
    deviation = np.sqrt(np.where(varies, variance, 1.0))
    score = np.where(varies, excess / deviation, 0.0)
    tail = norm.sf(np.abs(score))
    return Test(score, 2 * tail)


def _tie_sum(values: FloatArray) -> float:
    _, counts = np.unique(values, return_counts=True)
    sizes = counts.astype(float)
    return float(np.sum(sizes**3 - sizes))


def welch_test(first: FloatArray, second: FloatArray) -> Test:
    """Compare the columns of two tables by Welch's t-test. Constant columns have p-value 1."""
    from scipy.stats import t as student

    change = second.mean(axis=0) - first.mean(axis=0)
    free1 = len(first) - 1
    free2 = len(second) - 1
    if min(free1, free2) < 1:
        ones = np.ones(len(change))
        return Test(ones - 1, ones)
    error1 = first.var(axis=0) / free1
    error2 = second.var(axis=0) / free2
    error = error1 + error2
    varies = error > 0
    safe = np.where(varies, error, 1.0)
    score = np.where(varies, change / np.sqrt(safe), 0.0)
    # Welch-Satterthwaite: (e1 + e2)^2 / (e1^2 / (n1 - 1) + e2^2 / (n2 - 1))
    parts = error1**2 / free1 + error2**2 / free2
    freedom = safe**2 / np.where(varies, parts, 1.0)
    tail = student.sf(np.abs(score), freedom)
    return Test(score, np.where(varies, 2 * tail, 1.0))


def log_fold_change(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the log2 ratio of the mean counts of two tables of log(1 + counts), as scanpy does."""
    before = np.expm1(first.mean(axis=0))
    after = np.expm1(second.mean(axis=0))
    ratio = (after + _SMALL) / (before + _SMALL)
    with np.errstate(invalid="ignore"):
        return np.log2(ratio)


def benjamini_hochberg(pvalues: ArrayLike) -> FloatArray:
    """Return p-values adjusted for the false discovery rate.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5])
    array([0.04      , 0.05333333, 0.05333333, 0.5       ])
    """
    given = np.asarray(pvalues, float)
    order = np.argsort(given, kind="stable")
    n = len(given)
    rank = np.arange(1, n + 1)
    scaled = given[order] * n / rank
    # The smallest value from here on, so that the result is monotone.
    backwards = np.minimum.accumulate(scaled[::-1])
    adjusted = np.empty(n)
    adjusted[order] = backwards[::-1]
    return np.minimum(adjusted, 1.0)


def proportion_test(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Compare the shares of two groups of samples: Welch's t of arcsin(sqrt(share))."""
    before = np.arcsin(np.sqrt(first))
    after = np.arcsin(np.sqrt(second))
    test = welch_test(before[:, None], after[:, None])
    return float(test.score[0]), float(test.pvalue[0])
