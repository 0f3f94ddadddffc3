"""The compiled walk of a new point through a tree: from separator to separator, and the best of the places it finds.

What is asked on the way is kept in preorder. The lowest common ancestor of a node and the points to its right (or left)
only ever rises from one to the next, so one pass gives the distances between a place and all of them.
"""

from typing import Any, NamedTuple

import numpy as np

from ..common.kernel import helper, kernel
from ..metric.kernels import distance, lowest_common_ancestor, prefetch


class Asked(NamedTuple):
    """Distances of a new point that were looked at, and room for what follows from them."""

    keys: Any  # preorder position and number of the question, to sort by
    raw: Any  # distances as they were asked for
    points: Any  # from here on in preorder: data points ...
    distances: Any
    weights: Any  # 1 / d^2: errors are relative ones
    joints: Any  # lowest common ancestor of each point and the next
    offsets: Any  # what each says about the way from the tree to the new point


@helper
def _walk(oracle: Any, w: int, signs: Any, k: int, margin: float, asked: Any, count: int) -> Any:
    """Walk down past the data points k; return the node a or edge (a, b) at the end, the count, and the spread.

    The spread is how much the arms that were not taken disagree about the distance to the separator: 0 in a tree.
    """
    at, spread = np.int64(signs.first), 0.0
    while True:
        lo, hi = signs.starts[at], signs.starts[at + 1]
        for arm in range(lo, hi):
            prefetch(oracle, w, signs.points[k, arm])
        low, second, high, best = np.inf, np.inf, -np.inf, lo
        for arm in range(lo, hi):
            p = signs.points[k, arm]
            d = distance(oracle, w, p)
            asked.keys[count] = (signs.position[p] << 32) | count
            asked.raw[count] = d
            count += 1
            value = d - signs.gaps[k, arm]
            high = max(high, value)
            if value < low:
                low, second, best = value, low, arm
            elif value < second:
                second = value
        if hi - lo > 1:
            spread = max(spread, high - second)
        neighbor = signs.neighbor[best]
        if hi - lo < 2 or second - low < margin or neighbor == at:
            return at, np.int64(-1), count, spread
        if signs.following[best] < 0:
            return at, neighbor, count, spread
        at = signs.following[best]


@helper
def _put_in_order(tree: Any, signs: Any, asked: Any, count: int, unit: float, floor: float) -> Any:
    """Sort what was asked by preorder; return the nearest of the points."""
    keys = asked.keys[:count]
    keys.sort()
    nearest = 0
    for i in range(count):
        p, d = signs.order[keys[i] >> 32], asked.raw[keys[i] & 0xFFFFFFFF]
        asked.points[i], asked.distances[i] = p, d
        weight = unit / max(d, floor)
        asked.weights[i] = weight * weight
        if i > 0:
            asked.joints[i - 1] = lowest_common_ancestor(tree, asked.points[i - 1], p)
        if d < asked.distances[nearest]:
            nearest = i
    for i in range(count):  # a second walk adds to what the first one asked
        keys[i] = (keys[i] >> 32) << 32 | i
        asked.raw[i] = asked.distances[i]
    return asked.points[nearest]


@helper
def _path(tree: Any, i: int, j: int, top: int) -> float:
    """Length of the path between two nodes whose lowest common ancestor is known: see `metric.kernels`."""
    depth, rest = tree.depth, tree.depth_rest
    return ((depth[i] - depth[top]) + (depth[j] - depth[top])) + ((rest[i] - rest[top]) + (rest[j] - rest[top]))


@helper
def _find_offsets(tree: Any, signs: Any, lower: int, upper: int, asked: Any, count: int) -> Any:
    """Distances minus those from the near end of the edge (lower, upper); the points lo:hi lie below it."""
    points, distances, offsets, keys = asked.points, asked.distances, asked.offsets, asked.keys[:count]
    lo = np.searchsorted(keys, signs.position[lower] << 32)
    hi = np.searchsorted(keys, signs.end[lower] << 32)
    for i in range(lo, hi):
        offsets[i] = distances[i] - _path(tree, points[i], lower, lower)
    top = upper
    for i in range(hi, count):
        meeting = np.int64(lowest_common_ancestor(tree, lower, points[i])) if i == hi else asked.joints[i - 1]
        if tree.level[meeting] < tree.level[top]:
            top = meeting
        offsets[i] = distances[i] - _path(tree, points[i], upper, top)
    top = upper
    for i in range(lo - 1, -1, -1):
        meeting = np.int64(lowest_common_ancestor(tree, lower, points[i])) if i == lo - 1 else asked.joints[i]
        if tree.level[meeting] < tree.level[top]:
            top = meeting
        offsets[i] = distances[i] - _path(tree, points[i], upper, top)
    return lo, hi


