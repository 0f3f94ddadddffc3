"""Near relations of points in a tree whose coarse order is good.

Moves of least squares find the coarse order. Minimum evolution on profiles finds near relations much
better, at a fraction of the time, but harms the coarse order of real data. So it only changes clades
of at most 1/8 of the points. Then the lengths are fitted to the distances and to the nearest
neighbors.
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ...fitting.evolution._profile_kernels import Rounding
from ...fitting.evolution._profile_spaces import vector_space
from ...fitting.evolution.profiles import ROUNDINGS, ProfileSearch, rows_of_profiles
from ...metric.oracle.classes import AngleOracle, EuclideanOracle, SquaredOracle
from ...tree.structure.rooted import points_below
from ...tree.tree import Tree
from ._limits import LIMITS

# Largest clades that change, as a share of the points.
_SHARE = 1 / 8
_LEAST_CLADE = 3


def coordinates(metric: Any) -> NDArray[Any] | None:
    """Return points whose Euclidean distances order the points of a metric, or None.

    The angle between two vectors grows with the distance of the unit vectors.
    """
    oracle = getattr(metric, "oracle", None)
    if isinstance(oracle, EuclideanOracle | SquaredOracle | AngleOracle):
        return oracle[0]
    return None


def first_copies(points: NDArray[Any]) -> NDArray[np.int64]:
    """Return the first point with the same coordinates, for each point."""
    rows = np.ascontiguousarray(points + 0.0)  # no negative zeros
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).reshape(-1)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first[group.reshape(-1)]


def with_near_relations(
    tree: Tree, points: NDArray[Any], time_limit: float | None, n_jobs: int | None
) -> Tree:
    """Return the tree after minimum evolution inside small clades.

    The lengths are those of minimum evolution on root mean squared distances: good for near
    relations, and too long or too short for the others. Trees of few points, and of points whose
    profiles would take too much memory, are returned unchanged.
    """
    n = len(tree)
    within = int(_SHARE * n)
    if within < _LEAST_CLADE or rows_of_profiles(n) * points[0].nbytes > LIMITS.profile_bytes:
        return tree
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    # The search roots a tree at point 0, and the clade of point 0 does not change.
    root = _root(tree)
    order = np.arange(n)
    order[[0, root]] = root, 0
    names = np.concatenate([order, np.arange(n, tree.n_nodes)])
    space = vector_space(points[order])
    spread = float(space.rows[:n].var(axis=0, dtype=np.float64).sum())
    share = ROUNDINGS * float(np.finfo(points.dtype).eps)
    rounding = Rounding(share * 2 * spread, share)
    with Workers(n_jobs) as workers:
        search = ProfileSearch(space, n, names[tree.edges], rounding, workers, within)
        search.run(deadline)
        edges, lengths = search.edges(roots=True)
    names = np.concatenate([order, np.arange(n, edges.max() + 1)])
    return Tree(n, names[edges], np.maximum(lengths, 0.0), labels=tree.labels)


def _root(tree: Tree) -> int:
    """Return a point such that few clades contain it and at most half of the points."""
    n = len(tree)
    view = tree._view
    heavy = np.flatnonzero(2 * points_below(view, n) >= n)[-1]  # a centroid
    view = tree._view_from(int(view.order[heavy]))
    below = points_below(view, n)
    smallest = np.full(len(below), -1)
    for k in np.flatnonzero(below)[:0:-1].tolist():
        above = view.up[k]
        if smallest[above] < 0 or below[k] < below[smallest[above]]:
            smallest[above] = k
    k = 0
    while view.order[k] >= n:
        k = smallest[k]
    return int(view.order[k])
