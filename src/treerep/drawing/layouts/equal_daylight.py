"""Felsenstein's equal-daylight layout: seen from every inner node, the gaps between its branches are equal."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tree.structure.rooted import Preorder
from ...tree.tree import Tree
from ._passes import as_points, laid_flat, last_below, rooted_view
from .radial import equal_angles

# Rounds over the inner nodes, and the mean turn (radians) below which another one would not be
# seen.
_SWEEPS = 8
_SMALL_TURN = 0.01
# Nodes looked at in all, every look from one node being at all others: a few seconds.
_LOOKS = 2e7

Complex = NDArray[np.complex128]


class _Plan(NamedTuple):
    """What stays the same while branches are turned."""

    up: NDArray[np.int32]  # position of the parent; 0 at the root
    last: NDArray[np.int64]
    jumps: list[NDArray[np.int32]]  # 1, 2, 4, ... steps up
    children: NDArray[np.int64]  # of all positions, one family after the other
    starts: NDArray[np.int64]  # where each family begins


def equal_daylight(tree: Tree, *, root: int | str | None = None) -> NDArray[np.float64]:
    """Positions (N, 2) of all nodes: the radial layout, its branches turned until they fill the plane more evenly.

    From every inner node in turn, branches are rotated about it so that the angles between them
    that show no part of the tree are equal (J. Felsenstein, Inferring Phylogenies, 2004). Edges
    keep their exact lengths, and none cross. Each look takes time linear in the tree; in trees
    of more than about 2,000 nodes only the nodes whose branches are largest are looked at from,
    as many as a few seconds allow.

    >>> equal_daylight(Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 2.0])).shape
    (4, 2)
    """
    view = rooted_view(tree, root, merge=True)
    spots = equal_angles(view)
    plan = _plan(view)
    inner = _most_branched(plan)
    looks = _LOOKS / len(spots)
    for _ in range(_SWEEPS):
        chosen = inner[: max(int(looks), 1)]
        turned = sum(_share_daylight(spots, int(v), plan) for v in chosen)
        looks -= len(chosen)
        if looks <= 0 or turned <= _SMALL_TURN * len(chosen):
            break
    return as_points(laid_flat(spots)[view.position])


def _plan(view: Preorder) -> _Plan:
    up = np.maximum(view.up, 0)
    jumps = [up]
    while jumps[-1].any():
        jumps.append(jumps[-1][jumps[-1]])
    families = np.argsort(up[1:], kind="stable") + 1
    starts = np.searchsorted(up[families], np.arange(len(up) + 1))
    return _Plan(up, last_below(view), jumps[:-1], families, starts)


def _most_branched(plan: _Plan) -> NDArray[np.int64]:
    """Positions of the inner nodes, first those with most nodes outside their largest branch."""
    n = len(plan.up)
    size = plan.last - np.arange(n) + 1
    largest = n - size
    np.maximum.at(largest, plan.up[1:], size[1:])
    degree = np.diff(plan.starts) + (np.arange(n) > 0)
    order = np.argsort(largest, kind="stable")
    return order[degree[order] > 1]


def _share_daylight(spots: Complex, v: int, plan: _Plan) -> float:
    """Turn the branches below v so that all gaps around it are equal; return the mean turn."""
    children = plan.children[plan.starts[v] : plan.starts[v + 1]]
    stop = int(plan.last[v]) + 1
    seen = _angles_from(spots, v, children, plan)
    low, high = (reach.reduceat(seen[:stop], children) for reach in (np.minimum, np.maximum))
    wide = high - low
    outside = (
        np.concatenate([seen[:v], seen[stop:]]) if v else low[:1]
    )  # at the root the first branch stays
    daylight = 2 * np.pi - wide.sum() - np.ptp(outside)
    if daylight <= 0:
        return 0.0
    gap = daylight / (len(children) + (v > 0))
    begin = outside.max() + np.cumsum(wide + gap) - wide - (0.0 if v else gap)
    turn = np.remainder(begin - low + np.pi, 2 * np.pi) - np.pi
    around = np.repeat(np.exp(1j * turn), np.diff(children, append=stop))
    branches = slice(v + 1, stop)
    spots[branches] = spots[v] + (spots[branches] - spots[v]) * around
    return float(np.abs(turn).mean())


def _angles_from(
    spots: Complex, v: int, children: NDArray[np.int64], plan: _Plan
) -> NDArray[np.float64]:
    """Angles under which v sees all positions, continued along every branch: a branch may reach far around v."""
    away = spots - spots[v]
    away[v] = 1.0
    angle = np.angle(away)
    turns = np.rint(
        (angle[plan.up] - angle) / (2 * np.pi)
    )  # an edge is seen under less than half a turn
    turns[children] = turns[v] = 0.0
    for jump in plan.jumps:
        turns += turns[jump]
    return angle + 2 * np.pi * turns
