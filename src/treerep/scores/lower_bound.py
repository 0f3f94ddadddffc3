"""`lower_bound`: a score that no tree can beat."""

from typing import Literal

import numpy as np

from .._core.checks import check_choice, integer_or_none
from .._core.parallel import count_jobs
from .._core.typing import MetricLike, RNGLike
from ..metric.as_metric import as_metric
from ..metric.base import Metric
from .lower_bounds.result import LowerBound

_SCORES = ("average_distortion", "l1", "linf", "worst_distortion")
# 128 points have up to 10 million quadruples, which take 600 MB.
_MOST_POINTS = 128


def lower_bound(
    data: MetricLike,
    *,
    score: Literal["average_distortion", "l1", "linf", "worst_distortion"] = "average_distortion",
    metric: str | None = None,
    points: int | None = None,
    subsets: int | Literal["all"] | None = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> LowerBound:
    """Return a number that the score of no tree is below.

    The bound holds for every tree with lengths of at least 0, with any number of additional
    nodes. Compare it with the score of a fitted tree: if they are close, no method can do much
    better, and the data is not tree-like.

    Parameters
    ----------
    data : Metric or anything `as_metric` accepts
        The true distances. Pairs with missing distances are left out, as in the scores.
    score : "average_distortion", "l1", "linf" or "worst_distortion"
        - "average_distortion" and "worst_distortion" are the functions of the same names,
          without scaling.
        - "l1" and "linf" are `distance_error` with this norm: the mean and the largest
          absolute error.
    metric : str, optional
        For points: as in `as_metric`.
    points : int, optional
        ("average_distortion" and "l1" only) Number of points per subset, from 4 to 128. None uses
        all points at once up to 64 points, and subsets of 32 above. Larger subsets give better
        bounds, and take time and memory of O(points^4).
    subsets : int, "all" or None
        ("average_distortion" and "l1" only) Number of random subsets. "all" uses about
        (n / points)^2 subsets that contain every pair of points; the bound is then certain. None
        uses "all" up to 400 subsets, which is about 600 points, and 200 random subsets above.
    rng : int, numpy Generator or None
        Seed for subsets and for starting points of searches.
    n_jobs : int, optional
        Number of threads; None uses all cores. It does not change the result.

    Returns
    -------
    LowerBound
        A float with `confidence`, `estimate`, `basis` and `witness`. For random subsets, the
        value holds with 95% confidence, and `estimate` is the mean over the subsets. The trivial
        bound is 1 for "worst_distortion", and 0 for the other scores.

    See Also
    --------
    average_distortion : Mean relative error.
    distance_error : Absolute error.
    worst_distortion : Ratio of the largest to the smallest stretch.
    hyperbolicity : The largest violation of the four-point condition.
    LowerBound : The result.

    Notes
    -----
    In a tree, the two largest of the three sums of opposite distances of four points are equal.
    So every tree has errors on each quadruple that violates this four-point condition. The
    bound of an average adds up the errors of many quadruples, such that no pair is charged more
    than its error counts. Finding the best factors is a linear program, a packing. Every feasible
    solution proves a bound; a primal-dual method reaches 94 to 100% of the optimum. A
    tree restricted to a subset is a tree. So the mean bound of random subsets bounds the score
    of all points, up to chance, for which a confidence limit allows.

    The bound of the largest error is (S1 - S2) / 4 for the sums S1 >= S2 >= S3 of one
    quadruple, half of the hyperbolicity. The bound of the largest ratio is S1 / S2. All quadruples
    are searched up to 128 points. Above, a local search finds good quadruples among up to 2,048
    points. Every quadruple proves a bound, so these bounds are certain.

    Triples that violate the triangle inequality count in the same way as quadruples.

    The bound is 0 (or 1) for a tree metric, up to rounding errors. It is not the score of the best
    tree: that score can be larger.

    The time does not depend on n for random subsets: about 3 s on two cores. No n x n array is
    allocated above 2,048 points.

    Buneman, A note on the metric properties of trees (Journal of Combinatorial Theory B, 1974);
    Chambolle and Pock, A first-order primal-dual algorithm for convex problems (Journal of
    Mathematical Imaging and Vision, 2011); Waudby-Smith and Ramdas, Estimating means of bounded
    random variables by betting (Journal of the Royal Statistical Society B, 2024).

    Examples
    --------
    In a cycle of four points, opposite points have distance 2. The sums are 4, 2 and 2.

    >>> cycle = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
    >>> lower_bound(cycle, score="linf")  # (4 - 2) / 4
    0.5 (the worst quadruple of 4 points)
    >>> lower_bound(cycle, score="worst_distortion").witness
    (0, 1, 2, 3)
    >>> round(lower_bound(cycle), 3)  # two pairs of length 2 become 1: (1/2 + 1/2) / 6
    0.167
    """
    from .lower_bounds.averages import average_bound
    from .lower_bounds.quadruples import largest_bound

    check_choice("score", score, _SCORES)
    points = _checked_points(points)
    if subsets != "all" and subsets is not None:
        subsets = _checked_subsets(subsets)
    count_jobs(n_jobs)
    truth = as_metric(data, metric=metric)
    generator = np.random.default_rng(rng)
    margin = _rounding(truth)
    if len(truth) < 3:
        trivial = 1.0 if score == "worst_distortion" else 0.0
        return LowerBound(trivial, basis="fewer than 3 points")
    if score in ("linf", "worst_distortion"):
        ratio = score == "worst_distortion"
        return largest_bound(truth, ratio=ratio, margin=margin, rng=generator)
    return average_bound(
        truth,
        relative=score == "average_distortion",
        margin=margin,
        points=points,
        subsets=subsets,
        rng=generator,
        n_jobs=n_jobs,
    )


def _checked_points(points: object) -> int | None:
    if points is None:
        return None
    number = integer_or_none(points)
    if number is None or not 4 <= number <= _MOST_POINTS:
        raise ValueError(f"points must be a whole number from 4 to {_MOST_POINTS}, or None, not {points!r}")
    return number


def _checked_subsets(subsets: object) -> int:
    number = integer_or_none(subsets)
    if number is None or number < 1:
        raise ValueError(f"subsets must be a positive whole number, 'all' or None, not {subsets!r}")
    return number


def _rounding(metric: Metric) -> float:
    """Return the relative rounding error of a sum of two distances."""
    return 0.0 if metric.integral else 8.0 * metric.eps
