"""Legends and color bars to the right of a picture."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...._core.extras import require
from .._colors import Colors
from .._text import MOST_CHARACTERS, plain, truncated

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.transforms import Transform
    from matplotlib.typing import ColorType

_MOST_LEGEND = 60  # categories in a legend
_LEGEND_ROWS = 20  # categories in one column of the legend
_LETTERS = 9.0
_ROW = 0.187  # height of a row of a legend, in inches
_BAR = 1.6  # height of a color bar, in inches
_BAR_WIDTH = 0.12
_SPACE = 0.25  # between two legends


class Key(NamedTuple):
    """A legend of categories, or a color bar of numbers."""

    title: str | None
    entries: "list[tuple[str, ColorType, str]]"  # name, color and marker
    scale: "ScalarMappable | None"

    @property
    def width(self) -> float:
        """Width in inches."""
        title = 0.075 * len(truncated(self.title or ""))
        if self.scale is not None:
            return max(0.75, title)
        longest = max(len(name) for name, *_ in self.entries)
        return max(self.columns * (0.45 + 0.08 * min(longest, MOST_CHARACTERS)), title)

    @property
    def height(self) -> float:
        """Height in inches."""
        head = 0.24 if self.title else 0.0
        if self.scale is not None:
            return _BAR + head
        return _ROW * math.ceil(len(self.entries) / self.columns) + head + 0.1

    @property
    def columns(self) -> int:
        """Number of columns of categories."""
        return math.ceil(len(self.entries) / _LEGEND_ROWS)


def key_of(colors: Colors, title: str | None) -> Key | None:
    """Return the legend of some colors, or None if they need none."""
    if colors.scale is not None or 0 < len(colors.legend) <= _MOST_LEGEND:
        return Key(title, colors.legend, colors.scale)
    return None


def _packed(keys: Sequence[Key], tall: float) -> list[list[Key]]:
    """Distribute legends over columns that are not taller than `tall` inches."""
    columns: list[list[Key]] = []
    used = math.inf
    for key in keys:
        if used + _SPACE + key.height > tall:
            columns.append([])
            used = 0.0
        columns[-1].append(key)
        used += key.height + _SPACE
    return columns


def legends_width(keys: Sequence[Key], tall: float) -> float:
    """Return the width of all legends beside a picture of a height in inches."""
    return sum(max(key.width for key in column) for column in _packed(keys, tall))


def inches_beside(axes: "Axes") -> "Transform":
    """Return the transform from inches, measured from the middle of the right side of the axes."""
    transforms = require("matplotlib.transforms", "draw")
    return axes.figure.dpi_scale_trans + transforms.ScaledTranslation(1.0, 0.5, axes.transAxes)


def draw_legends(axes: "Axes", keys: Sequence[Key], beside: float = 0.0, tall: float | None = None) -> None:
    """Draw legends to the right of the axes, `beside` inches away, `tall` inches high."""
    if tall is None:
        tall = axes.get_window_extent().height / axes.figure.dpi
    left = beside + 0.08
    for column in _packed(keys, tall):
        filled = sum(key.height for key in column) + _SPACE * (len(column) - 1)
        top = 0.5 * filled
        for key in column:
            if key.scale is not None:
                _draw_bar(axes, key.scale, key.title, (left, top))
            else:
                _draw_categories(axes, key, (left, top), len(keys) == 1)
            top -= key.height + _SPACE
        left += max(key.width for key in column)


def _draw_bar(axes: "Axes", scale: "ScalarMappable", title: str | None, corner: tuple[float, float]) -> None:
    head = 0.24 if title else 0.0
    box = (corner[0] + 0.05, corner[1] - head - _BAR, _BAR_WIDTH, _BAR)
    inset = axes.inset_axes(box, transform=inches_beside(axes))
    bar = axes.figure.colorbar(scale, cax=inset)
    bar.outline.set_visible(False)
    inset.tick_params(labelsize=_LETTERS - 1)
    if title:
        text = plain(truncated(title))
        inset.set_title(text, fontsize=_LETTERS, loc="left", usetex=False)


def _draw_categories(axes: "Axes", key: Key, corner: tuple[float, float], alone: bool) -> None:
    """Draw a legend. A single legend is that of the axes, and is centered."""
    place: dict[str, Any] = {
        "loc": "center left" if alone else "upper left",
        "bbox_to_anchor": (1.0, 0.5) if alone else corner,
        "bbox_transform": axes.transAxes if alone else inches_beside(axes),
        "borderaxespad": 0.5 if alone else 0.0,
    }
    look: dict[str, Any] = {
        "frameon": False,
        "fontsize": _LETTERS,
        "ncols": key.columns,
        "handletextpad": 0.3,
        "columnspacing": 1.0,
        "alignment": "left",
        "title": plain(truncated(key.title)) if key.title else None,
        "title_fontsize": _LETTERS,
    }
    handles = [_handle(*entry) for entry in key.entries]
    if axes.get_legend() is None:
        beside = axes.legend(handles=handles, **place, **look)
    else:
        names = [handle.get_label() for handle in handles]
        legend = require("matplotlib.legend", "draw").Legend
        beside = legend(axes, handles, names, **place, **look)
        axes.add_artist(beside)
        beside.set_clip_on(False)  # otherwise the layout of the figure ignores it
    for text in (*beside.get_texts(), beside.get_title()):
        text.set_usetex(False)


def _handle(name: str, color: "ColorType", marker: str) -> "Artist":
    line = require("matplotlib.lines", "draw").Line2D
    handle: Artist = line(
        [],
        [],
        linestyle="none",
        marker=marker,
        color=color,
        markersize=6,
        label=plain(truncated(name)),
    )
    return handle
