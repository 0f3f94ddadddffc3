"""Distance matrices."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.checks import check_flag
from .._core.memory import check_memory
from ._compiled import CompiledMetric
from ._four_point_condition import obeys_four_points
from ._graph_arrays import not_square
from ._inspection import Inspection, inspect_all, inspect_sample
from ._labels import check_square_frame, labels_of
from ._missing import check_missing, without_missing
from .base import MetricError, check_labels, read_only
from .disk.mapped import file_location, is_large_map, open_map, random_access, to_kernel_layout
from .oracle.classes import CheckedMatrixOracle, HalfMatrixOracle, MatrixOracle


class MatrixMetric(CompiledMetric):
    """The metric of a symmetric n x n distance matrix with a zero diagonal.

    Parameters
    ----------
    distances : (n, n) array or DataFrame
        The matrix, which is never modified and keeps its dtype, from uint8 to float64. The index
        of a DataFrame becomes the labels. NaN,
        infinite or negative entries, a non-zero diagonal and asymmetry raise a `MetricError` that
        names the first bad entry. The triangle inequality may be violated.
        With `missing`, NaN is allowed.
    labels : sequence, optional
        Labels of the points.
    symmetrize : "mean", optional
        Replace d(i, j) and d(j, i) by their mean.
    missing : bool
        Whether NaN marks pairs that were not measured. Both d(i, j) and d(j, i) must be NaN. If
        only one of the two is NaN, a `MetricError` names the pair, because either entry may be
        the mistake. A matrix without NaN is an ordinary matrix.

    Attributes
    ----------
    has_missing : bool
        Whether some pairs were not measured. `fit` lists the methods that accept such a metric.
        Scores and `refine` use the measured pairs. All other functions raise an error.
    symmetric : bool
        Whether every entry equals its mirror image. False for a matrix on disk, which is not read
        as a whole.

    See Also
    --------
    as_metric : Convert data to a metric.
    PointMetric : The metric of points.
    formats.write_distances : Write all distances of a metric.

    Notes
    -----
    Construction reads the matrix once, in parallel, with O(1) memory beyond the matrix. The matrix
    is copied only if it is not C-contiguous, or if `symmetrize` is given. Asymmetry is allowed up
    to 1e-8 of the largest distance (1e-4 for float32, 5e-3 for float16). A matrix with missing
    distances must fit in memory.

    A memory-mapped file of more than 1 GiB is never copied, and only the entries that are needed
    are read. Construction reads one or two pages of each row, and validates the diagonal and a
    million other entries. Each remaining entry is validated when it is read, except for symmetry.

    Examples
    --------
    >>> m = MatrixMetric([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> m.pairs([0, 1], [2, 2])
    array([4., 5.])

    A pair that was not measured:

    >>> nan = float("nan")
    >>> m = MatrixMetric([[0, 3, 4], [3, 0, nan], [4, nan, 0]], missing=True)
    >>> m.has_missing, m.pairs(1, 2)
    (True, array(nan))
    """

    def __init__(
        self,
        distances: ArrayLike,
        *,
        labels: Sequence[object] | None = None,
        symmetrize: str | None = None,
        missing: bool = False,
    ) -> None:
        check_square_frame(distances)
        labels = labels_of(distances, labels)
        array = np.asarray(distances)
        if array.ndim == 2 and array.shape[0] != array.shape[1]:
            raise not_square(array)
        check_square(array.shape, array.dtype)
        check_flag("missing", missing)
        if missing and array.dtype.kind == "f":
            check_missing(array)
            self.has_missing = bool(np.isnan(array).any())
        precision = _dtype_precision(array.dtype)
        if self.has_missing and array.dtype == np.float16:
            array = array.astype(np.float32)  # the oracle of float16 cannot read NaN
        if symmetrize is not None:
            array = _symmetrized(array, symmetrize)
        self.on_disk = large = is_large_map(array)
        self.distances = to_kernel_layout(array) if large else read_only(array)
        self.labels = check_labels(labels, len(array))
        rows = self.distances
        if self.has_missing:
            found = inspect_all(without_missing(self.distances))
        elif large:
            found, rows = inspect_sample(self.distances)
        else:
            found = inspect_all(self.distances)
        self.symmetric = found.asymmetry == 0 and not large
        self.oracle = self._checking_oracle()
        # Large floats have no fractional digits, so being whole tells nothing about rounding.
        eps = np.finfo(array.dtype if array.dtype.kind == "f" else np.float64).eps
        self.integral = found.whole and found.largest * eps < 0.25
        if self.has_missing:
            self.input_eps = precision
        elif not self.integral:
            self.input_eps = _input_precision(self.distances, found, rows)

    def __len__(self) -> int:
        return len(self.distances)

    def _checking_oracle(self) -> MatrixOracle | CheckedMatrixOracle | HalfMatrixOracle:
        """Return the oracle for kernels, which raise an error if they read a missing distance."""
        return _oracle(self.distances, checked=not (self.on_disk or self.has_missing))

    def _reading_oracle(self) -> Any:
        """Return the oracle of `pairs` and `block`, which give NaN for a missing distance."""
        return MatrixOracle(self.distances) if self.has_missing else self.oracle

    def random_access(self) -> AbstractContextManager[None]:
        """Context manager: hint that upcoming reads are random access."""
        return random_access(self.distances) if self.on_disk else nullcontext()

    def __getstate__(self) -> dict[str, Any]:
        # A matrix on disk is pickled as its path.
        distances = file_location(self.distances) if self.on_disk else self.distances
        return {name: value for name, value in self.__dict__.items() if name != "oracle"} | {
            "distances": distances
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        large = state["on_disk"]
        super().__setstate__({**state, "distances": open_map(state["distances"])} if large else state)
        self.oracle = self._checking_oracle()


def check_square(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise a MetricError unless an array is square and real."""
    if len(shape) == 1 and shape[0]:
        raise MetricError(
            f"expected a square distance matrix, got a vector of length {shape[0]}: "
            "expand condensed distances with scipy.spatial.distance.squareform first"
        )
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " x ".join(map(str, shape)) or "a single value"
        raise MetricError(f"expected a square distance matrix, got {size}: for points add metric='euclidean'")
    if shape[0] == 0:
        raise MetricError("the distance matrix is empty: give at least one point")
    if dtype.kind not in "uif" or dtype.itemsize > 8:
        raise MetricError(
            f"distances of dtype {dtype} are not supported: convert them, e.g. D.astype('float32')"
        )


def _oracle(
    distances: NDArray[Any], *, checked: bool
) -> MatrixOracle | CheckedMatrixOracle | HalfMatrixOracle:
    """Return the oracle of a matrix; `checked` tells whether all entries were validated."""
    if distances.dtype == np.float16:
        return HalfMatrixOracle(distances.view(np.uint16))
    # Unsigned integers are always valid distances.
    if checked or distances.dtype.kind == "u":
        return MatrixOracle(distances)
    return CheckedMatrixOracle(distances)


def _symmetrized(array: NDArray[Any], how: str) -> NDArray[Any]:
    if how != "mean":
        raise ValueError(f"symmetrize must be 'mean' or None, not {how!r}")
    wide = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
    check_memory(3 * array.size * wide.itemsize, "symmetrize='mean'", "save a symmetric matrix")
    return array.astype(wide) * wide.type(0.5) + array.T.astype(wide) * wide.type(0.5)


def _input_precision(distances: NDArray[Any], found: Inspection, rows: NDArray[Any]) -> float:
    """Return the relative precision to which the input was rounded; 0 if it is exact.

    A short dtype implies rounding. Wider numbers that are all exact in float32, or have few
    decimals, may be rounded or exact. Rounding breaks the four-point condition of a tree
    metric, so a matrix that satisfies the condition is treated as exact. A tree metric is then
    recovered however short its edges are.
    """
    if _dtype_precision(distances.dtype):
        return _dtype_precision(distances.dtype)
    if found.single:
        precision = float(np.finfo(np.float32).eps)
    else:
        precision = 0.5 * _decimal_step(rows) / found.largest
    return precision if precision and not obeys_four_points(distances) else 0.0


def _dtype_precision(dtype: np.dtype[Any]) -> float:
    """Return the relative precision of a short dtype, and 0 for other dtypes."""
    short = dtype.kind == "f" and dtype.itemsize < 8
    return float(np.finfo(dtype).eps) if short else 0.0


def _decimal_step(distances: NDArray[np.float64]) -> float:
    """Return the step of the last decimal digit, such as 1e-6 for six digits; 0 if there is none.

    One to nine decimals are tested. The smallest distance must be at least a thousand steps,
    because below that single steps matter.
    """
    for digits in range(1, 10):
        # np.round turns huge numbers into infinity. Such numbers do not count as rounded.
        with np.errstate(over="ignore"):
            rounded = all(np.array_equal(np.round(row, digits), row) for row in distances)
        if rounded:
            step = 10.0**-digits
            smallest = min(row.min(initial=np.inf, where=row > 0) for row in distances)
            return step if smallest >= 1000 * step else 0.0
    return 0.0
