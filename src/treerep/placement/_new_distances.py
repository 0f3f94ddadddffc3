"""The distances of new points: given as rows, computed from coordinates, or read from a metric."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.memory import check_memory
from ..fitting._distances import checked_block, rounding_of
from ..metric._four_point_condition import obeys_four_points
from ..metric._reordered import ReorderedMetric
from ..metric.base import Metric, MetricError, read_only
from ..metric.matrix import MatrixMetric
from ..metric.oracle.classes import POINT_ORACLES, MatrixOracle, select_points
from ..metric.points import PointMetric
from ..tree.tree import Tree
from ._locate import Tolerances
from ._new_points import NewPoints

# Number of old and new points that are checked for rounded distances.
_CHECKED_OLD = 31
_CHECKED_NEW = 8
# Lengths below this count as zero if the distances are whole numbers, as in `fit`.
_INTEGRAL_TOL = 0.1
# Number of distances that a new point needs.
_FEWEST = 3
# Up to this many old points, the distances to all of them are computed. A search that computes
# fewer distances would not be much faster, and its places are worse.
_ALL_READ = 1000


class NewDistances(NamedTuple):
    """The distances of new points."""

    oracle: object  # distances from new points (shift + i) to old ones; None if there is no oracle
    shift: int
    mutual: Metric | None  # distances among new points
    integral: bool
    rounding: float  # difference of equal sums of distances due to rounding
    largest: float  # about the largest distance
    whole: bool = False  # whether to read the distances to all old points
    metric: Metric | None = None  # old and new points, if there is no oracle


def tolerances_of(tree: Tree, new: NewDistances, tol: float | None) -> Tolerances:
    """Return the lengths that count as short: 0.1 for whole-number distances, as in `fit`, or rounding.

    The lengths of the tree are also considered. If these lengths are multiples of 1/4, every length
    that `place` computes from them and from whole numbers is a multiple of 1/8. A nonzero length is
    then larger than 0.1. (A tree of whole-number distances has multiples of 1/2, and of 1/4 once it
    is rooted in the middle of an edge.)
    """
    tiny = float(np.finfo(np.float64).tiny)
    if tol is not None:
        short = max(tol, tiny)
        return Tolerances(short, short, max(new.largest, short))
    ties = max(new.rounding, tiny)
    quarters = 4 * tree.weights
    are_whole = np.abs(quarters - np.rint(quarters)) <= 4 * ties
    short = _INTEGRAL_TOL if new.integral and bool(are_whole.all()) else ties
    return Tolerances(ties, short, max(new.largest, ties))


def read_distances(tree: Tree, given: NewPoints, missing: bool, *, mutual: bool = True) -> NewDistances:
    """Validate the distances of new points, or prepare to compute them.

    `mutual` tells whether distances among new points of a metric are needed.
    """
    if given.has_rows:
        return _from_rows(tree, given.rows, missing)
    if given.chosen is not None:
        assert given.old is not None
        assert given.order is not None
        return _from_metric(given.old, given.order, given.chosen, mutual)
    return _from_points(given)


def _from_metric(
    metric: Metric, old: NDArray[np.int64], new: NDArray[np.int64], mutual: bool
) -> NewDistances:
    """Read the distances from a metric on old and new points."""
    order = np.concatenate([old, new])
    n = len(old)
    among = _among_points(metric, new) if mutual else None
    largest = float(checked_block(metric, new[:1], order).max())
    facts = among, metric.integral, rounding_of(metric, largest), largest
    if isinstance(metric.oracle, POINT_ORACLES):
        oracle = select_points(metric.oracle, order)
        return NewDistances(oracle, n, *facts, whole=n <= _ALL_READ)
    if n == 1:
        to_old = checked_block(metric, new, old)
        return NewDistances(MatrixOracle(read_only(to_old)), 0, *facts, whole=True)
    # Other oracles cannot be reordered without a copy of all distances.
    both = ReorderedMetric(metric, order, None, order_known=True)
    return NewDistances(None, n, *facts, whole=True, metric=both)


def _among_points(metric: Metric, points: NDArray[np.int64]) -> Metric:
    """Return the metric on some points, with an oracle."""
    part = ReorderedMetric(metric, points, None, order_known=True)
    if isinstance(metric.oracle, POINT_ORACLES):
        part.oracle = select_points(metric.oracle, points)
        return part
    m = len(points)
    check_memory(8 * m * m, f"the distances among {m:,} new points", "place fewer at a time")
    part.oracle = MatrixOracle(read_only(checked_block(metric, points, points)))
    return part


def _from_points(given: NewPoints) -> NewDistances:
    """Compute distances from coordinates."""
    rows = given.rows
    old = given.old
    if not isinstance(old, PointMetric):
        raise TypeError(
            f"data is a {type(old).__name__}, but coordinates of new points need the old "
            "points as data (data=X, metric='euclidean'): pass the distances to the old "
            "points as rows, without data"
        )
    n, k = old.points.shape
    if rows.ndim != 2 or rows.shape[1] != k:
        raise ValueError(
            f"the old points have {k} coordinates, but rows has shape {rows.shape}: use {k} columns"
        )
    try:
        new = PointMetric(rows, old.metric)
    except MetricError as error:
        raise MetricError(f"rows: {error}") from None
    both = PointMetric(np.concatenate([old.points[given.order], rows]), old.metric)
    largest = float(both.block([0], np.arange(len(both))).max())
    rounding = rounding_of(both, largest)
    facts = new, both.integral, rounding, largest
    return NewDistances(both.oracle, n, *facts, whole=n <= _ALL_READ)


def _from_rows(tree: Tree, rows: NDArray[Any], missing: bool) -> NewDistances:
    """Validate rows of distances."""
    n = len(tree)
    _check_rows(rows, n, missing)
    to_old = rows[:, :n]
    try:
        mutual = MatrixMetric(rows[:, n:]) if rows.shape[1] > n else None
    except MetricError as error:
        raise MetricError(f"in rows, from column {n} on (distances among the new points): {error}") from None
    largest = float(np.nanmax(to_old))
    float64_eps = np.finfo(np.float64).eps
    eps = np.finfo(rows.dtype).eps if rows.dtype.kind == "f" else float64_eps
    integral = largest * eps < 0.25 and bool((np.floor(to_old) == to_old).all())
    if not integral and rows.dtype == np.float64 and _were_rounded(tree, to_old):
        eps = np.finfo(np.float32).eps
    floats = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    # As in `rounding_of`: the input was rounded once, and path lengths drift.
    drift = 64 * np.sqrt(n + len(rows)) * float64_eps
    rounding = float((8 * eps + drift) * largest)
    oracle = MatrixOracle(read_only(floats))
    return NewDistances(oracle, 0, mutual, integral, rounding, largest, whole=True)


def _check_rows(rows: NDArray[Any], n: int, missing: bool) -> None:
    """Raise an error unless `rows` has one row of distances for each new point."""
    m = len(rows) if rows.ndim else 1
    if rows.ndim != 2:
        raise ValueError(
            f"rows has shape {rows.shape}: use a table with one row of {n} distances for each new point"
        )
    if rows.shape[1] not in (n, n + m):
        raise ValueError(
            f"rows has shape {rows.shape}, but {m} new points have distances to {n} old "
            f"points, and optionally to the {m} new ones: use {n} or {n + m} columns"
        )
    if rows.dtype.kind not in "uif":
        raise MetricError(f"distances of dtype {rows.dtype} are not supported: use real numbers")
    to_old = rows[:, :n]
    valid = (to_old >= 0) & (to_old < np.inf)
    if missing:
        known = valid.sum(axis=1)
        valid |= np.isnan(to_old)
        few = np.flatnonzero(known < min(n, _FEWEST))
        if len(few):
            raise MetricError(f"row {few[0]} has {known[few[0]]} known distances: give at least {_FEWEST}")
    if not valid.all():
        i, j = np.argwhere(~valid)[0]
        raise MetricError(f"rows[{i}, {j}] is {to_old[i, j]}: distances must be finite and not negative")


def _were_rounded(tree: Tree, to_old: NDArray[np.float64]) -> bool:
    """Tell whether distances were rounded to float32 earlier.

    All distances are then exact in float32, but so can be unrounded numbers. As for a matrix,
    the four-point condition on some points decides: rounded distances violate this condition.
    """
    with np.errstate(over="ignore"):
        if not (to_old == to_old.astype(np.float32)).all():
            return False
    old = np.unique(np.linspace(0, len(tree) - 1, _CHECKED_OLD).astype(np.int64))
    k = len(old)
    joined = np.zeros((k + 1, k + 1))
    joined[:k, :k] = tree.block(old, old)
    for row in to_old[:_CHECKED_NEW, old]:
        joined[k, :k] = row
        joined[:k, k] = row
        if not obeys_four_points(joined):
            return True
    return False
