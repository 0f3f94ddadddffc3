"""Embeddings: points of hyperbolic space as a metric, with distances divided by a scale."""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.checks import positive_number, positive_scale
from ..metric._compiled import CompiledMetric
from ..metric.base import MetricError, check_labels, read_only
from ..metric.oracle.classes import EmbeddingOracle
from ._models import MODELS, from_polar, polar_of_lorentz, polar_of_poincare

if TYPE_CHECKING:
    from .product import ProductEmbedding

# Beyond this radius, sinh r sinh s overflows.
_FARTHEST = 350.0


class Embedding(CompiledMetric):
    """Points of hyperbolic space of curvature -1, as a metric.

    `embed` returns embeddings. Use `from_poincare` and `from_lorentz` to make an embedding from
    coordinates. An embedding is a `Metric` on its data points: the distance of two points is their
    hyperbolic distance divided by `scale`.

    Parameters
    ----------
    directions : (N, dim) array
        Unit vector from the origin to each node; zero for a node at the origin.
    radii : (N,) array
        Hyperbolic distance of each node from the origin.
    scale : float
        Hyperbolic length of one unit of the data.
    n_points : int, optional
        Number of data points. Nodes 0 ... n_points-1 are the data points, and the other nodes
        are Steiner nodes. By default all nodes are data points.
    labels : sequence, optional
        Labels of the data points.

    See Also
    --------
    embed : Embed a tree or a metric.
    TreeEmbedding : An embedding of a tree.
    draw : Draw an embedding.

    Notes
    -----
    `pairs` and `block` also accept Steiner nodes. Directions and radii are more accurate in
    float64 than the coordinates of any model. Coordinates are computed on request.

    Examples
    --------
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
        self.scale = positive_scale(scale)
        self.n_points = len(self.radii) if n_points is None else positive_number(n_points, "n_points")
        if self.n_points > len(self.radii):
            raise ValueError(
                f"n_points={n_points} does not match {len(self.radii)} nodes: use a number "
                f"from 1 to {len(self.radii)}"
            )
        self.labels = check_labels(labels, self.n_points)
        self._set_oracle()

    def _set_oracle(self) -> None:
        farthest = int(np.argmax(self.radii))
        if self.radii[farthest] > _FARTHEST:
            far = f"{self.radii[farthest]:.4g} from the origin, beyond {_FARTHEST:g}"
            raise MetricError(f"node {farthest} is {far}: use a smaller scale")
        unit = np.full(len(self.radii), 1.0 / self.scale)
        self.oracle = EmbeddingOracle(
            self.directions, self.radii, read_only(np.sinh(self.radii)), read_only(unit)
        )

    @classmethod
    def from_poincare(
        cls,
        points: ArrayLike,
        *,
        scale: float = 1.0,
        n_points: int | None = None,
        labels: Sequence[object] | None = None,
    ) -> "Embedding":
        """Make an embedding from points p of the Poincaré ball, |p| < 1."""
        directions, radii = polar_of_poincare(points)
        return cls(directions, radii, scale=scale, n_points=n_points, labels=labels)

    @classmethod
    def from_lorentz(
        cls,
        points: ArrayLike,
        *,
        scale: float = 1.0,
        n_points: int | None = None,
        labels: Sequence[object] | None = None,
    ) -> "Embedding":
        """Make an embedding from points (x0, x) of the hyperboloid, x0^2 = 1 + |x|^2."""
        directions, radii = polar_of_lorentz(points)
        return cls(directions, radii, scale=scale, n_points=n_points, labels=labels)

    def __len__(self) -> int:
        return self.n_points

    def _n_indices(self) -> int:
        return self.n_nodes

    def __repr__(self) -> str:
        steiner = self.n_nodes - self.n_points
        others = f", {steiner:,} Steiner node{'s' * (steiner != 1)}" if steiner else ""
        points = f"{self.n_points:,} point{'s' * (self.n_points != 1)}"
        return f"{type(self).__name__}({points}{others}, dim {self.dim})"

    @property
    def n_nodes(self) -> int:
        """Number N of nodes, including Steiner nodes."""
        return len(self.radii)

    @property
    def dim(self) -> int:
        """Dimension of the hyperbolic space."""
        return self.directions.shape[1]

    @property
    def curvature(self) -> float:
        """Curvature -scale^2 of the space in units of the data."""
        return -(self.scale**2)

    @property
    def poincare(self) -> NDArray[np.float64]:
        """Coordinates in the Poincaré ball, an (N, dim) array.

        Warns if nodes coincide in float64.
        """
        return self._coordinates("poincare")

    @property
    def klein(self) -> NDArray[np.float64]:
        """Coordinates in the Klein ball, an (N, dim) array. Geodesics are straight lines."""
        return self._coordinates("klein")

    @property
    def lorentz(self) -> NDArray[np.float64]:
        """Coordinates on the hyperboloid, an (N, dim + 1) array with x0 first."""
        return self._coordinates("lorentz")

    def coordinates(self, model: str) -> NDArray[np.float64]:
        """Return float64 coordinates of every node in a model of hyperbolic space.

        Warns if different nodes coincide, or are rounded to the boundary of the ball.

        Parameters
        ----------
        model : "poincare", "klein" or "lorentz"
            The model.
        """
        return self._coordinates(model)

    def _coordinates(self, model: str) -> NDArray[np.float64]:
        if not isinstance(model, str) or model not in MODELS:
            raise ValueError(f"unknown model {model!r}: choose one of {', '.join(MODELS)}")
        points = from_polar(self.directions, self.radii, model)
        lost = int(self._lost(points, model).sum())
        if lost:
            edge = "" if model == "lorentz" else " or lie on the edge of the ball"
            warnings.warn(
                f"{lost:,} of {self.n_nodes:,} nodes coincide with others{edge} in the "
                f"float64 {model} coordinates. Distances of the embedding are not affected. "
                "Use a smaller scale to draw it.",
                stacklevel=3,
            )
        return points

    def _lost(self, points: NDArray[np.float64], model: str) -> NDArray[np.bool_]:
        """Return which nodes share coordinates with a different node or are outside the open ball."""
        places = _groups(self._places())
        spots = _groups(points)
        # Coordinates are crowded if the nodes that share them do not all have the same position.
        first = np.full(spots.max() + 1, -1)
        first[spots[::-1]] = places[::-1]
        crowded = np.zeros(len(first), bool)
        crowded[spots[places != first[spots]]] = True
        outside = False if model == "lorentz" else np.linalg.norm(points, axis=1) >= 1
        return crowded[spots] | outside

    def _places(self) -> NDArray[np.float64]:
        """Return one row per node, (N, any). Nodes at the same position have equal rows."""
        return np.column_stack([self.directions, self.radii])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the embedding to a .npz file. The file is never left incomplete."""
        from ._embedding_files import save_embedding

        save_embedding(self, path)

    def _fields(self) -> dict[str, NDArray[Any]]:
        """Return the arrays stored in a file, besides scale, n_points and labels."""
        return {"directions": self.directions, "radii": self.radii}

    @classmethod
    def _from_fields(cls, fields: Mapping[str, Any]) -> "Embedding":
        """Create an embedding from the fields of a file: `_fields`, scale, n_points and labels."""
        return cls(**fields)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "Embedding | ProductEmbedding":
        """Read an embedding written by `Embedding.save` or `ProductEmbedding.save`."""
        from ._embedding_files import load_embedding

        return load_embedding(path)


def _groups(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a number for every row, the same for equal rows."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _checked_polar(
    directions: ArrayLike, radii: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    units = real_array(directions, "directions")
    lengths = real_array(radii, "radii")
    if units.ndim != 2 or lengths.shape != units.shape[:1] or 0 in units.shape:
        raise ValueError(
            "expected directions of shape (N, dim) and radii of shape (N,), got "
            f"{units.shape} and {lengths.shape}"
        )
    bad = ~(np.isfinite(lengths) & (lengths >= 0))
    if bad.any():
        raise MetricError(
            f"node {np.argmax(bad)} has radius {lengths[np.argmax(bad)]}: radii must be at least 0"
        )
    units[lengths == 0] = 0
    norms = np.linalg.norm(units, axis=1)
    off = ~(np.abs(norms - 1) < 1e-9) & (lengths > 0)
    if off.any():
        i = int(np.argmax(off))
        raise MetricError(f"the direction of node {i} has norm {norms[i]}: directions must be unit vectors")
    return read_only(units), read_only(lengths)


def real_array(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return a float64 copy, so that the caller cannot modify the stored array."""
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of real numbers: {error}") from error
