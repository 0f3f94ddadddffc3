"""Three models of hyperbolic space, and polar coordinates (direction and radius)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metric.base import MetricError
from ..metric.points import PointMetric

# cosh overflows slightly beyond this radius.
_FARTHEST = 700.0

#: The models of `Embedding.coordinates`.
MODELS = ("poincare", "klein", "lorentz")


def from_polar(
    directions: NDArray[np.float64], radii: NDArray[np.float64], model: str
) -> NDArray[np.float64]:
    """Return coordinates in a model. On the hyperboloid, x0 = cosh r is the first coordinate.

    >>> from_polar(np.array([[1.0, 0.0]]), np.array([np.log(3.0)]), "poincare").round(9)
    array([[0.5, 0. ]])
    """
    if model == "lorentz":
        if radii.max(initial=0.0) > _FARTHEST:
            far = f"{radii.max():.4g} from the origin"
            raise MetricError(f"a node is {far}, and cosh overflows float64 there: use a smaller scale")
        return np.column_stack([np.cosh(radii), np.sinh(radii)[:, None] * directions])
    # |p| = tanh(r / 2) in the Poincaré ball, and tanh r in the Klein ball.
    norms = np.tanh(0.5 * radii if model == "poincare" else radii)
    return norms[:, None] * directions


def polar_of_poincare(points: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the directions and radii of points in the Poincaré ball."""
    return _polar(points, "poincare")


def polar_of_lorentz(points: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the directions and radii of points on the hyperboloid, given with x0 first."""
    return _polar(points, "hyperboloid")


def _polar(points: ArrayLike, model: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # PointMetric validates the points and computes their polar coordinates.
    oracle = PointMetric(points, model).oracle
    return oracle.directions, oracle.radii
