"""The share of the nearest neighbors of the data that a tree keeps."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.checks import positive_number
from .._core.parallel import ThreadRunner
from .._core.progress import progress_bar
from .._core.typing import MetricLike, RNGLike
from ..metric._matching import matched
from ..metric._missing import refuse_missing
from ..metric.base import Metric, MetricError
from ._sampling import Rows, mean_over_points, sample_rows
from ._streaming import read_block, row_slices, to_metric
from .score import Score

#: Number of points sampled for more than EXACT_POINTS points, unless `rows` is given. The share
#: of a point varies over most of 0 to 1, so a sample of 1,024 gives an interval of about +-0.015.
SAMPLED_POINTS = 1024


def neighbors_kept(
    approx: MetricLike,
    truth: MetricLike,
    *,
    k: int = 10,
    metric: str | None = None,
    rows: Rows = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> Score:
    """Return the share of the k nearest neighbors of each point that distances keep. 1 is perfect.

    For each point, take its k nearest points in the data, and its k nearest points in the tree.
    The score is the mean share of points in both. It is about k / n if the tree does not know
    the data.

    Parameters
    ----------
    approx : Metric or anything `as_metric` accepts
        The distances to judge, such as a tree, a sum of trees or an embedding. Points are matched
        as in `average_distortion`.
    truth : Metric or anything `as_metric` accepts
        The data.
    k : int
        Number of neighbors, fewer than the points.
    metric : str, optional
        The metric of `truth` if it is an array, as in `as_metric`.
    rows : int, "all" or None
        Number of points whose neighbors are compared, drawn without replacement. None compares
        all points up to 20,000, and 1,024 points above; the score then has a 95% confidence
        interval.
    rng : int, numpy Generator or None
        Seed for sampling points.
    n_jobs : int, optional
        Number of threads; None uses all cores. It does not change the result.

    Returns
    -------
    Score
        A number from 0 to 1. `Score.pairs` is the number of points compared.

    See Also
    --------
    mean_average_precision : Precision of the neighbors in a graph.
    average_distortion : Mean relative error of distances.
    scores.dendrogram_purity : Separation of classes in a tree.
    refine : Improve a tree; `balance` favors near pairs.
    Score : The result.

    Notes
    -----
    Exact over all points. O(n) time per point for the comparison, beside two rows of distances,
    and O(n) memory per thread, without an n x n array.

    Points may tie for the last of the k places. In the tree, ties are broken at random: the score
    is the exact expected value over all choices, so it needs no seed. In the data, every choice
    among ties is right, so the choice that agrees best with the tree counts. Every metric
    therefore scores 1 against itself. Distances within 1e-9 of the largest distance in the row are
    tied.

    Without ties, the score is Q_NX(k) of Lee and Verleysen, Quality assessment of dimensionality
    reduction (Neurocomputing 72, 2009).

    Examples
    --------
    >>> truth = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]
    >>> star = [[0, 9, 9, 9], [9, 0, 9, 9], [9, 9, 0, 9], [9, 9, 9, 0]]
    >>> neighbors_kept(star, truth, k=1)  # any of three points, one of them is right
    0.3333 (all 4 points)
    >>> neighbors_kept(truth, truth, k=1)
    1 (all 4 points)
    """
    count = positive_number(k, "k")
    data = to_metric(truth, metric)
    judged = matched(to_metric(approx), data, ("approx", "truth"))
    for each in (judged, data):
        refuse_missing(each, "the share of kept neighbors")
    n = len(data)
    if count >= n:
        raise ValueError(
            f"k={count} neighbors need at least {count + 1:,} points, but there are {n:,}: choose a smaller k"
        )
    sample = sample_rows(n, rows, rng, SAMPLED_POINTS)
    points = np.arange(n) if sample is None else sample
    parts = []
    sides = _Sides(judged, data, points, count)
    with progress_bar(len(points), "comparing neighbors", "point") as bar:
        for part in ThreadRunner(n_jobs).map(_shares, sides, row_slices(len(points), n)):
            parts.append(part)
            bar.update(len(part))
    return mean_over_points(np.concatenate(parts), n)


class _Sides(NamedTuple):
    """The distances to compare, and the points whose k nearest neighbors are compared."""

    judged: Metric
    data: Metric
    points: NDArray[np.int64]
    k: int


def _shares(sides: _Sides, part: slice) -> NDArray[np.float64]:
    """Return the share of neighbors that are kept, for a slice of the points."""
    from ._neighbor_kernels import neighbor_shares

    rows = sides.points[part]
    every = np.arange(len(sides.data))
    approx, truth = (read_block(each, rows, every) for each in (sides.judged, sides.data))
    out = np.empty(len(rows))
    neighbor_shares(approx, truth, rows, sides.k, out)
    if np.isnan(out).any():
        for name, block in (("approx", approx), ("truth", truth)):
            for a, b in np.argwhere(~np.isfinite(block))[:1]:
                raise MetricError(
                    f"{name} has d({rows[a]}, {b}) = {block[a, b]}: scores need finite distances"
                )
    return out
