"""Distances computed from coordinates on demand, without a distance matrix."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._compiled import CompiledMetric
from ._labels import labels_of
from .base import BadPointError, MetricError, check_labels, read_only
from .oracle.classes import (
    AngleOracle,
    ChebyshevOracle,
    EuclideanOracle,
    HyperbolicOracle,
    ManhattanOracle,
    SquaredOracle,
)

# Number of coordinates that are checked or prepared together. This number bounds the temporary
# memory.
_CHUNK = 1 << 22

_NOT_METRICS = {
    "1-cos": "1 - cos violates the triangle inequality: use metric='cosine', the angle itself",
    "1-r": "1 - r violates the triangle inequality: use metric='correlation', "
    "the angle between centered vectors",
}


#: The representations of points in compiled code.
Oracle = EuclideanOracle | SquaredOracle | ManhattanOracle | ChebyshevOracle | AngleOracle | HyperbolicOracle


class PointMetric(CompiledMetric):
    """The metric of n points given by coordinates. Distances are computed on request.

    Parameters
    ----------
    points : (n, k) array or DataFrame
        The coordinates. float32 and float64 arrays are used without conversion, and copied only
        if they are not C-contiguous. Other dtypes become float64. Distances of float32 points
        are computed in float32. The index of a DataFrame becomes the labels.
    metric : str
        - "euclidean", "manhattan" or "chebyshev";
        - "sqeuclidean": the squared Euclidean distance. It adds up along a tree if the coordinates
          diffuse along its edges. It violates the triangle inequality, which some functions need;
        - "cosine": the *angle* between two vectors in radians, which is a metric;
        - "correlation": the angle between two vectors after centering each vector;
        - "hyperboloid": points (x0, x) of the hyperboloid model, with x0^2 = 1 + |x|^2;
        - "poincare": points p of the Poincaré ball, with |p| < 1.

        The usual 1 - cos and 1 - r violate the triangle inequality and are not supported.
    noise : float or (n,) array, optional
        ("sqeuclidean" only) Standard deviation of the noise of each coordinate, the same for all
        points or one for each point. Its expected contribution, k noise^2 for each of the two
        points, is subtracted from the distances, which are at least 0.
    labels : sequence, optional
        Labels of the points.

    See Also
    --------
    as_metric : Convert data to a metric.
    MatrixMetric : The metric of a distance matrix.
    datasets.hyperbolic_points : Draw random points of hyperbolic space.

    Notes
    -----
    O(k) time per distance. The Euclidean, Manhattan and Chebyshev metrics need no memory beyond
    the points. The other metrics keep a prepared copy (unit vectors, or directions and radii).

    Coordinates whose distances would overflow or underflow raise a `MetricError`. With ``max``
    the largest float of the dtype, the largest allowed coordinate is sqrt(max / k) / 4
    (Euclidean; for k = 50, 6e17 in float32 and 4e152 in float64), max / 8k (Manhattan) or max /
    8 (Chebyshev). On the hyperboloid |x| is at most 1e150. Unless all points are at the origin,
    the largest Euclidean coordinate must be at least 4e-16 in float32 and 1e-146 in float64.
    The same holds for the largest distance from the origin in hyperbolic space. Angles do not
    depend on the scale.

    Examples
    --------
    >>> PointMetric([[0, 0], [3, 4]]).pairs(0, 1)
    array(5.)
    >>> round(float(PointMetric([[1, 0], [0, 2]], "cosine").pairs(0, 1)), 6)  # a right angle
    1.570796
    """

    def __init__(
        self,
        points: ArrayLike,
        metric: str = "euclidean",
        *,
        noise: ArrayLike | None = None,
        labels: Sequence[object] | None = None,
    ) -> None:
        labels = labels_of(points, labels)
        try:
            rows = prepare_points(points, metric)
        except BadPointError as error:
            raise error.labeled(labels) from None
        check_extent(rows.oracle, metric, rows.extent)
        self.metric = metric
        self.points = rows.points
        self.labels = check_labels(labels, len(rows.points))
        self.oracle = rows.oracle
        self.integral = rows.integral
        self.squared = isinstance(rows.oracle, SquaredOracle)
        if noise is not None:
            self._subtract(noise)
        self.eps = float(np.finfo(self.oracle[0].dtype).eps)

    def __len__(self) -> int:
        return len(self.points)

    def _subtract(self, noise: ArrayLike) -> None:
        """Subtract the expected contribution of noise from squared distances."""
        if not isinstance(self.oracle, SquaredOracle):
            raise ValueError(
                f"noise is subtracted from squared distances only: use metric='sqeuclidean', "
                f"not {self.metric!r}"
            )
        deviation = np.asarray(noise, np.float64)
        if deviation.shape not in ((), (len(self),)):
            raise MetricError(
                f"got noise of shape {deviation.shape} for {len(self)} points: give one number, or "
                "one for each point"
            )
        bad = ~(np.isfinite(deviation) & (deviation >= 0))
        if bad.any():
            value = deviation[bad][0] if deviation.ndim else deviation
            raise MetricError(f"noise is {value}: it must be finite and not negative")
        squares = self.points.shape[1] * np.broadcast_to(deviation, len(self)) ** 2
        self.oracle = self.oracle._replace(noise=read_only(squares))
        self.integral = False

    def resample(self, rng: np.random.Generator) -> "PointMetric":
        """Return the points with coordinates drawn with replacement, for a bootstrap."""
        if isinstance(self.oracle, HyperbolicOracle):
            raise MetricError(
                f"coordinates of metric {self.metric!r} cannot be resampled, because they depend "
                "on each other: for a bootstrap, use points of another metric"
            )
        width = self.points.shape[1]
        drawn = np.take(self.points, rng.integers(width, size=width), axis=1)
        drawn_metric = PointMetric(drawn, self.metric, labels=self.labels)
        if isinstance(self.oracle, SquaredOracle):
            drawn_metric.oracle = SquaredOracle(drawn_metric.points, self.oracle.noise)
        return drawn_metric


class PreparedPoints(NamedTuple):
    """Checked and prepared points: all points, or the points of one Dask worker."""

    points: NDArray[Any]
    oracle: Oracle
    # largest absolute coordinate, or largest distance from the origin in hyperbolic space
    extent: float
    integral: bool  # whether the distances are small whole numbers


def prepare_points(points: ArrayLike, metric: str, first: int = 0) -> PreparedPoints:
    """Check and prepare points row by row, so that a part gives the same numbers as the whole.

    `first` is the number of the first row, for messages. The caller must still call
    `check_extent` with the largest extent.
    """
    prepare = _prepare(metric)
    array, largest = _coordinates(points, first)
    table = read_only(array)
    oracle = prepare(table, first)
    extent = float(oracle.radii.max()) if isinstance(oracle, HyperbolicOracle) else largest
    largest_term = 4 * largest**2 if metric == "sqeuclidean" else largest
    integral = metric in ("sqeuclidean", "manhattan", "chebyshev") and _small_whole_numbers(
        table, largest_term
    )
    return PreparedPoints(table, oracle, extent, integral)


def _coordinates(points: ArrayLike, first: int) -> tuple[NDArray[Any], float]:
    """Return the points as a table of floats, and their largest absolute coordinate."""
    array = np.asarray(points)
    if array.ndim != 2 or 0 in array.shape:
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise MetricError(
            f"expected points as the rows of a non-empty n x k table, got an array of shape {shape}"
        )
    if array.dtype.kind not in "uifb":
        raise MetricError(f"coordinates of dtype {array.dtype} are not supported: use real numbers")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    largest = 0.0
    for start, rows in _chunks(array):
        low = float(rows.min())
        high = float(rows.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            i, k = np.argwhere(~np.isfinite(rows))[0]
            raise BadPointError(
                f"coordinate {k} of {{point}} is {rows[i, k]}: replace it or drop the point",
                int(first + start + i),
            )
        largest = max(largest, -low, high)
    return array, largest


def _smallest_extent(dtype: DTypeLike) -> float:
    # If the largest number is at least this, underflow of squares costs less than eps times the
    # largest square.
    limits = np.finfo(dtype)
    return math.sqrt(float(limits.tiny) / float(limits.eps))


def coordinate_bounds(metric: str, k: int, dtype: DTypeLike) -> tuple[float, float]:
    """Return the bounds of the largest nonzero coordinate for distances in `dtype`."""
    end = float(np.finfo(dtype).max)
    most = {
        "euclidean": math.sqrt(end / k) / 4,
        "sqeuclidean": math.sqrt(end / k) / 4,
        "manhattan": end / k / 8,
        "chebyshev": end / 8,
    }.get(metric, math.inf)
    squares = metric in ("euclidean", "sqeuclidean")
    return (_smallest_extent(dtype) if squares else 0.0), most


def check_extent(oracle: Oracle, metric: str, largest: float, first: int = 0) -> None:
    """Raise an error if distances would overflow, or vanish when squared.

    `largest` is the largest extent of all points, and one of these rows must have this extent. The
    first row is point `first`.
    """
    if isinstance(oracle, HyperbolicOracle):
        if 0 < largest < _smallest_extent(np.float64):
            raise MetricError(
                f"point {first + int(np.argmax(oracle.radii))} is the farthest from the "
                f"origin, at distance {largest}, which is too small for hyperbolic "
                "distances in float64: spread the points"
            )
        return
    points = oracle[0]
    k = points.shape[1]
    least, most = coordinate_bounds(metric, k, points.dtype)
    small = 0 < largest < least
    if small or largest > most:
        position = points.argmax() if points.max() == largest else points.argmin()
        size = "small" if small else "large"
        raise MetricError(
            f"point {first + position // k} has the largest coordinate, "
            f"{points.flat[position]}, which is too {size} for {metric} distances "
            f"in {points.dtype}: rescale the points towards 1"
        )


def _chunks(array: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    step = max(1, _CHUNK // array.shape[1])
    return ((start, array[start : start + step]) for start in range(0, len(array), step))


def _small_whole_numbers(points: NDArray[Any], largest: float) -> bool:
    # Sums of such terms, one for each coordinate, are exact in both float32 and float64.
    small = largest * points.shape[1] < 2**22
    return small and all(bool((np.floor(rows) == rows).all()) for _, rows in _chunks(points))


def _scale_to_one(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scale each row exactly, to a largest coordinate in [1/2, 1). Also return the exponents."""
    exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1]
    return np.ldexp(rows, -exponents), exponents


