"""Kernels for neighborhoods: the precision of ranked tree distances.

The kernels also compute derivatives with respect to the edge lengths.

Ranks are smoothed by cells of equal size. Let y be a distance in units of cells. It counts in the cells
b, b + 1 and b + 2, for b = floor(y) and f = y - b, with the weights of a quadratic spline:

    w_b = (1 - f)^2 / 2,  w_(b+1) = 1/2 + f - f^2,  w_(b+2) = f^2 / 2.

Let h_c be the sum of the weights of all points in cell c. The number of points ranked before y is

    sum_c w_c R_c,  R_c = h_c / 2 + (sum of h_k over the cells k before c),

so two points at the same distance are ranked before each other by one half. The weights and the ranks
have continuous derivatives. The sums of 1, f and f^2 over the points of a cell determine all h_c, so the
time of a point is O(close points + neighbors + cells).
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ._row_walk_kernels import MeasuredSplits, Slopes, enter_row, leave_row

# Size of a cell, as a fraction of the width. The derivative of the step then has the same variance as
# the polynomial 3/4 (1 - t^2) for |t| < 1: 2/3 size^2 = 1/5 width^2.
_CELL = 0.3**0.5
# Smallest size of a cell, so that 1 / size is finite.
_SMALLEST = 1e-300
# If the neighbors of a point span more cells, its cells are larger.
_MOST_CELLS = 4096
# A point this many cells beyond another point is ranked entirely after it.
REACH = 3.0
# Cells beyond that of the farthest neighbor that close points use, including one for rounding.
_MORE_CELLS = 7


class Close(NamedTuple):
    """The points that can be ranked before a neighbor of v, and the neighbors.

    These points are at most as far away as the farthest neighbor, with some slack.
    """

    point: Any
    x: Any  # distance from v
    near_x: Any  # distance of each neighbor


class Cells(NamedTuple):
    """Sums over the points of each cell."""

    moments: Any  # (cells, 2, 3): sums of 1, f and f^2 over every second point
    rank: Any  # number R of points ranked before a point in the middle of the cell
    slope: Any  # derivative with respect to R, and later to y at the start of the cell


@helper
def room_for(n: int) -> Close:
    return Close(np.empty(n, np.int64), np.empty(n), np.empty(n))


@helper
def empty_cells() -> Cells:
    number = _MOST_CELLS + _MORE_CELLS
    return Cells(np.empty((number, 2, 3)), np.empty(number), np.empty(number))


@helper
def cell_size(x: Any, near: Any, depth: float, width: float) -> float:
    """Return the size of the cells for the distances depth + x[j] of the neighbors j.

    A size that grows only in powers of two has no derivative.
    """
    farthest = 0.0
    for u in near:
        farthest = max(farthest, depth + x[u])
    size = max(_CELL * width, _SMALLEST)
    while farthest > _MOST_CELLS * size:
        size *= 2.0
    return size


@helper
def _find_close(tree: MeasuredSplits, far: Any, v: int, near: Any, beyond: float, close: Close) -> Any:
    """List the close points and return their number. `far` is that of row v."""
    depth = tree.leaf_depth[v]
    farthest = 0.0
    for a in range(len(near)):
        close.near_x[a] = far[near[a]] + depth
        farthest = max(farthest, close.near_x[a])
    bound = farthest + beyond
    # All points whose paths turn higher up are farther away than the turning point. Every neighbor must
    # be found, so climbing continues as long as rounding may hide that a neighbor is close.
    highest = depth - bound - 1e-15 * depth
    k = tree.node[v]
    while tree.up[k] >= 0 and tree.depth[tree.up[k]] >= highest:
        k = tree.up[k]
    count = np.uint64(0)  # see `_place`
    for side in range(2):
        low, high = (tree.first[k], v) if side == 0 else (v + 1, tree.last[k])
        # Always written, because a branch would be hard to predict and a wrong prediction is
        # expensive.
        for j in range(low, high):
            x = far[j] + depth
            close.point[count] = j
            close.x[count] = x
            count += np.uint64(1) if x <= bound else np.uint64(0)
    return np.int64(count)


@helper
def _place(y: float) -> Any:
    """Return the cell of y, and its position f in the cell."""
    b = np.int32(y)
    # An unsigned index is not checked for a negative sign, which would count from the end.
    return np.uint64(np.uint32(b)), y - b


@helper
def _count(x: Any, rate: float, number: int, cells: Cells) -> None:
    """Sum up the moments of the points in each cell.

    Consecutive points are often in the same cell. They are added to two sums, because each addition
    waits for the one before.
    """
    moments = cells.moments
    for b in range(number):
        for k in range(2):
            moments[b, k, 0] = moments[b, k, 1] = moments[b, k, 2] = 0.0
    for i in range(len(x)):
        b, f = _place(x[i] * rate)
        half = np.uint64(i % 2)
        moments[b, half, 0] += 1.0
        moments[b, half, 1] += f
        moments[b, half, 2] += f * f


@helper
def _rank(number: int, cells: Cells) -> None:
    """Compute the rank of each cell."""
    moments = cells.moments
    before = 0.0
    second = third = 0.0  # weights from the cells before
    for b in range(number):
        m = moments[b, 0, 0] + moments[b, 1, 0]
        m1 = moments[b, 0, 1] + moments[b, 1, 1]
        m2 = moments[b, 0, 2] + moments[b, 1, 2]
        h = 0.5 * m - m1 + 0.5 * m2 + second
        second = 0.5 * m + m1 - m2 + third
        third = 0.5 * m2
        cells.rank[b] = before + 0.5 * h
        before += h
        cells.slope[b] = 0.0


@helper
def _rank_of(y: float, cells: Cells) -> Any:
    """Return the number of points ranked before y, and its derivative."""
    b = int(y)
    f = y - b
    low, middle, high = cells.rank[b : b + 3]
    # w_b + w_(b+1) + w_(b+2) = 1
    rank = middle + 0.5 * (1.0 - f) ** 2 * (low - middle) + 0.5 * f * f * (high - middle)
    return rank, (1.0 - f) * (middle - low) + f * (high - middle)


@helper
def _pull(y: float, factor: float, cells: Cells) -> None:
    """Add factor * (derivative of the rank of y with respect to R) to the slopes of the cells."""
    b = int(y)
    f = y - b
    cells.slope[b] += factor * 0.5 * (1.0 - f) ** 2
    cells.slope[b + 1] += factor * (0.5 + f - f * f)
    cells.slope[b + 2] += factor * 0.5 * f * f


@helper
def _differentiate(number: int, cells: Cells) -> None:
    """Turn derivatives with respect to R into those with respect to y, at the start of each cell.

    Moving weight from cell b to b + 1 lowers R_b and R_(b+1) by half of the weight.
    """
    for b in range(number - 1):
        cells.slope[b] = -0.5 * (cells.slope[b] + cells.slope[b + 1])


@helper
def _collect(points: Any, x: Any, rate: float, cells: Cells, slope: Any) -> float:
    """Add the derivatives with respect to x to slope[point], and return their sum."""
    by_y = cells.slope
    total = 0.0
    for i in range(len(x)):
        b, f = _place(x[i] * rate)
        low = by_y[b]
        s = rate * (low + f * (by_y[b + np.uint64(1)] - low))
        slope[np.uint64(points[i])] += s
        total += s
    return total


@helper
def add_imprecision(
    near: Any, close: Close, count: int, size: float, every: Cells, nearest: Cells, slope: Any
) -> Any:
    """Return 1 - the smooth average precision of a point, and the sum of its derivatives.

    The derivatives are added to slope[point]. The precision at a neighbor is P = (1 + A) / (1 + B), where
    A and B are the numbers of other neighbors and of other points that are ranked before it.

    size : size of the cells
    every, nearest : working memory for the close points and for the neighbors
    """
    rate = 1.0 / size
    x = close.x[:count]
    near_x = close.near_x[: len(near)]
    number = 0
    for y in near_x:
        number = max(number, int(y * rate) + _MORE_CELLS)
    _count(x, rate, number, every)
    _count(near_x, rate, number, nearest)
    _rank(number, every)
    _rank(number, nearest)
    value = 0.0
    total = 0.0
    for a in range(len(near)):
        y = near_x[a] * rate
        before, by_before = _rank_of(y, every)
        nearer, by_nearer = _rank_of(y, nearest)
        # Both counts include the neighbor itself, as one half.
        before += 0.5
        nearer += 0.5
        value += (1.0 - nearer / before) / len(near)
        for_nearer = -1.0 / (before * len(near))
        for_before = nearer / (before**2 * len(near))
        _pull(y, for_before, every)
        _pull(y, for_nearer, nearest)
        s = rate * (for_before * by_before + for_nearer * by_nearer)
        slope[near[a]] += s
        total += s
    _differentiate(number, every)
    _differentiate(number, nearest)
    total += _collect(close.point, x, rate, every, slope)
    total += _collect(near, near_x, rate, nearest, slope)
    return value, total


@kernel
def smooth_imprecision(
    tree: MeasuredSplits,
    starts: Any,
    neighbors: Any,
    low: int,
    high: int,
    width: float,
    at_point: Any,
    at_node: Any,
) -> float:
    """Return the sum of 1 - smooth average precision over the points low ... high - 1.

    Derivatives are as in `row_sums`.
    """
    n = len(tree.leaf_depth)
    close = room_for(n)
    every = empty_cells()
    nearest = empty_cells()
    far = np.empty(n)
    slopes = Slopes(np.zeros(n), 0, at_point, at_node)
    total = 0.0
    before = -1
    for v in range(low, high):
        near = neighbors[starts[v] : starts[v + 1]]
        if len(near) == 0:
            continue
        leave_row(tree, before, v, True, slopes)
        enter_row(tree, before, v, True, far)
        size = cell_size(far, near, tree.leaf_depth[v], width)
        count = _find_close(tree, far, v, near, REACH * size, close)
        value, slope = add_imprecision(near, close, count, size, every, nearest, slopes.pending)
        total += value
        at_point[v] += slope
        before = v
    leave_row(tree, before, n, True, slopes)
    return total


@kernel
def imprecision(
    tree: MeasuredSplits,
    starts: Any,
    neighbors: Any,
    low: int,
    high: int,
    slack: float,
) -> float:
    """Return the sum of 1 - average precision over the points low ... high - 1.

    Tied points all count.
    """
    n = len(tree.leaf_depth)
    close = room_for(n)
    far = np.empty(n)
    total = 0.0
    before = -1
    for v in range(low, high):
        near = neighbors[starts[v] : starts[v + 1]]
        if len(near) == 0:
            continue
        enter_row(tree, before, v, True, far)
        before = v
        count = _find_close(tree, far, v, near, slack, close)
        for u in range(len(near)):
            here = close.near_x[u] + slack
            a = b = 0
            for w in range(len(near)):
                if close.near_x[w] <= here:
                    a += 1
            for i in range(count):
                if close.x[i] <= here:
                    b += 1
            total += (1.0 - a / b) / len(near)
    return total
