"""Strips and heat maps beside the tips, and rings around them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ...._core.extras import require
from ....metric._matching import values_in_order
from ..._arrays import FloatArray, IntArray
from ...layouts._passes import unit_vectors
from .._colors import MANY_COLORS, Colors, color_scale_values, color_values
from .._picture import ROWS, Picture
from .._text import plain, truncated
from .legends import Key, inches_beside, key_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOR_MAPS = ("viridis", "magma", "cividis", "YlGnBu")
_CELL = 0.17  # width of a column, in inches
_BEFORE = 0.08  # before the first column
_BETWEEN = 0.06  # between two strips
_RING = 0.07  # width of a ring, in radii of the picture
_LETTERS = 8.0
_ARC = 0.02  # radians of a segment of a ring


class Strip(NamedTuple):
    """Columns that share a legend."""

    names: list[str]
    columns: list[FloatArray]  # (n, 4) colors of the points
    key: Key | None


def strips_of(table: Any, labels: tuple[str, ...] | None, n_points: int, used: int) -> list[Strip]:
    """Return the strips of a table: see `draw`. The first `used` colors are taken."""
    if table is None:
        return []
    if not hasattr(table, "items"):
        raise ValueError("strips must be a dict or a data frame: pass {'name': one value for each point}")
    strips: list[Strip] = []
    for name, values in table.items():
        maps = sum(strip.key is not None and strip.key.scale is not None for strip in strips)
        ordered = values_in_order(values, labels)
        color_map = _COLOR_MAPS[maps % len(_COLOR_MAPS)]
        strip = _strip(str(name), ordered, color_map, used)
        used += 0 if strip.key is None else len(strip.key.entries)
        for column in strip.columns:
            if len(column) != n_points:
                raise ValueError(
                    f"strip {name!r} has {len(column)} values for {n_points} points: "
                    "pass one value for each point"
                )
        strips.append(strip)
    return strips


def _strip(name: str, values: Any, color_map: str, used: int) -> Strip:
    """Color a column, or all columns of a heat map on one scale."""
    if np.ndim(values) == 1:
        colors = _colored(values, color_map, used)
        return Strip([name], [colors.rgba], key_of(colors, name))
    table = np.asarray(values, np.float64)
    if table.ndim != 2:
        raise ValueError(f"strip {name!r} has {table.ndim} dimensions: pass one or two")
    known = getattr(values, "columns", None)
    names = range(1, table.shape[1] + 1) if known is None else cast("Iterable[object]", known)
    colors = _colored(table.reshape(-1), color_map, used)
    painted = colors.rgba.reshape(*table.shape, 4)
    columns = [painted[:, k] for k in range(table.shape[1])]
    return Strip([str(column) for column in names], columns, key_of(colors, name))


def _colored(values: Any, color_map: str, used: int) -> Colors:
    """Return colors that no other legend has, if there are enough."""
    if color_scale_values(values) is not None:
        return color_values(values, len(values), color_map)
    first = used % len(MANY_COLORS)
    colors = color_values(values, len(values), MANY_COLORS[first:] + MANY_COLORS[:first])
    square = [(name, color, "s") for name, color, _ in colors.legend]
    return colors._replace(legend=square)


def check_strips(picture: Picture) -> None:
    """Raise an error if a layout has no place for strips."""
    if picture.layout not in (*ROWS, "circular"):
        raise ValueError("strips need the layout 'rectangular', 'slanted' or 'circular': choose one of them")


def strips_width(picture: Picture, strips: list[Strip]) -> float:
    """Return the width of strips beside rows, in inches. Rings are part of the picture."""
    if not strips or picture.layout not in ROWS:
        return 0.0
    columns = sum(len(strip.columns) for strip in strips)
    return _BEFORE + _CELL * columns + _BETWEEN * (len(strips) - 1)


def names_height(picture: Picture, strips: list[Strip]) -> float:
    """Return the height of the names above the strips, in inches."""
    if not strips or picture.layout not in ROWS:
        return 0.0
    longest = max(len(truncated(name)) for strip in strips for name in strip.names)
    return 0.07 * longest


def rings_reach(picture: Picture, strips: list[Strip]) -> float:
    """Return the radius of all rings, in units of the picture; 0 if there are none."""
    if not strips or picture.layout in ROWS:
        return 0.0
    columns = sum(len(strip.columns) for strip in strips)
    gaps = len(strips) - 1
    return _radius(picture) * (1.03 + _RING * columns + 0.3 * _RING * gaps)


def _radius(picture: Picture) -> float:
    return float(np.linalg.norm(picture.spots, axis=1).max())


def _tip_points(picture: Picture) -> IntArray:
    """Return the tips of the picture that are points of the tree."""
    tips = np.intersect1d(picture.leaves, picture.shown)
    return tips[picture.kept[tips] < picture.n_points]


def draw_strips(axes: "Axes", picture: Picture, strips: list[Strip]) -> None:
    """Draw all strips or rings."""
    tips = _tip_points(picture)
    points = picture.kept[tips]
    in_rows = picture.layout in ROWS
    place = _BEFORE if in_rows else 1.03
    for strip in strips:
        for name, column in zip(strip.names, strip.columns, strict=True):
            if in_rows:
                text = plain(truncated(name))
                _draw_column(axes, picture.spots[tips, 1], column[points], place, text)
                place += _CELL
            else:
                _draw_ring(axes, picture, tips, column[points], place)
                place += _RING
        place += _BETWEEN if in_rows else 0.3 * _RING


def _add_cells(axes: "Axes", cells: Any, colors: FloatArray, **look: Any) -> None:
    collections = require("matplotlib.collections", "draw")
    drawn = collections.PolyCollection(
        cells, facecolors=colors, edgecolors=colors, linewidths=0.2, clip_on=False, **look
    )
    drawn.set_zorder(4)  # above the lines from tips to their labels
    axes.add_collection(drawn, autolim=False)


def _draw_column(axes: "Axes", rows: FloatArray, colors: FloatArray, left: float, name: str) -> None:
    """Draw a column of cells: x in inches from the axes, y in rows."""
    blended = require("matplotlib.transforms", "draw").blended_transform_factory
    across = blended(inches_beside(axes), axes.transData)
    x = left + _CELL * np.array([0.0, 1.0, 1.0, 0.0])
    y = rows[:, None] + np.array([-0.5, -0.5, 0.5, 0.5])
    cells = np.stack([np.broadcast_to(x, y.shape), y], axis=2)
    _add_cells(axes, cells, colors, transform=across)
    look: dict[str, Any] = {
        "rotation": 90,
        "ha": "center",
        "va": "bottom",
        "fontsize": _LETTERS,
    }
    top = float(rows.max(initial=0.0)) + 0.7
    axes.text(left + 0.5 * _CELL, top, name, transform=across, usetex=False, **look)


def _draw_ring(
    axes: "Axes",
    picture: Picture,
    tips: IntArray,
    colors: FloatArray,
    inner: float,
) -> None:
    """Draw a ring of cells."""
    radius = _radius(picture)
    x, y = picture.spots[tips].T
    middle = np.arctan2(y, x)
    around = 2 * np.pi - picture.opening
    half = 0.5 * around / len(picture.leaves)
    steps = int(np.ceil(2 * half / _ARC)) + 1
    turn = np.linspace(-half, half, steps)
    angle = np.concatenate([turn, turn[::-1]])
    reach = radius * np.repeat([inner, inner + _RING], steps)
    out = unit_vectors(middle[:, None] + angle)
    cells = reach[:, None] * out
    _add_cells(axes, cells, colors)


def name_rings(axes: "Axes", picture: Picture, strips: list[Strip]) -> None:
    """Write the names of rings into the opening at the left of the top.

    Call this when the limits are final, because the names have to fit into the rings.
    """
    radius = _radius(picture)
    wide = _RING * radius * float(axes.transData.get_matrix()[0, 0])  # pixels
    letters = min(_LETTERS, 0.9 * wide * 72 / axes.figure.dpi)
    look: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": letters}
    place = 1.03 + 0.5 * _RING
    for strip in strips:
        for name in strip.names:
            text = plain(truncated(name))
            written = axes.text(-0.02 * radius, place * radius, text, usetex=False, **look)
            written.set_in_layout(False)
            place += _RING
        place += 0.3 * _RING
