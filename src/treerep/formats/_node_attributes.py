"""What is known of data points beside the tree: names to columns with one value per point."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..metric._matching import values_in_order
from ..tree.tree import Tree

#: A mapping of names to one value per data point; a DataFrame is one.
Attributes = Mapping[str, Any]


class Column(NamedTuple):
    """The values of one attribute, in the order of the points; None where there is none."""

    kind: str  # "number", "boolean" or "text"
    values: list[Any]


def check_attributes(attributes: Attributes, tree: Tree) -> dict[str, Column]:
    """Return the attributes as plain Python values of one kind each, or say which is wrong.

    >>> check_attributes({"size": [1, None]}, Tree(2, [[0, 1]], [1.0]))
    {'size': Column(kind='number', values=[1, None])}
    """
    if not hasattr(attributes, "items"):
        raise TypeError(
            f"attributes map names to values, one per point, as a dict does, not {attributes!r}"
        )
    columns = {
        str(name): values_in_order(values, tree.labels) for name, values in attributes.items()
    }
    return {name: _column(name, list(values), len(tree)) for name, values in columns.items()}


def _column(name: str, given: list[Any], n_points: int) -> Column:
    if len(given) != n_points:
        raise ValueError(
            f"attribute {name!r} has {len(given)} values for {n_points} points: give one per point"
        )
    values = [_plain(value) for value in given]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return Column("boolean", values)
    if known and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in known
    ):
        for point, value in enumerate(values):
            if value is not None and math.isinf(value):
                raise ValueError(
                    f"attribute {name!r} of point {point} is infinite: replace it, or None for none"
                )
        return Column("number", values)
    return Column("text", [None if value is None else str(value) for value in values])


def _plain(value: Any) -> Any:
    """Return NumPy's scalars as Python's, and whatever stands for a missing value as None."""
    value = (
        value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    )
    missing = type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and math.isnan(value)
    )
    return None if missing else value


def refuse_names(
    attributes: Mapping[str, Column], reserved: tuple[str, ...], where: str
) -> None:
    """Raise a ValueError for the first attribute whose name has a meaning of its own in a format."""
    for name in attributes:
        if name in reserved:
            raise ValueError(
                f"an attribute {name!r} would be mistaken for {where}'s own: rename it"
            )
