"""Compiled sums over neighbourhoods: how well the ranks of tree distances keep them, and which edges would help."""

from typing import Any, NamedTuple

import numpy as np

from ..common.kernel import helper, kernel


class Hung(NamedTuple):
    """A tree of splits (see `splits.Splits`) with lengths."""

    up: Any
    first: Any
    last: Any
    node: Any
    depth: Any
    leaf_depth: Any


@helper
def _distances(tree: Hung, v: int, x: Any) -> None:
    """Distances from point v to all: the columns whose paths turn at an ancestor are two ranges."""
    k, begin, end = tree.node[v], v, v + 1
    x[v] = 0.0
    while k >= 0:
        base = tree.leaf_depth[v] - 2.0 * tree.depth[k]
        for j in range(tree.first[k], begin):
            x[j] = tree.leaf_depth[j] + base
        for j in range(end, tree.last[k]):
            x[j] = tree.leaf_depth[j] + base
        begin, end, k = tree.first[k], tree.last[k], tree.up[k]


@helper
def _spread(tree: Hung, v: int, slope: Any, at_point: Any, at_node: Any) -> None:
    """Add the derivatives of the distances from v at both ends, and subtract them twice at the top of each path."""
    k, begin, end = tree.node[v], v, v + 1
    total = 0.0
    while k >= 0:
        here = 0.0
        for j in range(tree.first[k], begin):
            here += slope[j]
            at_point[j] += slope[j]
        for j in range(end, tree.last[k]):
            here += slope[j]
            at_point[j] += slope[j]
        at_node[k] -= 2.0 * here
        total += here
        begin, end, k = tree.first[k], tree.last[k], tree.up[k]
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
def _reach(x: Any, near: Any, v: int, beyond: float, close: Any) -> int:
    """List the points that can come before a neighbour of v: no farther than the farthest of them, and a bit."""
    farthest = 0.0
    for u in near:
        farthest = max(farthest, x[u])
    count = 0
    for j in range(len(x)):
        if x[j] <= farthest + beyond and j != v:
            close[count] = j
            count += 1
    return count


@helper
def _add_precision(u: int, near: Any, close: Any, x: Any, width: float, slope: Any) -> float:
    """Smooth precision at the rank of neighbour u, 1 - P, and its derivatives.

    P = (1 + A) / (1 + B), A and B the numbers of other neighbours, and of other points, that come before u.
    """
    a = b = 0.0
    for w in near:
        if w != u:
            a += _step((x[u] - x[w]) / width)
    for j in close:
        if j != u:
            b += _step((x[u] - x[j]) / width)
    share = 1.0 / (len(near) * width)
    by_a, by_b = -share / (1.0 + b), share * (1.0 + a) / (1.0 + b) ** 2
    pull = 0.0
    for j in close:
        if j != u:
            change = by_b * _slope((x[u] - x[j]) / width)
            slope[j] -= change
            pull += change
    for w in near:
        if w != u:
            change = by_a * _slope((x[u] - x[w]) / width)
            slope[w] -= change
            pull += change
    slope[u] += pull
    return (1.0 - (1.0 + a) / (1.0 + b)) / len(near)


@kernel
def smooth_imprecision(
    tree: Hung, starts: Any, neighbors: Any, low: int, high: int, width: float, at_point: Any, at_node: Any
) -> float:
    """Sum over the points low ... high - 1 of 1 - their smooth average precision; derivatives as in `row_sums`."""
    n = len(tree.leaf_depth)
    x, slope, close = np.empty(n), np.empty(n), np.empty(n, np.int64)
    total = 0.0
    for v in range(low, high):
        near = neighbors[starts[v] : starts[v + 1]]
        if len(near) == 0:
            continue
        _distances(tree, v, x)
        count = _reach(x, near, v, width, close)
        for j in range(n):
            slope[j] = 0.0
        for u in near:
            total += _add_precision(u, near, close[:count], x, width, slope)
        _spread(tree, v, slope, at_point, at_node)
    return total


@kernel
def imprecision(tree: Hung, starts: Any, neighbors: Any, low: int, high: int, slack: float) -> float:
    """Sum over the points low ... high - 1 of 1 - their average precision; all tied points count, as defined."""
    n = len(tree.leaf_depth)
    x, close = np.empty(n), np.empty(n, np.int64)
    total = 0.0
    for v in range(low, high):
        near = neighbors[starts[v] : starts[v + 1]]
        if len(near) == 0:
            continue
        _distances(tree, v, x)
        count = _reach(x, near, v, slack, close)
        for u in near:
            a = b = 0
            for w in near:
                if x[w] <= x[u] + slack:
                    a += 1
            for k in range(count):
                if x[close[k]] <= x[u] + slack:
                    b += 1
            total += (1.0 - a / b) / len(near)
    return total
