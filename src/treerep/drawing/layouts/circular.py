"""The circular layout: the rectangular layout in polar coordinates."""

import numpy as np
from numpy.typing import NDArray

from ...tree.tree import Tree
from .._arrays import FloatArray
from .rectangular import rectangular

# Maximum distance between an arc and its polyline, in radii of the picture.
_TOLERANCE = 5e-4
_MOST_LINES = 128


def circular(tree: Tree, *, root: int | str | None = None, opening: float = 0.0) -> FloatArray:
    """Return positions (N, 2): the distance from the center is the distance from the root.

    Leaves have equal angles, clockwise from the top. The default root is that of the tree, or the
    center of the tree. `opening` is the empty angle at the left of the top, in radians.

    >>> circular(Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]), root=2).round(9).tolist()
    [[1.0, 0.0], [-2.0, -0.0], [0.0, 0.0]]
    """
    depth, row = rectangular(tree, root=root).T
    rows = 1.0 - row.min()
    angle = 0.5 * np.pi - (2 * np.pi - opening) * (0.5 - row) / rows
    return np.column_stack([depth * np.cos(angle), depth * np.sin(angle)])


def polar_corners(
    spots: FloatArray, parent: NDArray[np.integer], child: NDArray[np.integer]
) -> list[FloatArray]:
    """Return polylines: an arc around the center from each parent, then straight to the child.

    A parent is in the middle of its leaves, so an arc is at most half a turn.
    """
    radius = np.linalg.norm(spots, axis=1)
    angle = np.arctan2(spots[:, 1], spots[:, 0])
    start = angle[parent]
    turn = np.remainder(angle[child] - start + np.pi, 2 * np.pi) - np.pi
    around = radius[parent]
    # The distance between a chord of angle a and its arc is about r a² / 8.
    largest = max(float(radius.max(initial=0.0)), 1e-300)
    needed = np.ceil(np.abs(turn) * np.sqrt(around / largest / (8 * _TOLERANCE)))
    count = np.clip(needed, 1, _MOST_LINES).astype(np.int64)
    lines: list[FloatArray] = [np.empty((0, 2))] * len(child)
    for steps in np.unique(count):
        edges = np.flatnonzero(count == steps)
        turned = start[edges, None] + turn[edges, None] * np.linspace(0, 1, int(steps) + 1)
        arcs = around[edges, None, None] * np.stack([np.cos(turned), np.sin(turned)], axis=2)
        ends = spots[child[edges]][:, None]
        for k, line in zip(edges, np.concatenate([arcs, ends], axis=1), strict=True):
            lines[k] = line
    return lines
