"""Kernels for neighborhoods: the precision of ranked tree distances.

The kernels also compute derivatives with respect to the edge lengths.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ._row_walk_kernels import MeasuredSplits


class Close(NamedTuple):
    """The points that can be ranked before a neighbor of v.

    These points are at most as far away as the farthest neighbor, with some slack.
    """

    point: Any
    x: Any  # distance from v
    top: Any  # node at which the path from v turns
    place: Any  # position of each point in these lists


class Bins(NamedTuple):
    """The close points in bins by distance, so that each neighbor is compared with few points."""

    start: Any  # start of each bin in the lists below
    nearer: Any  # number of neighbors in the bins before each bin
    rank: Any  # position of each close point in the lists below
    x: Any  # distance from v
    near: Any  # 1 for a neighbor, 0 for any other point
    slope: Any  # derivative of the sum with respect to x


@helper
def _distance(tree: MeasuredSplits, v: int, u: int) -> float:
    a = tree.node[v]
    b = tree.node[u]
    while a != b:  # preorder: the node with the larger number is not an ancestor of the other
        if a > b:
            a = tree.up[a]
        else:
            b = tree.up[b]
    return tree.leaf_depth[u] + (tree.leaf_depth[v] - 2.0 * tree.depth[a])


@helper
def _find_close(tree: MeasuredSplits, v: int, near: Any, beyond: float, close: Close) -> int:
    """List the close points and return their number.

    The columns whose paths turn at an ancestor are two ranges.
    """
    farthest = 0.0
    for u in near:
        farthest = max(farthest, _distance(tree, v, u))
    # Every neighbor must be found; otherwise its position is left over from another row. So
    # `_distance` rounds like the sum below, and climbing continues as long as rounding may hide
    # that a neighbor is close.
    bound = farthest + beyond
    highest = tree.leaf_depth[v] - bound - 1e-15 * tree.leaf_depth[v]
    count = 0
    k = tree.node[v]
    begin = v
    end = v + 1
    # All points whose paths turn higher up are farther away than the turning point.
    while k >= 0 and tree.depth[k] >= highest:
        base = tree.leaf_depth[v] - 2.0 * tree.depth[k]
        for side in range(2):
            low, high = (tree.first[k], begin) if side == 0 else (end, tree.last[k])
            found = count
            # Always written, because a branch would be hard to predict and a wrong prediction
            # is expensive.
            for j in range(low, high):
                x = tree.leaf_depth[j] + base
                close.point[count] = j
                close.x[count] = x
                count += 1 if x <= bound else 0
            for i in range(found, count):
                close.top[i] = k
                close.place[close.point[i]] = i
        begin = tree.first[k]
        end = tree.last[k]
        k = tree.up[k]
    return count


@helper
def sort_close(near: Any, close: Close, count: int, width: float, bins: Bins) -> Any:
    """Sort the close points into bins of at least `width`.

    Return the number of bins per unit and in total.

    If two points are at least two bins apart, the smooth step between them is 0 or 1.
    """
    farthest = 0.0
    for i in range(count):
        farthest = max(farthest, close.x[i])
    rate = 1.0 / max(width, farthest / count)
    number = int(farthest * rate) + 1
    bins.start[: number + 1] = 0
    bins.nearer[: number + 1] = 0
    for i in range(count):
        b = int(close.x[i] * rate)
        bins.rank[i] = b
        bins.start[b + 1] += 1
    for u in near:
        bins.nearer[bins.rank[close.place[u]] + 1] += 1
    for b in range(number):
        bins.start[b + 1] += bins.start[b]
        bins.nearer[b + 1] += bins.nearer[b]
    for i in range(count):
        b = bins.rank[i]
        k = bins.start[b]
        bins.start[b] = k + 1
        bins.rank[i] = k
        bins.x[k] = close.x[i]
        bins.near[k] = 0.0
        bins.slope[k] = 0.0
    # Restore the start of every bin.
    for b in range(number, 0, -1):
        bins.start[b] = bins.start[b - 1]
    bins.start[0] = 0
    for u in near:
        bins.near[bins.rank[close.place[u]]] = 1.0
    return rate, number


@helper
def _spread(v: int, close: Close, bins: Bins, count: int, at_point: Any, at_node: Any) -> None:
    """Add the derivatives of the distances from v.

    Each derivative is added at both ends of its path and subtracted twice at the top.
    """
    total = 0.0
    for i in range(count):
        slope = bins.slope[bins.rank[i]]
        at_point[close.point[i]] += slope
        at_node[close.top[i]] -= 2.0 * slope
        total += slope
    at_point[v] += total


@helper
def add_precision(
    own: int, neighbors: int, bins: Bins, rate: float, number: int, sharpness: float
) -> float:
    """Return 1 - P, the smooth precision P at the rank of the neighbor `own`, and add its derivatives.

    P = (1 + A) / (1 + B), where A and B are the numbers of other neighbors and of other points that
    are ranked before `own`. A smooth step decides whether a point is ranked before `own`. The step
    is 1/2 + 3/4 t - 1/4 t^3 for t between -1 and 1.
    """
    here = bins.x[own]
    b = int(here * rate)
    first = max(b - 1, 0)
    last = min(b + 2, number)
    low = bins.start[first]
    high = bins.start[last]
    before = 0.0
    nearer = 0.0
    for k in range(low, high):
        t = min(max((here - bins.x[k]) * sharpness, -1.0), 1.0)
        step = 0.5 + t * (0.75 - 0.25 * t * t)
        before += step
        nearer += step * bins.near[k]
    # Both counts include the neighbor itself, as one half.
    before = before + (low + 0.5)
    nearer = nearer + (bins.nearer[first] + 0.5)
    share = 0.75 * sharpness / neighbors
    by_nearer = -share / before
    by_before = share * nearer / before**2
    pull = 0.0
    for k in range(low, high):
        t = min(max((here - bins.x[k]) * sharpness, -1.0), 1.0)
        change = (by_before + by_nearer * bins.near[k]) * (1.0 - t * t)
        bins.slope[k] -= change
        pull += change
    bins.slope[own] += pull  # the contribution of the neighbor itself cancels
    return (1.0 - nearer / before) / neighbors


@helper
def room_for(n: int) -> Close:
    return Close(
        np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    )


@helper
def bins_for(n: int) -> Bins:
    return Bins(
        np.empty(n + 2, np.int64),
        np.empty(n + 2, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.empty(n),
    )


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
    close = room_for(len(tree.leaf_depth))
    bins = bins_for(len(tree.leaf_depth))
    total = 0.0
    for v in range(low, high):
        near = neighbors[starts[v] : starts[v + 1]]
        if len(near) == 0:
            continue
        count = _find_close(tree, v, near, width, close)
        rate, number = sort_close(near, close, count, width, bins)
        for u in near:
            total += add_precision(
                bins.rank[close.place[u]], len(near), bins, rate, number, 1.0 / width
            )
        _spread(v, close, bins, count, at_point, at_node)
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
    close = room_for(len(tree.leaf_depth))
    total = 0.0
    for v in range(low, high):
        near = neighbors[starts[v] : starts[v + 1]]
        if len(near) == 0:
            continue
        count = _find_close(tree, v, near, slack, close)
        for u in near:
            here = close.x[close.place[u]] + slack
            a = b = 0
            for w in near:
                if close.x[close.place[w]] <= here:
                    a += 1
            for i in range(count):
                if close.x[i] <= here:
                    b += 1
            total += (1.0 - a / b) / len(near)
    return total
