"""Labels of tips: beside them in rows, around a circle, or in the directions of the leaves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._arrays import FloatArray, IntArray
from ...layouts._label_places import Scene
from ...layouts._passes import unit_vectors
from ...layouts._turned_places import Turned, overlaps, turned_places
from .._picture import ROWS, Picture, label_anchors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Labels of more characters in total are rotated in the layouts without rows.
_MANY_CHARACTERS = 300
_LINE = 1.12  # distance of labels along a circle, in label heights


class TipStyle(NamedTuple):
    """How the labels of tips are written."""

    gap: float  # pixels between a tip and its label
    align: bool
    reach: float  # labels start at least this far from the center, in units of the picture


def tips_of(picture: Picture, labels: dict[int, str]) -> IntArray:
    """Return the nodes whose labels are placed as labels of tips."""
    if picture.parent is None:
        return np.empty(0, np.int64)
    inner = set(picture.parent.tolist()) - {-1}
    clades = {triangle.apex for triangle in picture.triangles}
    tips = [node for node in labels if node in clades or node not in inner]
    return np.array(tips, np.int64)


def is_crowded(picture: Picture, labels: dict[int, str]) -> bool:
    """Return whether the labels are too many or too long to be placed freely."""
    free = picture.layout not in (*ROWS, "circular")
    return free and sum(map(len, labels.values())) > _MANY_CHARACTERS


def on_circle(picture: Picture, align: bool) -> bool:
    """Return whether the labels of tips are on a circle."""
    return align or picture.layout not in ("radial", "equal_daylight")


def tip_places(axes: "Axes", picture: Picture, tips: IntArray, sizes: FloatArray, style: TipStyle) -> Turned:
    """Return where the labels of tips start, in pixels, for the present limits."""
    if not len(tips):
        return Turned(np.empty((0, 2)), np.empty(0))
    anchors = axes.transData.transform(label_anchors(picture)[tips])
    if picture.layout in ROWS:
        starts = anchors + np.array([style.gap, 0.0])
        if style.align:
            starts[:, 0] = starts[:, 0].max(initial=0.0)
        return Turned(starts, np.zeros(len(tips)))
    if picture.layout == "circular":
        return _around_circle(axes, anchors, sizes, style)
    angles = _directions(picture)[tips]
    if not on_circle(picture, style.align):
        scene = scene_of(axes, picture)
        places = turned_places(anchors, sizes, angles, style.gap, scene)
        corners = places.corners(sizes)
        shared = overlaps(corners, corners)
        np.fill_diagonal(shared, 0.0)
        if not shared.any():
            return places
    return _on_ring(axes, picture, anchors, angles, sizes, style)


def scene_of(axes: "Axes", picture: Picture) -> Scene:
    """Return points and edges that labels should not cover, in pixels."""
    around = [0, 1, 2, 0]
    outlines = [triangle.corners[around] for triangle in picture.triangles]
    lines = [*picture.lines, *outlines]
    ends = np.concatenate([*lines, np.empty((0, 2))])
    # The last point of a polyline does not start a segment.
    begins = np.ones(len(ends), np.bool_)
    lengths = [len(line) for line in lines]
    last = np.cumsum(lengths, dtype=np.int64) - 1
    begins[last] = False
    begin = np.flatnonzero(begins)
    pixels = axes.transData.transform(ends) if len(ends) else ends
    spots = picture.spots[picture.shown]
    points = axes.transData.transform(spots.reshape(-1, 2))
    return Scene(points, pixels[begin], pixels[begin + 1])


def _directions(picture: Picture) -> FloatArray:
    """Return the direction of the edge above each node, or away from the center of the picture."""
    anchors = label_anchors(picture)
    low = picture.spots.min(axis=0)
    high = picture.spots.max(axis=0)
    middle = 0.5 * (low + high)
    outward = anchors - (0.0 if picture.layout == "hyperbolic" else middle)
    ahead = outward
    if picture.layout != "hyperbolic" and picture.parent is not None:
        above = np.maximum(picture.parent, 0)
        step = picture.spots - picture.spots[above]
        for triangle in picture.triangles:
            step[triangle.apex] = anchors[triangle.apex] - triangle.corners[0]
        least = 1e-9 * float((high - low).max())
        known = np.linalg.norm(step, axis=1) > least
        ahead = np.where(known[:, None], step, outward)
    return _angles(ahead)


def _around_circle(axes: "Axes", anchors: FloatArray, sizes: FloatArray, style: TipStyle) -> Turned:
    """Continue the edges of tips, at a radius at which neighboring labels do not touch."""
    center = axes.transData.transform((0.0, 0.0))
    apart = anchors - center
    angles = _angles(apart)
    unit = axes.transData.transform((1.0, 0.0)) - center
    radius = np.linalg.norm(apart, axis=1)
    if style.align or style.reach:
        outside = style.reach * float(np.linalg.norm(unit))
        radius[:] = max(float(radius.max()), outside)
    steps = np.diff(np.sort(angles))
    steps = steps[steps > 1e-9]
    if len(steps):
        line = _LINE * float(sizes[:, 1].max())
        radius = np.maximum(radius, line / steps.min())
    reach = radius + style.gap
    return Turned(center + reach[:, None] * unit_vectors(angles), angles)


def _on_ring(
    axes: "Axes",
    picture: Picture,
    anchors: FloatArray,
    angles: FloatArray,
    sizes: FloatArray,
    style: TipStyle,
) -> Turned:
    """Place labels on a circle around the picture, in the order in which their rays reach it."""
    pixels = axes.transData.transform(picture.spots)
    if picture.layout == "hyperbolic":
        center = axes.transData.transform((0.0, 0.0))
        right = axes.transData.transform((1.0, 0.0))
        radius = float(right[0] - center[0])
    else:
        low = pixels.min(axis=0)
        high = pixels.max(axis=0)
        center = 0.5 * (low + high)
        away = np.linalg.norm(pixels - center, axis=1)
        radius = float(away.max())
    line = _LINE * float(sizes[:, 1].max())
    around = len(anchors) * line
    radius = max(radius + style.gap, around / (2 * np.pi))
    # Where the ray from a tip leaves the circle.
    out = unit_vectors(angles)
    apart = anchors - center
    ahead = (apart * out).sum(axis=1)
    inside = radius**2 - (apart**2).sum(axis=1)
    step = np.sqrt(ahead**2 + np.maximum(inside, 0.0)) - ahead
    met = _angles(apart + step[:, None] * out)
    turned = _spread_around(met, line / radius)
    return Turned(center + radius * unit_vectors(turned), turned)


def _angles(vectors: FloatArray) -> FloatArray:
    return np.arctan2(vectors[:, 1], vectors[:, 0])


def _spread_around(angles: FloatArray, least: float) -> FloatArray:
    """Move angles until neighbors are at least `least` apart around the circle."""
    full = 2 * np.pi
    order = np.argsort(angles, kind="stable")
    sorted_angles = angles[order]
    gaps = np.diff(sorted_angles, append=sorted_angles[0] + full)
    # Cut the circle in the widest gap.
    order = np.roll(order, -1 - int(np.argmax(gaps)))
    first = order[0]
    along = np.remainder(angles - angles[first], full)
    along[first] = 0.0
    spread = spread_out(along, least)
    if float(np.ptp(spread)) > full - least:
        # What does not fit between the ends is distributed evenly.
        rank = np.argsort(order).astype(np.float64)
        spread = rank * (full / len(order))
    return np.asarray(angles[first] + spread)


def spread_out(heights: Sequence[float] | FloatArray, least: float) -> FloatArray:
    """Move heights by least squares until neighbors are at least `least` apart.

    The order does not change.

    >>> spread_out([0.0, 10.0, 10.0], 4.0)
    array([ 0.,  8., 12.])
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    ranks = least * np.arange(len(order))
    places = np.empty(len(order))
    # Without `least` per rank, heights must not decrease.
    places[order] = isotonic_regression(np.asarray(heights)[order] - ranks).x + ranks
    return places
