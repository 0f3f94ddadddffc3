"""`Metric`: n points and the distances between them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class MetricError(ValueError):
    """Raised if distances cannot be used.

    The message names the first bad entry and a remedy.

    See Also
    --------
    as_metric : Convert and validate data.
    MatrixMetric : Validate a distance matrix.
    """


class BadEntryError(MetricError):
    """A matrix entry d(i, j) that is not a distance, given as (i, j, value).

    >>> print(BadEntryError(2, 5, -1.0))
    d(2, 5) is -1.0, but distances are never negative: check the input
    """

    def __str__(self) -> str:
        i, j, value = self.args
        if value < 0 and np.isfinite(value):
            return f"d({i}, {j}) is {value}, but distances are never negative: check the input"
        if np.isfinite(value):
            return f"d({i}, {j}) is {value}, so sums of distances overflow: rescale the distances"
        unmeasured = ", or, if pairs were not measured, use tr.as_metric(D, missing=True)"
        return (
            f"d({i}, {j}) is {value}: replace or drop points with missing or infinite distances"
            + unmeasured * bool(np.isnan(value))
        )


class BadPointError(MetricError):
    """A point that cannot be used, given as a text with `{point}`, its number, and perhaps its label.

    >>> print(BadPointError("{point} is nan: drop it", 3, "c3"))
    point 3 ('c3') is nan: drop it
    """

    def __str__(self) -> str:
        text, number, *label = self.args
        return str(text).format(point=f"point {number}" + "".join(f" ({x!r})" for x in label))

    def labeled(self, labels: Sequence[object] | None) -> "BadPointError":
        """Return the error with the label of the point, if there are labels."""
        text, number = self.args[:2]
        if labels is None or not 0 <= number < len(labels):
            return self
        return BadPointError(text, number, str(labels[number]))


class Metric(ABC):
    """A finite metric space with `len(m)` points.

    For custom distances, write a subclass with the methods `__len__` and `block`.

    Attributes
    ----------
    labels : tuple of str, or None
        Labels of the points.
    order_known : bool
        False if the order of the points has no meaning, as in a tree read from a Newick file.

    See Also
    --------
    as_metric : Convert data to a metric.
    MatrixMetric : A distance matrix.
    PointMetric : Points.
    GraphMetric : A graph.
    Tree : A tree.
    """

    #: Labels of the points, in order, or None.
    labels: tuple[str, ...] | None = None
    #: False if the order of the points has no meaning, as in a tree read from Newick: see
    #: `_matching.py`.
    order_known: bool = True
    #: Named tuple of arrays for kernels (see `oracle/classes.py`), or None if the metric has
    #: only `block`.
    oracle: Any = None
    #: True if every distance is known to be a whole number.
    integral: bool = False
    #: Relative precision of the computed distances. Comparisons of sums allow for this imprecision.
    eps: float = float(np.finfo(np.float64).eps)
    #: Relative precision to which the input appears to be rounded; 0 if it is not. A hint for
    #: methods that fit trees. Certified results, such as the bounds of `hyperbolicity`, ignore this
    #: hint.
    input_eps: float = 0.0

    #: True if distances are read from disk when they are needed. In that case, it pays to use more
    #: threads than cores.
    on_disk: bool = False
    #: Number of rows that can be read together at the cost of a few rows.
    _read_together: int = 1
    #: True if distances are squares. They add up along trees, but violate the triangle inequality.
    squared: bool = False
    #: True if some pairs were not measured. `block` and `pairs` give NaN for these pairs.
    has_missing: bool = False

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances from each row point to each column point, as a float64 array."""

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Return the distances of the pairs (i[k], j[k]), as a float64 array of the same shape."""
        i, j = np.broadcast_arrays(np.asarray(i), np.asarray(j))
        flat = [self.block([a], [b])[0, 0] for a, b in zip(i.ravel(), j.ravel(), strict=True)]
        return np.array(flat, dtype=np.float64).reshape(i.shape)

    def resample(self, rng: np.random.Generator) -> "Metric":  # noqa: ARG002
        """Return a bootstrap replicate: the same points, with columns drawn with replacement.

        Points, sequences and characters have columns. Other metrics raise a `MetricError`.
        """
        raise MetricError(
            f"a {type(self).__name__} cannot be resampled: for a bootstrap, use the points or "
            "sequences that the distances come from"
        )

    def random_access(self) -> AbstractContextManager[None]:
        """Context manager: hint that upcoming reads are random access."""
        return nullcontext()

    def _in_order(
        self, order: NDArray[np.int64], labels: tuple[str, ...] | None, order_known: bool
    ) -> "Metric":
        """Return the metric whose point i is point order[i] of this metric."""
        from ._reordered import ReorderedMetric

        return ReorderedMetric(self, order, labels, order_known)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} points)"


def refuse_squared(metric: Metric, what: str) -> None:
    """Raise a MetricError if a function that needs the triangle inequality gets squared distances.

    >>> from treerep import PointMetric
    >>> refuse_squared(PointMetric([[0], [1]], "sqeuclidean"), "hyperbolicity")
    Traceback (most recent call last):
        ...
    treerep.metric.base.MetricError: hyperbolicity needs the triangle inequality, which squared \
distances violate: use metric='euclidean'
    """
    if metric.squared:
        raise MetricError(
            f"{what} needs the triangle inequality, which squared distances violate: use metric='euclidean'"
        )


def check_indices(indices: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return indices as int64, or raise an IndexError that names the first index outside 0 ... n-1.

    >>> check_indices([0, 2], 3)
    array([0, 2])
    """
    array = np.asarray(indices)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise IndexError(f"points must be given by integer indices, not {array.dtype}")
    outside = (array < 0) | (array >= n)
    if outside.any():
        raise IndexError(
            f"point {array[outside].flat[0]} does not exist: the {n} points are numbered 0 to {n - 1}"
        )
    return array.astype(np.int64, copy=False)


def check_labels(labels: Sequence[object] | None, n: int) -> tuple[str, ...] | None:
    """Return labels as strings. A wrong number of labels or a duplicate raises a MetricError."""
    if labels is None:
        return None
    names = tuple(str(label) for label in labels)
    if len(names) != n:
        raise MetricError(f"{len(names)} labels were given for {n} points: give one label per point")
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            raise MetricError(
                f"points {seen[name]} and {position} share the label {name!r}: make "
                "the labels unique or drop them"
            )
        seen[name] = position
    return names


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only, C-contiguous plain view, the layout for which kernels are compiled."""
    view = np.ascontiguousarray(np.asarray(array)).view(np.ndarray)
    if not view.flags.aligned:  # the array was received in one buffer with others
        view = view.copy()
    if not view.dtype.isnative:
        view = view.astype(view.dtype.newbyteorder("="))
    view = view.view()
    view.flags.writeable = False
    return view
