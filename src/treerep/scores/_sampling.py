"""Row samples for scores, and confidence intervals."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._core.checks import integer_or_none
from .._core.typing import RNGLike
from .score import Score

Rows = int | Literal["all"] | None

#: With rows=None, all pairs are compared up to this many points: 200 million pairs, which take
#: seconds on one machine.
EXACT_POINTS = 20_000

_CONFIDENCE = 0.95


def sample_rows(
    n: int, rows: Rows, rng: RNGLike, default: int, n_points: int | None = None
) -> NDArray[np.int64] | None:
    """Return a sample of the rows 0 ... n-1, ascending; None means all of them.

    `rows` is a number of rows or "all". With None, all rows are used up to `EXACT_POINTS`
    points (`n_points`, by default n), and `default` rows above that. Rows are drawn without
    replacement. Nothing is drawn if all rows are used.
    """
    size = _sample_size(rows)
    if size is None:
        few = (n if n_points is None else n_points) <= EXACT_POINTS
        size = n if few or rows == "all" else default
    if size >= n:
        return None
    return np.sort(np.random.default_rng(rng).choice(n, size, replace=False)).astype(np.int64)


def _sample_size(rows: object) -> int | None:
    if rows is None or (isinstance(rows, str) and rows == "all"):
        return None
    size = integer_or_none(rows)
    if size is None or size < 1:
        raise ValueError(f"rows must be a number of rows to sample (1 or more), 'all' or None, not {rows!r}")
    return size


def half_width(deviations: NDArray[np.float64], weight: float, population: int) -> float:
    """Return half the 95% interval of sum(y) / sum(w) over k rows out of `population`.

    The rows are drawn without replacement. `deviations` are the linearized residuals y_i -
    ratio * w_i of the sampled rows, and `weight` is sum(w). The variance of the ratio is

        (1 - k / population) * k * s^2 / weight^2,

    where s^2 is the variance of the residuals (Cochran, Sampling Techniques, 1977, chapter 6).
    Student's t has k - 1 degrees of freedom. With equal weights this is the textbook interval
    of a mean. The interval is infinite for one row.
    """
    from scipy.special import stdtrit

    k = len(deviations)
    if k < 2 or weight == 0:
        return math.inf
    variance = math.fsum(deviations * deviations) / (k - 1)
    spread = math.sqrt((1 - k / population) * k * variance) / weight
    return float(stdtrit(k - 1, (1 + _CONFIDENCE) / 2)) * spread


def mean_over_points(values: NDArray[np.float64], population: int) -> Score:
    """Return the mean of a score from 0 to 1 over all points, or over a sample of them."""
    count = len(values)
    if count == population:
        value = math.fsum(values) / count if count else 1.0
        return Score(value, pairs=count, basis=f"all {count:,} points")
    value = math.fsum(values) / count
    width = half_width(values - value, count, population)
    return Score(
        value,
        low=max(0.0, value - width),
        high=min(1.0, value + width),
        exact=False,
        pairs=count,
        basis=f"from {count:,} of {population:,} points",
    )
