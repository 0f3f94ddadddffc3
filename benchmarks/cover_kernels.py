"""Kernels for covers by trees: the smallest distance in several trees, row by row.

A row of distances is computed in every tree. The slope of a pair goes to the tree that gives its
distance, or to several trees if the minimum is smoothed.
"""

from typing import Any

import numba
import numpy as np

from treerep.refinement.lengths._rank_kernels import (
    REACH,
    add_imprecision,
    cell_size,
    empty_cells,
    room_for,
)
from treerep.refinement.sums._sum_kernels import Forest, Neighbors, _find_close

# Not cached: the package's cache does not notice changes of this file.
compiled = numba.njit(nogil=True)


@compiled
def _distances(forest: Forest, depth: Any, i: int, x: Any) -> None:
    """Compute the distances x[t, j] from point i to all points in every tree."""
    for t in range(len(x)):
        points = forest.points[t]
        own = depth[forest.node[t, i]]
        for j in range(x.shape[1]):
            x[t, j] = own + depth[forest.node[t, j]]
        begin = forest.place[t, i]
        end = begin + 1
        k = forest.node[t, i]
        while k >= 0:
            twice = 2.0 * depth[k]
            for c in range(forest.first[k], begin):
                x[t, points[c]] -= twice
            for c in range(end, forest.last[k]):
                x[t, points[c]] -= twice
            begin = forest.first[k]
            end = forest.last[k]
            k = forest.up[k]
        x[t, i] = 0.0


@compiled
def _spread(forest: Forest, i: int, slope: Any, at_node: Any) -> None:
    """Add the slopes of row i at both ends of every path, and subtract them twice at the top."""
    for t in range(len(slope)):
        points = forest.points[t]
        sums = 0.0
        for j in range(slope.shape[1]):
            at_node[forest.node[t, j]] += slope[t, j]
            sums += slope[t, j]
        begin = forest.place[t, i]
        end = begin + 1
        k = forest.node[t, i]
        at_node[k] += sums
        while k >= 0:
            total = 0.0
            for c in range(forest.first[k], begin):
                total += slope[t, points[c]]
            for c in range(end, forest.last[k]):
                total += slope[t, points[c]]
            at_node[k] -= 2.0 * total
            begin = forest.first[k]
            end = forest.last[k]
            k = forest.up[k]


@compiled
def _smallest(x: Any, j: int) -> int:
    """Return the tree with the smallest distance."""
    best = 0
    for t in range(1, len(x)):
        if x[t, j] < x[best, j]:
            best = t
    return best


@compiled
def _smooth_minimum(x: Any, j: int, width: float, share: Any) -> float:
    """Return -width log(sum over trees of exp(-x / width)), and its derivatives `share`."""
    least = x[_smallest(x, j), j]
    total = 0.0
    for t in range(len(x)):
        above = (x[t, j] - least) / width
        share[t] = np.exp(-above) if above < 20.0 else 0.0
        total += share[t]
    for t in range(len(x)):
        share[t] /= total
    return least - width * np.log(total)


@compiled
def cover_rows(
    eps: float,
    sharp: float,
    forest: Forest,
    depth: Any,
    rows: Any,
    distance: Any,
    factor: Any,
    at_node: Any,
) -> float:
    """Return the sum of smooth relative errors over a block of rows, and add their slopes.

    The minimum is smoothed over a width of `sharp` times the distance; 0 gives the minimum itself.
    """
    trees, n = forest.points.shape
    x = np.empty((trees, n))
    slope = np.empty((trees, n))
    share = np.empty(trees)
    value = 0.0
    for a in range(len(rows)):
        _distances(forest, depth, rows[a], x)
        for j in range(n):
            u = factor[a, j]
            slope[:, j] = 0.0
            if u == 0.0:
                continue
            if sharp > 0.0:
                least = _smooth_minimum(x, j, sharp / u, share)
            else:
                share[:] = 0.0
                best = _smallest(x, j)
                share[best] = 1.0
                least = x[best, j]
            q = u * (least - distance[a, j])
            root = np.sqrt(q * q + eps * eps)
            value += root
            for t in range(trees):
                slope[t, j] = share[t] * u * q / root
        _spread(forest, rows[a], slope, at_node)
    return value


@compiled
def smooth_cover_imprecision(
    forest: Forest,
    depth: Any,
    neighbors: Neighbors,
    low: int,
    high: int,
    width: float,
    at_node: Any,
) -> float:
    """Return the sum of 1 - smooth average precision over the points low ... high - 1."""
    trees, n = forest.points.shape
    x = np.empty((trees, n))
    slope = np.zeros((trees, n))
    least = np.empty(n)
    best = np.empty(n, np.int64)
    close = room_for(n)
    every = empty_cells()
    nearest = empty_cells()
    change = np.zeros(n)
    value = 0.0
    for v in range(low, high):
        near = neighbors.near[neighbors.starts[v] : neighbors.starts[v + 1]]
        if len(near) == 0:
            continue
        _distances(forest, depth, v, x)
        for j in range(n):
            best[j] = _smallest(x, j)
            least[j] = x[best[j], j]
        size = cell_size(least, near, 0.0, width)
        count = _find_close(least, v, near, REACH * size, close)
        value += add_imprecision(near, close, count, size, every, nearest, change)[0]
        slope[:] = 0.0
        for c in range(count):
            j = close.point[c]
            slope[best[j], j] = change[j]
            change[j] = 0.0
        _spread(forest, v, slope, at_node)
    return value
