"""Distances given as a matrix."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.memory import check_memory
from ._compiled import CompiledMetric
from ._four_point_condition import obeys_four_points
from ._inspection import Inspection, inspect_all, inspect_sample
from .base import MetricError, check_labels, read_only
from .disk.mapped import file_location, is_large_map, open_map, random_access, to_kernel_layout
from .oracle.classes import CheckedMatrixOracle, HalfMatrixOracle, MatrixOracle


class MatrixMetric(CompiledMetric):
    """The metric of a symmetric n x n distance matrix with a zero diagonal.

    The matrix is kept as it is: any real dtype from uint8 to float64, `np.memmap` included; it
    is neither widened nor written to. It is copied only when it is not C-contiguous or
    `symmetrize` is asked for. A memory-mapped file of more than 1 GiB is never copied, and read
    only where distances are asked for.

    Parameters
    ----------
    distances : (n, n) array
        Checked once, here: NaN, infinite or negative entries, a non-zero diagonal and asymmetry
        (beyond 1e-8 of the largest distance; 1e-4 for float32, 5e-3 for float16) raise a
        `MetricError` that names the first bad entry. The triangle inequality may be violated.
        Of a mapped file of more than 1 GiB, the diagonal and a million other entries are
        checked here, every other one when it is read, for all but symmetry.
    labels : sequence, optional
        Names of the points.
    symmetrize : "mean", optional
        Replace d(i, j) and d(j, i) by their mean.

    Notes
    -----
    Construction reads the matrix once, in parallel; O(1) memory beyond it. For a large mapped
    file it reads one or two pages of every row, and judges by those whether the distances are
    whole numbers or were rounded.

    Examples
    --------
    >>> m = MatrixMetric([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> m.pairs([0, 1], [2, 2])
    array([4., 5.])
    """

    def __init__(
        self,
        distances: ArrayLike,
        *,
        labels: Sequence[object] | None = None,
        symmetrize: str | None = None,
    ) -> None:
        array = np.asarray(distances)
        check_square(array.shape, array.dtype)
        if symmetrize is not None:
            array = _symmetrized(array, symmetrize)
        self.on_disk = large = is_large_map(array)
        self.distances = to_kernel_layout(array) if large else read_only(array)
        self.labels = check_labels(labels, len(array))
        seen, rows = (
            inspect_sample(self.distances)
            if large
            else (inspect_all(self.distances), self.distances)
        )
        self.oracle = _oracle(self.distances, seen=not large)
        # Large floats are all whole numbers, for want of digits: then that says nothing about
        # the distances.
        precision = np.finfo(array.dtype if array.dtype.kind == "f" else np.float64).eps
        self.integral = seen.whole and seen.largest * precision < 0.25
        if not self.integral:
            self.input_eps = _input_precision(self.distances, seen, rows)

    def __len__(self) -> int:
        return len(self.distances)

    def random_access(self) -> AbstractContextManager[None]:
        """Announce that single distances from all over will be asked for, which matters to a disk."""
        return random_access(self.distances) if self.on_disk else nullcontext()

    def __getstate__(self) -> dict[str, Any]:
        # A matrix on disk stays there: others get its path, and open it themselves.
        distances = file_location(self.distances) if self.on_disk else self.distances
        return {name: value for name, value in self.__dict__.items() if name != "oracle"} | {
            "distances": distances
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        large = state["on_disk"]
        super().__setstate__(
            {**state, "distances": open_map(state["distances"])} if large else state
        )
        self.oracle = _oracle(self.distances, seen=not large)


def check_square(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise a MetricError for what is no square of real numbers."""
    if len(shape) == 1 and shape[0]:
        raise MetricError(
            f"a vector of {shape[0]} numbers is no distance matrix: expand condensed distances with "
            "scipy.spatial.distance.squareform first"
        )
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " x ".join(map(str, shape)) or "a single value"
        raise MetricError(
            f"a distance matrix is square, this array is {size}: for points say metric='euclidean'"
        )
    if shape[0] == 0:
        raise MetricError("the distance matrix is empty: give at least one point")
    if dtype.kind not in "uif" or dtype.itemsize > 8:
        raise MetricError(
            f"distances of dtype {dtype} are not supported: convert them, e.g. D.astype('float32')"
        )


def _oracle(
    distances: NDArray[Any], *, seen: bool
) -> MatrixOracle | CheckedMatrixOracle | HalfMatrixOracle:
    """What compiled code receives of a matrix, of which every entry was seen already or not."""
    if distances.dtype == np.float16:
        return HalfMatrixOracle(distances.view(np.uint16))
    # Unsigned integers can be nothing but distances.
    return (
        MatrixOracle(distances)
        if seen or distances.dtype.kind == "u"
        else CheckedMatrixOracle(distances)
    )


def _symmetrized(array: NDArray[Any], how: str) -> NDArray[Any]:
    if how != "mean":
        raise ValueError(f"symmetrize is 'mean' or None, not {how!r}")
    wide = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
    check_memory(
        3 * array.size * wide.itemsize, "symmetrize='mean'", "save a matrix that is symmetric"
    )
    return array.astype(wide) * wide.type(0.5) + array.T.astype(wide) * wide.type(0.5)


def _input_precision(distances: NDArray[Any], seen: Inspection, rows: NDArray[Any]) -> float:
    """The relative precision to which distances were rounded before they were given; 0 if none is seen.

    A short dtype says so itself. Wider numbers that all fit float32, or that have few digits
    after the point, may have been rounded or may be exact as they stand. Rounding breaks the
    four-point condition of a tree metric, so a table that obeys it is taken as exact: a tree
    metric is recovered however short its edges are.
    """
    if distances.dtype.kind == "f" and distances.dtype.itemsize < 8:
        return float(np.finfo(distances.dtype).eps)
    if seen.single:
        precision = float(np.finfo(np.float32).eps)
    else:
        precision = 0.5 * _decimal_step(rows) / seen.largest
    return precision if precision and not obeys_four_points(distances) else 0.0


def _decimal_step(distances: NDArray[np.float64]) -> float:
    """The step of the last digit in which distances are written: 1e-6 for six digits; 0 if there is no such step.

    Looks for one to nine digits after the point, and asks that the smallest distance is at
    least a thousand steps: in other tables single steps matter. Reads tables that look rounded
    a few times, and others hardly at all.
    """
    for digits in range(1, 10):
        # Huge numbers overflow in np.round: they become infinite, and do not count as rounded.
        with np.errstate(over="ignore"):
            rounded = all(np.array_equal(np.round(row, digits), row) for row in distances)
        if rounded:
            step = 10.0**-digits
            smallest = min(row.min(initial=np.inf, where=row > 0) for row in distances)
            return step if smallest >= 1000 * step else 0.0
    return 0.0
