"""The compiled walk of a new point through a tree: from separator to separator, and the best of the places it finds.

What is asked on the way is kept in preorder. The lowest common ancestor of a node and the
points to its right (or left) only ever rises from one to the next, so one pass gives the
distances between a place and all of them. Nodes are known by their preorder positions here; of
two ancestors of a node, the one of lower position is the higher one.
"""

from typing import Any, NamedTuple

import numpy as np

from .._core.kernel import helper, kernel
from ..metric.oracle.distance_kernels import _highest_bit, distance, prefetch


class Asked(NamedTuple):
    """Distances of a new point that were looked at, and room for what follows from them."""

    keys: Any  # preorder position and number of the question, to sort by
    raw: Any  # distances as they were asked for
    places: Any  # from here on in preorder: positions of data points ...
    distances: Any
    weights: Any  # 1 / d^2: errors are relative ones
    joints: Any  # lowest common ancestor of each point and the next
    offsets: Any  # what each says about the way from the tree to the new point


@helper
def _walk(
    oracle: Any, w: int, signs: Any, k: int, margin: float, asked: Any, count: int
) -> Any:
    """Walk down past the data points k; return the node a or edge (a, b) at the end, the count, and the spread.

    The spread is how much the arms that were not taken disagree about the distance to the
    separator: 0 in a tree.
    """
    at = np.int64(signs.first)
    spread = 0.0
    position = signs.tree.position
    while True:
        lo = signs.starts[at]
        hi = signs.starts[at + 1]
        for arm in range(lo, hi):
            prefetch(oracle, w, signs.points[k, arm])
        low = np.inf
        second = np.inf
        high = -np.inf
        best = lo
        for arm in range(lo, hi):
            p = signs.points[k, arm]
            d = distance(oracle, w, p)
            asked.keys[count] = (np.int64(position[p]) << 32) | count
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
            return np.int64(position[at]), np.int64(-1), count, spread
        if signs.following[best] < 0:
            return np.int64(position[at]), np.int64(position[neighbor]), count, spread
        at = signs.following[best]


@helper
def _meeting(signs: Any, i: int, j: int) -> Any:
    """Lowest common ancestor of positions i <= j: the least parent of those in i + 1 ... j, from two runs of 2^k."""
    if i == j:
        return np.int64(i)
    k = _highest_bit(j - i)
    return np.int64(min(signs.least[k, i + 1], signs.least[k, j + 1 - (1 << k)]))


@helper
def _path(signs: Any, i: int, j: int, top: int) -> float:
    """Length of the path between two nodes whose lowest common ancestor is known: see `metric.kernels`."""
    depth = signs.depth
    rest = signs.depth_rest
    return ((depth[i] - depth[top]) + (depth[j] - depth[top])) + (
        (rest[i] - rest[top]) + (rest[j] - rest[top])
    )


@helper
def _put_in_order(signs: Any, asked: Any, count: int, unit: float, floor: float) -> int:
    """Sort what was asked by preorder; return the nearest of the points."""
    keys = asked.keys[:count]
    keys.sort()
    nearest = 0
    for i in range(count):
        place = keys[i] >> 32
        d = asked.raw[keys[i] & 0xFFFFFFFF]
        asked.places[i] = place
        asked.distances[i] = d
        weight = unit / max(d, floor)
        asked.weights[i] = weight * weight
        if i > 0:
            asked.joints[i - 1] = _meeting(signs, asked.places[i - 1], place)
        if d < asked.distances[nearest]:
            nearest = i
    for i in range(count):  # a second walk adds to what the first one asked
        keys[i] = (asked.places[i] << 32) | i
        asked.raw[i] = asked.distances[i]
    return asked.places[nearest]


