"""From positions to a picture: edges, points, legend, names, and room for all of them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.checks import number_from
from ..._core.extras import require
from ._colors import MARKERS, Colors, color_values
from ._figures import linear_axes, new_axes
from ._labels import NAME_SIZE, set_limits, write_names
from ._picture import Picture
from ._text import MOST_LETTERS, names_to_write, plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From so many nodes on, vector files hold pixels: a PDF of 100,000 lines takes longer to open
# than to make.
_RASTERIZE = 5_000
# Categories of a legend, at most, and those in one column.
_MOST_LEGEND = 60
_LEGEND_ROWS = 20
_BAR = 2.4  # height of a color bar, at most, in inches
# Many edges together look darker than few. Steiner nodes have the color of few.
_FEW = 200
_EDGES = "#8C8C8C"
_MANY_EDGES = "#B4B4B4"
_LAYOUTS = 3  # until axes of a fixed shape and a wide legend have found their places
_WIDTH = 6.0  # of a picture without its legend, in inches


def paint(
    picture: Picture,
    *,
    color: Any,
    labels: Any,
    ax: "Axes | None",
    palette: Any,
    legend: bool,
    size: float | None,
    edge_color: Any,
    edge_width: float | None,
) -> "Axes":
    """Draw a picture: see `draw` for the options."""
    nodes = len(picture.spots)
    points = picture.n_points
    names = names_to_write(labels, picture.names, points, nodes)
    colors = color_values(color, points, palette)
    if len(colors.rgba) not in (points, nodes):
        raise ValueError(
            f"{len(colors.rgba)} colors for {points} points and {nodes} nodes: give one for each"
        )
    area = _size_or(float(np.clip(300 / np.sqrt(nodes), 0.3, 36.0)), size, "size")
    width = _size_or(float(np.clip(20 / np.sqrt(nodes), 0.2, 1.0)), edge_width, "edge_width")
    own = ax is None
    axes = (
        _new_axes(picture, names, colors if legend else None) if ax is None else linear_axes(ax)
    )
    _draw_edges(
        axes,
        picture,
        (_EDGES if nodes <= _FEW else _MANY_EDGES) if edge_color is None else edge_color,
        width,
    )
    _draw_points(axes, picture, colors, area)
    _frame(axes, picture)
    if legend:
        _draw_legend(axes, colors)
    if own:  # names are fitted into the room that the legend leaves
        figure: Any = axes.figure
        for _ in range(_LAYOUTS):
            figure.get_layout_engine().execute(figure)
    if names:
        write_names(axes, picture, names, area)
    return axes


def _size_or(default: float, value: Any, name: str) -> float:
    return (
        default if value is None else number_from(0, value, f"{name} is a number of at least 0")
    )


def _new_axes(picture: Picture, names: dict[int, str], colors: Colors | None) -> "Axes":
    """Make a figure as high as the picture needs, with room for a legend on the right."""
    wide, high = np.ptp(picture.spots, axis=0)
    if picture.layout == "rectangular":
        tall = float(np.clip((0.22 if names else 0.12) * (high + 1), 2.4, 9.0))
    elif picture.layout == "hyperbolic":
        tall = _WIDTH
    else:
        tall = float(np.clip(_WIDTH * high / wide if wide > 0 else _WIDTH, 3.2, 7.2))
    beside = 0.0 if colors is None or colors.scale is None else 0.6
    if colors is not None and 0 < len(colors.legend) <= _MOST_LEGEND:
        letters = min(max(len(name) for name, *_ in colors.legend), MOST_LETTERS)
        beside = -(-len(colors.legend) // _LEGEND_ROWS) * (0.4 + 0.08 * letters)
    return new_axes(_WIDTH + beside, tall)


def _draw_edges(axes: "Axes", picture: Picture, color: Any, width: float) -> None:
    collections = require("matplotlib.collections", "draw")
    many = len(picture.spots) > _RASTERIZE
    if picture.layout == "hyperbolic":
        patches = require("matplotlib.patches", "draw")
        axes.add_patch(
            patches.Circle(
                (0, 0), 1.0, facecolor="none", edgecolor="#C8C8C8", linewidth=0.8, zorder=0.5
            )
        )
    lines = collections.LineCollection(
        picture.lines,
        colors=color,
        linewidths=width,
        zorder=1,
        rasterized=many,
        capstyle="round",
        joinstyle="round",
    )
    lines.set_in_layout(False)  # all are within the axes: need not be measured, one by one
    axes.add_collection(lines, autolim=False)


def _draw_points(axes: "Axes", picture: Picture, colors: Colors, area: float) -> None:
    look: dict[str, Any] = {"linewidths": 0, "rasterized": len(picture.spots) > _RASTERIZE}
    x, y = picture.spots.T
    painted = len(colors.rgba)
    axes.scatter(
        x[painted:], y[painted:], s=area / 5, c=_EDGES, zorder=1.5, **look
    ).set_in_layout(False)
    # In a fixed random order, so that no category lies on all others.
    mixed = np.random.default_rng(0).permutation(painted)
    for kind in np.unique(colors.kind):
        of = mixed[colors.kind[mixed] == kind]
        dots = axes.scatter(
            x[of], y[of], s=area, c=colors.rgba[of], marker=MARKERS[kind], zorder=2, **look
        )
        dots.set_in_layout(False)


def _frame(axes: "Axes", picture: Picture) -> None:
    axes.set_axis_off()
    if picture.layout == "hyperbolic":
        low = np.full(2, -1.02)
        high = np.full(2, 1.02)
    else:
        low = picture.spots.min(axis=0)
        high = picture.spots.max(axis=0)
    span = high - low
    flat = picture.layout == "rectangular"
    extra = (
        np.array([0.02 * span[0], 0.6]) if flat else np.maximum(0.04 * span, 0.02 * span.max())
    )
    extra[extra == 0] = 1.0  # all nodes at one place
    set_limits(axes, low - extra, high + extra)
    axes.set_aspect("auto" if flat else "equal", adjustable="box")


def _draw_legend(axes: "Axes", colors: Colors) -> None:
    if colors.scale is not None:
        share = min(0.6, _BAR / (axes.get_window_extent().height / axes.figure.dpi))
        bar = axes.figure.colorbar(
            colors.scale, cax=axes.inset_axes((1.02, 0.5 - 0.5 * share, 0.02, share))
        )
        bar.outline.set_visible(False)
    elif 0 < len(colors.legend) <= _MOST_LEGEND:
        line = require("matplotlib.lines", "draw").Line2D
        keys = [
            line(
                [],
                [],
                linestyle="none",
                marker=marker,
                color=color,
                markersize=6,
                label=plain(shortened(name)),
            )
            for name, color, marker in colors.legend
        ]
        beside = axes.legend(
            handles=keys,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            fontsize=NAME_SIZE,
            ncols=-(-len(keys) // _LEGEND_ROWS),
            handletextpad=0.3,
            columnspacing=1.0,
        )
        for text in beside.get_texts():
            text.set_usetex(False)
