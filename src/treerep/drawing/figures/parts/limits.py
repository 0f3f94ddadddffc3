"""Limits of the axes, and space for what is drawn next to a picture."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 3.0  # pixels between a box and the edge of the axes
_LEAST_SHARE = 0.1  # labels do not make a picture smaller than this
_HALVINGS = 30


def set_limits(axes: "Axes", low: FloatArray, high: FloatArray) -> None:
    """Set the limits of both axes."""
    axes.set_xlim(float(low[0]), float(high[0]))
    axes.set_ylim(float(low[1]), float(high[1]))


def widen(axes: "Axes", low: FloatArray, high: FloatArray, floor: float = 0.0) -> bool:
    """Widen the limits if boxes (in pixels) leave the axes. Return whether any box did.

    The lowest `floor` pixels of the axes stay free.
    """
    box = axes.get_window_extent()
    corner = np.array([box.x0, box.y0 + floor])
    over_low = corner - low.min(axis=0)
    over_high = high.max(axis=0) - np.array(box.max)
    if max(over_low.max(), over_high.max()) <= 0.5:
        return False
    # Widen slightly more than needed, because labels may move in the wider picture.
    over_low = np.where(over_low > 0.5, over_low + 4.0, 0.0)
    over_high = np.where(over_high > 0.5, over_high + 4.0, 0.0)
    pixels = np.array([box.width, box.height])
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    first = np.array([left, bottom])
    last = np.array([right, top])
    # The same pixels then show more data: a box that is p of P pixels outside needs the factor
    # P / (P - p).
    unit = (last - first) / np.maximum(pixels - over_low - over_high, 0.2 * pixels)
    set_limits(axes, first - over_low * unit, last + over_high * unit)
    return True


class Extents(NamedTuple):
    """Boxes around positions: their offsets in pixels do not depend on the limits."""

    spots: FloatArray  # (k, 2), in units of the picture
    low: FloatArray  # (k, 2), from a position to the lower left corner of its box, in pixels
    high: FloatArray  # (k, 2), to the upper right corner

    def span(self, scale: float) -> tuple[FloatArray, FloatArray]:
        """Return the corners of the smallest box around all boxes, at pixels per unit."""
        first = (scale * self.spots + self.low).min(axis=0)
        last = (scale * self.spots + self.high).max(axis=0)
        return first, last


def fit(axes: "Axes", extents: Extents, floor: float = 0.0) -> None:
    """Set the limits of axes of equal units, so that all boxes fill the axes.

    The lowest `floor` pixels of the axes stay free.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    slot = axes.get_position(original=True)
    below = np.array([0.0, floor])
    space = np.array(slot.size) * figure.bbox.size - below
    wide = np.ptp(extents.spots, axis=0)
    if not wide.any():
        return
    # Without labels, the scale is that at which the positions fill the space.
    wide = np.maximum(wide, 1e-12 * wide.max())
    largest = float(np.min(space / wide))
    low = _LEAST_SHARE * largest
    high = largest
    for _ in range(_HALVINGS):
        scale = 0.5 * (low + high)
        first, last = extents.span(scale)
        if np.all(last - first + 2 * _MARGIN <= space):
            low = scale
        else:
            high = scale
    first, last = extents.span(low)
    first -= below + _MARGIN
    last += _MARGIN
    set_limits(axes, first / low, last / low)
