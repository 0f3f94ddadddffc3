"""Colors of points: one color for all, one per category, or a color scale for numbers."""

import copy
import math
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._core.extras import require
from .._arrays import FloatArray, IntArray
from ._text import is_missing

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.typing import ColorType

#: One color, a color per point, or a value per point: see `draw`.
ColorValues: TypeAlias = "ArrayLike | Sequence[object] | None"
#: Colors of the categories, or a color map: see `draw`.
Palette: TypeAlias = "str | Colormap | Sequence[ColorType] | Mapping[Any, ColorType] | None"

# The first six colors are from Okabe and Ito. Each of the other colors is far from all earlier
# colors in OKLab, for normal vision and, with half the weight, for people without red or green
# cones (Viénot et al. 1999). No color is too light for a white background.
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
# More colors for more categories, chosen in the same way. All 36 colors are at least 0.09 apart.
MANY_COLORS = (
    *PALETTE,
    "#0000FF",
    "#B40087",
    "#9600E1",
    "#003C00",
    "#FF00E1",
    "#0F3C5A",
    "#FF96FF",
    "#00F0E1",
    "#C3003C",
    "#00B400",
    "#2D5AFF",
    "#FF0069",
    "#008700",
    "#FFC387",
    "#004BA5",
    "#00C387",
    "#F08778",
    "#965AC3",
    "#691E69",
    "#0F96C3",
    "#0000C3",
    "#E1D200",
    "#A55A78",
    "#E11EA5",
)
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = "#B8B8B8"

#: Integers with at most this many distinct values are categories.
MOST_INTEGERS = 20


class Colors(NamedTuple):
    """The color of each value, and the data for a legend or a color bar."""

    rgba: FloatArray  # (k, 4)
    kind: IntArray  # index into MARKERS
    legend: "list[tuple[str, ColorType, str]]"  # name, color and marker of each category
    scale: "ScalarMappable | None"  # if the values are numbers
    numbers: FloatArray | None = None


class Range(NamedTuple):
    """How numbers become colors: see `draw`."""

    norm: "str | Normalize | None" = None
    vmin: float | None = None
    vmax: float | None = None


#: From the smallest to the largest number.
LINEAR = Range()


def color_values(values: ColorValues, count: int, palette: Palette, span: Range = LINEAR) -> Colors:
    """Return one color for `count` points, or the colors of the values: see `draw`."""
    to_rgba = require("matplotlib.colors", "draw").to_rgba_array
    if values is None or isinstance(values, str):
        one = to_rgba(PALETTE[0] if values is None else _one_color(values))
        return Colors(np.repeat(one, count, axis=0), np.zeros(count, np.int64), [], None)
    shape = np.shape(cast("ArrayLike", values))
    if len(shape) == 2 and shape[1] in (3, 4):
        rgba = to_rgba(np.asarray(values))
        rgba[np.isnan(rgba).any(axis=1)] = to_rgba(GREY)
        return Colors(rgba, np.zeros(shape[0], np.int64), [], None)
    if len(shape) != 1:
        raise ValueError(f"color has shape {shape}: pass one color, or one value for each point or node")
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None for masked values
    numbers = color_scale_values(values)
    if numbers is not None:
        return _on_a_scale(numbers, palette, span)
    if span != LINEAR:
        raise ValueError("norm, vmin and vmax apply to numbers, but color has categories: leave them out")
    return _by_category(values, palette)


def _by_category(values: ColorValues, palette: Palette) -> Colors:
    to_rgba = require("matplotlib.colors", "draw").to_rgba_array
    names, codes = categories(values)
    colors = category_colors(names, palette)
    rgba = to_rgba(colors) if colors else np.empty((0, 4))
    gray = to_rgba(GREY)  # placed last, at index -1, the code of a missing value
    # Every twelve categories, the markers change, because similar colors are then told apart.
    kinds = np.zeros(len(names), np.int64)
    if palette is None:
        kinds = np.arange(len(names)) // len(PALETTE)
    kinds = np.append(kinds % len(MARKERS), 0)
    # Categories without values keep their colors but are not in the legend.
    present = np.unique(codes[codes >= 0])
    legend = [(names[k], colors[k], MARKERS[kinds[k]]) for k in present]
    return Colors(np.concatenate([rgba, gray])[codes], kinds[codes], legend, None)


def _one_color(name: str) -> str:
    if not require("matplotlib.colors", "draw").is_color_like(name):
        raise ValueError(
            f"{name!r} is not a color: pass a color, or a sequence with one value for each point or node"
        )
    return name


def color_scale_values(values: ColorValues) -> FloatArray | None:
    """Return reals, and integers with many distinct values, as float64; otherwise None."""
    if hasattr(getattr(values, "dtype", None), "categories"):
        return None
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = _known_numbers(array)
    # In an array, pandas integers become floats if some are missing, so check the values
    # themselves.
    kind = getattr(getattr(values, "dtype", array.dtype), "kind", "O")
    if kind in "iu":
        present = array[array == array]  # without NaN
        many = len(np.unique(present)) > MOST_INTEGERS
        return array.astype(np.float64) if many else None
    return array.astype(np.float64) if array.dtype.kind == "f" else None


