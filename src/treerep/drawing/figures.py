"""New figures, for those who bring no axes."""

from typing import TYPE_CHECKING

from ..common.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(width: float, height: float) -> "Axes":
    """Make a figure of that size, in inches, with one set of axes that leaves room for all that is beside it."""
    pyplot = require("matplotlib.pyplot", "draw")
    _, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    return axes
