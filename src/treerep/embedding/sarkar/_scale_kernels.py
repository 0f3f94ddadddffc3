"""Kernels that bound how much shorter paths are in hyperbolic space than in the tree."""

import math
from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel

_LONG = 60.0  # beyond this length, e^-l is negligible compared with any angle


@helper
def _loss(sine2: Any, length: Any) -> Any:
    # If two sides a and l meet at an angle t, a + l - d grows with a, up to -ln(sin^2(t/2) +
    # e^-2l cos^2(t/2)).
    share = sine2 + (math.exp(-2.0 * length) * (1.0 - sine2) if length < _LONG else 0.0)
    return -math.log(share) if share > 0.0 else 2.0 * length


@helper
def _narrowed(sine: Any, less: Any) -> Any:
    """Return sin(max(0, t - less) / 2) for an angle t given by sin(t / 2)."""
    if less == 0.0:
        return sine
    return math.sin(max(0.0, math.asin(min(1.0, sine)) - 0.5 * less))


@kernel
def measure_angles(starts: Any, members: Any, turns: Any, most: Any, bend: Any, closest: Any) -> None:
    """Write sin(t / 2) for each edge's angle to its parent, and for the least angle below a head.

    The least angle is written if there are at most `most` edges. O(N k), and O(m^2 k) at a head
    with m edges.
    """
    dim = turns.shape[1]
    for v in range(len(starts) - 1):
        begin = starts[v]
        end = starts[v + 1]
        least = 4.0
        for e in range(begin, end):
            p = members[e]
            square = (1.0 + turns[p, 0]) ** 2
            for c in range(1, dim):
                square += turns[p, c] * turns[p, c]
            bend[p] = 0.5 * math.sqrt(square)
            for f in range(begin, e if end - begin <= most else begin):
                least = min(least, _square_between(turns, p, members[f]))
        closest[v] = 0.5 * math.sqrt(least)


@helper
def _square_between(turns: Any, p: Any, q: Any) -> Any:
    square = 0.0
    for c in range(turns.shape[1]):
        apart = turns[p, c] - turns[q, c]
        square += apart * apart
    return square


@kernel
def worst_path(
    scale: Any,
    slack: Any,
    starts: Any,
    members: Any,
    weights: Any,
    turns: Any,
    occupied: Any,
    bend: Any,
    closest: Any,
    most: Any,
) -> Any:
    """Bound the loss K of paths between data points: find the largest K - slack * scale * length.

    The hyperbolic distance of two data points at tree distance `length` is at least scale *
    length - K. Every turn of a path loses at most the `_loss` of its angle, reduced by how far
    an end may deviate from the direction of its edge. Seen along an edge of length l followed
    by a turn t, the end deviates by less than 2 atan(e^-l / tan(t / 2)).

    `occupied`: whether there are data points at each head; `bend`, `closest`: see
    `measure_angles`. O(N), and O(k m^2) at some of the heads with m <= `most` edges.
    """
    n = len(starts) - 1
    # For the paths that lead down from the upper end of an edge to a data point: the loss of
    # the worst path, its length, the largest deviation, and the length of the longest path (-1:
    # no path).
    lost = np.zeros(n)
    far = np.zeros(n)
    wide = np.zeros(n)
    deep = np.full(n, -1.0)
    worst = (0.0, np.inf)
    rate = slack * scale
    for v in range(n - 1, -1, -1):
        begin = starts[v]
        end = starts[v + 1]
        decay = math.exp(-scale * weights[v]) if begin < end and scale * weights[v] < _LONG else 0.0
        if occupied[v]:
            far[v] = deep[v] = weights[v]
        for e in range(begin, end):
            q = members[e]
            if deep[q] < 0.0:
                continue
            if occupied[v]:
                worst = _worse(worst, lost[q], far[q], rate)
            sine = _narrowed(bend[q], wide[q])
            loss = lost[q] + _loss(sine * sine, scale * weights[v])
            along = far[q] + weights[v]
            if deep[v] < 0.0 or loss - rate * along > lost[v] - rate * far[v]:
                lost[v] = loss
                far[v] = along
            deep[v] = max(deep[v], deep[q] + weights[v])
            if decay > 0.0 or sine == 0.0:
                wide[v] = max(
                    wide[v],
                    2.0 * math.atan2(decay * math.sqrt(max(0.0, 1.0 - sine * sine)), sine),
                )
        if end - begin < 2:
            continue
        bound = _worst_of_all(worst, members, begin, end, lost, far, wide, deep, rate, scale, closest[v])
        if end - begin > most:
            worst = bound
        elif bound[0] != worst[0] or bound[1] != worst[1]:
            worst = _worst_pair(worst, members, begin, end, turns, lost, far, wide, deep, rate, scale)
    return worst


@helper
def _worse(worst: Any, lost: Any, far: Any, rate: Any) -> Any:
    # A path without loss does not constrain the scale.
    return (lost, far) if lost > 0.0 and lost - rate * far > worst[0] - rate * worst[1] else worst


@helper
def _worst_pair(
    worst: Any,
    members: Any,
    begin: Any,
    end: Any,
    turns: Any,
    lost: Any,
    far: Any,
    wide: Any,
    deep: Any,
    rate: Any,
    scale: Any,
) -> Any:
    for e in range(begin, end):
        for f in range(begin, e):
            p = members[e]
            q = members[f]
            if deep[p] >= 0.0 and deep[q] >= 0.0:
                sine = _narrowed(0.5 * math.sqrt(_square_between(turns, p, q)), wide[p] + wide[q])
                loss = lost[p] + lost[q] + _loss(sine * sine, scale * min(deep[p], deep[q]))
                worst = _worse(worst, loss, far[p] + far[q], rate)
    return worst


@helper
def _worst_of_all(
    worst: Any,
    members: Any,
    begin: Any,
    end: Any,
    lost: Any,
    far: Any,
    wide: Any,
    deep: Any,
    rate: Any,
    scale: Any,
    closest: Any,
) -> Any:
    """Bound the loss as if the two worst paths below a node used the two edges with the least angle."""
    first = second = -1
    widest = wider = deepest = deeper = 0.0
    for e in range(begin, end):
        p = members[e]
        if deep[p] < 0.0:
            continue
        badness = lost[p] - rate * far[p]
        if first < 0 or badness > lost[first] - rate * far[first]:
            first, second = p, first
        elif second < 0 or badness > lost[second] - rate * far[second]:
            second = p
        widest, wider = max(widest, wide[p]), max(wider, min(widest, wide[p]))
        deepest, deeper = max(deepest, deep[p]), max(deeper, min(deepest, deep[p]))
    if second < 0:
        return worst
    sine = _narrowed(closest, widest + wider)
    loss = lost[first] + lost[second] + _loss(sine * sine, scale * deeper)
    return _worse(worst, loss, far[first] + far[second], rate)
