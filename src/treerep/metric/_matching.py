"""Matching of the points of two metrics: by label if both have labels, otherwise by position.

This module is the only place that applies this rule. Scores, `refine`, `place`,
`Tree.difference` and the command line all call it. A tree that was read from text has labels in
the order of the text, which is unrelated to the order of the data (`Metric.order_known` is
False). Such a tree is not matched by position.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import Metric, check_labels


class Points(NamedTuple):
    """The number, labels and order of some points."""

    n: int
    labels: tuple[str, ...] | None
    order_known: bool = True


class Wording(NamedTuple):
    """The remedies in error messages, worded for Python or for the command line."""

    same_points: str
    order: str  # {other} stands for the metric without labels
    noun: str = "point"


PYTHON = Wording(
    "use metrics on the same points",
    "give {other} labels, or reorder the tree with tree.restrict(labels); "
    ".json and .npz tree files keep the order",
)


def matched(first: Metric, second: Metric, names: tuple[str, str], wording: Wording = PYTHON) -> Any:
    """Return the first metric with its points in the order of the second.

    O(n) time for n points, plus O(N) to reorder a tree of N nodes. If both metrics have the same
    labels in the same order, `first` itself is returned. `names` are the names of the metrics in
    errors.
    """
    order = point_order(points_of(first), points_of(second), names, wording)
    if order is None:
        return first
    labels = _numbers(len(second)) if second.labels is None else second.labels
    return first._in_order(order, labels, second.order_known)


def points_of(metric: Metric) -> Points:
    """Return the number, labels and order of the points of a metric."""
    return Points(len(metric), metric.labels, metric.order_known)


def point_order(
    first: Points, second: Points, names: tuple[str, str], wording: Wording = PYTHON
) -> NDArray[np.int64] | None:
    """Return the position in `first` of each point of `second`, or None if both orders are the same.

    If points do not match, a ValueError names the first such point.

    >>> point_order(Points(3, ("a", "b", "c")), Points(3, ("c", "a", "b")), ("one", "two"))
    array([2, 0, 1])
    """
    if first.n != second.n:
        noun = f"{wording.noun}{'s' * (first.n != 1)}"
        sizes = f"{names[0]} has {first.n:,} {noun} and {names[1]} has {second.n:,}"
        raise ValueError(f"{sizes}: {wording.same_points}")
    own = _names(first, second.labels)
    others = _names(second, first.labels)
    if own is None or others is None:
        _check_positions(first, second, names, wording)
        return None
    if own is others or own == others:
        return None
    place = {label: i for i, label in enumerate(own)}
    try:
        order = np.fromiter((place[label] for label in others), np.int64, len(others))
    except KeyError as error:
        raise ValueError(
            f"{names[0]} has no {wording.noun} {error.args[0]!r}, which is in {names[1]}: "
            f"{wording.same_points}"
        ) from None
    if len(order) != first.n or not np.bincount(order, minlength=first.n).all():
        # Built-in metrics validate their labels. Labels of other metrics may be too few or
        # repeated.
        check_labels(own, first.n)
        check_labels(others, first.n)
    return order


def after_matching(first: Metric, second: Metric) -> bool:
    """Return `order_known` for an object made from `first` in the order of `second`."""
    by_label = first.labels is not None and second.labels is not None
    return second.order_known if by_label else first.order_known


def values_in_order(column: Any, labels: tuple[str, ...] | None) -> Any:
    """Return a pandas column in the order of the labels, if the index contains them."""
    if labels is None or not hasattr(column, "index") or not hasattr(column, "iloc"):
        return column
    names = [str(name) for name in column.index]
    rows = {name: i for i, name in enumerate(names)}
    absent = [label for label in labels if label not in rows]
    if len(absent) == len(labels) or (names == [str(i) for i in range(len(names))] and absent):
        return column  # the index does not name the points
    if absent:
        raise ValueError(
            f"the table has no row {absent[0]!r}, but rows for other labels of the tree: "
            "give one row per label"
        )
    if len(rows) < len(names):
        twice = next(name for i, name in enumerate(names) if rows[name] != i)
        raise ValueError(f"the table has two rows {twice!r}: keep one row per label")
    return column.iloc[[rows[label] for label in labels]]


def _names(points: Points, others: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the labels. For points without labels, return their numbers if `others` are numbers."""
    if points.labels is not None or points.order_known or others is None:
        return points.labels
    numbers = _numbers(points.n)
    return numbers if set(others) == set(numbers) else None


def _check_positions(first: Points, second: Points, names: tuple[str, str], wording: Wording) -> None:
    sides = (first, second, names[0], names[1]), (second, first, names[1], names[0])
    for one, other, name, other_name in sides:
        if one.labels is not None and not one.order_known and other.labels is None and one.n > 1:
            raise ValueError(
                f"{name} has labels in the order of a text file, and {other_name} has no "
                f"labels: {wording.order.format(other=other_name)}"
            )


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))
