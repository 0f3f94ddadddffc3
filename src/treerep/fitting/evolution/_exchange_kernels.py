"""Kernels of minimum evolution that exchange neighboring subtrees while the tree gets shorter.

`_minimum_evolution_kernels` describes the form of the tree.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel
from ._minimum_evolution_kernels import (
    Sides,
    Workspace,
    _averages_between,
    _saving,
    _share_of,
)


@kernel
def exchange_best(
    sides: Sides,
    matrix: Any,
    workspace: Workspace,
    least: float,
    balanced: bool,
    limit: int,
    budget: int,
) -> int:
    """Repeat the exchange that saves the most, while an exchange saves more than `least`.

    Returns the number of exchanges. Returns early after `limit` exchanges, or after about
    `budget` distances have been read.
    """
    made = 0
    while made < limit and budget > 0:
        most = least
        edge = -1
        slot = 0
        for candidate in range(len(sides.cross)):
            if sides.point[2 * candidate] < 0 and sides.point[2 * candidate + 1] < 0:
                for c in range(2):
                    saved = _exchange_saves(sides, candidate, c, balanced)
                    if saved > most:
                        most = saved
                        edge = candidate
                        slot = c
        if edge < 0:
            break
        budget -= len(matrix) * (10 + _exchange(sides, matrix, workspace, edge, slot, balanced))
        made += 1
    return made


@helper
def _exchange_saves(sides: Sides, edge: int, slot: int, balanced: bool) -> float:
    """Return how much shorter an exchange makes the tree.

    Child `slot` of side 2 edge trades places with child 0 of side 2 edge + 1.
    """
    size = sides.size
    pair = sides.pair
    cross = sides.cross
    c = sides.child[2 * edge, slot]
    d = sides.child[2 * edge, 1 - slot]
    b = sides.child[2 * edge + 1, 0]
    a = sides.child[2 * edge + 1, 1]
    return _saving(
        balanced,
        pair[2 * edge + 1],
        pair[2 * edge],
        cross[edge, slot, 1],
        cross[edge, 1 - slot, 0],
        cross[edge, 1 - slot, 1],
        cross[edge, slot, 0],
        size[a],
        size[b],
        size[c],
        size[d],
    )


@helper
def _exchange(sides: Sides, matrix: Any, workspace: Workspace, edge: int, slot: int, balanced: bool) -> int:
    """Turn AB|CD into AC|BD; return the number of rows read.

    A is the side with point 0, so even sides stay even.
    """
    child = sides.child
    size = sides.size
    pair = sides.pair
    cross = sides.cross
    low = 2 * edge
    up = 2 * edge + 1
    c = child[low, slot]
    d = child[low, 1 - slot]
    b = child[up, 0]
    a = child[up, 1]
    ab = pair[up]
    cd = pair[low]
    ac = cross[edge, slot, 1]
    ad = cross[edge, 1 - slot, 1]
    bc = cross[edge, slot, 0]
    bd = cross[edge, 1 - slot, 0]

    starts = np.empty(5, np.int64)
    rows = _averages_between(sides, matrix, len(matrix), (a, d, b, c), workspace, starts, balanced)
    for k in range(4):
        _spread_exchange(sides, workspace, starts[k], starts[k + 1], k % 2, balanced)
    _turn(sides, workspace, a, b, c, d, 0, low, low, balanced)
    _turn(sides, workspace, d, c, b, a, 1, up, up, balanced)
    _turn(sides, workspace, b, a, d, c, 0, low, up, balanced)
    _turn(sides, workspace, c, d, a, b, 1, up, low, balanced)

    child[low, slot] = b
    child[up, 0] = c
    size[low], size[up] = size[b] + size[d], size[a] + size[c]
    pair[low] = bd
    pair[up] = ac
    cross[edge, slot, 0] = bc
    cross[edge, slot, 1] = ab
    cross[edge, 1 - slot, 0] = cd
    cross[edge, 1 - slot, 1] = ad
    b_share = _share_of(sides, b, d, balanced)
    a_share = _share_of(sides, a, c, balanced)
    pair[a ^ 1] = b_share * bc + (1.0 - b_share) * cd
    pair[c ^ 1] = b_share * ab + (1.0 - b_share) * ad
    pair[b ^ 1] = a_share * ad + (1.0 - a_share) * cd
    pair[d ^ 1] = a_share * ab + (1.0 - a_share) * bc
    return rows


@helper
def _spread_exchange(
    sides: Sides, workspace: Workspace, first: int, last: int, sibling: int, balanced: bool
) -> None:
    """Update the sides within one of four subtrees whose sibling and uncle traded places."""
    if not balanced:
        return  # sibling and uncle are in the same sides as before
    for k in range(first, last):
        side = workspace.order[k]
        if sides.point[side] < 0:
            for slot in range(2):
                one = sides.child[side, slot]
                two = sides.child[side, 1 - slot]
                # In the rest of the tree, the weight of the sibling falls from 1/2 to 1/4, and
                # that of the uncle rises from 1/4 to 1/2.
                weight = 0.25 * workspace.share[side]
                sides.pair[two ^ 1] += weight * (workspace.to[one, 1 - sibling] - workspace.to[one, sibling])
                if sides.point[one] < 0:
                    back = 0 if sides.child[one ^ 1, 0] == side ^ 1 else 1
                    for k_inner in range(2):
                        inner = sides.child[one, k_inner]
                        more = weight * (workspace.to[inner, 1 - sibling] - workspace.to[inner, sibling])
                        _put_cross(
                            sides,
                            one,
                            k_inner,
                            back,
                            _cross_of(sides, one, k_inner, back) + more,
                        )


@helper
def _turn(
    sides: Sides,
    workspace: Workspace,
    part: int,
    sibling: int,
    uncle: int,
    mate: int,
    t: int,
    far: int,
    new_far: int,
    balanced: bool,
) -> None:
    """Update one of four subtrees whose uncle becomes its sibling.

    The averages between the children of this subtree and both ends of the edge are also updated.
    Before the exchange, the rest of the tree consists of the sibling and, at the far end of the
    edge, the uncle and the mate. Afterwards it consists of the uncle and, at the far end, the
    sibling and the mate. `workspace.to` has the averages to the sibling (t) and the uncle (1 - t).
    """
    rest = part ^ 1
    slot = 0 if sides.child[rest, 0] == far else 1
    new_slot = new_far & 1  # the odd child of an odd side is the second
    was = _share_of(sides, mate, uncle, balanced)
    now = _share_of(sides, mate, sibling, balanced)
    if sides.point[part] < 0:
        for k in range(2):
            to_sibling = workspace.to[sides.child[part, k], t]
            to_uncle = workspace.to[sides.child[part, k], 1 - t]
            to_mate = (_cross_of(sides, part, k, slot) - (1.0 - was) * to_uncle) / was
            _put_cross(sides, part, k, new_slot, now * to_mate + (1.0 - now) * to_sibling)
            _put_cross(sides, part, k, 1 - new_slot, to_uncle)
    sides.child[rest, new_slot] = new_far
    sides.child[rest, 1 - new_slot] = uncle


@helper
def _cross_of(sides: Sides, side: int, k: int, other: int) -> float:
    """Return the average between child k of a side and child `other` at the other end."""
    return sides.cross[side // 2, other, k] if side & 1 else sides.cross[side // 2, k, other]


@helper
def _put_cross(sides: Sides, side: int, k: int, other: int, value: float) -> None:
    """Set the value that `_cross_of` returns."""
    if side & 1:
        sides.cross[side // 2, other, k] = value
    else:
        sides.cross[side // 2, k, other] = value
