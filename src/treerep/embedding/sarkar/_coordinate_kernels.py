"""Kernels that convert local frames to directions and distances seen from the root."""

import math
from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel

_SMALL = 1e-18


@kernel
def heavy_children(up: Any, size: Any, heavy: Any) -> None:
    """Write the child with the largest subtree (the first if tied); -1 at leaves. O(N)."""
    heavy[:] = -1
    for p in range(len(up) - 1, 0, -1):
        above = up[p]
        if heavy[above] < 0 or size[p] >= size[heavy[above]]:
            heavy[above] = p


@kernel
def polar_coordinates(frames: Any, size: Any, heavy: Any, node: Any, directions: Any, radii: Any) -> None:
    """Write the direction of node[p] at the root and its distance from the root, for every p.

    O(N k^2).

    Visits nodes depth-first, and the child with the largest subtree last. A pending node keeps the
    k x k matrix that transports its frame along the geodesic to the root. A node is pending only
    while subtrees of at most half the size of its subtree are visited, so at most O(log N) nodes
    are pending at a time.
    """
    n, dim = frames.turns.shape
    levels = 2 + int(math.log2(n))
    # carry[level, b] is the direction at the root of the axis e_b of a pending node's frame.
    # outward is the direction away from the root, in the node's frame.
    carry = np.zeros((levels, dim, dim))
    outward = np.zeros((levels, dim))
    waiting = np.zeros(levels, np.int64)
    child = np.zeros(levels, np.int64)
    falls = np.ones((levels, 2))
    side = np.empty(dim)
    beside = np.empty(dim)
    update = np.empty((3, dim))
    for c in range(dim):
        carry[0, c, c] = 1.0
        directions[node[0], c] = 0.0
    radii[node[0]] = 0.0
    falls[0, 1] = 0.0
    child[0] = 1
    top = 0 if n > 1 else -1
    while top >= 0:
        v = waiting[top]
        w = child[top]
        if w == heavy[v]:  # visited last
            child[top] += size[w]
            continue
        last = w == v + size[v]
        if last:
            w = heavy[v]
        else:
            child[top] += size[w]
        r = radii[node[v]]
        psi, behind = _turn(outward, top, frames.turns, w, r == 0.0, side)
        if r == 0.0:  # at the root itself, the edge gives the direction
            for c in range(dim):
                outward[top, c] = frames.turns[w, c]
                directions[node[v], c] = 0.0
            for b in range(dim):
                for c in range(dim):
                    directions[node[v], c] += carry[top, b, c] * frames.turns[w, b]
        eta, gamma, part = _angles(
            falls[top, 0], falls[top, 1], frames.decay[w], frames.half[w], psi.imag, behind
        )
        radii[node[w]] = _third_side(r, frames.lengths[w], part)
        for c in range(dim):
            beside[c] = 0.0
        if heavy[w] >= 0 or eta.imag > _SMALL:  # far out, a turn is not visible from the root
            for b in range(dim):
                for c in range(dim):
                    beside[c] += carry[top, b, c] * side[b]
        total = 0.0
        for c in range(dim):
            directions[node[w], c] = eta.real * directions[node[v], c] + eta.imag * beside[c]
            total += directions[node[w], c] * directions[node[w], c]
        total = 1.0 / math.sqrt(total) if radii[node[w]] > 0.0 else 0.0
        for c in range(dim):
            directions[node[w], c] *= total
        if heavy[w] >= 0:
            below = top if last else top + 1
            _carry_on(
                carry,
                outward,
                top,
                below,
                frames.turns,
                w,
                directions,
                node[v],
                side,
                beside,
                psi,
                eta,
                gamma,
                update,
            )
            waiting[below] = w
            child[below] = w + 1
            falls[below, 0] = math.exp(-radii[node[w]])
            falls[below, 1] = -0.5 * math.expm1(-2.0 * radii[node[w]])
            top = below
        elif last:
            top -= 1
        if r == 0.0:
            for c in range(dim):
                directions[node[v], c] = 0.0


@helper
def _turn(outward: Any, top: Any, turns: Any, w: Any, at_root: Any, side: Any) -> Any:
    """Return the turn psi from outward to the edge of w as cos + i sin, and 2 + 2 cos(psi).

    Writes `side`, with d = cos(psi) outward + sin(psi) side.
    """
    dim = len(side)
    for c in range(dim):
        side[c] = 0.0
    if at_root:
        return complex(1.0, 0.0), 4.0
    before = 0.0
    behind = 0.0
    cosine = 0.0
    for c in range(dim):
        before += (outward[top, c] - turns[w, c]) ** 2
        behind += (outward[top, c] + turns[w, c]) ** 2
        cosine += outward[top, c] * turns[w, c]
    sine = 0.5 * math.sqrt(before * behind)
    if sine > 0.0:
        inverse = 1.0 / sine
        for c in range(dim):
            side[c] = (turns[w, c] - cosine * outward[top, c]) * inverse
    return complex(cosine, sine), behind


