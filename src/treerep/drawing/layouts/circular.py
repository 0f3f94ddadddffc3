"""The circular layout: the rectangular layout in polar coordinates."""

import numpy as np
from numpy.typing import NDArray

from ...tree.tree import Tree
from .._arrays import FloatArray
from ._passes import unit_vectors
from .rectangular import rectangular

# Maximum distance between an arc and its polyline, in radii of the picture.
_TOLERANCE = 5e-4
_MOST_LINES = 128


def circular(tree: Tree, *, root: int | str | None = None, opening: float = 0.0) -> FloatArray:
    """Return positions (N, 2): the distance from the center is the distance from the root.

    Leaves have equal angles, clockwise from the top. The default root is that of the tree, or the
    center of the tree. `opening` is the empty angle at the left of the top, in radians.

    >>> spots = circular(Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]), root=2)
    >>> np.linalg.norm(spots, axis=1).round(9).tolist()
    [1.0, 2.0, 0.0]
    """
    spots = rectangular(tree, root=root)
    row = -spots[:, 1]
    share = (row + 0.5) / (row.max() + 1.0)
    angle = 0.5 * np.pi - (2 * np.pi - opening) * share
    return spots[:, :1] * unit_vectors(angle)


def polar_corners(
    spots: FloatArray, parent: NDArray[np.integer], child: NDArray[np.integer]
) -> list[FloatArray]:
    """Return polylines: an arc around the center from each parent, then straight to the child.

    A parent is in the middle of its leaves, so an arc is at most half a turn.
    """
    radius = np.linalg.norm(spots, axis=1)
    angle = np.arctan2(spots[:, 1], spots[:, 0])
    start = angle[parent]
    full = 2 * np.pi
    turn = np.remainder(angle[child] - start + np.pi, full) - np.pi
    around = radius[parent]
    # The distance between a chord of angle a and its arc is about r a² / 8.
    largest = max(float(radius.max(initial=0.0)), 1e-300)
    bend = np.sqrt(around / largest / (8 * _TOLERANCE))
    needed = np.ceil(np.abs(turn) * bend)
    count = np.clip(needed, 1, _MOST_LINES).astype(np.int64)
    lines: list[FloatArray] = [np.empty((0, 2))] * len(child)
    for steps in np.unique(count):
        edges = np.flatnonzero(count == steps)
        share = np.linspace(0, 1, int(steps) + 1)
        turned = start[edges, None] + turn[edges, None] * share
        arcs = around[edges, None, None] * unit_vectors(turned)
        ends = spots[child[edges], None]
        chains = np.concatenate([arcs, ends], axis=1)
        for k, chain in zip(edges, chains, strict=True):
            lines[k] = chain
    return lines