@helper
def _sums(asked: Any, lo: int, hi: int, base: float) -> Any:
    """Sum of the weights, and of the weighted offsets minus `base`."""
    total, rise = 0.0, 0.0
    for i in range(lo, hi):
        total += asked.weights[i]
        rise += asked.weights[i] * (asked.offsets[i] - base)
    return total, rise


@helper
def _fit(tree: Any, signs: Any, a: int, b: int, asked: Any, count: int, scale: Any) -> Any:
    """Fit a place at node a (b is -1) or on the edge (a, b) to what was asked; return it, its error, and whether exact.

    Points p below the edge say that d(w, p) - d(lower, p) = above + height, those beyond it that
    d(w, p) - d(upper, p) = length - above + height.
    """
    lower, upper, length, tol = a, a, 0.0, scale.tol
    if b >= 0:
        length = distance(tree, a, b)
        lower, upper = (a, b) if signs.position[a] > signs.position[b] else (b, a)
    lo, hi = _find_offsets(tree, signs, lower, upper, asked, count)
    # Means are taken of differences from a first value, so that equal values have exactly that mean.
    first = asked.offsets[lo] if lo < hi else 0.0
    below, rise = _sums(asked, lo, hi, first)
    other = asked.offsets[0] if lo > 0 else (asked.offsets[hi] if hi < count else 0.0)
    left_of, left_rise = _sums(asked, 0, lo, other)
    right_of, right_rise = _sums(asked, hi, count, other)
    beyond = left_of + right_of
    from_below = first + rise / below if below > 0 else 0.0
    from_beyond = other + (left_rise + right_rise) / beyond if beyond > 0 else 0.0
    above = min(max((length + from_below - from_beyond) / 2, 0.0), length)
    height, far = from_below - above, from_beyond - (length - above)
    if beyond > 0:
        height = height + (far - height) * (beyond / (below + beyond)) if below > 0 else far
    height = max(height, 0.0)
    error, exact = 0.0, True
    for i in range(count):
        left = asked.offsets[i] - (above if lo <= i < hi else length - above) - height
        error += asked.weights[i] * (left / scale.unit) ** 2
        exact &= abs(left) < 2 * tol
    if above >= tol and length - above < tol:
        return upper, 0.0, height, error, exact
    return lower, above if above >= tol else 0.0, height, error, exact


@helper
def _is_new(ends: Any, k: int) -> bool:
    for i in range(k):
        same = ends[i, 0] == ends[k, 0] and ends[i, 1] == ends[k, 1]
        if same or (ends[i, 0] == ends[k, 1] and ends[i, 1] == ends[k, 0]):
            return False
    return True


@kernel
def find_places(
    oracle: Any,
    shift: int,
    tree: Any,
    signs: Any,
    start: int,
    stop: int,
    scale: Any,
    node: Any,
    above: Any,
    height: Any,
) -> None:
    """Places of the new points start ... stop-1 into the last three; new point i is shift + i to the oracle."""
    walks = len(signs.points)
    room = walks * signs.most
    asked = Asked(
        np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64), np.empty(room), np.empty(room),
        np.empty(room, np.int64), np.empty(room),
    )  # fmt: skip
    ends = np.empty((walks + 1, 2), np.int64)
    floor = max(scale.tol, 1e-9 * scale.unit)
    for i in range(start, stop):
        w, exact, error = shift + i, False, np.inf
        ends[0, 0], ends[0, 1], count, spread = _walk(oracle, w, signs, 0, 2 * scale.ties, asked, 0)
        if spread < 8 * scale.tol:
            _put_in_order(tree, signs, asked, count, scale.unit, floor)
            place = _fit(tree, signs, ends[0, 0], ends[0, 1], asked, count, scale)
            node[i], above[i], height[i], exact = place[0], place[1], place[2], place[4]
        if exact:
            continue
        for k in range(1, walks):
            ends[k, 0], ends[k, 1], count, _ = _walk(oracle, w, signs, k, 2 * scale.ties, asked, count)
        # Close to an old point its own edge may fit better than where the walks ended.
        ends[walks, 0] = _put_in_order(tree, signs, asked, count, scale.unit, floor)
        ends[walks, 1] = tree.parent[ends[walks, 0]]
        for k in range(walks + 1):
            if _is_new(ends, k):
                place = _fit(tree, signs, ends[k, 0], ends[k, 1], asked, count, scale)
                if k == 0 or place[3] < error:
                    node[i], above[i], height[i], error = place[0], place[1], place[2], place[3]