def _known_numbers(items: NDArray[Any]) -> NDArray[Any]:
    """Return numbers that are not categories as floats, NaN if missing; otherwise return the items."""
    known = [item for item in items if not is_missing(item)]
    real = all(isinstance(item, Real) and not isinstance(item, bool | np.bool_) for item in known)
    whole = all(isinstance(item, Integral) for item in known)
    if not known or not real or (whole and len(set(known)) <= MOST_INTEGERS):
        return items
    return np.array([math.nan if is_missing(item) else float(item) for item in items])


def _on_a_scale(numbers: FloatArray, palette: Palette, span: Range) -> Colors:
    known = numbers[np.isfinite(numbers)]
    norm = _norm(known, span)
    scale = require("matplotlib.cm", "draw").ScalarMappable(
        norm, color_map("viridis" if palette is None else palette)
    )
    scale.set_array(known)
    shown = np.isfinite(numbers) & np.isfinite(np.ma.filled(norm(numbers), np.nan))
    rgba = scale.to_rgba(np.where(shown, numbers, float(norm.vmin or 0.0)))
    rgba[~shown] = require("matplotlib.colors", "draw").to_rgba(GREY)
    return Colors(rgba, np.zeros(len(numbers), np.int64), [], scale, numbers)


def _norm(known: FloatArray, span: Range) -> "Normalize":
    """Return the map from numbers to shares of the color map."""
    colors = require("matplotlib.colors", "draw")
    if isinstance(span.norm, colors.Normalize):
        if span.vmin is not None or span.vmax is not None:
            raise ValueError("norm has its own limits: leave out vmin and vmax")
        norm: Normalize = copy.copy(span.norm)
        norm.autoscale_None(known)
        return norm
    if span.norm not in (None, "linear", "log"):
        raise ValueError(f"norm must be 'linear', 'log' or a matplotlib Normalize, not {span.norm!r}")
    if span.norm == "log":
        known = known[known > 0]
    low = float(known.min()) if len(known) else 0.1
    high = float(known.max()) if len(known) else 1.0
    low = low if span.vmin is None else float(span.vmin)
    high = high if span.vmax is None else float(span.vmax)
    if low > high or (span.norm == "log" and low <= 0):
        raise ValueError(
            f"vmin = {low:g} and vmax = {high:g} are not a range for the colors: "
            "vmin must be smaller, and positive for norm='log'"
        )
    kind = colors.LogNorm if span.norm == "log" else colors.Normalize
    made: Normalize = kind(low, high)
    return made


def is_color_map(palette: Palette) -> "TypeGuard[str | Colormap]":
    """Return whether this is a color map or its name. matplotlib is not imported."""
    return isinstance(palette, str) or callable(palette)


def color_map(palette: Palette) -> "Colormap":
    """Return a color map, given the map or its name."""
    if not is_color_map(palette):
        raise ValueError(f"palette is {palette!r}, but numbers need a matplotlib color map or its name")
    known = require("matplotlib", "draw").colormaps
    if isinstance(palette, str) and palette not in known:
        raise ValueError(f"matplotlib has no color map {palette!r}: choose another palette, e.g. 'viridis'")
    return known[palette] if isinstance(palette, str) else palette


def categories(values: ColorValues) -> tuple[list[str], IntArray]:
    """Return the names of the categories, and the category of each value, -1 if missing.

    pandas categories keep their order. Other categories are sorted, with numbers inside text in
    numerical order.

    >>> categories(["b10", "a", None, "b9"])
    (['a', 'b9', 'b10'], array([ 2,  0, -1,  1]))
    """
    items = list(np.asarray(values, object).tolist())
    ordered = getattr(getattr(values, "dtype", None), "categories", None)
    if ordered is None:
        present = {item for item in items if not is_missing(item)}
        ordered = sorted(present, key=reading_order)
    order = list(ordered)
    number = {item: k for k, item in enumerate(order)}
    codes = [-1 if is_missing(item) else number[item] for item in items]
    return [str(item) for item in order], np.array(codes, np.int64)


def reading_order(item: object) -> list[tuple[int, int, str]]:
    """Return a sort key: numbers inside text are in numerical order."""
    parts = re.split(r"(\d+)", str(item))
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts if part]


def category_colors(names: list[str], palette: Palette) -> "list[ColorType]":
    """Return the color of each category: from a mapping, a sequence, or the default."""
    if isinstance(palette, Mapping):
        given = {str(name): color for name, color in palette.items()}
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(f"palette has no color for {missing[0]!r}: add one color for each category")
        return [given[name] for name in names]
    if is_color_map(palette):
        shares = np.linspace(0, 1, max(len(names), 2))
        palette = list(color_map(palette)(shares))
    colors = list(MANY_COLORS if palette is None else cast("Sequence[ColorType]", palette))
    if not colors:
        raise ValueError("palette is empty: add at least one color")
    return [colors[k % len(colors)] for k in range(len(names))]
