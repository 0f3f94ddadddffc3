"""Positions of labels that are rotated in the directions of their leaves."""

from typing import NamedTuple

import numpy as np

from .._arrays import FloatArray
from ._label_places import Scene, box_cost
from ._passes import unit_vectors

# Candidates: turns away from the direction of the leaf, in degrees, and distances from the leaf
# in multiples of the label height.
_TURNS = np.radians([0.0, 12.0, -12.0, 25.0, -25.0, 45.0, -45.0])
_SLIDES = np.array([0.0, 0.6, 1.2, 2.0, 3.0, 4.5, 6.5, 9.0, 12.0])
_ALL_TURNS = np.repeat(_TURNS, len(_SLIDES))
_ALL_SLIDES = np.tile(_SLIDES, len(_TURNS))
# Costs of a position.
_OVERLAP = 100.0  # overlap with other labels
_TURN = 3.0  # a radian
_SLIDE = 0.5  # a label height

_MOST_LABELS = 300


class Turned(NamedTuple):
    """Where labels start, in pixels, and in which directions they run."""

    starts: FloatArray  # (k, 2), the middle of the first side of a label
    angles: FloatArray  # (k,)

    def corners(self, sizes: FloatArray) -> FloatArray:
        """Return the corners (k, 4, 2) of labels of the given sizes."""
        length = sizes[:, :1]
        height = sizes[:, 1:]
        along = length * unit_vectors(self.angles)
        across = 0.5 * height * unit_vectors(self.angles + 0.5 * np.pi)
        first = self.starts - across
        second = self.starts + across
        return np.stack([first, second, second + along, first + along], axis=1)


def turned_places(
    anchors: FloatArray, sizes: FloatArray, angles: FloatArray, gap: float, scene: Scene
) -> Turned:
    """Place labels next to their anchors, in the given directions.

    A label that would cover another label, a point or an edge is moved away from its anchor, and
    rotated if this does not help. Each label in turn gets the cheapest position, twice. All lengths
    are in pixels. If there are more than 300 labels, none is moved.
    """
    places = Turned(anchors + gap * unit_vectors(angles), angles.copy())
    if len(anchors) > _MOST_LABELS:
        return places
    corners = places.corners(sizes)
    moved = _TURN * np.abs(_ALL_TURNS) + _SLIDE * _ALL_SLIDES
    count = len(anchors)
    for k in [*range(count), *range(count)]:
        size = sizes[k]
        choices = _candidates(anchors[k], size, angles[k], gap)
        boxes = choices.corners(np.tile(size, (len(moved), 1)))
        others = np.delete(corners, k, 0)
        depth = overlaps(boxes, others) / size[1]
        touched = depth > 0
        cost = moved + _OVERLAP * (depth + 0.2 * touched).sum(axis=1)
        cost += _cost_of_scene(choices, size, scene, gap)
        best = int(np.argmin(cost))
        places.starts[k] = choices.starts[best]
        places.angles[k] = choices.angles[best]
        corners[k] = boxes[best]
    return places


def _candidates(anchor: FloatArray, size: FloatArray, angle: float, gap: float) -> Turned:
    angles = angle + _ALL_TURNS
    away = gap + size[1] * _ALL_SLIDES
    return Turned(anchor + away[:, None] * unit_vectors(angles), angles)


def _cost_of_scene(choices: Turned, size: FloatArray, scene: Scene, gap: float) -> FloatArray:
    """Return the cost of covered points and edges, in the frame of each direction."""
    costs = []
    to_center = np.array([0.5 * size[0], 0.0])
    slides = len(_SLIDES)
    for first in range(0, len(choices.angles), slides):
        angle = choices.angles[first]
        along = unit_vectors(angle)
        across = unit_vectors(angle + 0.5 * np.pi)
        frame = np.column_stack([along, across])
        starts = choices.starts[first : first + slides]
        turned = Scene(*(part @ frame for part in scene))
        costs.append(box_cost(starts @ frame + to_center, size, turned, 0.5 * gap))
    return np.concatenate(costs)


def overlaps(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return how far rotated boxes (m, 4, 2) and (k, 4, 2) overlap, as an array (m, k).

    Boxes are apart if a line along a side of one of them separates them.

    >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    >>> overlaps(square[None], np.array([square + [1.5, 0.0], square + [3.0, 0.0]]))
    array([[0.5, 0. ]])
    """
    own = _depth_along_sides(boxes, others)
    theirs = _depth_along_sides(others, boxes).T
    return np.maximum(np.minimum(own, theirs), 0.0)


def _depth_along_sides(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return the smaller overlap of the shadows on the two sides of each box, as an array (m, k)."""
    depths = []
    for side in (1, 3):
        axis = boxes[:, side] - boxes[:, 0]
        length = np.linalg.norm(axis, axis=1, keepdims=True)
        axis /= np.maximum(length, 1e-300)
        own = np.einsum("mcd,md->mc", boxes, axis)[:, None]
        theirs = np.einsum("kcd,md->mkc", others, axis)
        last = np.minimum(own.max(axis=2), theirs.max(axis=2))
        first = np.maximum(own.min(axis=2), theirs.min(axis=2))
        depths.append(last - first)
    return np.minimum(*depths)
