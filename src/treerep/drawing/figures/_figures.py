"""Axes that users bring, and new figures for those who bring none."""

from typing import TYPE_CHECKING, Any

from ..._core.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(width: float, height: float) -> "Axes":
    """Make a figure of that size, in inches, with one set of axes that leaves room for all that is beside it."""
    pyplot = require("matplotlib.pyplot", "draw")
    _, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    return axes


def flat_axes(axes: Any) -> "Axes":
    """Return what a user gave as axes, or raise an error unless it is the axes of a plane."""
    if not isinstance(axes, require("matplotlib.axes", "draw").Axes):
        kind = type(axes).__name__
        raise TypeError(
            f"ax is one set of matplotlib Axes, not {kind}: take it from plt.subplots(), one at a time"
        )
    if axes.name != "rectilinear":
        raise ValueError(
            f"ax has the projection {axes.name!r}: give axes of a plane, as plt.subplots() makes them"
        )
    return axes


def linear_axes(axes: Any) -> "Axes":
    """Return what a user gave as axes, or raise an error unless it is the axes of a plane with linear scales."""
    checked = flat_axes(axes)
    for side, scale in (("x", checked.get_xscale()), ("y", checked.get_yscale())):
        if scale != "linear":
            raise ValueError(
                f"the {side} axis of ax is {scale}, not linear: call ax.set_{side}scale('linear')"
            )
    return checked
