"""Random points of hyperbolic space."""

from typing import Any

import numpy as np

from ..metric.points import PointMetric


def hyperbolic_points(n: int, dim: int, *, scale: float = 1.0, rng: Any = 0) -> PointMetric:
    """Return n random points of hyperbolic space H^dim, as in the experiments of the TreeRep paper.

    A point is (sqrt(1 + |x|^2), x) on the hyperboloid with x normal of standard deviation `scale` in each of `dim`
    coordinates. The larger the scale, the farther apart the points and the more tree-like their distances.

    Examples
    --------
    >>> hyperbolic_points(100, 2, scale=4.0, rng=1)
    PointMetric(100 points)
    """
    if n < 1 or dim < 1:
        raise ValueError(f"hyperbolic_points needs n >= 1 points in dim >= 1 dimensions, not n={n}, dim={dim}")
    if not (scale > 0 and np.isfinite(scale)):
        raise ValueError(f"scale must be positive and finite, not {scale}")
    space = scale * np.random.default_rng(rng).standard_normal((n, dim))
    height = np.sqrt(1.0 + (space * space).sum(axis=1))
    return PointMetric(np.column_stack([height, space]), "hyperboloid")
