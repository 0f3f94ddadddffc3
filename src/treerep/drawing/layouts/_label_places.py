"""Positions of labels: next to their points, and clear of other labels, points and edges."""

from typing import NamedTuple

import numpy as np

from .._arrays import FloatArray

# Candidate directions around a point, and distances from it in multiples of the label height.
_DIRECTIONS = 24
_RINGS = (0.0, 0.9, 1.9, 3.0, 4.5)
# Costs of a position.
_OVERLAP = 100.0  # overlap with other labels
_POINTS = 20.0  # points covered by the label
_EDGES = 4.0  # edges covered by the label
_SIDE = 1.0  # not on the preferred side
_FAR = 1.2  # distance from the point

_MOST_LABELS = 300


class Scene(NamedTuple):
    """Points and edges that labels should not cover, in pixels."""

    points: FloatArray  # (N, 2)
    starts: FloatArray  # (S, 2), ends of the segments of edges
    ends: FloatArray  # (S, 2)


def place_labels(
    anchors: FloatArray,
    sizes: FloatArray,
    away: FloatArray,
    gap: float,
    scene: Scene,
    taken: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Return the centers (k, 2) of boxes of the given sizes (k, 2) next to their anchors.

    Each box in turn gets the cheapest of a fixed set of positions. In a second round, the first
    boxes can avoid the last boxes. `away` are unit vectors to the preferred sides. All lengths are
    in pixels. The result is deterministic. If there are more than 300 labels, all labels stay on
    their preferred sides. `taken` are the centers and sizes of boxes that are not moved.
    """
    turn = 2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    centers = anchors + _offsets(away, sizes, np.full(len(anchors), gap))
    if len(anchors) > _MOST_LABELS:
        return centers
    for k in [*range(len(anchors)), *range(len(anchors))]:
        size = sizes[k]
        # Every direction and the preferred direction, at every distance.
        directions = np.concatenate([away[k : k + 1], circle])
        ring = np.repeat(np.array(_RINGS), len(directions))
        side = np.tile(directions, (len(_RINGS), 1))
        candidates = anchors[k] + _offsets(side, size, gap + ring * size[1])
        other_centers = np.delete(centers, k, 0)
        other_sizes = np.delete(sizes, k, 0)
        if taken is not None:
            other_centers = np.concatenate([other_centers, taken[0]])
            other_sizes = np.concatenate([other_sizes, taken[1]])
        cost = _SIDE * (1 - side @ away[k]) + _FAR * ring
        cost += _overlap_cost(candidates, size, other_centers, other_sizes)
        cost += box_cost(candidates, size, scene, 0.75 * gap)
        centers[k] = candidates[int(np.argmin(cost))]
    return centers


def _offsets(side: FloatArray, size: FloatArray, gap: FloatArray) -> FloatArray:
    """Return the offset from a point to the center of a box on the given side, beyond a gap."""
    half = 0.5 * size
    with np.errstate(divide="ignore"):
        reach = np.min(half / np.abs(side), axis=1, where=side != 0, initial=np.inf)
    return side * (reach + gap)[:, None]


def _overlap_cost(
    candidates: FloatArray, size: FloatArray, centers: FloatArray, sizes: FloatArray
) -> FloatArray:
    """Return the cost of overlap with other labels, as a fraction of the label's area."""
    apart = np.abs(candidates[:, None] - centers[None])
    shared = 0.5 * (size + sizes)[None] + 0.5 - apart
    overlap = np.prod(np.maximum(shared, 0.0), axis=2) / np.prod(size)
    return _OVERLAP * (overlap + 0.2 * (overlap > 0)).sum(axis=1)


def box_cost(candidates: FloatArray, size: FloatArray, scene: Scene, radius: float) -> FloatArray:
    """Return the cost of points and edges that boxes of one size cover."""
    # Only points and edges in the bounding box of all candidates matter.
    low = candidates.min(axis=0) - size
    high = candidates.max(axis=0) + size
    near = np.all((scene.points > low) & (scene.points < high), axis=1)
    apart = np.abs(candidates[:, None] - scene.points[near][None])
    inside = np.all(apart < 0.5 * size + radius, axis=2)
    begins_before = np.minimum(scene.starts, scene.ends) < high
    ends_after = np.maximum(scene.starts, scene.ends) > low
    crossing = np.all(ends_after & begins_before, axis=1)
    covered = _length_inside(scene.starts[crossing], scene.ends[crossing], candidates, size)
    return _POINTS * inside.sum(axis=1) + _EDGES * np.minimum(covered / size[1], 5.0)


def _length_inside(starts: FloatArray, ends: FloatArray, centers: FloatArray, size: FloatArray) -> FloatArray:
    """Return the total length of segments inside each box, by Liang-Barsky clipping."""
    step = ends - starts
    # Fractions along a segment at which it meets the sides of the box.
    with np.errstate(divide="ignore", invalid="ignore"):
        low_side = (centers[:, None] - 0.5 * size - starts[None]) / step[None]
        high_side = (centers[:, None] + 0.5 * size - starts[None]) / step[None]
    enter = np.fmin(low_side, high_side).max(axis=2, initial=0.0)
    leave = np.fmax(low_side, high_side).min(axis=2, initial=1.0)
    inside = np.maximum(leave - enter, 0.0)
    return (inside * np.linalg.norm(step, axis=1)[None]).sum(axis=1)
