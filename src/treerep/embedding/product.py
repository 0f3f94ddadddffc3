"""Embeddings in a product of hyperbolic spaces, with the sum of the distances."""

import os
import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metric.base import Metric, MetricError, check_indices, check_labels
from ._models import MODELS, from_polar
from .embedding import Embedding


class ProductEmbedding(Metric):
    """Points of a product of hyperbolic spaces, as a metric.

    The distance of two points is the sum of their distances in the components:
    d(x, y) = d_1(x_1, y_1) + ... + d_k(x_k, y_k), where d_m(p, q) = arcosh(-<p, q>) / scale_m on
    the hyperboloid of component m, and <p, q> = -p0 q0 + p1 q1 + ... is the Lorentz product.

    Parameters
    ----------
    components : sequence of Embedding
        One embedding of the same points per space.
    labels : sequence, optional
        Labels of the points; by default the labels of the components.

    Attributes
    ----------
    components : tuple of Embedding
        The embeddings.

    See Also
    --------
    embed : Embed a sum of trees.
    Embedding : Points of a single hyperbolic space.
    worst_distortion : The score that ``embed(trees, distortion=...)`` bounds.

    Notes
    -----
    A `TreeSum` of k trees is embedded in a product of k planes, with 2 k coordinates per point.
    Only data points have a position in the product, because the Steiner nodes of the components
    differ. A distance takes as long as k distances of the components. `draw` draws the
    components. Gu, Sala, Gunel, Ré (ICLR 2019) train points of a product directly, with the
    root of the sum of the squared distances instead of the sum.

    Examples
    --------
    >>> line = Embedding([[1.0, 0.0], [-1.0, 0.0]], [2.0, 4.0], scale=2.0)
    >>> product = ProductEmbedding([line, line])
    >>> product
    ProductEmbedding(2 points, 2 planes of dim 2)
    >>> product.pairs(0, 1)
    array(6.)
    >>> product.poincare.shape
    (2, 2, 2)
    """

    def __init__(self, components: Iterable[Embedding], *, labels: Sequence[object] | None = None) -> None:
        self.components = _checked(tuple(components))
        first = self.components[0]
        given = check_labels(labels, len(first))
        self.labels = first.labels if given is None else given
        self.order_known = all(part.order_known for part in self.components)

    def __len__(self) -> int:
        return len(self.components[0])

    def __repr__(self) -> str:
        count = len(self.components)
        dims = sorted({part.dim for part in self.components})
        noun = "plane" if dims == [2] else "space"
        spaces = f"{count} {noun}{'s' * (count != 1)} of dim {' and '.join(map(str, dims))}"
        return f"ProductEmbedding({len(self):,} point{'s' * (len(self) != 1)}, {spaces})"

    @property
    def dim(self) -> int:
        """Sum of the dimensions of the components."""
        return sum(part.dim for part in self.components)

    @property
    def scales(self) -> tuple[float, ...]:
        """Hyperbolic length of one unit of the data, in each component."""
        return tuple(part.scale for part in self.components)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all components together, including Steiner nodes."""
        return sum(part.n_nodes for part in self.components)

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances from each row point to each column point, as a float64 array."""
        first, second = (check_indices(x, len(self)).reshape(-1) for x in (rows, cols))
        total = self.components[0].block(first, second)
        for part in self.components[1:]:
            total += part.block(first, second)
        return total

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Return the distances of the pairs (i[k], j[k]), as a float64 array of the same shape."""
        first, second = (check_indices(x, len(self)) for x in (i, j))
        total = self.components[0].pairs(first, second)
        for part in self.components[1:]:
            total += part.pairs(first, second)
        return total

    @property
    def poincare(self) -> NDArray[np.float64]:
        """Coordinates in Poincaré balls, an (n, k, dim) array.

        Warns if points coincide in float64.
        """
        return self._coordinates("poincare")

    @property
    def klein(self) -> NDArray[np.float64]:
        """Coordinates in Klein balls, an (n, k, dim) array."""
        return self._coordinates("klein")

    @property
    def lorentz(self) -> NDArray[np.float64]:
        """Coordinates on hyperboloids, an (n, k, dim + 1) array with x0 first."""
        return self._coordinates("lorentz")

    def coordinates(self, model: str) -> NDArray[np.float64]:
        """Return coordinates of the data points in a model of hyperbolic space.

        Parameters
        ----------
        model : "poincare", "klein" or "lorentz"
            The model.

        Returns
        -------
        (n, k, dim) array
            Point i has row [i, m] in component m. "lorentz" has an additional coordinate x0.
        """
        return self._coordinates(model)

    def _coordinates(self, model: str) -> NDArray[np.float64]:
        if not isinstance(model, str) or model not in MODELS:
            raise ValueError(f"unknown model {model!r}: choose one of {', '.join(MODELS)}")
        self._check_equal_dims()
        n = len(self)
        tables = []
        crowded = 0
        for part in self.components:
            table = from_polar(part.directions, part.radii, model)
            crowded += bool(part._lost(table, model)[:n].any())
            tables.append(table[:n])
        if crowded:
            warnings.warn(
                f"in {crowded} of {len(tables)} components, points coincide with other nodes or "
                f"lie on the edge of the ball in the float64 {model} coordinates. Distances of "
                "the embedding are not affected. Use a smaller scale to draw it.",
                stacklevel=3,
            )
        return np.stack(tables, axis=1)

    def _check_equal_dims(self) -> None:
        dims = [part.dim for part in self.components]
        if len(set(dims)) > 1:
            raise ValueError(
                f"the components have dimensions {dims}, so their coordinates do not form one "
                "array: use the coordinates of each embedding in `components`"
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the embedding to a .npz file. The file is never left incomplete."""
        from ._embedding_files import save_product

        save_product(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "ProductEmbedding":
        """Read an embedding written by `ProductEmbedding.save`."""
        from ._embedding_files import load_embedding

        found = load_embedding(path)
        if not isinstance(found, ProductEmbedding):
            raise ValueError(f"{path} holds {found!r}, not a product: use Embedding.load")
        return found


def _checked(components: tuple[Embedding, ...]) -> tuple[Embedding, ...]:
    """Return the components, or raise an error unless they have the same points."""
    if not components:
        raise ValueError("a product needs at least one component: give a list of embeddings")
    first = components[0]
    for number, part in enumerate(components):
        if not isinstance(part, Embedding):
            raise TypeError(
                f"component {number} is a {type(part).__name__}: the components of a product "
                "must be embeddings"
            )
        if len(part) != len(first):
            raise MetricError(
                f"component {number} has {len(part):,} points, and component 0 has "
                f"{len(first):,}: embed the same points"
            )
        if part.labels != first.labels:
            raise MetricError(
                f"component {number} and component 0 have different labels: give all "
                "components the same labels in the same order"
            )
    return components
