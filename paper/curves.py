"""Curves of methods over the dimension or the scale, as in Figure 2 of the paper."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

#: The first six colors are from Okabe and Ito.
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
_LABEL_SIZE = 9.0


def curves(
    ax: Any,
    x: Sequence[float] | np.ndarray,
    series: Mapping[str, ArrayLike],
    *,
    xlabel: str = "",
    ylabel: str = "",
    log_y: bool = False,
) -> None:
    """Draw one curve per method over a logarithmic x axis, labeled at its right end.

    Powers of two are shown as powers. NaN means that the method has no value.
    """
    at = np.asarray(x, np.float64)
    lines = {name: np.asarray(values, np.float64) for name, values in series.items()}
    for k, (name, values) in enumerate(lines.items()):
        style = {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[k % len(MARKERS)]}
        ax.plot(at, values, linewidth=1.4, markersize=4, label=name, **style)
    powers_of_two = bool((np.log2(at) % 1 == 0).all())
    ax.set_xscale("log", base=2 if powers_of_two else 10)
    if log_y:
        ax.set_yscale("log")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    _name_ends(ax, at, lines)


def _name_ends(ax: Any, at: np.ndarray, lines: Mapping[str, np.ndarray]) -> None:
    """Write each name to the right of the axes, near the height of its last value."""
    ends = []
    for k, (name, values) in enumerate(lines.items()):
        drawn = np.isfinite(values)
        if ax.get_yscale() == "log":
            drawn &= values > 0
        if drawn.any():
            last = np.flatnonzero(drawn)[-1]
            ends.append((name, PALETTE[k % len(PALETTE)], at[last], values[last]))
    if not ends:
        return
    ax.autoscale_view()
    point = ax.figure.dpi / 72  # pixels
    heights = ax.transData.transform([(x, y) for *_, x, y in ends])[:, 1]
    offsets = (_spread_out(heights, 1.3 * _LABEL_SIZE * point) - heights) / point
    style = {"fontsize": _LABEL_SIZE, "va": "center", "ha": "left", "annotation_clip": False}
    for (name, color, _, y), offset in zip(ends, offsets, strict=True):
        place = ((1.0, y), (6.0, offset), ax.get_yaxis_transform(), "offset points")
        ax.annotate(name, *place, color=color, **style)


def _spread_out(heights: np.ndarray, least: float) -> np.ndarray:
    """Move heights by least squares until neighbors are at least `least` apart."""
    order = np.argsort(heights, kind="stable")
    ranks = least * np.arange(len(order))
    places = np.empty(len(order))
    # Without `least` per rank, heights must not decrease.
    places[order] = isotonic_regression(heights[order] - ranks).x + ranks
    return places
