"""h-MDS: multidimensional scaling in hyperbolic space, by eigenvectors.

Based on Sala, De Sa, Gu and Ré, Representation Tradeoffs for Hyperbolic Embeddings (ICML 2018),
with two differences. Points are weighted, so that distant points do not dominate. Eigenvalues are
selected by sign; the published code selects the eigenvalues of largest magnitude, which always
include the negative eigenvalue of x0.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import positive_number, positive_scale
from ..._core.memory import check_memory
from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric, MetricError
from ...metric.matrix import MatrixMetric
from ...scores._sampling import Rows
from ...scores._streaming import read_block, triangle_slices
from ...scores.distortion import average_distortion
from ..embedding import Embedding
from ._spectrum import Spectrum, hyperbolic_spectrum

# The scale is chosen on at most this many points, by the distortion on this many rows.
_SEARCHED = 1000
_JUDGED = 128
# Candidate hyperbolic lengths of the largest distance. At the lower end space is flat (to one
# part in 10^7); at the upper end it resembles a tree. The grid is finer where curvature
# matters.
_LENGTHS = np.concatenate([np.geomspace(1e-3, 0.25, 5, endpoint=False), np.geomspace(0.25, 200.0, 21)])
# Below this length, cosh - 1 of the largest distance loses half of its digits.
_SHORTEST = 1e-4
_GOLDEN = (math.sqrt(5) - 1) / 2


def hmds(metric: Metric, *, dim: int, scale: float | None = None) -> Embedding:
    """Embed a metric in hyperbolic space by the eigenvectors of cosh(scale D).

    On the hyperboloid, cosh d(x, y) = x0 y0 - x.y. If D holds the distances of points of H^dim of
    curvature -scale^2, then -cosh(scale D) = X X^T - x0 x0^T has one negative and `dim` positive
    eigenvalues. The eigenvectors of this matrix then give the points exactly. For other distances
    the result is an approximation, which improves with the dimension. Dimensions that do not help
    are left at 0.

    Parameters
    ----------
    metric : Metric
        The distances.
    dim : int
        Dimension of the hyperbolic space.
    scale : float, optional
        Hyperbolic length of one unit of the data. The default is the scale of least average
        distortion on at most 1,000 points. The embedding is then multiplied by the best factor.

    See Also
    --------
    embed : Embed a tree or a metric by any method.
    Embedding : The result.

    Notes
    -----
    O(n^2) memory. O(n^2) time per Lanczos step for few dimensions, and O(n^3) for many dimensions
    or few points. The search for the scale takes about forty times as long as one embedding of the
    points that it uses. Sala et al. (2018).

    Examples
    --------
    >>> from treerep.datasets import hyperbolic_points
    >>> points = hyperbolic_points(30, 3)
    >>> bool(average_distortion(hmds(points, dim=3), points) < 1e-6)
    True
    """
    n = len(metric)
    dim = positive_number(dim, "dim")
    check_memory(
        2 * n * n * 8,
        f"hmds on {n:,} points",
        "embed a tree with method='sarkar' instead, which needs no matrix",
    )
    fixed = None if scale is None else positive_scale(scale)
    sample = np.arange(n)
    if fixed is None and n > _SEARCHED:
        sample = np.sort(np.random.default_rng(0).choice(n, _SEARCHED, replace=False))
    distances = _distances(metric, sample)
    farthest = float(distances.max())
    if farthest == 0:  # one point, or all sampled points coincide
        distances = _distances(metric, np.arange(n))
        farthest = float(distances.max())
        if farthest == 0:
            return Embedding(np.zeros((n, dim)), np.zeros(n), scale=fixed or 1.0, labels=metric.labels)
    if fixed is not None:
        if fixed * farthest < _SHORTEST:
            raise ValueError(
                f"scale={scale} makes the largest distance {fixed * farthest:.3g}, which "
                "float64 cannot distinguish from flat space: use at least "
                f"{_SHORTEST / farthest:.3g}"
            )
        return _best_width(hyperbolic_spectrum(distances, fixed, dim), metric, fixed, dim, "none")[1]
    found = _best_scale(distances, dim, farthest)
    if n > len(distances):
        distances = _distances(metric, np.arange(n))
    placed = _best_width(hyperbolic_spectrum(distances, found, dim), metric, found, dim, "optimal")[1]
    rows: Rows = "all" if n <= _SEARCHED else _JUDGED
    factor = average_distortion(placed, metric, scale="optimal", rows=rows, rng=0).scale
    return Embedding(placed.directions, placed.radii, scale=found / factor, labels=metric.labels)


def _distances(metric: Metric, points: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distances among some points as a new symmetric matrix. Each distance is read once."""
    n = len(points)
    matrix = np.zeros((n, n))
    with progress_bar(n, "distances", "points") as bar:
        for rows in triangle_slices(n):
            block = read_block(metric, points[rows], points[rows.start :])
            bad = ~((block >= 0) & (block < np.inf))
            if bad.any():
                i, j = np.argwhere(bad)[0]
                entry = f"d({points[rows][i]}, {points[rows.start + j]}) = {block[i, j]}"
                raise MetricError(
                    f"{type(metric).__name__}.block returned {entry}: distances must be finite and not negative"
                )
            matrix[rows, rows.start :] = block
            matrix[rows.start :, rows] = block.T
            bar.update(rows.stop - rows.start)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _best_scale(distances: NDArray[np.float64], dim: int, farthest: float) -> float:
    """Return the scale with the least average distortion, by a grid and a golden-section search."""
    truth = MatrixMetric(distances)
    with progress_bar(len(_LENGTHS), "scales", "scale") as bar, Workers(1) as workers:

        def loss(log_scale: float) -> float:
            scale = math.exp(log_scale)
            spectrum = hyperbolic_spectrum(distances.copy(), scale, dim)
            workers.check()
            bar.update()
            return _best_width(spectrum, truth, scale, dim, "optimal")[0]

        grid = np.log(_LENGTHS / farthest)
        losses = [loss(x) for x in grid]
        best = int(np.argmin(losses))
        low = grid[max(best - 1, 0)]
        high = grid[min(best + 1, len(grid) - 1)]
        tried = {grid[best]: losses[best]}
        left = high - _GOLDEN * (high - low)
        right = low + _GOLDEN * (high - low)
        # A relative error of the scale adds at most about the same distortion. The search therefore
        # ends early for points that are not hyperbolic, and continues to the last digits for
        # hyperbolic points.
        while high - low > max(1e-10, 0.01 * min(tried.values())):
            for x in (left, right):
                if x not in tried:
                    tried[x] = loss(x)
            if tried[left] <= tried[right]:
                high = right
                right = left
                left = high - _GOLDEN * (high - low)
            else:
                low = left
                left = right
                right = low + _GOLDEN * (high - low)
    return math.exp(min(tried, key=lambda x: tried[x]))


