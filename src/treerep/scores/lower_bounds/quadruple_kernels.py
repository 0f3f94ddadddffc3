"""Search for the quadruple that is farthest from a tree.

The value of a quadruple is S1 - S2, or S1 / S2 if `ratio`, for its largest and second largest sum
of opposite distances. Quadruples that prove nothing have the value 0.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel


@helper
def _value(one: float, two: float, three: float, ratio: bool, margin: float) -> float:
    """Return the value of three sums, and 0 if one of them is NaN."""
    total = one + two + three
    if not total >= 0.0:
        return 0.0
    largest = max(one, two, three)
    # the median
    second = max(min(one, two), min(max(one, two), three))
    largest *= 1.0 - margin
    if not ratio:
        return max(largest - second, 0.0)
    return largest / second


@helper
def _quadruple(x: float, y: float, z: float, u: float, v: float, w: float) -> bool:
    """Return whether all six distances are positive: pairs at distance 0 have no ratio."""
    return min(min(x, y, z), min(u, v, w)) > 0.0


@kernel
def search_all(distances: Any, ratio: bool, margin: float) -> Any:
    """Return the largest value over all quadruples, and its four points."""
    n = len(distances)
    best = 0.0
    witness = np.zeros(4, np.int64)
    for a in range(n):
        for b in range(a):
            ab = distances[a, b]
            for c in range(b):
                ac = distances[a, c]
                bc = distances[b, c]
                for d in range(c):
                    ad = distances[a, d]
                    bd = distances[b, d]
                    cd = distances[c, d]
                    if ratio and not _quadruple(ab, ac, ad, bc, bd, cd):
                        continue
                    value = _value(ab + cd, ac + bd, ad + bc, ratio, margin)
                    if value > best:
                        best = value
                        witness[0] = d
                        witness[1] = c
                        witness[2] = b
                        witness[3] = a
    return best, witness


@kernel
def search_triples(distances: Any, ratio: bool, margin: float) -> Any:
    """Return the largest value over all triples, and its three points.

    The value is by how much, or by what ratio, the longest side exceeds the sum of the others.
    """
    best = 0.0
    witness = np.zeros(3, np.int64)
    for a in range(len(distances)):
        for b in range(a):
            ab = distances[a, b]
            for c in range(b):
                ac = distances[a, c]
                bc = distances[b, c]
                longest = max(ab, ac, bc)
                middle = max(min(ab, ac), min(max(ab, ac), bc))
                others = middle + min(ab, ac, bc)
                bound = longest * (1.0 - margin)
                if not ratio:
                    value = bound - others
                elif min(ab, ac, bc) > 0.0:
                    value = bound / others
                else:
                    value = 0.0
                # false for NaN
                if value > best:
                    best = value
                    witness[0] = c
                    witness[1] = b
                    witness[2] = a
    return best, witness


@kernel
def best_fourth(rows: Any, points: Any, ratio: bool, margin: float) -> Any:
    """Return the largest value of three points with any fourth point, and that point.

    `rows` holds the distances of the three points to all points.
    """
    ab = rows[0, points[1]]
    ac = rows[0, points[2]]
    bc = rows[1, points[2]]
    best = 0.0
    fourth = -1
    for d in range(rows.shape[1]):
        if d == points[0] or d == points[1] or d == points[2]:
            continue
        ad = rows[0, d]
        bd = rows[1, d]
        cd = rows[2, d]
        if ratio and not _quadruple(ab, ac, ad, bc, bd, cd):
            continue
        value = _value(ab + cd, ac + bd, ad + bc, ratio, margin)
        if value > best:
            best = value
            fourth = d
    return best, fourth


@kernel
def climb(distances: Any, starts: Any, ratio: bool, margin: float) -> Any:
    """Improve quadruples by exchanging one point at a time. Return the best value and points."""
    best = 0.0
    witness = starts[0].copy()
    rows = np.empty((3, len(distances)))
    others = np.empty(3, np.int64)
    for s in range(len(starts)):
        points = starts[s].copy()
        value = 0.0
        unchanged = 0
        place = 0
        while unchanged < 4:
            for k in range(3):
                others[k] = points[(place + 1 + k) % 4]
                rows[k] = distances[others[k]]
            found, fourth = best_fourth(rows, others, ratio, margin)
            if found > value:
                value = found
                points[place] = fourth
                unchanged = 0
            else:
                unchanged += 1
            place = (place + 1) % 4
        if value > best:
            best = value
            witness[:] = points
    return best, witness
