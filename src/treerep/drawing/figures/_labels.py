"""Labels of points in a picture, and the limits that they need."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._arrays import FloatArray
from ..layouts._label_places import Scene, place_labels
from ._picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

#: Font size, in points.
LABEL_SIZE = 9.0
_FEW = 24  # if there are more labels, they are smaller
_LEAST_SIZE = 3.0
_ROUNDS = 5  # placement rounds while the limits grow


def write_labels(
    axes: "Axes", picture: Picture, labels: dict[int, str], area: float
) -> "list[Annotation]":
    """Write labels next to their nodes, and widen the limits until all labels are inside."""
    nodes = np.array(list(labels))
    letters = LABEL_SIZE if len(labels) <= _FEW else 0.75 * LABEL_SIZE
    point = axes.figure.dpi / 72  # pixels
    if picture.layout == "rectangular":
        height = axes.get_window_extent().height / point
        rows = np.ptp(picture.spots[:, 1]) + 1
        letters = min(letters, max(0.8 * height / rows, _LEAST_SIZE))
    texts = [_text(axes, picture.spots[node], label, letters) for node, label in labels.items()]
    # Some characters have no width.
    sizes = np.array([np.maximum(text.get_window_extent().size, 1.0) for text in texts])
    away = _sides(picture)[nodes]
    gap = point * (0.5 * np.sqrt(area) + 2.0)
    centers = anchors = np.empty((0, 2))
    for _ in range(_ROUNDS):
        axes.apply_aspect()
        scene = _scene(axes, picture)
        anchors = scene.points[nodes]
        centers = place_labels(anchors, sizes, away, gap, scene)
        if not _widen(axes, centers - 0.5 * sizes, centers + 0.5 * sizes):
            break
    apart = np.abs(centers - anchors)
    beyond = np.maximum(apart - 0.5 * sizes, 0.0)
    far = np.linalg.norm(beyond, axis=1) > gap + 0.5 * sizes[:, 1]
    offsets = (centers - anchors) / point
    for k, (node, label) in enumerate(labels.items()):
        texts[k].remove()
        texts[k] = _text(axes, picture.spots[node], label, letters, offsets[k], bool(far[k]))
    return texts


def _text(
    axes: "Axes",
    spot: FloatArray,
    label: str,
    letters: float,
    offset: Sequence[float] | FloatArray = (0.0, 0.0),
    line: bool = False,
) -> "Annotation":
    """Write a label at an offset in points, with a thin line to its node if it is far away."""
    leader = {
        "arrowstyle": "-",
        "color": "#B8B8B8",
        "linewidth": 0.5,
        "shrinkA": 0.0,
        "shrinkB": 2.0,
    }
    text = axes.annotate(
        label,
        (float(spot[0]), float(spot[1])),
        (float(offset[0]), float(offset[1])),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=letters,
        zorder=3,
        annotation_clip=False,
        arrowprops=leader if line else None,
        usetex=False,
    )
    text.set_in_layout(False)  # the layout of the figure ignores labels
    return text


def _scene(axes: "Axes", picture: Picture) -> Scene:
    ends = np.concatenate([*picture.lines, np.empty((0, 2))])
    # The last point of a polyline does not start a segment.
    begins = np.ones(len(ends), np.bool_)
    lengths = [len(line) for line in picture.lines]
    begins[np.cumsum(lengths, dtype=np.int64) - 1] = False
    begin = np.flatnonzero(begins)
    pixels = axes.transData.transform(ends) if len(ends) else ends
    return Scene(axes.transData.transform(picture.spots), pixels[begin], pixels[begin + 1])


def _widen(axes: "Axes", low: FloatArray, high: FloatArray) -> bool:
    """Widen the limits if boxes (in pixels) leave the axes. Return whether any box did."""
    box = axes.get_window_extent()
    over_low = np.array(box.min) - low.min(axis=0)
    over_high = high.max(axis=0) - np.array(box.max)
    if max(over_low.max(), over_high.max()) <= 0.5:
        return False
    # Widen slightly more than needed, because labels may move in the wider picture.
    over_low = np.where(over_low > 0, over_low + 4.0, 0.0)
    over_high = np.where(over_high > 0, over_high + 4.0, 0.0)
    pixels = np.array([box.width, box.height])
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    first = np.array([left, bottom])
    last = np.array([right, top])
    # The same pixels then show more data: a box that is p of P pixels outside needs the factor
    # P / (P - p).
    unit = (last - first) / np.maximum(pixels - over_low - over_high, 0.2 * pixels)
    set_limits(axes, first - over_low * unit, last + over_high * unit)
    return True


def set_limits(axes: "Axes", low: FloatArray, high: FloatArray) -> None:
    """Set the limits of both axes."""
    axes.set_xlim(float(low[0]), float(high[0]))
    axes.set_ylim(float(low[1]), float(high[1]))


def _sides(picture: Picture) -> FloatArray:
    """Return the preferred side of the label of each node, as unit vectors.

    The side is away from the neighbors, away from the middle, or upwards: the first of these
    directions that is defined.
    """
    spots = picture.spots
    edges = picture.edges
    if picture.layout == "rectangular":
        return np.tile([1.0, 0.0], (len(spots), 1))
    away = np.zeros_like(spots)
    first, second = edges.T
    for node, neighbor in ((first, second), (second, first)):
        np.add.at(away, node, _units(spots[node] - spots[neighbor]))
    outward = spots - spots.mean(axis=0)
    up = np.array([[0.0, 1.0]])
    for fallback in (outward, up):
        known = np.linalg.norm(away, axis=1, keepdims=True) > 1e-6
        away = np.where(known, away, _units(fallback))
    return _units(away)


def _units(vectors: FloatArray) -> FloatArray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
