"""The attributes of the points of a page, encoded as text."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...metric._matching import values_in_order
from ...tree.tree import Tree
from .._arrays import FloatArray
from ..figures._colors import MOST_INTEGERS, reading_order
from ..figures._text import is_missing
from ._content import Fields, encode
from ._palette import Palettes, palettes


def attribute_fields(
    tree: Tree, table: Mapping[Any, object] | None, color: object, palette: object = None
) -> tuple[list[Fields], int]:
    """Return all attributes of the points, and the index of the attribute to color by."""
    columns = _columns(tree, table)
    name = color if isinstance(color, str) else None
    if name is not None and name not in columns:
        known = ", ".join(map(repr, columns)) or "no columns"
        raise ValueError(
            f"color={name!r} is not a column of the table, which has {known}: use a column "
            "name, or one value per point"
        )
    if color is not None and name is None:
        name = str(getattr(color, "name", None) or "color")
        while name in columns:  # columns of the table keep their names
            name += " (given)"
        columns = {name: values_in_order(color, tree.labels), **columns}
    clusters = min(8, max(1, tree.n_points // 4))
    named = {**columns, f"clusters ({clusters})": tree.cut(clusters) + 1}
    colors = palettes(palette, named, name)
    attributes = [_attribute(tree, key, values, colors) for key, values in named.items()]
    return attributes, _first_index(attributes, name)


def _first_index(attributes: list[Fields], name: str | None) -> int:
    """Return the index of the attribute to color by. Without a name, skip sparse columns."""
    if name is None:
        return next(k for k, entry in enumerate(attributes) if "rows" not in entry)
    return [entry["name"] for entry in attributes].index(name)


def _columns(tree: Tree, table: Mapping[Any, object] | None) -> dict[str, object]:
    if table is None:
        return {}
    if not hasattr(table, "keys"):
        kind = type(table).__name__
        raise TypeError(f"table must be a DataFrame or a dict of columns, got {kind}")
    names = table.keys()  # the columns of a DataFrame, which is not a Mapping
    return {str(name): values_in_order(table[name], tree.labels) for name in names}


def _attribute(tree: Tree, name: str, column: object, colors: Palettes) -> Fields:
    shape = np.shape(cast("ArrayLike", column))
    if shape != (tree.n_points,):
        raise ValueError(
            f"column {name!r} has shape {shape} for {tree.n_points} points: there must be one value per point"
        )
    if _is_sparse(column):
        return {**_sparse(name, column), "ramp": colors.ramp(name)}
    values = np.asanyarray(column)  # masked values become None below
    if values.dtype.kind in "mM":
        values = _times(values)
    entries = [None if is_missing(value) else value for value in values.tolist()]
    present = [value for value in entries if value is not None]
    ordered = getattr(getattr(column, "dtype", None), "categories", None)  # of pandas
    if ordered is None and _are_numbers(present):
        numbers = encode(_numbers(name, entries), "<f8")
        return {"name": name, "kind": "number", "values": numbers, "ramp": colors.ramp(name)}
    return _category(name, entries, _categories(present) if ordered is None else ordered, colors)


def _category(name: str, entries: list[Any], categories: Iterable[Any], colors: Palettes) -> Fields:
    codes = {category: i for i, category in enumerate(categories)}
    coded = [-1 if value is None else codes[value] for value in entries]
    names = [str(category) for category in codes]
    return {
        "name": name,
        "kind": "category",
        "categories": names,
        "values": encode(np.array(coded), "<i4"),
        "colors": colors.categories(name, names),
    }


def _is_sparse(column: object) -> bool:
    """Return whether this is a sparse column of pandas in which most values are 0."""
    return getattr(getattr(column, "dtype", None), "fill_value", None) == 0


def _sparse(name: str, column: Any) -> Fields:
    """Return the values of a sparse column that are not 0: counts exactly, others as float32."""
    entries = column.array
    values = np.asarray(entries.sp_values, np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"column {name!r} is not finite: use finite numbers")
    # Genes are most of a page, so their numbers take as few bytes as possible.
    few = len(column) <= np.iinfo(np.uint16).max
    counts = bool(((values >= 0) & (values <= 255) & (values == np.floor(values))).all())
    types = ("u2" if few else "i4", "u1" if counts else "f4")
    return {
        "name": name,
        "kind": "number",
        "rows": encode(entries.sp_index.indices, f"<{types[0]}"),
        "values": encode(values, f"<{types[1]}"),
        "types": types,
    }


def _times(values: NDArray[Any]) -> NDArray[Any]:
    """Return dates as text that sorts by time, and durations in seconds."""
    if values.dtype.kind == "m":
        return values / np.timedelta64(1, "s")
    absent = np.isnat(values)
    for unit in ("D", "s"):  # the coarsest unit that is exact
        coarse = values.astype(f"M8[{unit}]")
        if (absent | (coarse == values)).all():
            values = coarse
            break
    texts = np.datetime_as_string(values).astype(object)
    texts[absent] = None
    return texts


def _are_numbers(present: list[Any]) -> bool:
    """Return whether values are numbers on a scale. A few distinct integers are categories."""
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in present)
    if not present or not numeric:
        return False
    return any(isinstance(value, float) for value in present) or len(set(present)) > MOST_INTEGERS


def _numbers(name: str, entries: list[Any]) -> FloatArray:
    numbers = np.array([math.nan if value is None else float(value) for value in entries])
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"column {name!r} is infinite at point {np.argmax(infinite)}: use finite "
            "numbers, or NaN for missing values"
        )
    return numbers


def _categories(present: list[Any]) -> list[Any]:
    """Return sorted categories. Text is sorted with its numbers in numerical order."""
    distinct = set(present)
    if all(isinstance(value, str) for value in distinct):
        return sorted(distinct, key=reading_order)
    try:
        return sorted(distinct)
    except TypeError:  # values without an order
        return sorted(distinct, key=reading_order)
