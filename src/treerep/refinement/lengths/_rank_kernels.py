"""Kernels for neighborhoods: the precision of ranked tree distances.

The kernels also compute derivatives with respect to the edge lengths.

The smooth precision at a neighbor depends on all points in a window of distances around it. Points are
sorted into bins. The smooth step is a polynomial of degree 3, so the sum over a bin inside the window
follows from the sums of d, d^2 and d^3 over the bin. Only the bins at both ends of the window are added
point by point. So the time of a point is O(close points + neighbors * bins), however many points the
windows of its neighbors share.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ._row_walk_kernels import MeasuredSplits, Slopes, enter_row, leave_row

# Bins per width of the smooth step, if there are enough points.
_BINS_PER_WIDTH = 12.0
# Points per bin on average. A bin costs as much as a few points.
_POINTS_PER_BIN = 4.0


class Close(NamedTuple):
    """The points that can be ranked before a neighbor of v, and the neighbors.

    These points are at most as far away as the farthest neighbor, with some slack.
    """

    point: Any
    x: Any  # distance from v
    near_x: Any  # distance of each neighbor


class Bins(NamedTuple):
    """Points in bins by distance. Distances are in units of the width of the smooth step."""

    start: Any  # start of each bin in the lists `point`, `x` and `slope`
    next: Any  # position of the next point of each bin, while points are sorted
    windows: Any  # number of windows that contain each bin
    cell: Any  # bin of each point, in the given order
    used: Any  # the points in windows, in the given order
    place: Any  # position of each of these points in the lists below
    x: Any  # distance from v
    slope: Any  # derivative of the sum with respect to x, of points at the ends of windows
    moments: Any  # (bins, 3): sums of d, d^2 and d^3; d is measured from the center of the bin
    factors: Any  # (bins, 3): factors of 1, d and d^2 in the slopes of the points of a bin


class Grid(NamedTuple):
    """The bins of a row."""

    number: int
    rate: float  # bins per unit
    size: float  # 1 / rate


@helper
def room_for(n: int) -> Close:
    return Close(np.empty(n, np.int64), np.empty(n), np.empty(n))


@helper
def bins_for(n: int) -> Bins:
    number = int(n / _POINTS_PER_BIN) + 2
    return Bins(
        np.empty(number + 1, np.int64),
        np.empty(number, np.int64),
        np.empty(number + 1, np.int64),
        np.empty(n, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.empty((number, 3)),
        np.empty((number, 3)),
    )


@helper
def _find_close(
    tree: MeasuredSplits, far: Any, v: int, near: Any, beyond: float, close: Close
) -> Any:
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
    # An unsigned index is not checked for a negative sign, which would count from the end.
    count = np.uint64(0)
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
def _window(x: float, grid: Grid) -> Any:
    """Return the first and the last bin of the window around x."""
    first = int(max(x - 1.0, 0.0) * grid.rate)
    return first, min(int((x + 1.0) * grid.rate), grid.number - 1)


@helper
def _make_grid(farthest: float, count: int) -> Grid:
    """Choose the bins for this many points at distances of at most `farthest`."""
    rate = _BINS_PER_WIDTH
    if rate * farthest * _POINTS_PER_BIN > count:
        rate = count / (farthest * _POINTS_PER_BIN)
    return Grid(int(farthest * rate) + 1, rate, 1.0 / rate)


@helper
def _sort(x: Any, near_x: Any, sharpness: float, grid: Grid, bins: Bins) -> int:
    """Sort the points in windows into bins. Return the number of these points."""
    start = bins.start
    windows = bins.windows
    for b in range(grid.number):
        start[b] = windows[b] = 0
        for m in range(3):
            bins.moments[b, m] = bins.factors[b, m] = 0.0
    start[grid.number] = windows[grid.number] = 0
    for y in near_x:
        first, last = _window(y * sharpness, grid)
        windows[first] += 1
        windows[last + 1] -= 1
    for i in range(len(x)):
        b = int(x[i] * sharpness * grid.rate)
        bins.cell[i] = b
        start[b + 1] += 1
    for b in range(grid.number):
        start[b + 1] += start[b]
        windows[b + 1] += windows[b]
        bins.next[b] = start[b]
    count = 0
    for i in range(len(x)):
        bins.used[count] = i
        count += 1 if windows[bins.cell[i]] > 0 else 0
    for c in range(count):
        i = bins.used[c]
        b = bins.cell[i]
        k = bins.next[b]
        bins.next[b] = k + 1
        y = x[i] * sharpness
        bins.place[c] = k
        bins.x[k] = y
        bins.slope[k] = 0.0
        d = y - (b + 0.5) * grid.size
        bins.moments[b, 0] += d
        bins.moments[b, 1] += d * d
        bins.moments[b, 2] += d * d * d
    return count


@helper
def _sum_up(bins: Bins, x: float, grid: Grid) -> Any:
    """Return the sums of the smooth step, and of 1 - t^2, over the points ranked before x.

    The step is 1/2 + 3/4 t - 1/4 t^3 for t = x - (distance of the point) between -1 and 1.
    """
    first, last = _window(x, grid)
    steps = float(bins.start[first])
    changes = 0.0
    for b in range(first + 1, last):
        # t = s - d, with s measured from the center of the bin
        s = x - (b + 0.5) * grid.size
        m = float(bins.start[b + 1] - bins.start[b])
        m1 = bins.moments[b, 0]
        m2 = bins.moments[b, 1]
        squares = m * s * s - 2.0 * s * m1 + m2
        cubes = m * s * s * s - 3.0 * s * (s * m1 - m2) - bins.moments[b, 2]
        steps += 0.5 * m + 0.75 * (m * s - m1) - 0.25 * cubes
        changes += m - squares
    for b in range(first, last + 1, max(last - first, 1)):
        for k in range(bins.start[b], bins.start[b + 1]):
            t = min(max(x - bins.x[k], -1.0), 1.0)
            steps += 0.5 + t * (0.75 - 0.25 * t * t)
            changes += 1.0 - t * t
    return steps, changes


@helper
def _add_slopes(bins: Bins, x: float, grid: Grid, factor: float) -> None:
    """Add factor * (1 - t^2) to the slopes of the points in the window around x."""
    first, last = _window(x, grid)
    for b in range(first + 1, last):
        s = x - (b + 0.5) * grid.size
        bins.factors[b, 0] += factor * (1.0 - s * s)
        bins.factors[b, 1] += factor * 2.0 * s
        bins.factors[b, 2] -= factor
    for b in range(first, last + 1, max(last - first, 1)):
        for k in range(bins.start[b], bins.start[b + 1]):
            t = min(max(x - bins.x[k], -1.0), 1.0)
            bins.slope[k] += factor * (1.0 - t * t)


@helper
def _collect(points: Any, bins: Bins, count: int, grid: Grid, slope: Any) -> None:
    """Add the slopes of the points in windows to slope[point]."""
    for c in range(count):
        i = bins.used[c]
        b = bins.cell[i]
        k = bins.place[c]
        d = bins.x[k] - (b + 0.5) * grid.size
        f = bins.factors[b, 0] + d * (bins.factors[b, 1] + d * bins.factors[b, 2])
        slope[points[i]] += bins.slope[k] + f


@helper
def add_imprecision(
    near: Any, close: Close, count: int, width: float, every: Bins, nearest: Bins, slope: Any
) -> float:
    """Return 1 - the smooth average precision of a point, and add its derivatives to slope[point].

    The precision at a neighbor is P = (1 + A) / (1 + B), where A and B are the numbers of other
    neighbors and of other points that are ranked before it. A smooth step decides whether a point
    is ranked before the neighbor. The derivatives of a point add up to 0.

    every, nearest : working memory for the close points and for the neighbors
    """
    sharpness = 1.0 / width
    near_x = close.near_x[: len(near)]
    farthest = 0.0
    for y in near_x:
        farthest = max(farthest, y)
    grid = _make_grid((farthest + width) * sharpness, count)
    near_grid = _make_grid(farthest * sharpness, len(near))
    used = _sort(close.x[:count], near_x, sharpness, grid, every)
    near_used = _sort(near_x, near_x, sharpness, near_grid, nearest)
    share = 0.75 * sharpness / len(near)
    value = 0.0
    for a in range(len(near)):
        x = near_x[a] * sharpness
        before, by_before = _sum_up(every, x, grid)
        nearer, by_nearer = _sum_up(nearest, x, near_grid)
        # Both counts include the neighbor itself, as one half.
        before += 0.5
        nearer += 0.5
        value += (1.0 - nearer / before) / len(near)
        for_nearer = -share / before
        for_before = share * nearer / before**2
        _add_slopes(every, x, grid, -for_before)
        _add_slopes(nearest, x, near_grid, -for_nearer)
        slope[near[a]] += for_before * by_before + for_nearer * by_nearer
    _collect(close.point, every, used, grid, slope)
    _collect(near, nearest, near_used, near_grid, slope)
    return value


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
    every = bins_for(n)
    nearest = bins_for(n)
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
        count = _find_close(tree, far, v, near, width, close)
        total += add_imprecision(near, close, count, width, every, nearest, slopes.pending)
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
