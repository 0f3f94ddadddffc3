"""Pictures side by side: one panel for each tree of a sum."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._canvas import Prepared, Style, draw_picture, fit_labels, lay_out, least_height, prepare
from ._figures import linear_axes, new_grid
from ._labels import LABEL_SIZE
from ._picture import ROWS, Picture
from .parts.legends import draw_legends, legends_width
from .parts.limits import set_limits
from .parts.scale_bar import draw_scale_bar
from .parts.strips import name_rings, strips_width

#: Several axes, as `plt.subplots` returns them.
AxesArray: TypeAlias = NDArray[np.object_]

_FULL = 6.0  # width of a picture alone, in inches
_WIDE = 4.0  # width of a panel, in inches
_NARROW = 3.0  # width of a panel among many
_FEW = 4  # panels that are wide
_ROW = 0.16  # height of a leaf in a layout of rows, in inches
_ROUNDS = 3  # rounds until the labels of all panels fit at one scale


class Panel(NamedTuple):
    """A picture with its title and its options."""

    picture: Picture
    title: str
    style: Style


def paint_panels(panels: Sequence[Panel], ax: object) -> AxesArray:
    """Draw each picture on its own axes, at one scale. Return the axes in the same order."""
    count = len(panels)
    wide = _FULL if count == 1 else _WIDE if count <= _FEW else _NARROW
    ready = [prepare(panel.picture, panel.style, wide / _FULL) for panel in panels]
    if ax is None:
        axes = _new_grid(ready, wide)
    else:
        axes = _checked_axes(ax, count)
    for panel, prepared, one in zip(panels, ready, axes, strict=True):
        draw_picture(one, prepared)
        one.set_title(panel.title, fontsize=LABEL_SIZE)
    _share_scale(ready, axes)
    corner = count if ax is not None else _columns(count)
    beside = strips_width(ready[0].picture, ready[0].strips)
    draw_legends(axes[corner - 1], ready[0].keys, beside)
    lay_out(axes[0])
    _write_labels(ready, axes)
    for prepared, one in zip(ready, axes, strict=True):
        if prepared.picture.layout == "circular":
            name_rings(one, prepared.picture, prepared.strips)
    if ready[0].scale_bar:  # all panels have the same scale
        draw_scale_bar(axes[0], ready[0].picture)
    return axes


def _columns(count: int) -> int:
    """Return the number of columns of the grid, about as many as rows.

    >>> [_columns(count) for count in (1, 2, 3, 4, 5, 10)]
    [1, 2, 3, 2, 3, 4]
    """
    return count if count <= 3 else math.ceil(math.sqrt(count))


def _new_grid(ready: Sequence[Prepared], wide: float) -> AxesArray:
    """Create a figure with axes for each picture, with space for a legend on the right."""
    count = len(ready)
    columns = _columns(count)
    rows = math.ceil(count / columns)
    tall = _height([prepared.picture for prepared in ready], wide)
    tall = max(tall, least_height(ready[0]))
    beside = legends_width(ready[0].keys, tall)
    strips = strips_width(ready[0].picture, ready[0].strips)
    grid = new_grid(rows, columns, columns * (wide + strips) + beside, rows * tall)
    cells: AxesArray = grid.ravel()
    for unused in cells[count:]:
        unused.remove()
    return cells[:count]


def _height(pictures: Sequence[Picture], wide: float) -> float:
    """Return the height of a panel, with its title, in inches."""
    layout = pictures[0].layout
    if layout in ("hyperbolic", "circular"):
        return wide + 0.2
    spans = np.array([np.ptp(picture.spots, axis=0) for picture in pictures])
    across, high = spans.max(axis=0)
    if layout in ROWS:
        return float(np.clip(_ROW * (high + 2), 1.6, 6.0))
    in_proportion = wide * high / across if across > 0 else wide
    return float(np.clip(in_proportion, 0.6 * wide, 1.2 * wide)) + 0.2


def _checked_axes(ax: object, count: int) -> AxesArray:
    """Return the first axes of an array, or raise an error if there are too few."""
    given = np.asarray(ax, dtype=object).reshape(-1)
    if len(given) < count:
        raise ValueError(
            f"ax has {len(given)} axes for {count} panels: pass an array of at least {count}, "
            f"as from plt.subplots(1, {count})[1]"
        )
    for one in given[:count]:
        linear_axes(one)
    return given[:count]


def _share_scale(ready: Sequence[Prepared], axes: AxesArray) -> None:
    """Let all panels show equally many units, so that lengths can be compared."""
    layout = ready[0].picture.layout
    if layout == "hyperbolic":
        return
    boxes = np.array([(one.get_xlim(), one.get_ylim()) for one in axes])  # (k, 2, 2)
    spans = boxes[:, :, 1] - boxes[:, :, 0]
    widest = spans.max(axis=0)
    if layout in ROWS:
        # The root is on the left, and rows are not lengths.
        for one, box in zip(axes, boxes, strict=True):
            one.set_xlim(box[0, 0], box[0, 0] + widest[0])
        return
    middle = boxes.mean(axis=2)
    for one, center in zip(axes, middle, strict=True):
        set_limits(one, center - widest / 2, center + widest / 2)


def _write_labels(ready: Sequence[Prepared], axes: AxesArray) -> None:
    """Write the labels. Repeat if labels that do not fit have changed the scale."""
    for turn in range(_ROUNDS):
        before = [(one.get_xlim(), one.get_ylim()) for one in axes]
        written = []
        for prepared, one in zip(ready, axes, strict=True):
            written += fit_labels(one, prepared, zoom=turn == 0)
        if turn > 0 and before == [(one.get_xlim(), one.get_ylim()) for one in axes]:
            return
        _share_scale(ready, axes)
        if turn < _ROUNDS - 1:
            for text in written:
                text.remove()
