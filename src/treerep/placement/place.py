"""`place`: new points find their place in a tree that was learned without them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.checks import tolerance_or_none
from .._core.parallel import Workers
from ..fitting._distances import rounding_of
from ..metric._four_point_condition import obeys_four_points
from ..metric.base import Metric, MetricError, check_labels, read_only
from ..metric.matrix import MatrixMetric
from ..metric.oracle.classes import MatrixOracle
from ..metric.points import PointMetric
from ..tree.structure.canonical import canonical_edges
from ..tree.tree import Tree
from ._attach import attach
from ._locate import Places, Scale, locate
from ._new_points import NewPoints, matched_rows

# Old points and new ones by which it is judged whether distances were rounded.
_KNOWN = 31
_ROWS = 8


def place(
    tree: Tree,
    rows: Any,
    *,
    data: Any = None,
    metric: str | None = None,
    labels: Sequence[object] | None = None,
    tol: float | str = "auto",
    n_jobs: int | None = None,
) -> Tree:
    """Attach new points to a tree, as TreeRep would sort them, and leave the distances in it as they are.

    Parameters
    ----------
    tree : Tree of n points, however it was made
    rows : (m, n) or (m, n + m) array, or (m, k) coordinates
        Distances of m new points to the n old ones, and to the new ones if they are known. With
        `data`: coordinates. A DataFrame of distances has the labels of the tree as columns, in
        any order, and names the new points by its index. An array has the columns in the order
        of the tree.
    data : points, optional
        The (n, k) points that the tree was fitted to, with `metric`, or their PointMetric. Then
        `rows` holds new points of the same kind, and distances are computed only when they are
        needed. Points with labels are matched to those of the tree by label.
    metric : str, optional
        How to measure the points of `data`, as in `fit`.
    labels : names of the new points, optional
        By default the index of `rows`. Without both, in a tree with labels, new points are
        named by their numbers n, n+1, ...
    tol : float or "auto"
        Lengths below it count as zero. "auto" is 0.1 if the distances are whole numbers and the
        lengths of the tree are multiples of 1/4; otherwise it is the size of rounding errors.
    n_jobs : int, optional
        Number of threads; None uses every core. The result is the same for every number.

    Returns
    -------
    Tree
        Points 0 ... n-1 are the old ones, with the distances that they had; n ... n+m-1 are the
        new ones.

    Notes
    -----
    If the distances of old and new points are those of a tree, all of the new ones to old ones
    come out exactly. So do those among new points where they are known: new points at the same
    node or edge then form a zone of TreeRep. Where they are not, each new point hangs by a
    separate edge.

    Labels that do not match are refused. So is an array for a tree that was read from a text,
    whose order is unknown.

    About 3 log2(n) distances are looked at per point of an exact tree (a node with many
    neighbors needs one for each), and four times as many for other data, where the best of
    five places is kept.

    Examples
    --------
    A point in the middle between two others, and one beside it:

    >>> line = Tree(2, [[0, 1]], [4.0])
    >>> place(line, [[2, 2], [3, 3]]).newick(2)
    '(0:2.0,1:2.0,3:1.0)2;'
    """
    if not isinstance(tree, Tree):
        raise TypeError(
            f"new points are placed in a tree, not in {type(tree).__name__}: fit one first"
        )
    given = matched_rows(tree, rows, data, metric)
    m = given.m
    names = _all_labels(tree, given.names if labels is None else labels, m)
    if not m:
        return tree
    news = _news(tree, given)
    scale = _scale(tree, news, tolerance_or_none(tol))
    with Workers(n_jobs) as workers:
        places = locate(tree, news.oracle, news.shift, m, scale, workers)
        edges, weights = attach(tree, places, news.mutual, scale.tol, workers)
    grown = canonical_edges(len(tree) + m, edges, weights)
    return Tree._trusted(len(tree) + m, *grown, names, None, tree.order_known)


def find_places(
    tree: Tree,
    rows: Any,
    *,
    data: Any = None,
    metric: str | None = None,
    tol: float | str = "auto",
    n_jobs: int | None = None,
) -> Places:
    """Return where new points belong, each by itself, without attaching them: the parameters are those of `place`."""
    given = matched_rows(tree, rows, data, metric)
    news = _news(tree, given)
    with Workers(n_jobs) as workers:
        return locate(
            tree,
            news.oracle,
            news.shift,
            given.m,
            _scale(tree, news, tolerance_or_none(tol)),
            workers,
        )


class _News(NamedTuple):
    """What is known about new points."""

    oracle: Any  # distances between shift + a new point and an old one
    shift: int
    mutual: Metric | None  # distances among themselves
    integral: bool
    rounding: float  # how much sums of distances that are equal in truth may differ
    largest: float  # distance, or near it


def _scale(tree: Tree, news: _News, tol: float | None) -> Scale:
    """Return what counts as short: 0.1 for whole-number distances, as in `fit`; rounding for others.

    The lengths of the tree count as well. If they are multiples of 1/4, a length that `place`
    computes from them and from whole numbers is a multiple of 1/8, so that 0.1 is less than any
    of them. (A tree of whole-number distances has multiples of 1/2, and of 1/4 once it is
    rooted in the middle of an edge.)
    """
    tiny = float(np.finfo(np.float64).tiny)
    if tol is not None:
        return Scale(max(tol, tiny), max(tol, tiny), max(news.largest, tol, tiny))
    ties = max(news.rounding, tiny)
    quarters = 4 * tree.weights
    whole = news.integral and bool((np.abs(quarters - np.rint(quarters)) <= 4 * ties).all())
    return Scale(ties, 0.1 if whole else ties, max(news.largest, ties))


def _news(tree: Tree, given: NewPoints) -> _News:
    return _with_rows(tree, given.rows) if given.old is None else _with_data(given)


def _with_data(given: NewPoints) -> _News:
    rows = given.rows
    old = given.old
    if not isinstance(old, PointMetric):
        raise TypeError(
            f"data is a {type(old).__name__}, and new points have coordinates only beside points (data=X, "
            "metric='euclidean'): give their distances to the old points as rows, without data"
        )
    n, k = old.points.shape
    if rows.ndim != 2 or rows.shape[1] != k:
        raise ValueError(
            f"new points have {k} coordinates like the old ones, but rows has shape {rows.shape}"
        )
    try:
        new = PointMetric(rows, old.metric)
    except MetricError as error:
        raise MetricError(f"rows: {error}") from None
    both = PointMetric(np.concatenate([old.points[given.order], rows]), old.metric)
    unit = float(both.block([0], np.arange(len(both))).max())
    return _News(both.oracle, n, new, both.integral, rounding_of(both, unit), unit)


def _with_rows(tree: Tree, rows: NDArray[Any]) -> _News:
    n = len(tree)
    if rows.ndim != 2:
        raise ValueError(
            f"rows has shape {rows.shape}: give a table with a row of {n} distances for each new point"
        )
    if rows.shape[1] not in (n, n + len(rows)):
        raise ValueError(
            f"rows has shape {rows.shape}, but {len(rows)} new points have distances to {n} old ones, and perhaps to "
            f"the {len(rows)} new ones: give {n} or {n + len(rows)} columns"
        )
    if rows.dtype.kind not in "uif":
        raise MetricError(
            f"distances of dtype {rows.dtype} are not supported: give real numbers"
        )
    to_old = rows[:, :n]
    if not ((to_old >= 0) & (to_old < np.inf)).all():
        i, j = np.argwhere(~((to_old >= 0) & (to_old < np.inf)))[0]
        raise MetricError(
            f"rows[{i}, {j}] is {to_old[i, j]}: distances are finite and never negative"
        )
    try:
        mutual = MatrixMetric(rows[:, n:]) if rows.shape[1] > n else None
    except MetricError as error:
        raise MetricError(
            f"rows, from column {n} on (distances among the new points): {error}"
        ) from None
    largest = float(to_old.max())
    wide = np.finfo(np.float64).eps
    precision = np.finfo(rows.dtype).eps if rows.dtype.kind == "f" else wide
    integral = largest * precision < 0.25 and bool((np.floor(to_old) == to_old).all())
    if not integral and rows.dtype == np.float64 and _were_rounded(tree, to_old):
        precision = np.finfo(np.float32).eps
    floats = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    rounding = float((8 * precision + 64 * np.sqrt(n + len(rows)) * wide) * largest)
    return _News(MatrixOracle(read_only(floats)), 0, mutual, integral, rounding, largest)


def _were_rounded(tree: Tree, to_old: NDArray[np.float64]) -> bool:
    """Tell whether distances were rounded to float32 before: they all fit it, and with the tree's they break a tree.

    Exact numbers can fit float32 as well. As for a matrix, the four-point condition decides, on
    some points.
    """
    with np.errstate(over="ignore"):
        if not (to_old == to_old.astype(np.float32)).all():
            return False
    old = np.unique(np.linspace(0, len(tree) - 1, _KNOWN).astype(np.int64))
    k = len(old)
    joined = np.zeros((k + 1, k + 1))
    joined[:k, :k] = tree.block(old, old)
    for row in to_old[:_ROWS, old]:
        joined[k, :k] = joined[:k, k] = row
        if not obeys_four_points(joined):
            return True
    return False


def _all_labels(tree: Tree, labels: Sequence[object] | None, m: int) -> tuple[str, ...] | None:
    """Labels of old and new points; those without are called by their numbers, as in Newick text."""
    if tree.labels is None and labels is None:
        return None
    n = len(tree)
    if labels is not None and len(labels) != m:
        raise ValueError(
            f"{len(labels)} labels were given for {m} new points: give one label per point"
        )
    old = tree.labels if tree.labels is not None else range(n)
    return check_labels([*old, *(range(n, n + m) if labels is None else labels)], n + m)
