"""Labels that come with the data: the index of a table, or the keys of a dict."""

from collections.abc import Mapping, Sequence
from typing import Any

from .base import MetricError


def labels_of(data: Any, labels: Sequence[object] | None) -> Sequence[object] | None:
    """Return the given labels, or else the names of the rows of a DataFrame, Series or dict.

    >>> labels_of({"a": "ACGT", "b": "ACGA"}, None)
    ['a', 'b']
    """
    if labels is not None:
        return labels
    if isinstance(data, Mapping):
        return list(data)
    # The index of a list is a method.
    return list(data.index) if hasattr(data, "index") and hasattr(data, "to_numpy") else None


def is_frame(data: Any) -> bool:
    """Return whether this is a DataFrame of pandas or a similar library."""
    return all(hasattr(data, name) for name in ("index", "columns", "to_numpy"))


def check_square_frame(data: Any) -> None:
    """Raise a MetricError if the columns of a square DataFrame are not named like its rows."""
    if not is_frame(data) or data.shape[0] != data.shape[1]:
        return
    for position, names in enumerate(zip(data.index, data.columns, strict=True)):
        row, column = map(str, names)
        if row != column:
            raise MetricError(
                f"row {position} is named {row!r} but column {position} is named "
                f"{column!r}: give the rows and columns of a distance table the same "
                "names in the same order"
            )
