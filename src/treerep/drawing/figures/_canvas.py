"""Drawing of a picture: edges, points, legend and labels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..._core.checks import number_from
from ..._core.extras import require
from ._colors import MARKERS, Colors, ColorValues, Palette, color_values
from ._figures import linear_axes, new_axes
from ._labels import LABEL_SIZE, set_limits, write_labels
from ._picture import Picture
from ._text import MOST_CHARACTERS, labels_to_write, plain, truncated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

# With more nodes, vector files contain pixels, because a PDF of 100,000 lines is slow to open.
_RASTERIZE = 5_000
_MOST_LEGEND = 60  # categories in a legend
_LEGEND_ROWS = 20  # categories in one column of the legend
_BAR = 2.4  # maximum height of a color bar, in inches
# Many edges together look darker than few, so edges are drawn lighter if there are many.
_FEW = 200
_EDGES = "#8C8C8C"
_MANY_EDGES = "#B4B4B4"
_LAYOUTS = 3  # layout rounds until axes of a fixed shape and a wide legend fit
_WIDTH = 6.0  # width of a picture without its legend, in inches


@dataclass(frozen=True)
class Style:
    """The options of `draw` that do not change the geometry."""

    color: ColorValues
    palette: Palette
    labels: bool | str | Sequence[object] | None
    legend: bool
    size: float | None
    edge_color: "ColorType | None"
    edge_width: float | None


class Prepared(NamedTuple):
    """A picture with all that is needed to draw it."""

    picture: Picture
    labels: dict[int, str]
    colors: Colors
    area: float  # of a point, in square points
    width: float  # of an edge, in points
    edge_color: "ColorType | None"


def paint(picture: Picture, style: Style, ax: object) -> "Axes":
    """Draw a picture on axes, or on a new figure."""
    ready = prepare(picture, style)
    if ax is None:
        axes = _new_axes(picture, bool(ready.labels), ready.colors if style.legend else None)
    else:
        axes = linear_axes(ax)
    draw_picture(axes, ready)
    if style.legend:
        draw_legend(axes, ready.colors)
    if ax is None:
        lay_out(cast("Figure", axes.figure))
    if ready.labels:
        write_labels(axes, picture, ready.labels, ready.area)
    return axes


def prepare(picture: Picture, style: Style, shrink: float = 1.0) -> Prepared:
    """Validate the options of a picture. `shrink` is a factor for the default sizes."""
    nodes = len(picture.spots)
    points = picture.n_points
    labels = labels_to_write(style.labels, picture.labels, points, nodes)
    colors = color_values(style.color, points, style.palette)
    if len(colors.rgba) not in (points, nodes):
        raise ValueError(
            f"{len(colors.rgba)} colors do not match {points} points or {nodes} nodes: pass one color for each"
        )
    small = float(np.clip(300 / np.sqrt(nodes), 0.3, 36.0))
    area = _size_or(shrink * small, style.size, "size")
    thin = float(np.clip(20 / np.sqrt(nodes), 0.2, 1.0))
    width = _size_or(thin, style.edge_width, "edge_width")
    return Prepared(picture, labels, colors, area, width, style.edge_color)


def draw_picture(axes: "Axes", ready: Prepared) -> None:
    """Draw edges and points, and set the limits."""
    _draw_edges(axes, ready.picture, ready.edge_color, ready.width)
    _draw_points(axes, ready.picture, ready.colors, ready.area)
    _frame(axes, ready.picture)


def _size_or(default: float, value: float | None, name: str) -> float:
    if value is None:
        return default
    return number_from(0, value, f"{name} must be a number of at least 0")


def lay_out(figure: "Figure") -> None:
    """Lay out the figure, so that labels are placed in the space left by the legend."""
    engine = figure.get_layout_engine()
    for _ in range(_LAYOUTS):
        if engine is not None:
            engine.execute(figure)


def _new_axes(picture: Picture, labeled: bool, colors: Colors | None) -> "Axes":
    """Create a figure of the height that the picture needs, with space for a legend on the right."""
    wide, high = np.ptp(picture.spots, axis=0)
    if picture.layout == "rectangular":
        row = 0.22 if labeled else 0.12
        tall = float(np.clip(row * (high + 1), 2.4, 9.0))
    elif picture.layout == "hyperbolic":
        tall = _WIDTH
    else:
        in_proportion = _WIDTH * high / wide if wide > 0 else _WIDTH
        tall = float(np.clip(in_proportion, 3.2, 7.2))
    return new_axes(_WIDTH + legend_width(colors), tall)


def legend_width(colors: Colors | None) -> float:
    """Return the width of the legend or the color bar, in inches."""
    if colors is None:
        return 0.0
    if 0 < len(colors.legend) <= _MOST_LEGEND:
        longest = max(len(name) for name, *_ in colors.legend)
        columns = math.ceil(len(colors.legend) / _LEGEND_ROWS)
        return columns * (0.4 + 0.08 * min(longest, MOST_CHARACTERS))
    return 0.0 if colors.scale is None else 0.6


def _draw_edges(
    axes: "Axes", picture: Picture, color: "ColorType | None", width: float
) -> None:
    collections = require("matplotlib.collections", "draw")
    nodes = len(picture.spots)
    if color is None:
        color = _EDGES if nodes <= _FEW else _MANY_EDGES
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
        rasterized=nodes > _RASTERIZE,
        capstyle="round",
        joinstyle="round",
    )
    lines.set_in_layout(False)  # all lines are within the axes, so skip measuring each
    axes.add_collection(lines, autolim=False)


def _draw_points(axes: "Axes", picture: Picture, colors: Colors, area: float) -> None:
    look: dict[str, Any] = {"linewidths": 0, "rasterized": len(picture.spots) > _RASTERIZE}
    x, y = picture.spots.T
    colored = len(colors.rgba)
    others = slice(colored, None)
    gray = axes.scatter(
        x[others],
        y[others],
        s=area / 5,
        c=_EDGES,
        zorder=1.5,
        **look,
    )
    gray.set_in_layout(False)
    # Use a fixed random order, so that no category covers all others.
    order = np.random.default_rng(0).permutation(colored)
    for kind in np.unique(colors.kind):
        nodes = order[colors.kind[order] == kind]
        dots = axes.scatter(
            x[nodes],
            y[nodes],
            s=area,
            c=colors.rgba[nodes],
            marker=MARKERS[kind],
            zorder=2,
            **look,
        )
        dots.set_in_layout(False)


def _frame(axes: "Axes", picture: Picture) -> None:
    if picture.layout == "rectangular":
        # Hide ticks and frame, but not the labels that a user sets.
        axes.set(xticks=[], yticks=[], frame_on=False)
    else:
        axes.set_axis_off()
    if picture.layout == "hyperbolic":
        low = np.full(2, -1.02)
        high = np.full(2, 1.02)
    else:
        low = picture.spots.min(axis=0)
        high = picture.spots.max(axis=0)
    span = high - low
    rectangular = picture.layout == "rectangular"
    if rectangular:
        margin = np.array([0.02 * span[0], 0.6])
    else:
        margin = np.maximum(0.04 * span, 0.02 * span.max())
    margin[margin == 0] = 1.0  # all nodes at one position
    set_limits(axes, low - margin, high + margin)
    axes.set_aspect("auto" if rectangular else "equal", adjustable="box")


def draw_legend(axes: "Axes", colors: Colors) -> None:
    """Draw the legend or the color bar to the right of the axes."""
    if colors.scale is not None:
        height = axes.get_window_extent().height / axes.figure.dpi  # inches
        share = min(0.6, _BAR / height)
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
                label=plain(truncated(name)),
            )
            for name, color, marker in colors.legend
        ]
        beside = axes.legend(
            handles=keys,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            fontsize=LABEL_SIZE,
            ncols=math.ceil(len(keys) / _LEGEND_ROWS),
            handletextpad=0.3,
            columnspacing=1.0,
        )
        for text in beside.get_texts():
            text.set_usetex(False)
