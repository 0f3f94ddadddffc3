"""Steps from frame to frame of a tree in hyperbolic space, accurate at any size.

Sarkar's construction is determined by local data: the length of each edge and its direction in
the frame of its upper node. In the frame of a node, the parent is in direction -e_1. Along an
edge in direction d, the reflection that swaps d and e_1 carries one frame to the next.

A view is the position of a node x in the frame of another node: a row (s, g, L) of k + 2
numbers. Let a be the distance and u the unit direction of x. Then sinh(a) u = e^L s and g =
e^-2L, so that cosh(a) = e^L sqrt(g + |s|^2). All numbers except L stay near 1, so nothing
overflows, and s keeps the digits of small distances.
"""

import math
from typing import Any

from ..._core.kernel import helper

_TINY = 2.0**-80  # smaller squares are scaled up
_UP = 2.0**40
_LOG_UP = 40 * math.log(2.0)


@helper
def climb(view: Any, row: Any, turns: Any, edge: Any, length: Any, decay: Any, half: Any) -> None:
    """Transform a view from the lower end of an edge to its upper end."""
    _move(view, row, 1.0, length, decay, half)
    _reflect(view, row, turns, edge)


@helper
def descend(
    view: Any, upper: Any, lower: Any, turns: Any, edge: Any, length: Any, decay: Any, half: Any
) -> None:
    """Transform row `upper`, a view from the upper end of an edge, to row `lower` at its lower end."""
    for c in range(view.shape[1]):
        view[lower, c] = view[upper, c]
    _reflect(view, lower, turns, edge)
    _move(view, lower, -1.0, length, decay, half)


@helper
def _move(view: Any, row: Any, sign: Any, length: Any, decay: Any, half: Any) -> None:
    # Step back by l along sign * e_1: s_1' = sinh l cosh a + cosh l s_1, and the rest of s does
    # not change. Everything is divided by e^l. With c = cosh a, c + s_1 grows to e^l (c + s_1)
    # and c - s_1 shrinks to e^-l (c - s_1).
    dim = view.shape[1] - 2
    along = sign * view[row, 0]
    across = 0.0
    for c in range(1, dim):
        across += view[row, c] * view[row, c]
        view[row, c] *= decay
    beside = view[row, dim] + across
    whole = math.sqrt(beside + along * along)
    minus = whole - along
    square = decay * decay
    if square < 0.5:
        # If x lies behind, c + s_1 would cancel. Use (c + s_1) (c - s_1) = g + |rest of s|^2.
        plus = beside / minus if along < 0.0 else whole + along
        along = 0.5 * (plus - square * minus)
    else:
        along += half * minus
    view[row, 0] = sign * along
    view[row, dim] *= square
    view[row, dim + 1] += length
    size = along * along + square * beside
    while 0.0 < size < _TINY:
        for c in range(dim):
            view[row, c] *= _UP
        view[row, dim] *= _UP * _UP
        view[row, dim + 1] -= _LOG_UP
        size *= _UP * _UP


@helper
def _reflect(view: Any, row: Any, turns: Any, edge: Any) -> None:
    # x + n (n.x) / n_1 with n = d - e_1 swaps d and e_1. n_1 = d_1 - 1 is computed without
    # cancellation.
    dim = turns.shape[1]
    first = turns[edge, 0]
    dot = 0.0
    rest = 0.0
    for c in range(1, dim):
        rest += turns[edge, c] * turns[edge, c]
        dot += turns[edge, c] * view[row, c]
    if first >= 0.0 and rest == 0.0:  # straight ahead
        return
    back = first - 1.0 if first < 0.0 else -rest / (1.0 + first)
    dot += back * view[row, 0]
    view[row, 0] += dot
    dot /= back
    for c in range(1, dim):
        view[row, c] += dot * turns[edge, c]


@helper
def norm(view: Any, row: Any) -> Any:
    """Return |s| of a row, even if its square would underflow."""
    dim = view.shape[1] - 2
    total = 0.0
    largest = 0.0
    for c in range(dim):
        total += view[row, c] * view[row, c]
        largest = max(largest, abs(view[row, c]))
    if total > 1e-280 or largest == 0.0:
        return math.sqrt(total)
    total = 0.0
    for c in range(dim):
        total += (view[row, c] / largest) * (view[row, c] / largest)
    return largest * math.sqrt(total)


@helper
def reach(view: Any, row: Any) -> Any:
    """Return the distance of the node in a view: asinh(e^L |s|)."""
    log_size = view[row, view.shape[1] - 1]
    if log_size > 60.0:
        return log_size + math.log(2.0 * norm(view, row))
    return math.asinh(math.exp(log_size) * norm(view, row))


@helper
def across_angle(a: Any, b: Any, half_chord: Any) -> Any:
    """Return the third side of a triangle with sides a and b and the angle t between them, given sin(t / 2)."""
    # sinh^2(d/2) = sinh^2((a - b)/2) + sinh a sinh b sin^2(t/2): a sum without cancellation.
    total = a + b
    apart = abs(a - b)
    if total < 600.0:
        turn = math.sqrt(math.sinh(a)) * math.sqrt(math.sinh(b)) * half_chord
        return 2.0 * math.asinh(math.hypot(math.sinh(0.5 * apart), turn))
    # The same sum, divided by e^(a + b) / 4.
    radial = -math.expm1(-apart) * math.exp(0.5 * (apart - total))
    share = radial * radial + math.expm1(-2.0 * a) * math.expm1(-2.0 * b) * half_chord * half_chord
    if share == 0.0:
        return apart
    log_size = total + math.log(share)
    return log_size if log_size > 40.0 else 2.0 * math.asinh(0.5 * math.exp(0.5 * log_size))


@helper
def between(view: Any) -> Any:
    """Return the distance between the nodes in rows 0 and 1, two views from the same frame."""
    first = norm(view, 0)
    second = norm(view, 1)
    if first == 0.0 or second == 0.0:
        return reach(view, 0) + reach(view, 1)
    chord = 0.0
    for c in range(view.shape[1] - 2):
        part = view[0, c] / first - view[1, c] / second
        chord += part * part
    return across_angle(reach(view, 0), reach(view, 1), 0.5 * math.sqrt(chord))
