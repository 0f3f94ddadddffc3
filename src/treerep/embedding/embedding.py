"""Points of hyperbolic space are a metric: hyperbolic distance, divided by a scale."""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metric.base import MetricError, check_labels, frozen
from ..metric.compiled import CompiledMetric
from ..metric.oracles import EmbeddingOracle
from .models import MODELS, from_polar, polar_of_lorentz, polar_of_poincare

# Beyond this radius sinh r sinh s overflows.
_FARTHEST = 350.0


class Embedding(CompiledMetric):
    """Points of hyperbolic space of curvature -1, and the scale by which their distances are divided.

    Made by `embed`; of coordinates of your own by `from_poincare` and `from_lorentz`.

    Parameters
    ----------
    directions : (N, dim) array
        Unit vector from the origin to each node; zero at the origin itself.
    radii : (N,) array
        Hyperbolic distance of each node from the origin.
    scale : float
        Hyperbolic length of one unit of the data: the distance of two points is their hyperbolic distance / scale.
    n_points : int, optional
        Nodes 0 ... n_points-1 are the data points, the others Steiner nodes. All are data points by default.
    labels : names of the data points, optional

    An embedding is a metric on its data points: `len(embedding) == n_points`. `pairs` and `block` also accept Steiner
    nodes. Direction and radius keep more of a float64 than the coordinates of any model; those are computed when
    asked for.

    >>> embedding = Embedding([[1.0, 0.0], [-1.0, 0.0]], [2.0, 4.0], scale=2.0)
    >>> embedding
    Embedding(2 points, dim 2)
    >>> embedding.pairs(0, 1)
    array(3.)
    """

    def __init__(
        self,
        directions: ArrayLike,
        radii: ArrayLike,
        *,
        scale: float = 1.0,
        n_points: int | None = None,
        labels: Sequence[object] | None = None,
    ) -> None:
        self.directions, self.radii = _checked_polar(directions, radii)
        self.scale = _checked_scale(scale)
        self.n_points = len(self.radii) if n_points is None else int(n_points)
        if not 1 <= self.n_points <= len(self.radii):
            raise ValueError(f"n_points={n_points} does not fit {len(self.radii)} nodes: give 1 to {len(self.radii)}")
        self.labels = check_labels(labels, self.n_points)
        self._set_oracle()

    def _set_oracle(self) -> None:
        farthest = int(np.argmax(self.radii))
        if self.radii[farthest] > _FARTHEST:
            raise MetricError(
                f"node {farthest} is {self.radii[farthest]:.4g} from the origin, beyond {_FARTHEST:g}: use a smaller scale"
            )
        unit = np.full(len(self.radii), 1.0 / self.scale)
        self.oracle = EmbeddingOracle(self.directions, self.radii, frozen(np.sinh(self.radii)), frozen(unit))

    @classmethod
    def from_poincare(cls, points: ArrayLike, **fields: Any) -> "Embedding":
        """Make an embedding of points |p| < 1 of the Poincaré ball; `scale`, `n_points`, `labels` as in the class."""
        return cls(*polar_of_poincare(points), **fields)

    @classmethod
    def from_lorentz(cls, points: ArrayLike, **fields: Any) -> "Embedding":
        """Make an embedding of points (x0, x), x0^2 = 1 + |x|^2, of the hyperboloid."""
        return cls(*polar_of_lorentz(points), **fields)

    def __len__(self) -> int:
        return self.n_points

    def _n_indices(self) -> int:
        return self.n_nodes

    def __repr__(self) -> str:
        steiner = self.n_nodes - self.n_points
        others = f", {steiner:,} Steiner node{'s' * (steiner != 1)}" if steiner else ""
        return f"{type(self).__name__}({self.n_points:,} point{'s' * (self.n_points != 1)}{others}, dim {self.dim})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes: data points and Steiner nodes."""
        return len(self.radii)

    @property
    def dim(self) -> int:
        """Dimension of the hyperbolic space."""
        return self.directions.shape[1]

    @property
    def curvature(self) -> float:
        """Curvature of the space in which the distances of this metric, without a scale, are at home: -scale^2."""
        return -(self.scale**2)

    @property
    def poincare(self) -> NDArray[np.float64]:
        """Coordinates in the Poincaré ball, (N, dim). Warns where float64 cannot tell nodes apart."""
        return self.coordinates("poincare")

    @property
    def klein(self) -> NDArray[np.float64]:
        """Coordinates in the Klein ball, (N, dim), where geodesics are straight lines."""
        return self.coordinates("klein")

    @property
    def lorentz(self) -> NDArray[np.float64]:
        """Coordinates on the hyperboloid, (N, dim + 1), x0 first."""
        return self.coordinates("lorentz")

    def coordinates(self, model: str) -> NDArray[np.float64]:
        """Coordinates of every node in the model "poincare", "klein" or "lorentz", in float64."""
        if model not in MODELS:
            raise ValueError(f"unknown model {model!r}: choose one of {', '.join(MODELS)}")
        points = from_polar(self.directions, self.radii, model)
        lost = self._distinct_nodes() - len(np.unique(points, axis=0))
        if lost > 0:
            warnings.warn(
                f"{lost:,} of {self.n_nodes:,} nodes coincide with another one in the float64 {model} coordinates: "
                "distances of the embedding are not affected; use a smaller scale to draw it",
                stacklevel=3,
            )
        return points

    def _distinct_nodes(self) -> int:
        return len(np.unique(np.column_stack([self.directions, self.radii]), axis=0))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the embedding to a .npz file, whole or not at all."""
        from .storage import save_embedding

        save_embedding(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "Embedding":
        """Read an embedding written by `save`."""
        from .storage import load_embedding

        return load_embedding(path)


def _checked_polar(directions: ArrayLike, radii: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    units, lengths = np.asarray(directions, np.float64), np.asarray(radii, np.float64)
    if units.ndim != 2 or lengths.shape != units.shape[:1] or 0 in units.shape:
        raise ValueError(f"directions are (N, dim) and radii (N,), not {units.shape} and {lengths.shape}")
    bad = ~(np.isfinite(lengths) & (lengths >= 0))
    if bad.any():
        raise MetricError(f"node {np.argmax(bad)} has radius {lengths[np.argmax(bad)]}: give a distance, at least 0")
    off = ~(np.abs(np.linalg.norm(units, axis=1) - 1) < 1e-9) & ~((lengths == 0) & ~units.any(axis=1))
    if off.any():
        i = int(np.argmax(off))
        raise MetricError(f"the direction of node {i} has norm {np.linalg.norm(units[i])}: give a unit vector")
    return frozen(units), frozen(lengths)


def _checked_scale(scale: float) -> float:
    value = float(scale)
    if not 0 < value < np.inf:
        raise ValueError(f"scale must be a positive number, not {scale!r}")
    return value
