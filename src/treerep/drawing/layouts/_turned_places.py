"""Positions of labels that are rotated in the directions of their leaves."""

from typing import NamedTuple

import numpy as np

from .._arrays import FloatArray
from ._label_places import Scene, box_cost

# Candidates: turns away from the direction of the leaf, in degrees, and distances from the leaf
# in multiples of the label height.
_TURNS = np.radians([0.0, 12.0, -12.0, 25.0, -25.0, 45.0, -45.0])
_SLIDES = np.array([0.0, 0.6, 1.2, 2.0, 3.0, 4.5, 6.5, 9.0, 12.0])
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
        along = np.column_stack([np.cos(self.angles), np.sin(self.angles)])
        across = 0.5 * sizes[:, 1:] * np.column_stack([-along[:, 1], along[:, 0]])
        far = self.starts + sizes[:, :1] * along
        return np.stack(
            [self.starts - across, self.starts + across, far + across, far - across], axis=1
        )


def turned_places(
    anchors: FloatArray, sizes: FloatArray, angles: FloatArray, gap: float, scene: Scene
) -> Turned:
    """Place labels next to their anchors, in the given directions.

    A label that would cover another label, a point or an edge is moved away from its anchor, and
    rotated if this does not help. Each label in turn gets the cheapest position, twice. All lengths
    are in pixels. If there are more than 300 labels, none is moved.
    """
    out = np.column_stack([np.cos(angles), np.sin(angles)])
    places = Turned(anchors + gap * out, angles.copy())
    if len(anchors) > _MOST_LABELS:
        return places
    corners = places.corners(sizes)
    for k in [*range(len(anchors)), *range(len(anchors))]:
        choices = _candidates(anchors[k], sizes[k], angles[k], gap)
        boxes = choices.corners(np.repeat(sizes[k : k + 1], len(choices.angles), axis=0))
        cost = _TURN * np.abs(np.repeat(_TURNS, len(_SLIDES)))
        cost += _SLIDE * np.tile(_SLIDES, len(_TURNS))
        depth = overlaps(boxes, np.delete(corners, k, 0)) / sizes[k, 1]
        cost += _OVERLAP * (depth + 0.2 * (depth > 0)).sum(axis=1)
        cost += _cost_of_scene(choices, sizes[k], scene, gap)
        best = int(np.argmin(cost))
        places.starts[k] = choices.starts[best]
        places.angles[k] = choices.angles[best]
        corners[k] = boxes[best]
    return places


def _candidates(anchor: FloatArray, size: FloatArray, angle: float, gap: float) -> Turned:
    angles = np.repeat(angle + _TURNS, len(_SLIDES))
    away = gap + size[1] * np.tile(_SLIDES, len(_TURNS))
    out = np.column_stack([np.cos(angles), np.sin(angles)])
    return Turned(anchor + away[:, None] * out, angles)


def _cost_of_scene(choices: Turned, size: FloatArray, scene: Scene, gap: float) -> FloatArray:
    """Return the cost of covered points and edges, in the frame of each direction."""
    cost = np.empty(len(choices.angles))
    for first in range(0, len(cost), len(_SLIDES)):
        these = slice(first, first + len(_SLIDES))
        cos = np.cos(choices.angles[first])
        sin = np.sin(choices.angles[first])
        frame = np.array([[cos, -sin], [sin, cos]])
        centers = choices.starts[these] @ frame + [0.5 * size[0], 0.0]
        turned = Scene(*(part @ frame for part in scene))
        cost[these] = box_cost(centers, size, turned, 0.5 * gap)
    return cost


def overlaps(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return how far rotated boxes (m, 4, 2) and (k, 4, 2) overlap, as an array (m, k).

    Boxes are apart if a line along a side of one of them separates them.

    >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    >>> overlaps(square[None], np.array([square + [1.5, 0.0], square + [3.0, 0.0]]))
    array([[0.5, 0. ]])
    """
    depth = np.full((len(boxes), len(others)), np.inf)
    for own, corners in ((True, boxes), (False, others)):
        for side in (1, 3):
            axis = corners[:, side] - corners[:, 0]
            axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-300)
            if own:
                first = np.einsum("mcd,md->mc", boxes, axis)[:, None]
                second = np.einsum("kcd,md->mkc", others, axis)
            else:
                first = np.einsum("mcd,kd->mkc", boxes, axis)
                second = np.einsum("kcd,kd->kc", others, axis)[None]
            shared = np.minimum(first.max(axis=2), second.max(axis=2))
            shared = shared - np.maximum(first.min(axis=2), second.min(axis=2))
            depth = np.minimum(depth, shared)
    return np.maximum(depth, 0.0)
