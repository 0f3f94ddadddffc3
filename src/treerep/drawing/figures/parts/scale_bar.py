"""Scale bars and distance axes: what a length in a picture stands for."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ...._core.extras import require
from .._picture import ROWS, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Free space below a picture with a scale bar, in points.
BAR_SPACE = 24.0
_LETTERS = 8.0
_COLOR = "#404040"
_SHARE = 0.25  # longest bar, as a share of the width of the picture
_TICKS = 5
_LEAST_LENGTH = 1e-300


def has_scale_bar(picture: Picture, wish: bool | None, axis: bool) -> bool:
    """Return whether to draw a scale bar, or raise an error if lengths are not shown."""
    # The length of a bar would be rounded to 0 in trees of the smallest numbers.
    shown = _SHARE * float(np.ptp(picture.spots[:, 0])) * picture.unit > _LEAST_LENGTH
    if wish and picture.unit == 0:
        raise ValueError(
            "the picture does not show edge lengths: leave out scale_bar, or choose another "
            "layout and lengths='original'"
        )
    return shown and (not axis if wish is None else bool(wish))


def check_axis(picture: Picture) -> None:
    """Raise an error if a picture has no axis of distances."""
    if picture.layout not in ROWS or picture.unit == 0:
        raise ValueError(
            "axis=True needs the layout 'rectangular' or 'slanted' and lengths='original': "
            "use scale_bar=True in other layouts"
        )


def round_length(longest: float) -> float:
    """Return the largest of 1, 2, 5, 10, ... times a power of ten up to a length.

    >>> [round_length(longest) for longest in (0.0024, 7.0, 10.0)]
    [0.002, 5.0, 10.0]
    """
    power = math.floor(math.log10(longest))
    rounded = (float(f"{digit}e{power}") for digit in (1, 2, 5, 10))
    return max(length for length in rounded if length <= longest * (1 + 1e-12))


def draw_scale_bar(axes: "Axes", picture: Picture) -> None:
    """Draw a bar of a round length in the lower left corner, with its length."""
    span = float(np.ptp(picture.spots[:, 0]))
    length = round_length(_SHARE * span * picture.unit)
    artists = require("mpl_toolkits.axes_grid1.anchored_artists", "draw")
    bar = artists.AnchoredSizeBar(
        axes.transData,
        length / picture.unit,
        f"{length:g}",
        "lower left",
        pad=0.0,
        borderpad=0.2,
        sep=2.0,
        frameon=False,
        color=_COLOR,
        fontproperties=require("matplotlib.font_manager", "draw").FontProperties(size=_LETTERS),
    )
    for text in bar.findobj(require("matplotlib.text", "draw").Text):
        text.set_usetex(False)
    bar.set_in_layout(False)
    axes.add_artist(bar)


def draw_axis(axes: "Axes", picture: Picture) -> None:
    """Draw the axis of the distance from the root, below a picture in rows."""
    deepest = float(picture.spots[:, 0].max())
    ticks = _ticks(deepest * picture.unit)
    axes.set_frame_on(True)
    axes.spines[["left", "top", "right"]].set_visible(False)
    axes.spines["bottom"].set_bounds(0.0, deepest)
    axes.spines["bottom"].set_color(_COLOR)
    names = [f"{tick:g}" for tick in ticks]
    places = [tick / picture.unit for tick in ticks]
    axes.set_xticks(places, names, fontsize=_LETTERS, color=_COLOR, usetex=False)
    axes.tick_params(axis="x", color=_COLOR)
    axes.set_xlabel("distance from the root", fontsize=_LETTERS + 1)


def _ticks(longest: float) -> list[float]:
    """Return round numbers from 0 to a length, which may be very small or very large."""
    if longest < _LEAST_LENGTH:
        return [0.0]
    power = math.floor(math.log10(longest))
    locator = require("matplotlib.ticker", "draw").MaxNLocator(_TICKS, steps=[1, 2, 5, 10])
    steps = locator.tick_values(0.0, longest / 10.0**power)
    ticks = [float(f"{tick:.6f}e{power}") for tick in steps]
    return [tick for tick in ticks if 0 <= tick <= longest * (1 + 1e-9)]
