"""Labels of nodes in a picture, and the limits that they need."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays import FloatArray, IntArray
from ..layouts._label_places import place_labels
from ..layouts._turned_places import Turned
from ._picture import ROWS, Picture, label_anchors
from .parts.limits import Extents, fit, widen
from .parts.tip_labels import TipStyle, is_crowded, on_circle, scene_of, tip_places, tips_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

#: Font size, in points.
LABEL_SIZE = 9.0
_FEW = 24  # if there are more labels, they are smaller
_LEAST_SIZE = 2.0
_INNER = 0.8  # size of labels inside a tree, if tips have labels
_ROUNDS = 6  # placement rounds while the limits grow
_ADJUSTMENTS = 3  # rounds before them that fit the picture and its labels into the axes
_LEADER = "#B8B8B8"


class Space(NamedTuple):
    """What labels have to respect."""

    area: float  # of a point, in square points
    align: bool = False
    reach: float = 0.0  # radius of rings around the tips, in units of the picture
    floor: float = 0.0  # free space below the picture, in points
    zoom: bool = True  # whether the scale of the picture may change


class _Group(NamedTuple):
    """Labels of nodes, with their sizes in pixels."""

    nodes: IntArray
    texts: list[str]
    letters: float
    sizes: FloatArray


def write_labels(
    axes: "Axes", picture: Picture, labels: dict[int, str], space: Space
) -> "list[Annotation]":
    """Write labels next to their nodes, and widen the limits until all labels are inside."""
    point = axes.figure.dpi / 72  # pixels
    letters = _font_size(axes, picture, labels, space.floor)
    tips = tips_of(picture, labels)
    turned = picture.layout in (*ROWS, "circular") or is_crowded(picture, labels)
    if not (turned or space.align):
        tips = tips[:0]
    inside = np.setdiff1d(np.array(list(labels), np.int64), tips)
    small = letters * _INNER if len(tips) else letters
    outer = _group(axes, tips, labels, letters)
    inner = _group(axes, inside, labels, small)
    gap = point * (0.5 * np.sqrt(space.area) + 2.0)
    style = TipStyle(gap, space.align, space.reach)
    radius = _radius(axes, space)
    anchors = label_anchors(picture)
    places = Turned(np.empty((0, 2)), np.empty(0))
    centers = np.empty((0, 2))
    adjusting = _ADJUSTMENTS if space.zoom and picture.layout not in ROWS else 0
    for turn in range(_ROUNDS + adjusting):
        axes.apply_aspect()
        places = tip_places(axes, picture, outer.nodes, outer.sizes, style)
        centers = _inner_places(axes, picture, inner, gap, _pieces(places, outer.sizes))
        corners = places.corners(outer.sizes)
        low = np.concatenate([corners.min(axis=1), centers - 0.5 * inner.sizes])
        high = np.concatenate([corners.max(axis=1), centers + 0.5 * inner.sizes])
        if turn < adjusting:
            held = axes.transData.transform(anchors[outer.nodes])
            # Labels on a circle move with the scale of the picture.
            held = places.starts if on_circle(picture, space.align) else held
            held = np.concatenate([held, axes.transData.transform(anchors[inner.nodes])])
            boxes = _extents(axes, picture, held, low, high, space)
            fit(axes, boxes, space.floor * point)
            continue
        spots = axes.transData.transform(picture.spots)
        low = np.concatenate([low, spots - radius])
        high = np.concatenate([high, spots + radius])
        if not widen(axes, low, high, space.floor * point):
            break
    written = _write_tips(axes, outer, anchors, places, gap)
    return written + _write_inner(axes, inner, anchors, centers, gap)


def _extents(
    axes: "Axes",
    picture: Picture,
    pixels: FloatArray,
    low: FloatArray,
    high: FloatArray,
    space: Space,
) -> Extents:
    """Return the boxes of labels, which are held at some pixels, and of the picture itself."""
    spots = axes.transData.inverted().transform(pixels)
    others = picture.spots
    around = 1.02 if picture.layout == "hyperbolic" else space.reach
    if around:
        others = np.concatenate([others, [[-around, -around], [around, around]]])
    radius = np.full_like(others, _radius(axes, space))
    return Extents(
        np.concatenate([spots, others]),
        np.concatenate([low - pixels, -radius]),
        np.concatenate([high - pixels, radius]),
    )


def _radius(axes: "Axes", space: Space) -> float:
    """Return the radius of a point, in pixels."""
    return 0.5 * float(np.sqrt(space.area)) * axes.figure.dpi / 72


def _font_size(axes: "Axes", picture: Picture, labels: dict[int, str], floor: float) -> float:
    """Return a font size at which the labels fit, in points."""
    letters = LABEL_SIZE if len(labels) <= _FEW else 0.75 * LABEL_SIZE
    box = axes.get_window_extent()
    point = axes.figure.dpi / 72
    if picture.layout in ROWS:
        rows = np.ptp(picture.spots[:, 1]) + 1.2
        return min(letters, max(0.8 * (box.height / point - floor) / rows, _LEAST_SIZE))
    if picture.layout == "circular" or is_crowded(picture, labels):
        # Labels in lines of 1.3 letters around a circle, and their lengths, fit into the axes.
        half = 0.5 * min(box.width, box.height) / point
        longest = max(map(len, labels.values()))
        needed = 1.3 * len(labels) / (2 * np.pi) + 0.6 * longest
        return min(letters, max(0.9 * half / needed, _LEAST_SIZE))
    return letters


def _group(axes: "Axes", nodes: IntArray, labels: dict[int, str], letters: float) -> _Group:
    """Measure labels."""
    texts = [labels[node] for node in nodes.tolist()]
    sizes = np.empty((len(texts), 2))
    for k, label in enumerate(texts):
        text = _annotate(axes, label, (0.0, 0.0), letters)
        sizes[k] = np.maximum(text.get_window_extent().size, 1.0)  # some characters are empty
        text.remove()
    return _Group(nodes, texts, letters, sizes)


def _pieces(places: Turned, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return squares that cover rotated labels, as centers and sizes."""
    if not len(sizes):
        return np.empty((0, 2)), np.empty((0, 2))
    count = np.ceil(sizes[:, 0] / sizes[:, 1]).astype(np.int64)
    which = np.repeat(np.arange(len(sizes)), count)
    rank = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    side = sizes[which, 1]
    along = (rank + 0.5) * sizes[which, 0] / count[which]
    angle = places.angles[which]
    step = along[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return places.starts[which] + step, np.column_stack([side, side])


def _inner_places(
    axes: "Axes",
    picture: Picture,
    inner: _Group,
    gap: float,
    taken: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return the centers of labels that are placed freely."""
    if not len(inner.nodes):
        return np.empty((0, 2))
    scene = scene_of(axes, picture)
    anchors = axes.transData.transform(label_anchors(picture)[inner.nodes])
    away = _sides(picture)[inner.nodes]
    return place_labels(anchors, inner.sizes, away, gap, scene, taken)


def _write_tips(
    axes: "Axes", group: _Group, anchors: FloatArray, places: Turned, gap: float
) -> "list[Annotation]":
    """Write labels that start at given places, with dotted lines to tips that are far away."""
    point = axes.figure.dpi / 72
    corners = places.corners(group.sizes)
    written = []
    for k, node in enumerate(group.nodes):
        offset = places.starts[k] - axes.transData.transform(anchors[node])
        low = corners[k].min(axis=0)
        size = np.ptp(corners[k], axis=0)
        far = np.linalg.norm(offset) > gap + 0.7 * group.sizes[k, 1]
        leader = _leader(":", (places.starts[k] - low) / size) if far else None
        backward = np.cos(places.angles[k]) < -1e-9
        look = {
            "ha": "right" if backward else "left",
            "rotation": np.degrees(places.angles[k]) + (180.0 if backward else 0.0),
            "rotation_mode": "anchor",
            "arrowprops": leader,
        }
        xy = float(anchors[node, 0]), float(anchors[node, 1])
        spot = offset / point
        written.append(_annotate(axes, group.texts[k], xy, group.letters, spot, **look))
    return written


def _write_inner(
    axes: "Axes", group: _Group, anchors: FloatArray, centers: FloatArray, gap: float
) -> "list[Annotation]":
    """Write labels at their centers, with thin lines to nodes that are far away."""
    point = axes.figure.dpi / 72
    written = []
    for k, node in enumerate(group.nodes):
        offset = centers[k] - axes.transData.transform(anchors[node])
        beyond = np.maximum(np.abs(offset) - 0.5 * group.sizes[k], 0.0)
        far = np.linalg.norm(beyond) > gap + 0.5 * group.sizes[k, 1]
        leader = _leader("-", (0.5, 0.5)) if far else None
        xy = float(anchors[node, 0]), float(anchors[node, 1])
        spot = offset / point
        look = {"ha": "center", "arrowprops": leader}
        written.append(_annotate(axes, group.texts[k], xy, group.letters, spot, **look))
    return written


def _leader(style: str, start: Any) -> dict[str, Any]:
    """Return the look of a line from a label to its node."""
    straight = {"patchA": None} if style == ":" else {}
    return {
        "arrowstyle": "-",
        "linestyle": style,
        "color": _LEADER,
        "linewidth": 0.5,
        "shrinkA": 0.0,
        "shrinkB": 2.0,
        "relpos": (float(start[0]), float(start[1])),
        **straight,
    }


def _annotate(
    axes: "Axes",
    label: str,
    xy: tuple[float, float],
    letters: float,
    offset: Any = (0.0, 0.0),
    **look: Any,
) -> "Annotation":
    """Write a label at an offset in points."""
    text = axes.annotate(
        label,
        xy,
        (float(offset[0]), float(offset[1])),
        textcoords="offset points",
        va="center",
        fontsize=letters,
        zorder=3,
        annotation_clip=False,
        usetex=False,
        **look,
    )
    text.set_in_layout(False)  # the layout of the figure ignores labels
    return text


def _sides(picture: Picture) -> FloatArray:
    """Return the preferred side of the label of each node, as unit vectors.

    The side is away from the neighbors, away from the middle, or upwards: the first of these
    directions that is defined. In rows, labels of inner nodes are above their edges.
    """
    spots = picture.spots
    edges = picture.edges
    if picture.layout in ROWS:
        return np.tile([-0.6, 0.8], (len(spots), 1))
    away = np.zeros_like(spots)
    first, second = edges.T
    for node, neighbor in ((first, second), (second, first)):
        np.add.at(away, node, _units(spots[node] - spots[neighbor]))
    outward = spots - spots.mean(axis=0)
    up = np.array([[0.0, 1.0]])
    for triangle in picture.triangles:
        away[triangle.apex] = triangle.corners[1:].mean(axis=0) - triangle.corners[0]
    for fallback in (outward, up):
        known = np.linalg.norm(away, axis=1, keepdims=True) > 1e-6
        away = np.where(known, away, _units(fallback))
    return _units(away)


def _units(vectors: FloatArray) -> FloatArray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
