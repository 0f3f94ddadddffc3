"""Three models of hyperbolic space, and polar coordinates: direction and radius."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metric.base import MetricError
from ..metric.points import PointMetric

# cosh overflows a little farther out.
_FARTHEST = 700.0

#: The models of `Embedding.coordinates`.
MODELS = ("poincare", "klein", "lorentz")


def from_polar(
    directions: NDArray[np.float64], radii: NDArray[np.float64], model: str
) -> NDArray[np.float64]:
    """Return coordinates in a model; those of the hyperboloid have x0 = cosh r first.

    >>> from_polar(np.array([[1.0, 0.0]]), np.array([np.log(3.0)]), "poincare").round(9)
    array([[0.5, 0. ]])
    """
    if model == "lorentz":
        if radii.max(initial=0.0) > _FARTHEST:
            far = f"{radii.max():.4g} from the origin"
            raise MetricError(
                f"a node is {far}, where cosh overflows float64: "
                "use a smaller scale, or precision=bits"
            )
        return np.column_stack([np.cosh(radii), np.sinh(radii)[:, None] * directions])
    # |p| = tanh(r / 2) in the ball of Poincaré, tanh r in that of Klein.
    norms = np.tanh(0.5 * radii if model == "poincare" else radii)
    return norms[:, None] * directions


def polar_of_poincare(points: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return directions and radii of points of the Poincaré ball."""
    return _polar(points, "poincare")


def polar_of_lorentz(points: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return directions and radii of points of the hyperboloid, given with x0 first."""
    return _polar(points, "hyperboloid")


def _polar(points: ArrayLike, model: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # PointMetric checks the points and computes their polar coordinates.
    oracle = PointMetric(points, model).oracle
    return oracle.directions, oracle.radii
