"""Labels of nodes in a picture, and the limits that they need."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._arrays import FloatArray
from ..layouts._label_places import place_labels
from ..layouts._passes import unit_vectors
from ..layouts._turned_places import Turned
from ._picture import ROWS, Picture, label_anchors
from .parts.label_texts import measured, write_centered, write_turned
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


class Space(NamedTuple):
    """What labels have to respect."""

    area: float  # of a point, in square points
    align: bool = False
    reach: float = 0.0  # radius of rings around the tips, in units of the picture
    floor: float = 0.0  # free space below the picture, in points
    zoom: bool = True  # whether the scale of the picture may change


class _Placed(NamedTuple):
    """Labels of tips and other labels, in pixels for the present limits."""

    turned: Turned
    centers: FloatArray
    low: FloatArray  # corners of the boxes of all labels
    high: FloatArray


def write_labels(axes: "Axes", picture: Picture, labels: dict[int, str], space: Space) -> "list[Annotation]":
    """Write labels next to their nodes, and set the limits so that all labels are inside."""
    return _Labeling(axes, picture, labels, space).write()


class _Labeling:
    """The labels of a picture: first placed, then written."""

    def __init__(self, axes: "Axes", picture: Picture, labels: dict[int, str], space: Space) -> None:
        self.axes = axes
        self.picture = picture
        self.space = space
        self.point = axes.figure.dpi / 72  # pixels
        self.radius = 0.5 * float(np.sqrt(space.area)) * self.point
        self.gap = self.radius + 2.0 * self.point
        self.anchors = label_anchors(picture)
        letters = _font_size(axes, picture, labels, space.floor)
        tips = tips_of(picture, labels)
        turned = picture.layout in (*ROWS, "circular") or is_crowded(picture, labels)
        if not (turned or space.align):
            tips = tips[:0]
        inside = np.setdiff1d(np.array(list(labels), np.int64), tips)
        small = letters * _INNER if len(tips) else letters
        self.outer = measured(axes, tips, labels, letters)
        self.inner = measured(axes, inside, labels, small)

    def write(self) -> "list[Annotation]":
        """Place all labels, adjust the limits, and write the labels."""
        placed = self._place()
        floor = self.space.floor * self.point
        if self.space.zoom and self.picture.layout not in ROWS:
            for _ in range(_ADJUSTMENTS):
                fit(self.axes, self._extents(placed), floor)
                placed = self._place()
        for _ in range(_ROUNDS):
            spots = self._pixels(self.picture.spots)
            low = np.concatenate([placed.low, spots - self.radius])
            high = np.concatenate([placed.high, spots + self.radius])
            if not widen(self.axes, low, high, floor):
                break
            placed = self._place()
        written = write_turned(self.axes, self.outer, self.anchors, placed.turned, self.gap)
        inner = write_centered(self.axes, self.inner, self.anchors, placed.centers, self.gap)
        return written + inner

    def _pixels(self, spots: FloatArray) -> FloatArray:
        pixels: FloatArray = self.axes.transData.transform(spots.reshape(-1, 2))
        return pixels

    def _place(self) -> _Placed:
        """Place all labels for the present limits."""
        self.axes.apply_aspect()
        sizes = self.outer.sizes
        style = TipStyle(self.gap, self.space.align, self.space.reach)
        turned = tip_places(self.axes, self.picture, self.outer.nodes, sizes, style)
        centers = self._inner_places(_pieces(turned, sizes))
        corners = turned.corners(sizes)
        half = 0.5 * self.inner.sizes
        low = np.concatenate([corners.min(axis=1), centers - half])
        high = np.concatenate([corners.max(axis=1), centers + half])
        return _Placed(turned, centers, low, high)

    def _inner_places(self, taken: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return the centers of labels that are placed freely."""
        nodes = self.inner.nodes
        if not len(nodes):
            return np.empty((0, 2))
        scene = scene_of(self.axes, self.picture)
        anchors = self._pixels(self.anchors[nodes])
        away = _sides(self.picture)[nodes]
        return place_labels(anchors, self.inner.sizes, away, self.gap, scene, taken)

    def _extents(self, placed: _Placed) -> Extents:
        """Return the boxes of labels and of the picture itself."""
        held = self._pixels(self.anchors[self.outer.nodes])
        if on_circle(self.picture, self.space.align):
            held = placed.turned.starts  # labels on a circle move with the scale
        inside = self._pixels(self.anchors[self.inner.nodes])
        held = np.concatenate([held, inside])
        others = self.picture.spots
        around = 1.02 if self.picture.layout == "hyperbolic" else self.space.reach
        if around:
            corners = np.array([[-around, -around], [around, around]])
            others = np.concatenate([others, corners])
        spots = self.axes.transData.inverted().transform(held)
        radius = np.full_like(others, self.radius)
        return Extents(
            np.concatenate([spots, others]),
            np.concatenate([placed.low - held, -radius]),
            np.concatenate([placed.high - held, radius]),
        )


def _font_size(axes: "Axes", picture: Picture, labels: dict[int, str], floor: float) -> float:
    """Return a font size at which the labels fit, in points."""
    letters = LABEL_SIZE if len(labels) <= _FEW else 0.75 * LABEL_SIZE
    box = axes.get_window_extent()
    point = axes.figure.dpi / 72
    if picture.layout in ROWS:
        rows = np.ptp(picture.spots[:, 1]) + 1.2
        row = (box.height / point - floor) / rows
        return min(letters, max(0.8 * row, _LEAST_SIZE))
    if picture.layout == "circular" or is_crowded(picture, labels):
        # Labels in lines of 1.3 letters around a circle, and their lengths, fit into the axes.
        half = 0.5 * min(box.width, box.height) / point
        longest = max(map(len, labels.values()))
        needed = 1.3 * len(labels) / (2 * np.pi) + 0.6 * longest
        return min(letters, max(0.9 * half / needed, _LEAST_SIZE))
    return letters


def _pieces(places: Turned, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return squares that cover rotated labels, as centers and sizes."""
    if not len(sizes):
        return np.empty((0, 2)), np.empty((0, 2))
    width, height = sizes.T
    count = np.ceil(width / height).astype(np.int64)
    which = np.repeat(np.arange(len(sizes)), count)
    before = np.cumsum(count) - count
    rank = np.arange(len(which)) - before[which]
    side = height[which]
    part = (width / count)[which]
    along = (rank + 0.5) * part
    step = along[:, None] * unit_vectors(places.angles[which])
    return places.starts[which] + step, np.column_stack([side, side])


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
    step = _units(spots[first] - spots[second])
    np.add.at(away, first, step)
    np.add.at(away, second, -step)
    outward = spots - spots.mean(axis=0)
    up = np.array([[0.0, 1.0]])
    for triangle in picture.triangles:
        base = triangle.corners[1:].mean(axis=0)
        away[triangle.apex] = base - triangle.corners[0]
    for fallback in (outward, up):
        known = np.linalg.norm(away, axis=1, keepdims=True) > 1e-6
        away = np.where(known, away, _units(fallback))
    return _units(away)


def _units(vectors: FloatArray) -> FloatArray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
