"""Kernels for the neighborhoods of points in their surroundings in the tree: see `_nearby.py`."""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel
from ._rank_kernels import REACH, add_imprecision, cell_size, empty_cells, room_for
from ._row_walk_kernels import MeasuredSplits, range_sum


@kernel
def find_windows(up: Any, first: Any, last: Any, node: Any, size: int, low: Any, high: Any) -> None:
    """Find the surroundings low[v] ... high[v] - 1 of each point v.

    These are the points of the smallest clade with more than `size` points, but at most `size`
    points on either side of v.
    """
    n = len(node)
    for v in range(n):
        k = node[v]
        while up[k] >= 0 and last[k] - first[k] <= size:
            k = up[k]
        low[v] = max(first[k], v - size)
        high[v] = min(last[k], v + size + 1)


@helper
def _measure(tree: MeasuredSplits, v: int, low: int, high: int, x: Any) -> None:
    """Compute the distances of v from the points low ... high - 1."""
    leaf_depth = tree.leaf_depth
    depth = leaf_depth[v]
    k = tree.node[v]
    begin = v
    end = v + 1
    x[v - low] = 0.0
    while end - begin < high - low:
        twice = depth - 2.0 * tree.depth[k]
        left = max(tree.first[k], low)
        right = min(tree.last[k], high)
        for j in range(left, begin):
            x[j - low] = leaf_depth[j] + twice
        for j in range(end, right):
            x[j - low] = leaf_depth[j] + twice
        begin = min(begin, left)
        end = max(end, right)
        k = tree.up[k]


@helper
def _spread(
    tree: MeasuredSplits, v: int, low: int, high: int, slope: Any, at_point: Any, at_node: Any
) -> None:
    """Add slopes at both ends of each path, and minus twice at its top."""
    k = tree.node[v]
    begin = v
    end = v + 1
    while end - begin < high - low:
        left = max(tree.first[k], low)
        right = min(tree.last[k], high)
        total = 0.0
        if left < begin:
            total += range_sum(slope[left - low : begin - low])
        if end < right:
            total += range_sum(slope[end - low : right - low])
        at_node[k] -= 2.0 * total
        begin = min(begin, left)
        end = max(end, right)
        k = tree.up[k]
    for j in range(low, high):
        at_point[j] += slope[j - low]


@kernel
def smooth_loss(
    tree: MeasuredSplits,
    window: Any,
    neighbors: Any,
    low: int,
    high: int,
    width: float,
    at_point: Any,
    at_node: Any,
) -> float:
    """Return the sum of 1 - smooth average precision over the points low ... high - 1.

    window : (2, n), the surroundings of each point
    neighbors : (n, k), positions in the surroundings, -1 beyond the last
    Derivatives are as in `row_sums`.
    """
    widest = 0
    for v in range(low, high):
        widest = max(widest, window[1, v] - window[0, v])
    x = np.empty(widest)
    slope = np.empty(widest)
    close = room_for(max(widest, neighbors.shape[1]))
    every = empty_cells()
    nearest = empty_cells()
    total = 0.0
    for v in range(low, high):
        near = _present(neighbors[v])
        if len(near) == 0:
            continue
        left = window[0, v]
        right = window[1, v]
        _measure(tree, v, left, right, x)
        size = cell_size(x, near, 0.0, width)
        farthest = 0.0
        for a in range(len(near)):
            close.near_x[a] = x[near[a]]
            farthest = max(farthest, close.near_x[a])
        bound = farthest + REACH * size
        count = np.uint64(0)
        for j in range(right - left):
            close.point[count] = j
            close.x[count] = x[j]
            count += np.uint64(1) if x[j] <= bound and j != v - left else np.uint64(0)
        slope[: right - left] = 0.0
        value, pull = add_imprecision(near, close, np.int64(count), size, every, nearest, slope)
        total += value
        at_point[v] += pull
        _spread(tree, v, left, right, slope, at_point, at_node)
    return total


@helper
def _present(near: Any) -> Any:
    count = 0
    while count < len(near) and near[count] >= 0:
        count += 1
    return near[:count]


@kernel
def loss(tree: MeasuredSplits, window: Any, neighbors: Any, low: int, high: int, slack: float) -> float:
    """Return the sum of 1 - average precision over the points low ... high - 1. Ties all count."""
    widest = 0
    for v in range(low, high):
        widest = max(widest, window[1, v] - window[0, v])
    x = np.empty(widest)
    total = 0.0
    for v in range(low, high):
        near = _present(neighbors[v])
        left = window[0, v]
        right = window[1, v]
        _measure(tree, v, left, right, x)
        for u in near:
            here = x[u] + slack
            a = 0
            for w in near:
                if x[w] <= here:
                    a += 1
            b = -1  # v itself
            for j in range(right - left):
                if x[j] <= here:
                    b += 1
            total += (1.0 - a / b) / len(near)
    return total
