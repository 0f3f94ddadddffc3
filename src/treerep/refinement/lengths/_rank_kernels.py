"""Compiled sums over neighbourhoods: how well the ranks of tree distances keep them, and which edges would help."""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ._path_sum_kernels import MeasuredSplits


class Close(NamedTuple):
    """The points that can come before a neighbour of v: no farther than the farthest of them, and a bit."""

    point: Any
    x: Any  # distance from v
    top: Any  # where the path from v turns
    slope: Any  # derivative of what is summed by x
    place: Any  # of each point in these lists


@helper
def _distance(tree: MeasuredSplits, v: int, u: int) -> float:
    a, b = tree.node[v], tree.node[u]
    while a != b:  # ancestors come first in preorder: the later one is no ancestor of the other
        if a > b:
            a = tree.up[a]
        else:
            b = tree.up[b]
    return tree.leaf_depth[u] + (tree.leaf_depth[v] - 2.0 * tree.depth[a])


@helper
def _find_close(tree: MeasuredSplits, v: int, near: Any, beyond: float, close: Close) -> int:
    """List the close points; return how many. The columns whose paths turn at an ancestor are two ranges."""
    farthest = 0.0
    for u in near:
        farthest = max(farthest, _distance(tree, v, u))
    # Every neighbour must be found, or its place is that of another row: `_distance` rounds as the sum below does, and
    # climbing goes on for as long as rounding may hide that a neighbour is near.
    bound = farthest + beyond
    highest = tree.leaf_depth[v] - bound - 1e-15 * tree.leaf_depth[v]
    count = 0
    k, begin, end = tree.node[v], v, v + 1
    # All points whose paths turn higher up are farther away than that turn.
    while k >= 0 and tree.depth[k] >= highest:
        base = tree.leaf_depth[v] - 2.0 * tree.depth[k]
        for side in range(2):
            low, high = (tree.first[k], begin) if side == 0 else (end, tree.last[k])
            for j in range(low, high):
                x = tree.leaf_depth[j] + base
                if x <= bound:
                    close.point[count], close.x[count], close.top[count], close.place[j] = j, x, k, count
                    close.slope[count] = 0.0
                    count += 1
        begin, end, k = tree.first[k], tree.last[k], tree.up[k]
    return count


@helper
def _spread(v: int, close: Close, count: int, at_point: Any, at_node: Any) -> None:
    """Add the derivatives of the distances from v at both ends, and subtract them twice at the top of each path."""
    total = 0.0
    for i in range(count):
        at_point[close.point[i]] += close.slope[i]
        at_node[close.top[i]] -= 2.0 * close.slope[i]
        total += close.slope[i]
    at_point[v] += total


@helper
def _step(t: float) -> float:
    """A smooth step from 0 at -1 to 1 at 1."""
    if t >= 1.0:
        return 1.0
    return 0.5 + 0.75 * t - 0.25 * t * t * t if t > -1.0 else 0.0


@helper
def _slope(t: float) -> float:
    return 0.75 * (1.0 - t * t) if -1.0 < t < 1.0 else 0.0


@helper
def _add_precision(u: int, near: Any, close: Close, count: int, sharpness: float) -> float:
    """Smooth precision at the rank of neighbour u, 1 - P, and its derivatives.

    P = (1 + A) / (1 + B), A and B the numbers of other neighbours, and of other points, that come before u.
    """
    x, slope, own = close.x, close.slope, close.place[u]
    here = x[own]
    a = b = 0.0
    for w in near:
        a += _step((here - x[close.place[w]]) * sharpness)
    for i in range(count):
        b += _step((here - x[i]) * sharpness)
    # Both have counted u itself, as one half.
    a, b = a + 0.5, b + 0.5
    share = sharpness / len(near)
    by_a, by_b = -share / b, share * a / b**2
    pull = 0.0
    for i in range(count):
        change = by_b * _slope((here - x[i]) * sharpness)
        slope[i] -= change
        pull += change
    for w in near:
        change = by_a * _slope((here - x[close.place[w]]) * sharpness)
        slope[close.place[w]] -= change
        pull += change
    slope[own] += pull  # what u itself has been counted with cancels
    return (1.0 - a / b) / len(near)


@helper
def _room(n: int) -> Close:
    return Close(np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64))


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
    """Sum over the points low ... high - 1 of 1 - their smooth average precision; derivatives as in `row_sums`."""
    close = _room(len(tree.leaf_depth))
    total = 0.0
    for v in range(low, high):
        near = neighbors[starts[v] : starts[v + 1]]
        if len(near) == 0:
            continue
        count = _find_close(tree, v, near, width, close)
        for u in near:
            total += _add_precision(u, near, close, count, 1.0 / width)
        _spread(v, close, count, at_point, at_node)
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
    """Sum over the points low ... high - 1 of 1 - their average precision; all tied points count, as defined."""
    close = _room(len(tree.leaf_depth))
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
