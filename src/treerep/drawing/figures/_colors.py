"""Colors of points: one for all, one per category, or a scale of numbers."""

import math
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ._text import is_missing

# Okabe and Ito's first six, then colors far from all before them (in OKLab) for common vision
# and, with half the weight, for that of people without red or green cones (Viénot et al. 1999);
# none too light to be seen on white.
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
    "#4B0096",
    "#78002D",
    "#9678FF",
    "#69E178",
    "#784B0F",
    "#4B695A",
)
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = "#B8B8B8"

#: Whole numbers of at most so many different values are categories.
MOST_WHOLE = 20


class Colors(NamedTuple):
    """Color of each value, and what a legend or a color bar needs."""

    rgba: NDArray[np.float64]  # (k, 4)
    kind: NDArray[np.int64]  # which of MARKERS each value has
    legend: list[tuple[str, Any, str]]  # name, color and marker of each category
    scale: Any  # a ScalarMappable, where the values are numbers


def color_values(values: Any, count: int, palette: Any) -> Colors:
    """Return the colors of `count` points or of as many values as there are: see `draw`."""
    to_rgba = require("matplotlib.colors", "draw").to_rgba_array
    if values is None or isinstance(values, str):
        one = to_rgba(PALETTE[0] if values is None else _one_color(values))
        return Colors(np.repeat(one, count, axis=0), np.zeros(count, np.int64), [], None)
    shape = np.shape(values)
    if len(shape) == 2 and shape[1] in (3, 4):
        rgba = to_rgba(np.asarray(values))
        rgba[np.isnan(rgba).any(axis=1)] = to_rgba(GREY)
        return Colors(rgba, np.zeros(shape[0], np.int64), [], None)
    if len(shape) != 1:
        raise ValueError(
            f"color has shape {shape}: give one color, or a value for each point or node"
        )
    if np.ma.isMaskedArray(values):
        values = values.tolist()  # None where masked
    numbers = _as_numbers(values)
    if numbers is not None:
        return _on_a_scale(numbers, palette)
    names, codes = categories(values)
    wanted = _wanted(names, palette)
    chosen = to_rgba(wanted) if wanted else np.empty((0, 4))
    gray = to_rgba(GREY)
    # Where colors begin anew, markers change; whoever brings colors has thought of that.
    kinds = (
        np.zeros(len(names), np.int64)
        if palette is not None
        else np.arange(len(names)) // len(PALETTE)
    )
    kinds = np.append(kinds % len(MARKERS), 0)
    # A Categorical may have more categories than there are: they keep their colors, but need
    # no key.
    legend = [(names[k], wanted[k], MARKERS[kinds[k]]) for k in np.unique(codes[codes >= 0])]
    return Colors(np.concatenate([chosen, gray])[codes], kinds[codes], legend, None)


def _one_color(name: str) -> str:
    if not require("matplotlib.colors", "draw").is_color_like(name):
        raise ValueError(
            f"{name!r} is no color: give one, or a sequence with a value for each point or node"
        )
    return name


def _as_numbers(values: Any) -> NDArray[np.float64] | None:
    """Values as float64 where they are to be seen on a scale: reals, and whole numbers of many different values."""
    if hasattr(getattr(values, "dtype", None), "categories"):
        return None
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = _known_numbers(array)
    # The whole numbers of pandas, where some are missing, become reals in an array.
    if getattr(getattr(values, "dtype", array.dtype), "kind", "O") in "iu":
        return (
            array.astype(np.float64)
            if len(np.unique(array[array == array])) > MOST_WHOLE
            else None
        )
    return array.astype(np.float64) if array.dtype.kind == "f" else None


def _known_numbers(items: NDArray[Any]) -> NDArray[Any]:
    """Reals with NaN for what is missing, where all else are numbers, and more than few whole ones; or the items."""
    known = [item for item in items if not is_missing(item)]
    real = all(
        isinstance(item, Real) and not isinstance(item, bool | np.bool_) for item in known
    )
    whole = all(isinstance(item, Integral) for item in known)
    if not known or not real or (whole and len(set(known)) <= MOST_WHOLE):
        return items
    return np.array([math.nan if is_missing(item) else float(item) for item in items])


def _on_a_scale(numbers: NDArray[np.float64], palette: Any) -> Colors:
    known = numbers[np.isfinite(numbers)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    norm = require("matplotlib.colors", "draw").Normalize(low, high)
    scale = require("matplotlib.cm", "draw").ScalarMappable(
        norm, _color_map("viridis" if palette is None else palette)
    )
    scale.set_array(known)
    rgba = scale.to_rgba(np.where(np.isfinite(numbers), numbers, low))
    rgba[~np.isfinite(numbers)] = require("matplotlib.colors", "draw").to_rgba(GREY)
    return Colors(rgba, np.zeros(len(numbers), np.int64), [], scale)


def _is_color_map(palette: Any) -> bool:
    return isinstance(palette, str | require("matplotlib.colors", "draw").Colormap)


def _color_map(palette: Any) -> Any:
    if not _is_color_map(palette):
        raise ValueError(
            f"palette is {palette!r}: numbers need a color map of matplotlib, or its name"
        )
    known = require("matplotlib", "draw").colormaps
    if isinstance(palette, str) and palette not in known:
        raise ValueError(
            f"matplotlib has no color map {palette!r}: give another as palette, e.g. 'viridis'"
        )
    return known[palette] if isinstance(palette, str) else palette


def categories(values: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Names of the categories and the number of each value's; -1 where a value is missing (None, NaN).

    In the order of a pandas Categorical, which has one; otherwise sorted, numbers within text
    by value.

    >>> categories(["b10", "a", None, "b9"])
    (['a', 'b9', 'b10'], array([ 2,  0, -1,  1]))
    """
    own = getattr(getattr(values, "dtype", None), "categories", None)
    items = list(np.asarray(values, object).tolist())
    known = [not is_missing(item) for item in items]
    if own is None:
        present = {item for item, here in zip(items, known, strict=True) if here}
        order = sorted(present, key=_reading_order)
    else:
        order = list(own)
    number = {item: k for k, item in enumerate(order)}
    codes = [number[item] if here else -1 for item, here in zip(items, known, strict=True)]
    return [str(item) for item in order], np.array(codes, np.int64)


def _reading_order(item: Any) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", str(item))
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts if part]


def _wanted(names: list[str], palette: Any) -> list[Any]:
    """Color of each category: from a mapping of names, a sequence of colors, or our own."""
    if isinstance(palette, Mapping):
        given = {str(name): color for name, color in palette.items()}
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(
                f"palette has no color for {missing[0]!r}: give one for each category"
            )
        return [given[name] for name in names]
    if _is_color_map(palette):
        palette = _color_map(palette)(np.linspace(0, 1, max(len(names), 2)))
    colors = list(PALETTE if palette is None else palette)
    if not colors:
        raise ValueError("palette is empty: give at least one color")
    return [colors[k % len(colors)] for k in range(len(names))]
