"""Drawing of a picture: edges, points, legends, strips, labels and scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..._core.checks import number_from
from ..._core.extras import require
from ._colors import LINEAR, MARKERS, Colors, ColorValues, Palette, Range, color_values
from ._figures import linear_axes, new_axes
from ._labels import Space, write_labels
from ._picture import ROWS, Picture
from ._text import labels_to_write, plain, truncated
from .parts.edge_colors import EDGES, clade_colors, edge_colors, plain_edges
from .parts.legends import Key, draw_legends, key_of, legends_width
from .parts.limits import set_limits, widen
from .parts.scale_bar import BAR_SPACE, check_axis, draw_axis, draw_scale_bar, has_scale_bar
from .parts.strips import (
    Strip,
    check_strips,
    draw_strips,
    name_rings,
    names_height,
    rings_reach,
    strips_of,
    strips_width,
)
from .parts.tip_labels import is_crowded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

# With more nodes, vector files contain pixels, because a PDF of 100,000 lines is slow to open.
_RASTERIZE = 5_000
_LAYOUTS = 3  # layout rounds until axes of a fixed shape and a wide legend fit
_WIDTH = 6.0  # width of a picture without its legend, in inches
_CROWDED = 7.0  # width and height of a picture with many labels around it
_ROUNDS = 3  # rounds until the scale bar has its space


@dataclass(frozen=True, kw_only=True)
class Style:
    """The options of `draw` that do not change the geometry."""

    color: ColorValues = None
    palette: Palette = None
    span: Range = LINEAR
    color_label: str | None = None
    labels: bool | str | Sequence[object] | None = None
    align: bool = False
    legend: bool = True
    strips: Any = None
    scale_bar: bool | None = None
    axis: bool = False
    size: float | None = None
    edge_color: "ColorType | None" = None
    edge_width: float | None = None


class Prepared(NamedTuple):
    """A picture with all that is needed to draw it."""

    picture: Picture
    labels: dict[int, str]  # by node of the picture
    colors: Colors
    area: float  # of a point, in square points
    width: float  # of an edge, in points
    edge_color: "ColorType | None"
    align: bool
    strips: list[Strip]
    keys: list[Key]  # legends
    scale_bar: bool
    axis: bool

    @property
    def space(self) -> Space:
        """What labels have to respect."""
        floor = BAR_SPACE if self.scale_bar else 0.0
        reach = rings_reach(self.picture, self.strips)
        return Space(self.area, self.align, reach, floor)


def paint(picture: Picture, style: Style, ax: object) -> "Axes":
    """Draw a picture on axes, or on a new figure."""
    ready = prepare(picture, style)
    axes = _new_axes(ready) if ax is None else linear_axes(ax)
    draw_picture(axes, ready)
    tall = float(cast("Figure", axes.figure).get_figheight()) if ax is None else None
    draw_legends(axes, ready.keys, strips_width(picture, ready.strips), tall)
    lay_out(axes, _LAYOUTS if ax is None else 1)
    fit_labels(axes, ready)
    if picture.layout == "circular":
        name_rings(axes, picture, ready.strips)
    if ready.scale_bar:
        draw_scale_bar(axes, picture)
    return axes


def prepare(picture: Picture, style: Style, shrink: float = 1.0) -> Prepared:
    """Validate the options of a picture. `shrink` is a factor for the default sizes."""
    nodes = len(picture.spots)
    colors = _colors_of(picture, style)
    strips = strips_of(style.strips, cast("Any", picture.labels), picture.n_points, len(colors.legend))
    if strips:
        check_strips(picture)
    if style.axis:
        check_axis(picture)
    small = float(np.clip(300 / np.sqrt(nodes), 0.3, 36.0))
    thin = float(np.clip(20 / np.sqrt(nodes), 0.2, 1.0))
    keys = [key_of(colors, style.color_label), *[strip.key for strip in strips]]
    return Prepared(
        picture,
        _labels_of(picture, style),
        colors,
        _size_or(shrink * small, style.size, "size"),
        _size_or(thin, style.edge_width, "edge_width"),
        style.edge_color,
        style.align,
        strips,
        [key for key in keys if key is not None] if style.legend else [],
        has_scale_bar(picture, style.scale_bar, style.axis),
        style.axis,
    )


def _colors_of(picture: Picture, style: Style) -> Colors:
    points = picture.n_points
    colors = color_values(style.color, points, style.palette, style.span)
    if len(colors.rgba) not in (points, picture.n_nodes):
        raise ValueError(
            f"{len(colors.rgba)} colors do not match {points} points or {picture.n_nodes} nodes: "
            "pass one color for each"
        )
    return colors


def _labels_of(picture: Picture, style: Style) -> dict[int, str]:
    """Return the labels by node of the picture, with those of collapsed clades."""
    texts = labels_to_write(style.labels, picture.labels, picture.n_points, picture.n_nodes)
    here = {
        node: texts[old]
        for node, old in enumerate(picture.kept.tolist())
        if old in texts and node not in picture.hidden
    }
    for triangle in picture.triangles:
        here[triangle.apex] = plain(truncated(triangle.text))
    return here


def _size_or(default: float, value: float | None, name: str) -> float:
    if value is None:
        return default
    return number_from(0, value, f"{name} must be a number of at least 0")


def draw_picture(axes: "Axes", ready: Prepared) -> None:
    """Draw edges, points and strips, and set the limits."""
    _draw_edges(axes, ready)
    _draw_points(axes, ready.picture, ready.colors, ready.area)
    _frame(axes, ready.picture, rings_reach(ready.picture, ready.strips))
    draw_strips(axes, ready.picture, ready.strips)
    if ready.axis:
        draw_axis(axes, ready.picture)


def fit_labels(axes: "Axes", ready: Prepared, zoom: bool = True) -> "list[Any]":
    """Write the labels, and set the limits for them and for the scale bar."""
    if ready.labels:
        space = ready.space._replace(zoom=zoom)
        return list(write_labels(axes, ready.picture, ready.labels, space))
    floor = ready.space.floor * axes.figure.dpi / 72
    for _ in range(_ROUNDS if floor else 0):
        axes.apply_aspect()
        spots = axes.transData.transform(ready.picture.spots)
        if not widen(axes, spots, spots, floor):
            break
    return []


def lay_out(axes: "Axes", rounds: int = _LAYOUTS) -> None:
    """Lay out the figure, so that labels are placed in the space left by the legend."""
    figure = axes.get_figure(root=True)
    engine = None if figure is None else figure.get_layout_engine()
    for _ in range(rounds):
        if engine is not None and figure is not None:
            engine.execute(figure)


def _new_axes(ready: Prepared) -> "Axes":
    """Create a figure of the height that the picture needs, with space for legends."""
    picture = ready.picture
    wide, high = np.ptp(picture.spots, axis=0)
    across = _WIDTH
    if picture.layout in ROWS:
        row = 0.22 if ready.labels else 0.12
        tall = float(np.clip(row * (high + 1), 2.4, 9.0))
        tall += 0.5 if ready.axis else 0.0
    elif is_crowded(picture, ready.labels):
        tall = across = _CROWDED
    elif picture.layout in ("hyperbolic", "circular"):
        tall = _WIDTH
    else:
        in_proportion = _WIDTH * high / wide if wide > 0 else _WIDTH
        tall = float(np.clip(in_proportion, 3.2, 7.2))
    tall = max(tall, least_height(ready))
    beside = strips_width(picture, ready.strips) + legends_width(ready.keys, tall)
    return new_axes(across + beside, tall)


def least_height(ready: Prepared) -> float:
    """Return the height that legends and the names of strips need, in inches."""
    legends = max((key.height for key in ready.keys), default=0.0)
    return legends + names_height(ready.picture, ready.strips) + 0.3


def _draw_edges(axes: "Axes", ready: Prepared) -> None:
    collections = require("matplotlib.collections", "draw")
    picture = ready.picture
    if picture.layout == "hyperbolic":
        patches = require("matplotlib.patches", "draw")
        axes.add_patch(
            patches.Circle((0, 0), 1.0, facecolor="none", edgecolor="#C8C8C8", linewidth=0.8, zorder=0.5)
        )
    lines = collections.LineCollection(
        picture.lines,
        colors=edge_colors(picture, ready.colors, ready.edge_color),
        linewidths=ready.width,
        zorder=1,
        rasterized=len(picture.spots) > _RASTERIZE,
        capstyle="round",
        joinstyle="round",
    )
    lines.set_in_layout(False)  # all lines are within the axes, so skip measuring each
    axes.add_collection(lines, autolim=False)
    if picture.triangles:
        nodes = picture.kept[[triangle.apex for triangle in picture.triangles]]
        triangles = collections.PolyCollection(
            [triangle.corners for triangle in picture.triangles],
            facecolors=clade_colors(picture, ready.colors)[nodes],
            edgecolors=plain_edges(picture),
            linewidths=ready.width,
            zorder=1.2,
        )
        axes.add_collection(triangles, autolim=False)


def _draw_points(axes: "Axes", picture: Picture, colors: Colors, area: float) -> None:
    look: dict[str, Any] = {"linewidths": 0, "rasterized": len(picture.spots) > _RASTERIZE}
    x, y = picture.spots.T
    shown = picture.shown
    plain_nodes = shown[picture.kept[shown] >= len(colors.rgba)]
    gray = axes.scatter(
        x[plain_nodes],
        y[plain_nodes],
        s=area / 5,
        c=EDGES,
        zorder=1.5,
        **look,
    )
    gray.set_in_layout(False)
    # Use a fixed random order, so that no category covers all others.
    colored = shown[picture.kept[shown] < len(colors.rgba)]
    order = colored[np.random.default_rng(0).permutation(len(colored))]
    kinds = colors.kind[picture.kept[order]]
    for kind in np.unique(kinds):
        nodes = order[kinds == kind]
        dots = axes.scatter(
            x[nodes],
            y[nodes],
            s=area,
            c=colors.rgba[picture.kept[nodes]],
            marker=MARKERS[kind],
            zorder=2,
            **look,
        )
        dots.set_in_layout(False)


def _frame(axes: "Axes", picture: Picture, reach: float) -> None:
    in_rows = picture.layout in ROWS
    if in_rows:
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
    if reach:
        low = np.minimum(low, -reach)
        high = np.maximum(high, reach)
    span = high - low
    if in_rows:
        margin = np.array([0.02 * span[0], 0.6])
    else:
        margin = np.maximum(0.04 * span, 0.02 * span.max())
    margin[margin == 0] = 1.0  # all nodes at one position
    set_limits(axes, low - margin, high + margin)
    axes.set_aspect("auto" if in_rows else "equal", adjustable="box")
