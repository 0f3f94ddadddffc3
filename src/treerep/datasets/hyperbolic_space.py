"""Random points in hyperbolic space."""

import numpy as np

from .._core.checks import positive_number
from .._core.typing import RNGLike
from ..metric.points import PointMetric


def hyperbolic_points(n: int, dim: int, *, scale: float = 1.0, rng: RNGLike = 0) -> PointMetric:
    """Draw n random points of hyperbolic space, as in the TreeRep paper.

    A point is (sqrt(1 + |x|^2), x) on the hyperboloid. Each coordinate of x is normal with
    standard deviation `scale`. The larger the scale, the more tree-like the distances.

    Parameters
    ----------
    n : int
        Number of points.
    dim : int
        Dimension of the space.
    scale : float
        Standard deviation of the coordinates, 1e-100 to 1e100.
    rng : int, numpy Generator or None
        Seed of the random choices.

    Returns
    -------
    PointMetric
        The points with the hyperbolic metric.

    See Also
    --------
    datasets.random_tree : Draw a random tree.
    datasets.paper_points : The points of the paper.
    hyperbolicity : Measure how tree-like the points are.

    Notes
    -----
    O(n dim) time and memory. Sonthalia and Gilbert (NeurIPS 2020) draw their points in the same
    way.

    Examples
    --------
    >>> hyperbolic_points(100, 2, scale=4.0, rng=1)
    PointMetric(100 points)
    """
    shape = positive_number(n, "n"), positive_number(dim, "dim")
    if not 1e-100 <= scale <= 1e100:
        raise ValueError(
            f"scale must be between 1e-100 and 1e100, so that squares do not overflow, got {scale}"
        )
    space = scale * np.random.default_rng(rng).standard_normal(shape)
    height = np.hypot(1.0, np.linalg.norm(space, axis=1))
    return PointMetric(np.column_stack([height, space]), "hyperboloid")
