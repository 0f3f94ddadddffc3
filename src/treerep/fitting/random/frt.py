"""FRT: a random tree that dominates the metric and exceeds it by O(log n) on average.

Fakcharoenphol, Rao and Talwar (STOC 2003).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric, MetricError
from ...scores._streaming import row_slices
from ...tree.tree import Tree
from .._distances import checked_block
from .._finished_tree import finished_tree
from ._partition_kernels import scan_lows


def frt(metric: Metric, *, rng: np.random.Generator, n_jobs: int | None = None) -> Tree:
    """Draw one random tree that dominates the metric; see `fit`.

    For every pair, d_T >= d and E[d_T] <= (16 / ln 2) H_n d, with H_n = 1 + 1/2 + ... + 1/n.
    All points are leaves at the same depth. Points at distance 0 are joined by edges of length
    0.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.bartal : The best of many random trees.

    Notes
    -----
    Not exact on trees. No method can guarantee better than O(log n) on every metric. Both
    guarantees need the triangle inequality.

    Every distance is read once, row by row, in O(n^2) time and O(n log n) memory. 8,000 points
    in ten dimensions take half a second on one core. Fakcharoenphol, Rao and Talwar, STOC 2003.
    """
    order = rng.permutation(len(metric))
    beta = 2.0 ** rng.random()  # density 1 / (x ln 2) on [1, 2)
    lows = _closest_so_far(metric, order, n_jobs)
    if lows.diameter > np.finfo(np.float64).max / 4:
        raise MetricError(
            f"the largest distance is {lows.diameter}, so sums of distances overflow: rescale the distances"
        )
    edges, weights = _hierarchy(lows, beta)
    names = np.concatenate([order, np.arange(len(order), 2 * len(order))])
    return finished_tree(metric, names[edges], weights)


class Lows(NamedTuple):
    """For every point, the points that are closer than all previous points.

    Points are numbered in the random order. The entries of point v are starts[v]:starts[v + 1].
    Centers ascend, and distances descend to 0.
    """

    starts: NDArray[np.int64]
    centers: NDArray[np.int64]
    distances: NDArray[np.float64]
    diameter: float


def _closest_so_far(metric: Metric, order: NDArray[np.int64], n_jobs: int | None) -> Lows:
    """Scan the order once for every point, which gives O(log n) centers each on average.

    The scan of a point ends at the point itself.
    """
    n = len(order)

    def scan(
        rows: slice,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], float]:
        block = checked_block(metric, order[rows], order[: rows.stop])
        counts = np.empty(len(block), np.int64)
        centers = np.empty(block.size, np.int64)
        lows = np.empty(block.size)
        total, diameter = scan_lows(block, rows.start, counts, centers, lows)
        return counts, centers[:total].copy(), lows[:total].copy(), diameter

    with progress_bar(n, "FRT", "points") as bar, Workers(n_jobs) as workers:
        parts = []
        for part in workers.map(scan, row_slices(n, n)):
            parts.append(part)
            bar.update(len(part[0]))
            workers.check()
    counts, centers, distances, diameters = zip(*parts, strict=True)
    return Lows(
        starts=np.concatenate([[0], np.cumsum(np.concatenate(counts))]),
        centers=np.concatenate(centers),
        distances=np.concatenate(distances),
        diameter=max(diameters),
    )


def _hierarchy(lows: Lows, beta: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Split clusters level by level; return edges and lengths. Steiner nodes are numbered from n on.

    The unit is the smallest positive distance, which is among the lows. A cluster of level i has
    radius r_i = beta 2^(i-1), so clusters of level 0 contain only identical points. An edge from
    level i to level i + 1 has length 2^(i+1). Level i is therefore 2 + 4 + ... + 2^i = 2^(i+1) - 2
    above the points. Clusters that do not split need no node.
    """
    n = len(lows.starts) - 1
    unit = float(lows.distances.min(initial=math.inf, where=lows.distances > 0))
    cluster = np.zeros(n, np.int64)
    center = lows.starts[:-1].copy()
    # node above each cluster, and its height
    above = np.full(1, -1)
    height = np.zeros(1)
    edges = [np.empty((0, 2), np.int64)]
    weights = [np.empty(0)]
    steiner = n
    for level in range(_top(lows.diameter, unit) - 1, -1, -1):
        if not _advance(lows, center, _radius(level, unit, beta)):
            continue
        _, first, finer = np.unique(
            cluster * n + lows.centers[center], return_index=True, return_inverse=True
        )
        coarse = cluster[first]
        split = np.flatnonzero(np.bincount(coarse) > 1)
        nodes = np.arange(steiner, steiner + len(split))
        here = math.ldexp(unit, level + 2) - 2 * unit
        hanging = above[split] >= 0  # all except the root
        edges.append(np.column_stack([nodes, above[split]])[hanging])
        weights.append(height[split][hanging] - here)
        above[split] = nodes
        height[split] = here
        above = above[coarse]
        height = height[coarse]
        cluster = finer
        steiner = steiner + len(split)
    _, first = np.unique(cluster, return_index=True)
    same = np.flatnonzero(first[cluster] != np.arange(n))
    hanging = above >= 0
    edges += [
        np.column_stack([first, above])[hanging],
        np.column_stack([same, first[cluster[same]]]),
    ]
    weights += [height[hanging], np.zeros(len(same))]
    return np.concatenate(edges), np.concatenate(weights)


def _top(diameter: float, unit: float) -> int:
    """Return the level at which all points are in one cluster.

    L = ceil(log2(diameter / unit)), at least 1.
    """
    if not unit < math.inf:
        return 0
    large, exponent = math.frexp(diameter)
    small, least = math.frexp(unit)
    return max(1, exponent - least + (large > small))


def _radius(level: int, unit: float, beta: float) -> float:
    # At level 0 the radius is below the smallest distance. Use radius 0, because a tiny unit could
    # be rounded up.
    return math.ldexp(beta * unit, level - 1) if level > 0 else 0.0


def _advance(lows: Lows, center: NDArray[np.int64], radius: float) -> bool:
    """Move every point on to its first center within the radius; return whether any point moved."""
    moved = False
    far = np.flatnonzero(lows.distances[center] > radius)
    while len(far):
        moved = True
        center[far] += 1
        far = far[lows.distances[center[far]] > radius]
    return moved