@helper
def _find_offsets(signs: Any, lower: int, upper: int, asked: Any, count: int) -> Any:
    """Distances minus those from the near end of the edge (lower, upper); the points lo:hi lie below it."""
    places = asked.places
    distances = asked.distances
    offsets = asked.offsets
    lo = np.searchsorted(places[:count], lower)
    hi = np.searchsorted(places[:count], lower + signs.tree.size[lower])
    for i in range(lo, hi):
        offsets[i] = distances[i] - _path(signs, places[i], lower, lower)
    top = upper
    for i in range(hi, count):
        top = min(top, _meeting(signs, lower, places[i]) if i == hi else asked.joints[i - 1])
        offsets[i] = distances[i] - _path(signs, places[i], upper, top)
    top = upper
    for i in range(lo - 1, -1, -1):
        top = min(top, _meeting(signs, places[i], lower) if i == lo - 1 else asked.joints[i])
        offsets[i] = distances[i] - _path(signs, places[i], upper, top)
    return lo, hi


@helper
def _sums(asked: Any, lo: int, hi: int, base: float) -> Any:
    """Sum of the weights, and of the weighted offsets minus `base`."""
    total = 0.0
    rise = 0.0
    for i in range(lo, hi):
        total += asked.weights[i]
        rise += asked.weights[i] * (asked.offsets[i] - base)
    return total, rise


@helper
def _fit(signs: Any, a: int, b: int, asked: Any, count: int, scale: Any) -> Any:
    """Fit a place at node a (b is -1) or on the edge (a, b) to what was asked; return it, its error, and whether exact.

    Points p below the edge say that d(w, p) - d(lower, p) = above + height, those beyond it
    that d(w, p) - d(upper, p) = length - above + height.
    """
    lower = a
    upper = a
    length = 0.0
    tol = scale.tol
    if b >= 0:
        lower = max(a, b)
        upper = min(a, b)
        length = _path(signs, lower, upper, upper)
    lo, hi = _find_offsets(signs, lower, upper, asked, count)
    # Means are taken of differences from a first value, so that equal values have exactly that
    # mean.
    first = asked.offsets[lo] if lo < hi else 0.0
    below, rise = _sums(asked, lo, hi, first)
    other = asked.offsets[0] if lo > 0 else (asked.offsets[hi] if hi < count else 0.0)
    left_of, left_rise = _sums(asked, 0, lo, other)
    right_of, right_rise = _sums(asked, hi, count, other)
    beyond = left_of + right_of
    from_below = first + rise / below if below > 0 else 0.0
    from_beyond = other + (left_rise + right_rise) / beyond if beyond > 0 else 0.0
    above = min(max((length + from_below - from_beyond) / 2, 0.0), length)
    height = from_below - above
    far = from_beyond - (length - above)
    if beyond > 0:
        height = height + (far - height) * (beyond / (below + beyond)) if below > 0 else far
    height = max(height, 0.0)
    error = 0.0
    exact = True
    share = 1 / scale.unit
    for i in range(count):
        left = asked.offsets[i] - (above if lo <= i < hi else length - above) - height
        error += asked.weights[i] * (left * share) ** 2
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
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room),
    )
    ends = np.empty((walks + 1, 2), np.int64)
    floor = max(scale.tol, 1e-9 * scale.unit)
    for i in range(start, stop):
        w = shift + i
        exact = False
        error = np.inf
        ends[0, 0], ends[0, 1], count, spread = _walk(
            oracle, w, signs, 0, 2 * scale.ties, asked, 0
        )
        if spread < 8 * scale.tol:
            _put_in_order(signs, asked, count, scale.unit, floor)
            place = _fit(signs, ends[0, 0], ends[0, 1], asked, count, scale)
            node[i] = signs.tree.order[place[0]]
            exact = place[4]
            above[i] = place[1]
            height[i] = place[2]
        if exact:
            continue
        for k in range(1, walks):
            ends[k, 0], ends[k, 1], count, _ = _walk(
                oracle, w, signs, k, 2 * scale.ties, asked, count
            )
        # Close to an old point its own edge may fit better than where the walks ended.
        ends[walks, 0] = _put_in_order(signs, asked, count, scale.unit, floor)
        ends[walks, 1] = signs.least[0, ends[walks, 0]]
        for k in range(walks + 1):
            if _is_new(ends, k):
                place = _fit(signs, ends[k, 0], ends[k, 1], asked, count, scale)
                if k == 0 or place[3] < error:
                    node[i] = signs.tree.order[place[0]]
                    error = place[3]
                    above[i] = place[1]
                    height[i] = place[2]
