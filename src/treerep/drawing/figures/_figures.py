"""Make new figures, and validate axes of users."""

from typing import TYPE_CHECKING

from ..._core.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(width: float, height: float) -> "Axes":
    """Make a figure of a size in inches, with one set of axes."""
    pyplot = require("matplotlib.pyplot", "draw")
    _, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    return axes


def flat_axes(axes: object) -> "Axes":
    """Return the argument, or raise an error unless it is a set of rectilinear Axes."""
    if not isinstance(axes, require("matplotlib.axes", "draw").Axes):
        kind = type(axes).__name__
        raise TypeError(
            f"ax is one set of matplotlib Axes, not {kind}: "
            "take it from plt.subplots(), one at a time"
        )
    if axes.name != "rectilinear":
        raise ValueError(
            f"ax has the projection {axes.name!r}: "
            "give axes of a plane, as plt.subplots() makes them"
        )
    return axes


def linear_axes(axes: object) -> "Axes":
    """Return the argument, or raise an error unless it is Axes with linear scales."""
    checked = flat_axes(axes)
    for side, scale in (("x", checked.get_xscale()), ("y", checked.get_yscale())):
        if scale != "linear":
            raise ValueError(
                f"the {side} axis of ax is {scale}, not linear: "
                f"call ax.set_{side}scale('linear')"
            )
    return checked
