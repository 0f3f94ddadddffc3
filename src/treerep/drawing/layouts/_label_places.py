"""Where names go: beside their points, away from the tree, and clear of each other, of points and of edges."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Directions that are tried around a point, and distances from it in heights of a name.
_DIRECTIONS = 24
_RINGS = (0.0, 0.9, 1.9, 3.0, 4.5)
# What a place costs: overlap with names and with points, edges behind the name, other than the
# wished side, distance.
_NAMES = 100.0
_POINTS = 20.0
_EDGES = 4.0
_SIDE = 1.0
_FAR = 1.2


_MOST_NAMES = 300


class Scene(NamedTuple):
    """All that names should not cover, in pixels."""

    points: Array  # (N, 2)
    starts: Array  # (S, 2): lines of edges
    ends: Array


def place_labels(anchors: Array, sizes: Array, away: Array, gap: float, scene: Scene) -> Array:
    """Return the centers (k, 2) of boxes of the given sizes (k, 2) beside their anchors.

    For each box in turn the cheapest of a fixed set of places is taken, twice, so that the
    first ones know of the last. `away` are unit vectors to the side on which a name is wished.
    Everything is in pixels; the same input gives the same places. Of more than 300 names all
    are where they are wished: there is no room to look for.
    """
    turn = 2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    centers = anchors + _offsets(away, sizes, np.full(len(anchors), gap))
    for _ in range(2 if len(anchors) <= _MOST_NAMES else 0):
        for k in range(len(anchors)):
            sides = np.concatenate([away[k : k + 1], circle])
            ring = np.repeat(np.array(_RINGS), len(sides))
            side = np.tile(sides, (len(_RINGS), 1))
            offers = anchors[k] + _offsets(side, sizes[k], gap + ring * sizes[k, 1])
            cost = _SIDE * (1 - side @ away[k]) + _FAR * ring
            cost += _cost_of_names(
                offers, sizes[k], np.delete(centers, k, 0), np.delete(sizes, k, 0)
            )
            cost += _cost_of_scene(offers, sizes[k], scene, 0.75 * gap)
            centers[k] = offers[int(np.argmin(cost))]
    return centers


def _offsets(side: Array, size: Array, gap: Array) -> Array:
    """From a point to the center of a box on that side of it: the box begins where the gap ends."""
    half = 0.5 * size
    with np.errstate(divide="ignore"):
        reach = np.min(half / np.abs(side), axis=1, where=side != 0, initial=np.inf)
    return side * (reach + gap)[:, None]


def _cost_of_names(offers: Array, size: Array, centers: Array, sizes: Array) -> Array:
    room = 0.5 * (size + sizes)[None] + 0.5 - np.abs(offers[:, None] - centers[None])
    overlap = np.prod(np.maximum(room, 0.0), axis=2) / np.prod(size)
    return _NAMES * (overlap + 0.2 * (overlap > 0)).sum(axis=1)


def _cost_of_scene(offers: Array, size: Array, scene: Scene, radius: float) -> Array:
    low = offers.min(axis=0) - size
    high = offers.max(axis=0) + size
    near = np.all((scene.points > low) & (scene.points < high), axis=1)
    inside = np.all(
        np.abs(offers[:, None] - scene.points[near][None]) < 0.5 * size + radius, axis=2
    )
    crossing = np.all(
        (np.maximum(scene.starts, scene.ends) > low)
        & (np.minimum(scene.starts, scene.ends) < high),
        1,
    )
    covered = _length_inside(scene.starts[crossing], scene.ends[crossing], offers, size)
    return _POINTS * inside.sum(axis=1) + _EDGES * np.minimum(covered / size[1], 5.0)


def _length_inside(starts: Array, ends: Array, centers: Array, size: Array) -> Array:
    """Length of all lines within each box, by clipping (Liang and Barsky)."""
    step = ends - starts
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (
            (centers[:, None] + sign * 0.5 * size - starts[None]) / step[None]
            for sign in (-1, 1)
        )
    enter = np.fmin(one, two).max(axis=2, initial=0.0)
    leave = np.fmax(one, two).min(axis=2, initial=1.0)
    return (np.maximum(leave - enter, 0.0) * np.linalg.norm(step, axis=1)[None]).sum(axis=1)
