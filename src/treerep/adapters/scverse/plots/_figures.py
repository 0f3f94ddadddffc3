"""Options that all plots of cells share: panels, titles, `save` and `show`, as in scanpy."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...._core.checks import positive_number
from ...._core.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def panels(count: int, ncols: int, ax: "Axes | None") -> "list[Axes | None]":
    """Return one place to draw per picture, in rows of `ncols`."""
    columns = min(positive_number(ncols, "ncols"), count)
    if ax is not None and count != 1:
        raise ValueError(f"{count} colors need {count} axes: leave out ax, or draw one at a time")
    if count == 1:
        return [ax]
    pyplot = require("matplotlib.pyplot", "draw")
    rows = -(-count // columns)
    size = (6.0 * columns, 5.0 * rows)
    axes = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1]
    for spare in axes.ravel()[count:]:
        spare.set_axis_off()
    return list(axes.ravel()[:count])


def titles_of(title: str | Sequence[str] | None, names: Sequence[str | None]) -> list[str]:
    """Return one title per picture. The default is the name of the color."""
    if title is None:
        return ["" if name is None else name for name in names]
    given = [title] if isinstance(title, str) else list(title)
    if len(given) != len(names):
        raise ValueError(f"got {len(given)} titles for {len(names)} pictures: give one each")
    return given


def set_title(ax: "Axes", title: str) -> None:
    """Write a title as plain text."""
    from ....drawing.figures._text import plain

    ax.set_title(plain(title), usetex=False)


def finish(axes: "Sequence[Axes]", save: Any, show: bool) -> None:
    """Save the figure to a file, and show it, if requested."""
    if save is not None:
        if not isinstance(save, str | Path):
            raise TypeError(f"save must be the path of a file such as 'tree.pdf', got {save!r}")
        figure = axes[0].get_figure(root=True)
        assert figure is not None
        figure.savefig(save, bbox_inches="tight")
    if show:
        require("matplotlib.pyplot", "draw").show()
