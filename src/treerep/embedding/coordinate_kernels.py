"""Compiled passes from local frames to direction and distance as seen from the root."""

import math
from typing import Any

import numpy as np

from ..common.kernel import helper, kernel
from ..metric.frame_kernels import across_angle


@kernel
def count_below(up: Any, size: Any, heavy: Any) -> None:
    """Number of nodes in the subtree of each position, and the child with most of them (-1: a leaf). O(N)."""
    for p in range(len(up)):
        size[p] = 1
        heavy[p] = -1
    for p in range(len(up) - 1, 0, -1):
        above = up[p]
        size[above] += size[p]
        if heavy[above] < 0 or size[p] >= size[heavy[above]]:
            heavy[above] = p


@kernel
def polar_coordinates(
    up: Any, turns: Any, lengths: Any, size: Any, heavy: Any, node: Any, directions: Any, radii: Any
) -> None:
    """Write direction at the root and distance from it of node[p] for every position p. O(N k^2).

    Depth first, the child with most nodes last. A node that waits keeps the k x k matrix which carries its frame along
    the geodesic to the root. It waits for subtrees of at most half its size, so only O(log N) nodes wait at a time.
    """
    dim = turns.shape[1]
    levels = 2 + int(math.log2(len(up)))
    carry, outward = np.zeros((levels, dim, dim)), np.zeros((levels, dim))  # outward: away from the root, in own frame
    waiting, child = np.zeros(levels, np.int64), np.zeros(levels, np.int64)
    side, beside, update = np.empty(dim), np.empty(dim), np.empty((3, dim))
    for c in range(dim):
        carry[0, c, c] = 1.0
        directions[node[0], c] = 0.0
    radii[node[0]] = 0.0
    child[0] = 1
    top = 0 if len(up) > 1 else -1
    while top >= 0:
        v, w = waiting[top], child[top]
        if w == heavy[v]:  # its turn comes last
            child[top] += size[w]
            continue
        last = w == v + size[v]
        if last:
            w = heavy[v]
        else:
            child[top] += size[w]
        r, at, to = radii[node[v]], directions[node[v]], directions[node[w]]
        turn = _turn(outward[top], turns, w, r == 0.0, side)
        for c in range(dim):
            beside[c] = 0.0
            for b in range(dim):
                beside[c] += carry[top, c, b] * side[b]
        if r == 0.0:  # no way yet to turn from: the edge itself is the way
            for c in range(dim):
                outward[top, c], at[c] = turns[w, c], 0.0
                for b in range(dim):
                    at[c] += carry[top, c, b] * turns[w, b]
        eta, gamma = _angles(r, lengths[w], turn)
        radii[node[w]] = across_angle(r, lengths[w], 0.5 * math.sqrt(turn[2]))
        total = 0.0
        for c in range(dim):
            to[c] = eta.real * at[c] + eta.imag * beside[c]
            total += to[c] * to[c]
        for c in range(dim):
            to[c] /= math.sqrt(total)
        if heavy[w] >= 0:
            below = top if last else top + 1
            psi = complex(turn[0], turn[1])
            _carry_on(carry, outward, top, below, turns, w, at, side, beside, psi, eta, gamma, update)
            waiting[below], child[below] = w, w + 1
            top = below
        elif last:
            top -= 1
        if r == 0.0:
            for c in range(dim):
                at[c] = 0.0


@helper
def _turn(outward: Any, turns: Any, w: Any, at_root: Any, side: Any) -> Any:
    """Return cos(psi), sin(psi) and 2 + 2 cos(psi) of the turn from outward to the edge of w, and write the `side`.

    d = cos(psi) outward + sin(psi) side.
    """
    dim = len(side)
    for c in range(dim):
        side[c] = 0.0
    if at_root:
        return 1.0, 0.0, 4.0
    before, behind, cosine = 0.0, 0.0, 0.0
    for c in range(dim):
        before += (outward[c] - turns[w, c]) ** 2
        behind += (outward[c] + turns[w, c]) ** 2
        cosine += outward[c] * turns[w, c]
    sine = 0.5 * math.sqrt(before) * math.sqrt(behind)
    if sine > 0.0:
        for c in range(dim):
            side[c] = (turns[w, c] - cosine * outward[c]) / sine
    return cosine, sine, behind


@helper
def _angles(r: Any, l: Any, turn: Any) -> Any:  # noqa: E741
    """Angles of the triangle root, v, w at the root (eta) and at w (gamma), each as cos + i sin.

    Its sides at v are r and l, and meet there in the angle pi - psi.
    """
    _, sine, behind = turn
    half_r, half_l = -0.5 * math.expm1(-2.0 * r), -0.5 * math.expm1(-2.0 * l)
    # sinh(third side) e^(i eta) = sinh(r - l) + sinh l cosh r (1 + cos psi) + i sinh l sin psi, divided by e^(r + l) / 2.
    eta = complex(2.0 * (half_r - half_l) + half_l * (1.0 - half_r) * behind, 2.0 * half_l * sine * math.exp(-r))
    gamma = complex(2.0 * (half_l - half_r) + half_r * (1.0 - half_l) * behind, 2.0 * half_r * sine * math.exp(-l))
    return _unit(eta), _unit(gamma)


@helper
def _unit(z: Any) -> Any:
    size = math.hypot(z.real, z.imag)
    return z / size if size > 0.0 else complex(1.0, 0.0)


@helper
def _carry_on(
    carry: Any, outward: Any, top: Any, below: Any, turns: Any, w: Any,
    at: Any, side: Any, beside: Any, psi: Any, eta: Any, gamma: Any, update: Any,
) -> None:  # fmt: skip
    """Matrix and outward direction of w from those of its parent; `update` (3, k) is scratch.

    Along the edge and on to the root, then turned in the plane of the triangle by its defect pi - (the three angles):
    that is the way along the geodesic from w itself.
    """
    dim = len(side)
    first, rest, on_straight, on_side = turns[w, 0], 0.0, 0.0, 0.0
    for c in range(1, dim):
        rest += turns[w, c] * turns[w, c]
        on_straight += turns[w, c] * outward[top, c]
        on_side += turns[w, c] * side[c]
    # The reflection x + n (n.x) / n_1 with n = d - e_1, as in metric/frame_kernels.py.
    back = first - 1.0 if first < 0.0 else -rest / (1.0 + first)
    inverse = 1.0 / back if back != 0.0 else 0.0
    on_straight = (on_straight + back * outward[top, 0]) * inverse
    on_side = (on_side + back * side[0]) * inverse
    tau = gamma * eta * psi.conjugate()
    out = psi * gamma.conjugate()
    total = 0.0
    for c in range(dim):
        normal = turns[w, c] if c else back
        ahead, aside = outward[top, c] + normal * on_straight, side[c] + normal * on_side
        update[0, c] = normal * inverse
        update[1, c] = (tau.real - 1.0) * ahead - tau.imag * aside
        update[2, c] = tau.imag * ahead + (tau.real - 1.0) * aside
        side[c] = out.real * ahead + out.imag * aside
        total += side[c] * side[c]
    for c in range(dim):
        outward[below, c] = side[c] / math.sqrt(total)
    for c in range(dim):
        # P n = P d - P e_1, where P d = cos(psi) at + sin(psi) beside.
        swing = psi.real * at[c] + psi.imag * beside[c] - carry[top, c, 0]
        for b in range(dim):
            carry[below, c, b] = (
                carry[top, c, b] + swing * update[0, b] + at[c] * update[1, b] + beside[c] * update[2, b]
            )
