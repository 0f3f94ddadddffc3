"""`place`: attach new points to an existing tree."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.checks import tolerance_or_none
from .._core.parallel import Workers
from .._core.typing import MetricLike
from ..fitting._distances import rounding_of
from ..metric._four_point_condition import obeys_four_points
from ..metric.base import Metric, MetricError, check_labels, read_only
from ..metric.matrix import MatrixMetric
from ..metric.oracle.classes import MatrixOracle
from ..metric.points import PointMetric
from ..tree.structure.canonical import canonical_edges
from ..tree.tree import Tree
from ._attach import attach
from ._locate import Places, Tolerances, locate
from ._new_points import NewPoints, matched_rows

# Number of old and new points that are checked for rounded distances.
_CHECKED_OLD = 31
_CHECKED_NEW = 8
# Lengths below this count as zero if the distances are whole numbers, as in `fit`.
_INTEGRAL_TOL = 0.1


def place(
    tree: Tree,
    rows: MetricLike,
    *,
    data: MetricLike = None,
    metric: str | None = None,
    labels: Sequence[object] | None = None,
    tol: float | str = "auto",
    n_jobs: int | None = None,
) -> Tree:
    """Add new points to a tree without changing the tree's distances.

    Parameters
    ----------
    tree : Tree
        A tree of n points.
    rows : (m, n) or (m, n + m) array, or (m, k) coordinates
        Distances from m new points to the n points of the tree, optionally followed by the
        distances among the new points. With `data`, coordinates of the new points. The columns
        of an array are in the order of the tree. A DataFrame of distances has the labels of the
        tree as columns, in any order, and the labels of the new points as index.
    data : points, optional
        The (n, k) points of the tree, with `metric`, or their `PointMetric`. Distances are then
        computed only when they are needed. Points with labels are matched to the tree by label.
    metric : str, optional
        The metric between the points of `data`, as in `fit`.
    labels : sequence, optional
        Labels of the new points. The default is the index of `rows`. If `rows` has no index and
        the tree has labels, the new points get the labels n, n+1, ...
    tol : float or "auto"
        Lengths below this value count as zero. "auto" is 0.1 if the distances are whole numbers and
        the lengths of the tree are multiples of 1/4. Otherwise, "auto" is the size of rounding
        errors.
    n_jobs : int, optional
        Number of threads; None uses all cores. The number does not change the result.

    Returns
    -------
    Tree
        Nodes 0 ... n-1 are the points of `tree`, with unchanged distances. Nodes n ... n+m-1
        are the new points.

    See Also
    --------
    fit : Fit a tree.
    refine : Improve a tree.
    Tree.restrict : Remove points from a tree.

    Notes
    -----
    If all distances come from one tree, the distances between new and old points are exact. The
    distances among new points are then also exact if `rows` contains them. In that case, new
    points at the same node or edge are joined by TreeRep. Otherwise each new point gets a
    separate edge.

    Labels that do not match raise an error. An array raises an error if the tree was read from
    a text file, because the order of its points is unknown.

    On an exact tree, about 3 log2(n) distances are read per point, plus one distance for each
    neighbor of a node with many neighbors. For other data, four times as many distances are read,
    and the best of five places is kept.

    Examples
    --------
    Place a point in the middle between two others, and a second point beside it:

    >>> line = Tree(2, [[0, 1]], [4.0])
    >>> place(line, [[2, 2], [3, 3]]).newick(2)
    '(0:2.0,1:2.0,2:0.0,3:1.0);'
    """
    if not isinstance(tree, Tree):
        raise TypeError(
            f"expected a Tree to place new points in, not {type(tree).__name__}: fit a tree first"
        )
    given = matched_rows(tree, rows, data, metric)
    m = given.m
    all_labels = _all_labels(tree, given.names if labels is None else labels, m)
    if not m:
        return tree
    new = _read_distances(tree, given)
    tolerances = _tolerances(tree, new, tolerance_or_none(tol))
    with Workers(n_jobs) as workers:
        places = locate(tree, new.oracle, new.shift, m, tolerances, workers)
        edges, weights = attach(tree, places, new.mutual, tolerances.tol, workers)
    grown = canonical_edges(len(tree) + m, edges, weights)
    return Tree._trusted(len(tree) + m, *grown, all_labels, None, tree.order_known)


def find_places(
    tree: Tree,
    rows: MetricLike,
    *,
    data: MetricLike = None,
    metric: str | None = None,
    tol: float | str = "auto",
    n_jobs: int | None = None,
) -> Places:
    """Return the place of each new point, without attaching it.

    The parameters are those of `place`.
    """
    given = matched_rows(tree, rows, data, metric)
    new = _read_distances(tree, given)
    tolerances = _tolerances(tree, new, tolerance_or_none(tol))
    with Workers(n_jobs) as workers:
        return locate(tree, new.oracle, new.shift, given.m, tolerances, workers)


class _NewDistances(NamedTuple):
    """The distances of new points."""

    oracle: object  # distances from new points (shift + i) to old ones
    shift: int
    mutual: Metric | None  # distances among new points
    integral: bool
    rounding: float  # difference of equal sums of distances due to rounding
    largest: float  # about the largest distance


def _tolerances(tree: Tree, new: _NewDistances, tol: float | None) -> Tolerances:
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


def _read_distances(tree: Tree, given: NewPoints) -> _NewDistances:
    return _from_rows(tree, given.rows) if given.old is None else _from_points(given)


def _from_points(given: NewPoints) -> _NewDistances:
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
    return _NewDistances(both.oracle, n, new, both.integral, rounding, largest)


def _from_rows(tree: Tree, rows: NDArray[Any]) -> _NewDistances:
    """Validate rows of distances."""
    n = len(tree)
    _check_rows(rows, n)
    to_old = rows[:, :n]
    try:
        mutual = MatrixMetric(rows[:, n:]) if rows.shape[1] > n else None
    except MetricError as error:
        raise MetricError(
            f"in rows, from column {n} on (distances among the new points): {error}"
        ) from None
    largest = float(to_old.max())
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
    return _NewDistances(oracle, 0, mutual, integral, rounding, largest)


def _check_rows(rows: NDArray[Any], n: int) -> None:
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
        raise MetricError(
            f"distances of dtype {rows.dtype} are not supported: use real numbers"
        )
    to_old = rows[:, :n]
    valid = (to_old >= 0) & (to_old < np.inf)
    if not valid.all():
        i, j = np.argwhere(~valid)[0]
        raise MetricError(
            f"rows[{i}, {j}] is {to_old[i, j]}: distances must be finite and not negative"
        )


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


def _all_labels(tree: Tree, labels: Sequence[object] | None, m: int) -> tuple[str, ...] | None:
    """Return the labels of old and new points, or numbers if there are no labels, as in Newick."""
    if tree.labels is None and labels is None:
        return None
    n = len(tree)
    if labels is not None and len(labels) != m:
        raise ValueError(
            f"{len(labels)} labels were given for {m} new points: give one label per point"
        )
    old = range(n) if tree.labels is None else tree.labels
    new = range(n, n + m) if labels is None else labels
    return check_labels([*old, *new], n + m)
