"""Dates of the points, for the time axis of a page."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...metric._matching import values_in_order
from ...tree.tree import Tree
from .._arrays import FloatArray


def point_years(
    tree: Tree, table: Mapping[Any, object] | None, dates: str | Sequence[object] | None
) -> FloatArray | None:
    """Return the date of each point in years, NaN if missing. `dates` is a column or values."""
    if dates is None:
        return None
    column: object = dates
    if isinstance(dates, str):
        names = [] if table is None else list(table.keys())
        if table is None or dates not in names:
            known = ", ".join(map(repr, names)) or "no columns"
            raise ValueError(
                f"dates={dates!r} is not a column of the table, which has {known}: use a "
                "column name, or one date per point"
            )
        column = table[dates]
    years = as_years(np.asarray(values_in_order(column, tree.labels)))
    if years.shape != (tree.n_points,):
        raise ValueError(
            f"dates has shape {years.shape} for {tree.n_points} points: there must be one date per point"
        )
    return years


def as_years(values: NDArray[Any]) -> FloatArray:
    """Return dates as years with fractions. Numbers are years already, and texts are ISO dates.

    >>> as_years(np.array(["2020-07-02", "2021"])).round(3)
    array([2020.5, 2021. ])
    """
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    try:
        times = values if values.dtype.kind == "M" else _parsed(values)
    except ValueError as error:
        raise ValueError(f"dates must be dates, ISO texts such as 2020-05-17, or years: {error}") from None
    times = times.astype("M8[ms]")
    year = times.astype("M8[Y]")
    start = year.astype("M8[ms]")
    share = (times - start) / ((year + 1).astype("M8[ms]") - start)
    return np.where(np.isnat(times), np.nan, year.astype(np.int64) + 1970 + share)


def _parsed(values: NDArray[Any]) -> NDArray[Any]:
    """Return dates from texts and objects of Python or pandas."""
    texts = ["NaT" if value is None or value != value else str(value) for value in values.tolist()]
    return np.array([text or "NaT" for text in texts], "M8[ms]")
