"""Well-separated directions for the edges at a node of a tree."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metric.base import read_only
from ...tree.structure.rooted import Preorder, heads, points_below

#: Up to this many directions, all pairs are used to spread them evenly and to bound the loss of
#: paths.
MOST_PAIRS = 64
# Up to this many directions are spread by traffic, in this many sweeps (more sweeps did not
# improve random trees).
_MOST_TRAFFIC = 24
_SWEEPS = 4

Array = NDArray[np.float64]


class Around(NamedTuple):
    """The edges around every point of a tree, by preorder position."""

    # First position at the same point. Edges of length 0 stay at the same point.
    head: NDArray[np.int32]
    # The edges that start at head v lead to members[starts[v]:starts[v + 1]].
    starts: NDArray[np.int32]
    members: NDArray[np.int32]
    # (N, dim): direction of the edge to each position, in the frame of its upper end.
    turns: Array


def place_edges(view: Preorder, n_points: int, dim: int, exponent: float) -> Around:
    """Choose the direction of every edge in the frame of its upper end.

    The parent of a node is in direction -e_1. Nodes joined by edges of length 0 are one point
    with one frame. Such an edge has direction e_1, which does not change the frame.
    """
    from ._direction_kernels import turn_edges

    n = len(view.up)
    head = heads(view.up, view.length <= 0)
    below = points_below(view, n_points)
    # Edges of positive length, by their upper point and then by the data points below, the most first.
    lower = np.flatnonzero((view.length > 0) & (np.arange(n) > 0))
    upper = head[view.up[lower]]
    members = lower[np.lexsort((-below[lower], upper))].astype(np.int32)
    edges = np.bincount(upper, minlength=n)
    starts = np.append(0, np.cumsum(edges)).astype(np.int32)
    counts = edges + (np.arange(n) > 0)
    templates, offsets = _templates(np.unique(counts[edges > 0]), dim)
    turns = np.zeros((n, dim))
    turns[:, 0] = 1.0
    turn_edges(
        starts,
        members,
        below,
        n_points,
        templates,
        offsets,
        float(exponent),
        _MOST_TRAFFIC,
        _SWEEPS,
        turns,
    )
    return Around(head, starts, members, turns)


def _templates(counts: NDArray[np.int64], dim: int) -> tuple[Array, NDArray[np.int64]]:
    """Return all templates, stacked, and the first row for each number of directions."""
    parts = [spread_directions(int(count), dim) for count in counts]
    offsets = np.full(int(counts.max(initial=0)) + 1, -1)
    offsets[counts] = np.cumsum([0, *map(len, parts)])[:-1]
    return read_only(np.concatenate([np.empty((0, dim)), *parts])), read_only(offsets)


def spread_directions(count: int, dim: int) -> Array:
    """Return `count` well-separated unit vectors: -e_1, then others in decreasing angle to -e_1.

    Angles are equal in two dimensions. In higher dimensions, up to dim + 1 directions form a
    regular simplex. Up to 64 directions have a low energy -sum ln |u_i - u_j|. Larger numbers lie
    on a Fibonacci spiral in three dimensions and are words over the points of a circle in higher
    dimensions.

    >>> spread_directions(2, 3)
    array([[-1.,  0.,  0.],
           [ 1.,  0.,  0.]])
    """
    if count <= 2:
        points = np.eye(dim)[[0, 0]][:count]
        points[0, 0] = -1.0
    elif dim == 2:
        angles = np.pi + 2 * np.pi * np.arange(count) / count
        points = np.column_stack([np.cos(angles), np.sin(angles)])
    elif count <= dim + 1:
        points = _simplex(count, dim)
    elif count <= MOST_PAIRS:
        points = _least_energy(count, dim)
    else:
        points = _fibonacci(count) if dim == 3 else _torus_code(count, dim)
    return _sorted(points)


def least_angle(turns: Array, count: int) -> float:
    """Return the smallest angle between directions.

    In two dimensions, this is the angle between `turns`. In higher dimensions, it is the angle in
    the template for `count` directions: exact in three dimensions, and otherwise the smallest angle
    over all words of the code.
    """
    dim = turns.shape[1]
    if dim == 2:
        angles = np.sort(np.arctan2(turns[:, 1], turns[:, 0]))
        return float(np.diff(angles, append=angles[0] + 2 * np.pi).min())
    chord = _closest_of_spiral(count) if dim == 3 else _code_distance(count, dim)
    return 2 * math.asin(0.5 * (1 - 1e-9) * chord)


@lru_cache(maxsize=256)
def _closest_of_spiral(count: int) -> float:
    from scipy.spatial import KDTree

    points = _fibonacci(count)
    return float(KDTree(points).query(points, k=2)[0][:, 1].min())


def _simplex(count: int, dim: int) -> Array:
    """Return the vertices of a regular simplex: cosines -1 / (count - 1)."""
    # Columns of the centered identity, in an orthonormal basis of the hyperplane that they
    # span.
    centered = np.eye(count) - 1.0 / count
    points = np.zeros((count, dim))
    points[:, : count - 1] = centered @ np.linalg.svd(centered)[0][:, : count - 1]
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def _fibonacci(count: int) -> Array:
    """Return points on a Fibonacci spiral, which covers the sphere evenly."""
    golden = (1 + np.sqrt(5)) / 2
    index = np.arange(count)
    end = 0.3
    z = 1 - 2 * (index + end) / (count - 1 + 2 * end)
    angles = 2 * np.pi * index / golden
    radius = np.sqrt(1 - z * z)
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), z])


def _torus_code(count: int, dim: int) -> Array:
    """Return words of `blocks` letters, each one of `letters` points of a circle.

    The sum of all letters is even, so two words differ in two letters, or in one letter by at
    least two steps.
    """
    blocks, letters = _best_code(count, dim)
    words = letters**blocks // 2
    rest = np.arange(count) * words // count
    digits = np.empty((count, blocks))
    for block in range(blocks - 1):
        rest, digits[:, block] = np.divmod(rest, letters)
    digits[:, -1] = 2 * rest + digits[:, :-1].sum(axis=1) % 2
    points = np.zeros((count, dim))
    points[:, 0 : 2 * blocks : 2] = np.cos(2 * np.pi / letters * digits)
    points[:, 1 : 2 * blocks : 2] = np.sin(2 * np.pi / letters * digits)
    return points / np.sqrt(blocks)


def _best_code(count: int, dim: int) -> tuple[int, int]:
    """Return the numbers of blocks and letters that keep `count` words farthest apart."""
    codes = []
    for blocks in range(2, dim // 2 + 1):
        letters = 2 * math.ceil(round(0.5 * (2 * count) ** (1 / blocks), 9))
        codes.append((blocks, letters))
    return max(codes, key=lambda code: _words_apart(*code))


def _code_distance(count: int, dim: int) -> float:
    return _words_apart(*_best_code(count, dim))


def _words_apart(blocks: int, letters: int) -> float:
    one, two = (2 * math.sin(math.pi * steps / letters) for steps in (1, 2))
    return math.sqrt(min(2 * one**2, two**2 if letters > 2 else math.inf) / blocks)


@lru_cache(maxsize=256)
def _least_energy(count: int, dim: int) -> Array:
    from ._direction_kernels import spread

    # Start from random points, because symmetric starts stay symmetric.
    points = np.random.default_rng(count).standard_normal((count, dim))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    spread(points, np.ones(count), count, 200, 1e-6, np.empty(dim))
    return read_only(points)


def _sorted(points: Array) -> Array:
    """Reflect the first direction to -e_1 and sort the others by their angle to -e_1."""
    normal = points[0].copy()
    normal[0] += 1.0
    if normal.any() and len(points) > 2:
        points = points - np.outer(points @ normal, 2.0 * normal / (normal @ normal))
        points[0] = 0.0
        points[0, 0] = -1.0
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    rest = np.argsort(-points[1:, 0].round(12), kind="stable") + 1
    return read_only(points[np.r_[0, rest]])
