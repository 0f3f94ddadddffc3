"""Walks from separator to separator, and the place of a new point if its distances are those of a tree.

Let c be a node of the tree, and p a point in one of its arms. If the new point w belongs to
another arm, or to c itself, then d(w, p) - d(c, p) = d(w, c). If w belongs to the arm of p,
this difference is smaller, by 2 (w, p)_c. (Half the sum of two differences is a Gromov product
of TreeRep: the largest product omits the smallest difference.) So w moves to the arm with the
smallest difference, or stays at c if two arms tie. The next c is a separator of that arm.

Distances read on the way are kept in preorder. Going right (or left) from a node, the lowest
common ancestor of the node and the next point only rises. One pass therefore gives the
distances between a place and all points. Nodes are given by their preorder positions. The
ancestor with the lower position is closer to the root.
"""

from typing import Any, NamedTuple

import numpy as np

from .._core.kernel import helper
from ..metric.oracle.distance_kernels import _highest_bit, distances


class Readings(NamedTuple):
    """Distances between a new point and old points. All but the first two are in preorder."""

    keys: Any  # sort keys: preorder position of the old point and number of the reading
    raw: Any  # distances in the order of reading
    places: Any  # positions of the old points
    distances: Any
    joints: Any  # lowest common ancestor of each point and the next
    # distance minus the distance from the near end of the edge: see `_find_offsets`
    offsets: Any


@helper
def _walk(oracle: Any, w: int, separators: Any, k: int, margin: float, read: Any, count: int) -> Any:
    """Walk down, using the distances to the k-th point of each arm.

    Returns the node a (and b = -1) or the edge (a, b) at the end, the number of readings, and
    the spread. The spread measures how much the arms not taken disagree about the distance to
    the separator. The spread is 0 in a tree.
    """
    at = np.int64(separators.first)
    spread = 0.0
    position = separators.tree.position
    while True:
        lo = separators.starts[at]
        hi = separators.starts[at + 1]
        distances(oracle, w, separators.points[k], lo, hi - lo, read.raw, count)
        low = np.inf
        second = np.inf
        high = -np.inf
        best = lo
        for arm in range(lo, hi):
            p = separators.points[k, arm]
            d = read.raw[count]
            read.keys[count] = (np.int64(position[p]) << 32) | count
            count += 1
            value = d - separators.gaps[k, arm]
            high = max(high, value)
            if value < low:
                low, second, best = value, low, arm
            elif value < second:
                second = value
        if hi - lo > 1:
            spread = max(spread, high - second)
        neighbor = separators.neighbor[best]
        if hi - lo < 2 or second - low < margin or neighbor == at:
            return np.int64(position[at]), np.int64(-1), count, spread
        if separators.following[best] < 0:
            return np.int64(position[at]), np.int64(position[neighbor]), count, spread
        at = separators.following[best]


@helper
def _meeting(separators: Any, i: int, j: int) -> Any:
    """Return the lowest common ancestor of positions i <= j.

    The ancestor is the least parent of i + 1 ... j, found from two runs of 2^k positions.
    """
    if i == j:
        return np.int64(i)
    k = _highest_bit(j - i)
    return np.int64(min(separators.least[k, i + 1], separators.least[k, j + 1 - (1 << k)]))


@helper
def _path(separators: Any, i: int, j: int, top: int) -> float:
    """Return the length of the path between two nodes whose lowest common ancestor is `top`."""
    depth = separators.depth
    rest = separators.depth_rest
    return ((depth[i] - depth[top]) + (depth[j] - depth[top])) + (
        (rest[i] - rest[top]) + (rest[j] - rest[top])
    )


@helper
def _find_offsets(separators: Any, lower: int, upper: int, read: Any, count: int) -> Any:
    """Subtract the distances from the near end of the edge (lower, upper).

    Returns lo and hi: the points lo:hi are below the edge.
    """
    places = read.places
    distances = read.distances
    offsets = read.offsets
    lo = np.searchsorted(places[:count], lower)
    hi = np.searchsorted(places[:count], lower + separators.tree.size[lower])
    for i in range(lo, hi):
        offsets[i] = distances[i] - _path(separators, places[i], lower, lower)
    top = upper
    for i in range(hi, count):
        top = min(top, _meeting(separators, lower, places[i]) if i == hi else read.joints[i - 1])
        offsets[i] = distances[i] - _path(separators, places[i], upper, top)
    top = upper
    for i in range(lo - 1, -1, -1):
        top = min(top, _meeting(separators, places[i], lower) if i == lo - 1 else read.joints[i])
        offsets[i] = distances[i] - _path(separators, places[i], upper, top)
    return lo, hi


@helper
def _fit(separators: Any, a: int, b: int, read: Any, count: int, tol: float) -> Any:
    """Find the place at node a (b is -1) or on the edge (a, b) that the readings have in a tree.

    Returns the place (node, above, height), and whether all readings agree with it. Points p below
    the edge have d(w, p) - d(lower, p) = above + height. Points beyond the edge have d(w, p) -
    d(upper, p) = length - above + height.
    """
    lower = a
    upper = a
    length = 0.0
    if b >= 0:
        lower = max(a, b)
        upper = min(a, b)
        length = _path(separators, lower, upper, upper)
    lo, hi = _find_offsets(separators, lower, upper, read, count)
    # Average the differences from the first value, so that the mean of equal values is exact.
    first = read.offsets[lo] if lo < hi else 0.0
    other = read.offsets[0] if lo > 0 else (read.offsets[hi] if hi < count else 0.0)
    rise = 0.0
    other_rise = 0.0
    for i in range(count):
        if lo <= i < hi:
            rise += read.offsets[i] - first
        else:
            other_rise += read.offsets[i] - other
    below = hi - lo
    beyond = count - below
    from_below = first + rise / below if below > 0 else 0.0
    from_beyond = other + other_rise / beyond if beyond > 0 else 0.0
    above = min(max((length + from_below - from_beyond) / 2, 0.0), length)
    height = from_below - above
    far = from_beyond - (length - above)
    if beyond > 0:
        height = height + (far - height) * (beyond / count) if below > 0 else far
    height = max(height, 0.0)
    exact = True
    for i in range(count):
        left = read.offsets[i] - (above if lo <= i < hi else length - above) - height
        exact &= abs(left) < 2 * tol
    if above >= tol and length - above < tol:
        return upper, 0.0, height, exact
    return lower, above if above >= tol else 0.0, height, exact
