"""Kernels for sums of trees: distances, slopes and precisions, one row of distances at a time.

A row of a sum is computed tree by tree. With L the sum of a point's depths in all trees,

    x(i, j) = L(i) + L(j) - 2 (sum over trees of the depth of the common ancestor of i and j).

A slope of x(i, j) is added once at i and at j, because both ends are on the path in every tree, and
subtracted twice at the common ancestor in each tree. No array has n x n entries.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ..lengths._path_sum_kernels import FACTORS, SMOOTH, SQUARES
from ..lengths._rank_kernels import (
    REACH,
    Close,
    add_imprecision,
    cell_size,
    empty_cells,
    room_for,
)


class Forest(NamedTuple):
    """The trees of a sum, as one list of nodes. Each tree is in preorder, after the tree before it."""

    up: Any  # (K,) parent; -1 at the root of each tree
    first: Any  # (K,) points below node k: points[t, first[k]] ... points[t, last[k] - 1]
    last: Any  # (K,)
    points: Any  # (trees, n) the points in the preorder of each tree
    place: Any  # (trees, n) position of each point in `points`
    node: Any  # (trees, n) node of each point


class Neighbors(NamedTuple):
    """The neighbors of point v: near[starts[v] : starts[v + 1]]."""

    starts: Any
    near: Any


@helper
def _distances(forest: Forest, depth: Any, ends: Any, i: int, low: int, turn: Any, x: Any) -> None:
    """Compute the distances x from point i to the points low ... n - 1. `turn` is working memory."""
    for j in range(low, len(x)):
        x[j] = ends[i] + ends[j]
    for t in range(len(forest.points)):
        begin = int(forest.place[t, i])
        end = begin + 1
        k = forest.node[t, i]
        turn[begin] = depth[k]
        while k >= 0:
            at = depth[k]
            for c in range(forest.first[k], begin):
                turn[c] = at
            for c in range(end, forest.last[k]):
                turn[c] = at
            begin = forest.first[k]
            end = forest.last[k]
            k = forest.up[k]
        place = forest.place[t]
        for j in range(low, len(x)):
            x[j] -= 2.0 * turn[place[j]]


@helper
def _range_sum(values: Any, low: int, high: int) -> float:
    """Return the sum of values[low:high], in four independent partial sums."""
    a = b = c = d = 0.0
    whole = low + (high - low) // 4 * 4
    for j in range(low, whole, 4):
        a += values[j]
        b += values[j + 1]
        c += values[j + 2]
        d += values[j + 3]
    for j in range(whole, high):
        a += values[j]
    return (a + b) + (c + d)


@helper
def _spread(forest: Forest, i: int, low: int, slope: Any, ordered: Any, at_node: Any) -> None:
    """Subtract the slopes of row i twice at the common ancestors. `ordered` is working memory."""
    for t in range(len(forest.points)):
        place = forest.place[t]
        if low > 0:
            ordered[:] = 0.0
        for j in range(low, len(slope)):
            ordered[place[j]] = slope[j]
        begin = int(forest.place[t, i])
        end = begin + 1
        k = forest.node[t, i]
        while k >= 0:
            first = forest.first[k]
            last = forest.last[k]
            total = _range_sum(ordered, first, begin) + _range_sum(ordered, end, last)
            at_node[k] -= 2.0 * total
            begin = first
            end = last
            k = forest.up[k]


@helper
def _slopes(what: int, eps: float, x: Any, t: Any, u: Any, slope: Any, value: Any, low: int) -> None:
    """Compute the slopes and the values of a row: see `_path_sum_kernels.row_sums`.

    Values are not added here, so that the compiler vectorizes the loops.
    """
    if what == SMOOTH:
        for j in range(low, len(x)):
            q = u[j] * (x[j] - t[j])
            root = np.sqrt(q * q + eps * eps)
            slope[j] = np.divide(u[j] * q, root)
            value[j] = root if u[j] > 0.0 else 0.0
    elif what == SQUARES:
        for j in range(low, len(x)):
            q = u[j] * (x[j] - t[j])
            slope[j] = u[j] * q
            value[j] = q * q
    elif what == FACTORS:
        for j in range(low, len(x)):
            slope[j] = u[j] * u[j]
            value[j] = 1.0 if u[j] > 0.0 else 0.0
    else:  # PRODUCT
        for j in range(low, len(x)):
            slope[j] = u[j] * u[j] * x[j]
            value[j] = slope[j] * x[j]


@kernel
def sum_rows(
    what: int,
    eps: float,
    forest: Forest,
    depth: Any,
    ends: Any,
    rows: Any,
    upper: bool,
    distance: Any,
    factor: Any,
    at_point: Any,
    at_node: Any,
) -> float:
    """Return the sum of the values over a block of rows, and add their slopes.

    what, eps : as in `_path_sum_kernels.row_sums`
    depth : (K,) depth of each node; ends : (n,) the sum of the depths of each point in all trees
    upper : use only the columns after the row's point; otherwise all other columns, and the factor of
        a point with itself must be 0
    distance, factor : (R, n)
    at_point : (n,), at_node : (K,), added to
    """
    n = len(ends)
    x = np.empty(n)
    work = np.empty(n)
    slope = np.empty(n)
    value = 0.0
    for a in range(len(rows)):
        i = rows[a]
        low = i + 1 if upper else 0
        _distances(forest, depth, ends, i, low, work, x)
        _slopes(what, eps, x, distance[a], factor[a], slope, work, low)
        value += _range_sum(work, low, n)
        for j in range(low, n):
            at_point[j] += slope[j]
        at_point[i] += _range_sum(slope, low, n)
        _spread(forest, i, low, slope, work, at_node)
    return value


@helper
def _find_close(x: Any, v: int, near: Any, beyond: float, close: Close) -> int:
    """List the points at most as far from v as its farthest neighbor, and return their number."""
    farthest = 0.0
    for a in range(len(near)):
        close.near_x[a] = max(x[near[a]], 0.0)
        farthest = max(farthest, close.near_x[a])
    bound = farthest + beyond
    count = 0
    for j in range(len(x)):
        close.point[count] = j
        close.x[count] = max(x[j], 0.0)
        count += 1 if x[j] <= bound and j != v else 0
    return count


@kernel
def smooth_row_imprecision(
    forest: Forest,
    depth: Any,
    ends: Any,
    neighbors: Neighbors,
    low: int,
    high: int,
    width: float,
    at_point: Any,
    at_node: Any,
) -> float:
    """Return the sum of 1 - smooth average precision over the points low ... high - 1.

    Slopes are as in `sum_rows`.
    """
    n = len(ends)
    x = np.empty(n)
    work = np.empty(n)
    slope = np.zeros(n)
    close = room_for(n)
    every = empty_cells()
    nearest = empty_cells()
    value = 0.0
    for v in range(low, high):
        near = neighbors.near[neighbors.starts[v] : neighbors.starts[v + 1]]
        if len(near) == 0:
            continue
        _distances(forest, depth, ends, v, 0, work, x)
        size = cell_size(x, near, 0.0, width)
        count = _find_close(x, v, near, REACH * size, close)
        part, total = add_imprecision(near, close, count, size, every, nearest, slope)
        value += part
        at_point[v] += total
        for c in range(count):
            at_point[close.point[c]] += slope[close.point[c]]
        _spread(forest, v, 0, slope, work, at_node)
        for c in range(count):
            slope[close.point[c]] = 0.0
    return value


@kernel
def row_imprecision(
    forest: Forest,
    depth: Any,
    ends: Any,
    neighbors: Neighbors,
    low: int,
    high: int,
    slack: float,
) -> float:
    """Return the sum of 1 - average precision over the points low ... high - 1. Ties all count."""
    n = len(ends)
    x = np.empty(n)
    work = np.empty(n)
    close = room_for(n)
    value = 0.0
    for v in range(low, high):
        near = neighbors.near[neighbors.starts[v] : neighbors.starts[v + 1]]
        if len(near) == 0:
            continue
        _distances(forest, depth, ends, v, 0, work, x)
        count = _find_close(x, v, near, slack, close)
        for u in near:
            here = x[u] + slack
            a = 0
            for w in near:
                a += 1 if x[w] <= here else 0
            b = 0
            for c in range(count):
                b += 1 if close.x[c] <= here else 0
            value += (1.0 - a / b) / len(near)
    return value
