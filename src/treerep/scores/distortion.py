"""Average and worst-case distortion of distances, and absolute errors."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._core.backend import runner_backend
from .._core.checks import check_choice
from .._core.parallel import ThreadRunner
from .._core.typing import EngineLike, MetricLike, RNGLike
from ._comparison import Comparison, Optimum
from ._sampling import Rows, half_width
from .score import Score

_SCALES = ("none", "optimal")
_NORMS = ("l1", "l2", "linf")


def average_distortion(
    approx: MetricLike,
    truth: MetricLike,
    *,
    scale: Literal["none", "optimal"] = "none",
    rows: Rows = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> Score:
    """Return the mean of |approx - truth| / truth over pairs of points. 0 is perfect.

    Parameters
    ----------
    approx, truth : Metric or anything `as_metric` accepts
        The approximate and the true distances, on the same points. Trees and embeddings are
        metrics. Points are matched by label if both have labels, otherwise by position. A tree
        read from a text file, such as Newick, is matched by label only.
    scale : "none" or "optimal"
        "optimal" first multiplies `approx` by <approx, truth> / <approx, approx>, the factor
        that brings it closest to `truth` in the Frobenius norm on the same pairs.
    rows : int, "all" or None
        Number of points whose distances to all others are compared, drawn without replacement.
        None compares all pairs up to 20,000 points, and 256 rows above. If `truth` has missing
        distances, only the measured pairs count.
    rng : int, numpy Generator or None
        Seed for sampling rows.
    n_jobs : int, optional
        Number of threads; None uses all cores. It does not change the result.
    engine : "dask" or a dask.distributed Client, optional
        Compute on a cluster. The result is the same, bit for bit.

    Returns
    -------
    Score
        A float with a confidence interval and the number of pairs. Pairs at true distance 0
        have no relative error; they are left out and counted in `Score.skipped`. Without any
        pair, the score is 0.

    See Also
    --------
    worst_distortion : Ratio of the largest to the smallest stretch.
    distance_error : Absolute error.
    mean_average_precision : Precision of neighborhoods.
    Score : The result.

    Notes
    -----
    Exact over all pairs. O(n^2) time, or O(rows * n); O(n) memory, without an n x n array. The
    estimate from sampled rows is unbiased, up to O(1/rows) if pairs are skipped or scaled. Its
    95% confidence interval is too narrow if few points cause most of the error: see `Score`.

    The score is defined in the appendix of Sonthalia and Gilbert, Tree! I am no Tree! I am a
    low dimensional hyperbolic embedding (NeurIPS 2020).

    Examples
    --------
    >>> truth = [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    >>> approx = [[0, 1, 4], [1, 0, 5], [4, 5, 0]]
    >>> average_distortion(approx, truth)  # (1/2 + 0 + 1/4) / 3
    0.25 (all 3 pairs)
    """
    check_choice("scale", scale, _SCALES)
    backend = runner_backend(n_jobs=n_jobs, engine=engine)
    backend.validate(approx=approx, truth=truth)
    with backend.runner() as runner:
        return mean_distortion(Comparison(approx, truth, rows, rng, runner), scale)


def mean_distortion(compared: Comparison, scale: Literal["none", "optimal"]) -> Score:
    """Return the average distortion of a comparison."""
    from ._distortion_kernels import RELATIVE

    optimum = compared.optimum() if scale == "optimal" else None
    factor = optimum.scale if optimum else 1.0
    errors, signs, _, _, zeros = compared.sums(RELATIVE, factor).T
    counts = _pairs_per_row(compared) - zeros
    # d/dc sum |c x - t| / t = sum of +-x / t, and c x / t = 1 +- |c x - t| / t.
    slope = (math.fsum(errors) + math.fsum(signs)) / factor if factor > 0 else 0.0
    return _mean_score(compared, errors, counts, optimum, slope, int(zeros.sum()))


def worst_distortion(
    approx: MetricLike,
    truth: MetricLike,
    *,
    rows: Rows = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> Score:
    """Return max(approx / truth) / min(approx / truth) over pairs of points. 1 is perfect.

    The score does not depend on the scale. It is infinite if `approx` is 0 for points that are
    apart.

    Parameters
    ----------
    approx, truth, rows, rng, n_jobs
        As in `average_distortion`.

    Returns
    -------
    Score
        Pairs at true distance 0 are left out and counted in `Score.skipped`. For sampled rows,
        the value is a lower bound: `Score.low` is the value and `Score.high` is infinite.
        Without any pair, the score is 1.

    See Also
    --------
    average_distortion : Mean relative error.
    distance_error : Absolute error.
    embed : Embed a tree with a bound on this score.

    Notes
    -----
    Exact over all pairs. O(n^2) time, or O(rows * n), with memory for a few rows of distances.

    Examples
    --------
    >>> worst_distortion(
    ...     [[0, 1, 4], [1, 0, 5], [4, 5, 0]], [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    ... )  # (5/4) / (1/2)
    2.5 (all 3 pairs)
    """
    from ._distortion_kernels import RATIO

    compared = Comparison(approx, truth, rows, rng, ThreadRunner(n_jobs))
    lowest, highest, _, _, zeros = compared.sums(RATIO).T
    least = lowest.min(initial=math.inf)
    greatest = highest.max(initial=-math.inf)
    skipped = int(zeros.sum())
    pairs = compared.pairs - skipped
    if pairs == 0:
        value = 1.0
    else:
        value = float(greatest / least) if least > 0 else math.inf
    return _lower_bound(compared, value, pairs=pairs, skipped=skipped)


def distance_error(
    approx: MetricLike,
    truth: MetricLike,
    *,
    norm: Literal["l1", "l2", "linf"] = "l1",
    scale: Literal["none", "optimal"] = "none",
    rows: Rows = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> Score:
    """Return the mean, root mean square or largest absolute error of distances.

    Parameters
    ----------
    approx, truth, scale, rows, rng, n_jobs
        As in `average_distortion`.
    norm : "l1", "l2" or "linf"
        The mean, the root mean square, or the largest error.

    Returns
    -------
    Score
        All pairs count, including pairs at true distance 0. For "linf" with sampled rows, the
        value is a lower bound: `Score.low` is the value and `Score.high` is infinite. Without
        any pair, the error is 0.

    See Also
    --------
    average_distortion : Mean relative error.
    worst_distortion : Ratio of the largest to the smallest stretch.
    Score : The result.

    Notes
    -----
    Exact over all pairs, and an estimate from sampled rows otherwise. O(n^2) time, or O(rows *
    n), with memory for a few rows of distances. The confidence interval is too narrow if few
    points cause most of the error: see `Score`.

    Examples
    --------
    >>> distance_error(
    ...     [[0, 1, 4], [1, 0, 6], [4, 6, 0]], [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    ... )  # (1 + 0 + 2) / 3
    1 (all 3 pairs)
    """
    from ._distortion_kernels import ABSOLUTE

    check_choice("norm", norm, _NORMS)
    check_choice("scale", scale, _SCALES)
    compared = Comparison(approx, truth, rows, rng, ThreadRunner(n_jobs))
    optimum = compared.optimum() if scale == "optimal" else None
    factor = optimum.scale if optimum else 1.0
    errors, squares, signed, largest, _ = compared.sums(ABSOLUTE, factor).T
    if norm == "linf":
        return _lower_bound(compared, float(largest.max(initial=0.0)), pairs=compared.pairs, scale=factor)
    counts = _pairs_per_row(compared)
    if norm == "l1":
        return _mean_score(compared, errors, counts, optimum, math.fsum(signed))
    # The optimal scale minimizes the mean square, so an error of the scale has no first-order
    # effect.
    mean = _mean_score(compared, squares, counts, optimum, 0.0)
    value, low, high = (math.sqrt(x) for x in (mean, mean.low, mean.high))
    return Score(
        value,
        low=low,
        high=high,
        exact=mean.exact,
        pairs=mean.pairs,
        scale=mean.scale,
        basis=mean.basis,
    )


def _pairs_per_row(compared: Comparison) -> NDArray[np.float64]:
    """Return the number of pairs of each row: with later points if exact, with all others in a sample."""
    if compared.sample is None:
        return np.arange(compared.n - 1, 0, -1, dtype=np.float64) - compared.unmeasured
    return np.full(len(compared.sample), compared.n - 1.0) - compared.unmeasured


def _mean_score(
    compared: Comparison,
    totals: NDArray[np.float64],
    counts: NDArray[np.float64],
    optimum: Optimum | None,
    slope: float,
    skipped: int = 0,
) -> Score:
    """Return sum(totals) / sum(counts); `slope` is d sum(totals) / d scale."""
    total = math.fsum(totals)
    weight = math.fsum(counts)
    value = total / weight if weight > 0 else 0.0
    width = 0.0
    if not compared.exact:
        deviations = totals - value * counts
        if optimum is not None:
            # The scale is estimated from the same rows, so each row also affects the score
            # through the scale.
            deviations = deviations + slope * optimum.pull
        width = half_width(deviations, weight, compared.n)
    return Score(
        value,
        low=max(0.0, value - width),
        high=value + width,
        exact=compared.exact,
        pairs=int(weight),
        skipped=skipped,
        scale=optimum.scale if optimum else 1.0,
        basis=compared.basis(int(weight)),
    )


def _lower_bound(
    compared: Comparison, value: float, *, pairs: int, skipped: int = 0, scale: float = 1.0
) -> Score:
    """Return an extreme over the compared pairs. For a sample it is a lower bound."""
    high = value if compared.exact else math.inf
    basis = compared.basis(pairs)
    return Score(
        value,
        high=high,
        exact=compared.exact,
        pairs=pairs,
        skipped=skipped,
        scale=scale,
        basis=basis,
    )
