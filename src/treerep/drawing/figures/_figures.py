"""Creation of figures, and validation of user-supplied axes."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(width: float, height: float) -> "Axes":
    """Create a figure of a size in inches, with one set of axes."""
    axes: Axes = new_grid(1, 1, width, height)[0, 0]
    return axes


def new_grid(rows: int, columns: int, width: float, height: float) -> NDArray[np.object_]:
    """Create a figure of a size in inches, with axes in rows and columns."""
    pyplot = require("matplotlib.pyplot", "draw")
    from ._text_figure import TextFigure

    size = width, height
    look = {"figsize": size, "layout": "constrained", "FigureClass": TextFigure}
    grid: NDArray[np.object_] = pyplot.subplots(rows, columns, squeeze=False, **look)[1]
    return grid


def flat_axes(axes: object) -> "Axes":
    """Return the argument if it is a single set of rectilinear Axes; otherwise raise an error."""
    if not isinstance(axes, require("matplotlib.axes", "draw").Axes):
        kind = type(axes).__name__
        raise TypeError(
            f"ax must be one set of matplotlib Axes, got {kind}: pass a single one from plt.subplots()"
        )
    if axes.name != "rectilinear":
        raise ValueError(
            f"ax has the projection {axes.name!r}: pass axes without a projection, as from plt.subplots()"
        )
    return axes


def linear_axes(axes: object) -> "Axes":
    """Return the argument if it is Axes with linear scales; otherwise raise an error."""
    checked = flat_axes(axes)
    for side, scale in (("x", checked.get_xscale()), ("y", checked.get_yscale())):
        if scale != "linear":
            raise ValueError(
                f"the {side} axis of ax is {scale}, not linear: call ax.set_{side}scale('linear')"
            )
    return checked