def _norms(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled, exponents = _scale_to_one(vectors)
    return np.ldexp(np.sqrt((scaled * scaled).sum(axis=1)), exponents[:, 0])


def _unit_vectors(points: NDArray[Any], first: int, center: bool) -> AngleOracle:
    units = np.empty_like(points)
    eps = np.finfo(points.dtype).eps
    for start, given in _chunks(points):
        # Scale first, here and below: sums and squares of very large or small coordinates would
        # overflow or underflow.
        if center:
            rows = _scale_to_one(given)[0]
            vectors = rows - rows.mean(axis=1, keepdims=True)
            floor = 4 * eps * np.abs(rows).max(axis=1, keepdims=True)
        else:
            rows = vectors = given
            floor = np.zeros((len(rows), 1))
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        zero = np.flatnonzero(largest <= floor)
        if zero.size:
            fault = "constant, so its correlation" if center else "the zero vector, so its angle"
            raise BadPointError(
                f"{{point}} is {fault} with others is undefined: drop it",
                int(first + start + zero[0]),
            )
        scaled = vectors / largest
        units[start : start + len(rows)] = scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return AngleOracle(read_only(units))


def _polar(
    vectors: NDArray[np.float64], norms: NDArray[np.float64], radii: NDArray[np.float64]
) -> HyperbolicOracle:
    directions = np.divide(vectors, norms[:, None], out=np.zeros_like(vectors), where=norms[:, None] > 0)
    return HyperbolicOracle(read_only(directions), read_only(radii), read_only(np.sinh(radii)))


def _hyperboloid(points: NDArray[Any], first: int) -> HyperbolicOracle:
    wide = points.astype(np.float64, copy=False)
    height = wide[:, 0]
    vectors = wide[:, 1:]
    if not vectors.shape[1]:
        raise MetricError(
            "points on the hyperboloid need at least two coordinates, x0 first, but this table has one column"
        )
    norms = _norms(vectors)
    if norms.max() > 1e150:  # so that sinh r sinh s does not overflow
        i = int(np.argmax(norms))
        raise BadPointError(
            f"{{point}} has |x| = {norms[i]}, which exceeds 1e150: move the points towards the origin",
            first + i,
        )
    allowed = 64 * np.finfo(points.dtype).eps
    off = np.abs(height - np.hypot(1.0, norms)) > allowed * np.abs(height)
    off |= height < 1 - allowed
    if off.any():
        i = int(np.argmax(off))
        raise BadPointError(
            f"{{point}} is not on the hyperboloid (x0 is {height[i]}, but sqrt(1 + |x|^2) is "
            f"{np.hypot(1.0, norms[i])}): put x0 first and recompute it",
            first + i,
        )
    return _polar(vectors, norms, np.arcsinh(norms))


def _poincare(points: NDArray[Any], first: int) -> HyperbolicOracle:
    wide = points.astype(np.float64, copy=False)
    norms = _norms(wide)
    if (norms >= 1).any():
        i = int(np.argmax(norms >= 1))
        raise BadPointError(
            f"{{point}} has norm {norms[i]}, but the Poincare ball has radius 1: scale the points down",
            first + i,
        )
    return _polar(wide, norms, 2 * np.arctanh(norms))


# Functions that create the oracle of a table whose first row is point `first`.
_PREPARE: dict[str, Callable[[NDArray[Any], int], Oracle]] = {
    "euclidean": lambda points, _: EuclideanOracle(points),
    "sqeuclidean": lambda points, _: SquaredOracle(points, read_only(np.zeros(len(points)))),
    "manhattan": lambda points, _: ManhattanOracle(points),
    "chebyshev": lambda points, _: ChebyshevOracle(points),
    "cosine": lambda points, first: _unit_vectors(points, first, center=False),
    "correlation": lambda points, first: _unit_vectors(points, first, center=True),
    "hyperboloid": _hyperboloid,
    "poincare": _poincare,
}


def _prepare(metric: str) -> Callable[[NDArray[Any], int], Oracle]:
    if not isinstance(metric, str):
        raise TypeError(
            f"metric must be a name, one of {', '.join(_PREPARE)}, not of type {type(metric).__name__}"
        )
    if metric in _PREPARE:
        return _PREPARE[metric]
    key = metric.replace(" ", "").lower()
    if key in _NOT_METRICS:
        raise MetricError(f"{metric!r} is not a metric: {_NOT_METRICS[key]}")
    raise ValueError(f"unknown metric {metric!r}: choose one of {', '.join(_PREPARE)}")