@helper
def _angles(decay_r: Any, half_r: Any, decay_l: Any, half_l: Any, sine: Any, behind: Any) -> Any:
    """Return angles eta at the root and gamma at w as cos + i sin, and 2 sinh(rw) / e^(r + l).

    The sides r and l of the triangle meet at v at the angle pi - psi. Each is given as e^-r and
    (1 - e^-2r) / 2.
    """
    # e^-2l - e^-2r, computed without loss of digits.
    gap = decay_l * decay_l - decay_r * decay_r if half_r + half_l > 0.5 else 2.0 * (half_r - half_l)
    # sinh(rw) e^(i eta) = sinh(r - l) + sinh l cosh r (1 + cos psi) + i sinh l sin psi, divided
    # by e^(r + l) / 2.
    x = gap + half_l * (1.0 - half_r) * behind
    y = 2.0 * half_l * sine * decay_r
    eta, size = _unit(x, y)
    # The same formula, with r and l exchanged.
    x = half_r * (1.0 - half_l) * behind - gap
    y = 2.0 * half_r * sine * decay_l
    gamma, _ = _unit(x, y)
    return eta, gamma, size


@helper
def _unit(x: Any, y: Any) -> Any:
    square = x * x + y * y
    size = math.sqrt(square) if square > 1e-280 else math.hypot(x, y)
    if size == 0.0:
        return complex(1.0, 0.0), 0.0
    return complex(x / size, y / size), size


@helper
def _third_side(r: Any, l: Any, part: Any) -> Any:  # noqa: E741
    if part == 0.0:
        return abs(r - l)
    log_size = r + l + math.log(part)
    if log_size > 40.0:
        return log_size
    return math.asinh(0.5 * (part * math.exp(r + l) if r + l < 600.0 else math.exp(log_size)))


@helper
def _carry_on(
    carry: Any,
    outward: Any,
    top: Any,
    below: Any,
    turns: Any,
    w: Any,
    directions: Any,
    at: Any,
    side: Any,
    beside: Any,
    psi: Any,
    eta: Any,
    gamma: Any,
    update: Any,
) -> None:
    """Write the matrix and the outward direction of w, from those of its parent `at`.

    First transport along the edge and on to the root. Then rotate in the plane of the triangle
    by its defect, pi - (the three angles). The result is the transport along the geodesic from
    w. `update` (3, k) is scratch.
    """
    dim = len(side)
    first = turns[w, 0]
    rest = 0.0
    on_straight = 0.0
    on_side = 0.0
    for c in range(1, dim):
        rest += turns[w, c] * turns[w, c]
        on_straight += turns[w, c] * outward[top, c]
        on_side += turns[w, c] * side[c]
    # The reflection x + n (n.x) / n_1 with n = d - e_1, as in metric/oracle/step_kernels.py.
    back = first - 1.0 if first < 0.0 else -rest / (1.0 + first)
    inverse = 1.0 / back if back != 0.0 else 0.0
    on_straight = (on_straight + back * outward[top, 0]) * inverse
    on_side = (on_side + back * side[0]) * inverse
    tau = gamma * eta * psi.conjugate()
    out = psi * gamma.conjugate()
    total = 0.0
    for b in range(dim):
        normal = turns[w, b] if b else back
        ahead = outward[top, b] + normal * on_straight
        aside = side[b] + normal * on_side
        update[0, b] = normal * inverse
        update[1, b] = (tau.real - 1.0) * ahead - tau.imag * aside
        update[2, b] = tau.imag * ahead + (tau.real - 1.0) * aside
        side[b] = out.real * ahead + out.imag * aside
        total += side[b] * side[b]
    total = 1.0 / math.sqrt(total)
    for c in range(dim):
        outward[below, c] = side[c] * total
        # Direction of n at the root. This direction is computed from the components of n, however
        # short n is. Computed as the difference of two unit vectors, it would contain their
        # rounding errors. `swing`, 1 / length of n, would then amplify these errors from node to
        # node.
        side[c] = back * carry[top, 0, c]
        for b in range(1, dim):
            side[c] += turns[w, b] * carry[top, b, c]
    for b in range(dim):
        swing = update[0, b]
        straight = update[1, b]
        across = update[2, b]
        for c in range(dim):
            carry[below, b, c] = (
                carry[top, b, c] + side[c] * swing + directions[at, c] * straight + beside[c] * across
            )
