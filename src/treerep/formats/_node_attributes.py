"""Attributes of the points of a tree: columns with one value per point."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..metric._matching import values_in_order
from ..metric.base import Metric

#: A mapping of names to one value per data point, for example a DataFrame.
Attributes = Mapping[str, Any]


class Column(NamedTuple):
    """The values of one attribute, in the order of the points. None means missing."""

    kind: str  # "number", "boolean" or "text"
    values: list[Any]


def check_attributes(attributes: Attributes, tree: Metric) -> dict[str, Column]:
    """Return each attribute as Python values of one kind, or raise an error.

    >>> from treerep import Tree
    >>> check_attributes({"size": [1, None]}, Tree(2, [[0, 1]], [1.0]))
    {'size': Column(kind='number', values=[1, None])}
    """
    if not hasattr(attributes, "items"):
        raise TypeError(f"attributes must be a mapping of names to values, one per point, got {attributes!r}")
    columns = {str(name): values_in_order(values, tree.labels) for name, values in attributes.items()}
    return {name: _column(name, list(values), len(tree)) for name, values in columns.items()}


def _column(name: str, entries: list[object], n_points: int) -> Column:
    if len(entries) != n_points:
        raise ValueError(
            f"attribute {name!r} has {len(entries)} values for {n_points} points: there "
            "must be one value per point"
        )
    values = [_plain(value) for value in entries]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return Column("boolean", values)
    if known and all(_is_number(value) for value in known):
        for point, value in enumerate(values):
            if isinstance(value, float) and math.isinf(value):
                raise ValueError(
                    f"attribute {name!r} of point {point} is infinite: use a finite number, "
                    "or None if it is missing"
                )
        return Column("number", values)
    return Column("text", [None if value is None else str(value) for value in values])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: object) -> object:
    """Return NumPy scalars as Python scalars, and missing values as None."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, float) and math.isnan(value) else value


def refuse_names(attributes: Mapping[str, Column], reserved: tuple[str, ...], where: str) -> None:
    """Raise an error for attributes whose names have a meaning in a format."""
    for name in attributes:
        if name in reserved:
            raise ValueError(f"the attribute name {name!r} is reserved in {where}: rename the attribute")