def _best_width(
    spectrum: Spectrum,
    truth: Metric,
    scale: float,
    dim: int,
    judged: Literal["none", "optimal"],
) -> tuple[float, Embedding]:
    """Return the best embedding by the first dim, dim/2, dim/4 ... eigenvectors, and its score.

    The number of eigenvectors is halved as long as the score improves. Negative eigenvalues cannot
    be represented, so too many positive eigenvalues can make distances too long.
    """
    best = math.inf, _placed(spectrum, 0, scale, dim, truth.labels)
    width = len(spectrum.values)
    while width:
        placed = _placed(spectrum, width, scale, dim, truth.labels)
        score = float(average_distortion(placed, truth, scale=judged, rows=_JUDGED, rng=0, n_jobs=1))
        if score >= best[0]:
            break
        best = (score, placed)
        width = width // 2
    return best


def _placed(
    spectrum: Spectrum, width: int, scale: float, dim: int, labels: tuple[str, ...] | None
) -> Embedding:
    """Return the points with coordinates along the first eigenvectors."""
    rows = np.sqrt(spectrum.values[:width]) * spectrum.vectors[:, :width]
    norms = np.linalg.norm(rows, axis=1)
    directions = np.zeros((len(rows), dim))
    np.divide(rows, norms[:, None], out=directions[:, :width], where=norms[:, None] > 0)
    with np.errstate(divide="ignore"):
        logs = np.log(norms) + spectrum.heights
    # sinh r = |x|. Beyond this, exp overflows and r = log 2|x| to the last digit.
    radii = np.where(logs < 300, np.arcsinh(np.exp(np.minimum(logs, 300))), logs + math.log(2))
    return Embedding(directions, radii, scale=scale, labels=labels)
