"""Matching of the columns or rows passed to `place` with the points of the tree, by label."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.typing import MetricLike
from ..metric._labels import is_frame
from ..metric._matching import PYTHON, Points, Wording, point_order, points_of
from ..metric._missing import refuse_missing
from ..metric._registry import find_converter
from ..metric.as_metric import as_metric
from ..metric.base import Metric, check_labels
from ..metric.matrix import MatrixMetric
from ..metric.points import PointMetric
from ..tree.tree import Tree

_COLUMNS = Wording(
    "give one column for each point of the tree; columns for new points must have the names of the rows",
    "give {other} as a DataFrame whose columns are the labels, "
    "or reorder the tree with tree.restrict(labels)",
)
_DATA = Wording("use the points that the tree was fitted to", PYTHON.order)
# Number of absent points that an error names.
_LISTED = 3
_FEATURES = Wording("use the same columns in both", "", "column")


class NewPoints(NamedTuple):
    """New points: one row for each, and their names, if any."""

    # distances, with columns in the order of the tree's points; or coordinates
    rows: NDArray[Any]
    names: Sequence[str] | None
    old: Metric | None = None  # the data: the old points, and possibly the new points
    order: NDArray[np.int64] | None = None  # index of each point of the tree in `old`
    # index of each new point in `old`, if `old` contains both
    chosen: NDArray[np.int64] | None = None

    @property
    def m(self) -> int:
        """Return the number of new points."""
        return len(self.rows) if self.rows.ndim else 1

    @property
    def has_rows(self) -> bool:
        """Return whether `rows` are distances to the points of the tree."""
        return self.chosen is None and (self.old is None or isinstance(self.old, MatrixMetric))


def matched_rows(tree: Tree, rows: MetricLike, data: MetricLike, metric: str | None) -> NewPoints:
    """Return the new points passed to `place`, matched to the points of the tree."""
    if data is not None:
        return _with_data(tree, rows, data, metric)
    if metric not in (None, "precomputed"):
        raise ValueError(f"metric={metric!r} applies only to points: pass the old points as data")
    return _with_distances(tree, rows)


def _with_distances(tree: Tree, rows: Any) -> NewPoints:
    """Return rows of distances, with the columns of a DataFrame in the order of the tree."""
    if not is_frame(rows):
        point_order(Points(len(tree), None), points_of(tree), ("rows", "the tree"), _COLUMNS)
        return NewPoints(np.asarray(rows), None)
    table = rows.to_numpy()
    names = _row_names(rows)
    columns = check_labels(list(rows.columns), table.shape[1]) or ()
    n = len(tree)
    m = len(table)
    if names is None:  # unnamed new points have the last columns
        old = np.arange(min(n, len(columns)))
        new = np.arange(n, len(columns))
    else:
        index = {column: k for k, column in enumerate(columns)}
        new = np.array([index[name] for name in names if name in index], np.int64)
        old = np.delete(np.arange(len(columns)), new)
    given = Points(len(old), tuple(columns[k] for k in old))
    order = point_order(given, points_of(tree), ("rows", "the tree"), _COLUMNS)
    if len(new) and names is not None:
        check_labels(names, m)  # a repeated name would be found twice
    if len(new) not in (0, m):
        raise ValueError(
            f"rows has columns for {len(new)} of {m} new points: include the distances to "
            "all new points, or to none"
        )
    if order is not None:
        old = old[order]
    return NewPoints(table[:, np.concatenate([old, new])], names)


def _with_data(tree: Tree, rows: MetricLike, data: MetricLike, metric: str | None) -> NewPoints:
    """Return new points with coordinates like those of the data."""
    old = as_metric(data, metric=metric)
    if not isinstance(old, MatrixMetric) or _are_names(rows):
        refuse_missing(old, "place")
    if _are_names(rows):
        return _named_points(tree, rows, old)
    order = point_order(points_of(old), points_of(tree), ("data", "the tree"), _DATA)
    new = _with_distances(tree, rows) if _are_distances(rows, old) else _coordinates(rows, data, old)
    return new._replace(old=old, order=np.arange(len(old)) if order is None else order)


def _are_distances(rows: Any, old: Metric) -> bool:
    """Return whether rows hold distances to points whose own distances are a matrix."""
    return isinstance(old, MatrixMetric) and not isinstance(rows, Metric)


def _are_names(rows: Any) -> bool:
    """Tell whether rows are labels or indices of points, not coordinates."""
    if isinstance(rows, Metric) or is_frame(rows) or find_converter(rows) is not None:
        return False
    names = np.asarray(rows)
    return names.ndim == 1 and len(names) > 0 and names.dtype.kind in "UTiuO"


def _named_points(tree: Tree, rows: Any, both: Metric) -> NewPoints:
    """Find the points of the tree and the new points in a metric that contains both."""
    labels = both.labels or tuple(map(str, range(len(both))))
    index = {label: k for k, label in enumerate(labels)}
    names = [str(name) for name in rows]
    old = tree.labels or tuple(map(str, range(len(tree))))
    missing = [name for name in (*old, *names) if name not in index]
    if missing:
        raise ValueError(
            f"data has no point{'s' * (len(missing) > 1)} {_listed(missing)}: "
            "use data of the old and the new points"
        )
    check_labels([*old, *names], len(old) + len(names))
    chosen = np.array([index[name] for name in names])
    order = np.array([index[name] for name in old])
    return NewPoints(chosen, names, both, order, chosen)


def _listed(names: list[str]) -> str:
    """Return the first names, and the number of the others."""
    some = ", ".join(map(repr, names[:_LISTED]))
    more = len(names) - _LISTED
    return f"{some} and {more:,} more" if more > 0 else some


def _coordinates(rows: Any, data: Any, old: Metric) -> NewPoints:
    # A metric has labeled points. A converter reads an AnnData, for example.
    if isinstance(rows, Metric) or find_converter(rows) is not None:
        measure = old.metric if isinstance(old, PointMetric) else None
        new = as_metric(rows, metric=None if isinstance(rows, Metric) else measure)
        if not isinstance(new, PointMetric) or new.metric != measure:
            raise TypeError(f"data is {old!r} and rows is {new!r}: use points with the same metric")
        return NewPoints(new.points, new.labels)
    if not is_frame(rows):
        return NewPoints(np.asarray(rows), None)
    table = rows.to_numpy()
    if is_frame(data) and data.shape[1] == table.shape[1]:
        columns = Points(table.shape[1], tuple(map(str, rows.columns)))
        data_columns = Points(table.shape[1], tuple(map(str, data.columns)))
        order = point_order(columns, data_columns, ("rows", "data"), _FEATURES)
        table = table if order is None else table[:, order]
    return NewPoints(table, _row_names(rows))


def _row_names(frame: Any) -> list[str] | None:
    """Return the names of the rows; None if they are 0, 1, ..., the default of pandas."""
    names = [str(name) for name in frame.index]
    return None if names == [str(k) for k in range(len(names))] else names
