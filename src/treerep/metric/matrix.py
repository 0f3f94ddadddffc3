"""Distances given as a matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..common.parallel import run
from .base import MetricError, check_labels, frozen
from .compiled import CompiledMetric
from .oracles import MatrixOracle

# How far d(i, j) and d(j, i) may differ, relative to the largest distance: what sloppy but honest code produces.
_ASYMMETRY = {np.dtype(np.float32): 1e-4}
_ASYMMETRY_DEFAULT = 1e-8


class MatrixMetric(CompiledMetric):
    """The metric of a symmetric n x n distance matrix with a zero diagonal.

    The matrix is kept as it is: any real dtype from uint8 to float64, `np.memmap` included; it is neither widened nor
    written to. It is copied only when it is not C-contiguous or `symmetrize` is asked for.

    Parameters
    ----------
    distances : (n, n) array
        Checked once, here: NaN, infinite or negative entries, a non-zero diagonal and asymmetry (beyond 1e-8 of the
        largest distance; 1e-4 for float32) raise a `MetricError` that names the first bad entry. The triangle
        inequality may be violated.
    labels : sequence, optional
        Names of the points.
    symmetrize : "mean", optional
        Replace d(i, j) and d(j, i) by their mean.

    Notes
    -----
    Construction reads the matrix once, in parallel; O(1) memory beyond it.

    Examples
    --------
    >>> m = MatrixMetric([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> m.pairs([0, 1], [2, 2])
    array([4., 5.])
    """

    def __init__(
        self, distances: ArrayLike, *, labels: Sequence[object] | None = None, symmetrize: str | None = None
    ) -> None:
        array = _square(np.asarray(distances))
        if symmetrize is not None:
            array = _symmetrized(array, symmetrize)
        self.distances = frozen(array)
        self.labels = check_labels(labels, len(array))
        self.oracle = MatrixOracle(self.distances)
        largest, whole, single = _validate(self.distances)
        # Large floats are all whole numbers, for want of digits: then that says nothing about the distances.
        precision = np.finfo(array.dtype if array.dtype.kind == "f" else np.float64).eps
        self.integral = whole and largest * precision < 0.25
        # float64 numbers that are all float32 numbers were rounded to that once.
        if single and not self.integral:
            self.eps = float(np.finfo(np.float32).eps)
        elif not self.integral:
            self.eps = max(self.eps, 0.5 * _decimal_step(self.distances) / largest)

    def __len__(self) -> int:
        return len(self.distances)


def _square(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim == 1 and array.size:
        raise MetricError(
            f"a vector of {array.size} numbers is no distance matrix: expand condensed distances with "
            "scipy.spatial.distance.squareform first"
        )
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise MetricError(f"a distance matrix is square, this array is {shape}: for points say metric='euclidean'")
    if len(array) == 0:
        raise MetricError("the distance matrix is empty: give at least one point")
    if array.dtype.kind not in "uif" or array.dtype.itemsize > 8 or array.dtype == np.float16:
        raise MetricError(f"distances of dtype {array.dtype} are not supported: convert them, e.g. D.astype('float32')")
    return array


def _symmetrized(array: NDArray[Any], how: str) -> NDArray[Any]:
    if how != "mean":
        raise ValueError(f"symmetrize is 'mean' or None, not {how!r}")
    wide = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
    return array.astype(wide) * wide.type(0.5) + array.T.astype(wide) * wide.type(0.5)


def _decimal_step(distances: NDArray[np.float64]) -> float:
    """The step to which distances were rounded when they were written down: 1e-6 for six digits; 0 if none is seen.

    Numbers with one to nine digits after the point, of which even the smallest is worth a thousand steps: lengths of a
    few steps, which rounding makes and unmakes, are not what such a table is about. Costs a few reads of tables that
    look like it, and next to nothing for others.
    """
    for digits in range(1, 10):
        if all(np.array_equal(np.round(row, digits), row) for row in distances):
            step = 10.0**-digits
            smallest = min(row.min(initial=np.inf, where=row > 0) for row in distances)
            return step if smallest >= 1000 * step else 0.0
    return 0.0


def _validate(distances: NDArray[Any]) -> tuple[float, bool, bool]:
    """Return the largest distance, whether all are whole numbers, and whether all are float32 numbers.

    Raises a MetricError for the first bad entry.
    """
    from .validation_kernels import TILE, inspect_band

    dtype = distances.dtype
    bits = distances.view(f"i{dtype.itemsize}") if dtype.kind == "f" else distances
    starts = range(0, len(distances), TILE)
    found = np.empty((len(starts), 4), bits.dtype)

    def inspect(start: int) -> float:
        return inspect_band(distances, bits, start, found[start // TILE])

    skew = max(run(inspect, starts, None if len(distances) > 1000 else 1))
    low, high = found[:, 0].min(), found[:, 1:2].max(axis=0)
    largest = float(high.view(dtype)[0])
    # Negative numbers, infinity and NaN stand out by their bits; a minus sign at 0 does too, and is forgiven.
    skewed = not skew <= _ASYMMETRY.get(dtype, _ASYMMETRY_DEFAULT) * largest
    if low < 0 or not largest < np.inf or skewed or np.diagonal(distances).any():
        _name_first_bad_entry(distances)
    if largest > np.finfo(np.float64).max / 4:
        raise MetricError(
            f"the largest distance is {largest}, and sums of such numbers overflow: rescale the distances"
        )
    return largest, not found[:, 2].any(), not found[:, 3].any()


def _name_first_bad_entry(distances: NDArray[Any]) -> None:
    """Find the first bad entry in row order; only reached when there is one."""
    finite_largest = max(float(np.max(row, initial=0, where=np.isfinite(row))) for row in distances)
    allowed = _ASYMMETRY.get(distances.dtype, _ASYMMETRY_DEFAULT) * finite_largest
    for i, row in enumerate(distances):
        if row[i] != 0 and np.isfinite(row[i]):
            raise MetricError(
                f"d({i}, {i}) is {row[i]}, but a point is at distance 0 from itself: fill the diagonal with 0"
            )
        for j in np.flatnonzero(~np.isfinite(row))[:1]:
            raise MetricError(f"d({i}, {j}) is {row[j]}: replace or drop points with missing or infinite distances")
        for j in np.flatnonzero(row < 0)[:1]:
            raise MetricError(f"d({i}, {j}) is {row[j]}, but distances are never negative: check the input")
        column = distances[:, i]
        for j in np.flatnonzero(np.abs(row.astype(np.float64) - column) > allowed)[:1]:
            raise MetricError(
                f"d({i}, {j}) is {row[j]} but d({j}, {i}) is {column[j]}: the matrix is not symmetric; "
                "tr.as_metric(D, symmetrize='mean') averages the two"
            )
