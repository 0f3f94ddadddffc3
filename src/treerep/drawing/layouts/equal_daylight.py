"""Felsenstein's equal-daylight layout: equal gaps between the branches of each node."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tree.structure.rooted import Preorder
from ...tree.tree import Tree
from .._arrays import ComplexArray, FloatArray, IntArray
from ._passes import as_points, last_below, rooted_view, turn_flat
from .radial import equal_angles

_SWEEPS = 8  # rounds over the internal nodes
_SMALL_TURN = 0.01  # mean turn in radians below which another round is not visible
# Maximum number of angles measured in total, which takes a few seconds.
_MOST_ANGLES = 2e7


class _Branches(NamedTuple):
    """The tree structure, which does not change while branches are rotated."""

    up: NDArray[np.int32]  # position of the parent; 0 at the root
    last: IntArray
    jumps: list[NDArray[np.int32]]  # ancestors 1, 2, 4, ... steps up
    children: IntArray  # children of all positions, family by family
    starts: IntArray  # start of each family


def equal_daylight(tree: Tree, *, root: int | str | None = None) -> FloatArray:
    """Return positions (N, 2): the radial layout with branches rotated to fill the plane.

    The branches of each internal node in turn are rotated until the empty angles between them
    are equal (J. Felsenstein, Inferring Phylogenies, 2004). Edges keep their exact lengths and
    do not cross. Each node takes time linear in the size of the tree. In trees of more than
    about 2,000 nodes, only the nodes with the largest branches are processed, for a few
    seconds.

    >>> equal_daylight(Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 2.0])).shape
    (4, 2)
    """
    view = rooted_view(tree, root, merge=True)
    spots = equal_angles(view)
    branches = _branches(view)
    inner = _most_branched(branches)
    nodes_left = _MOST_ANGLES / len(spots)
    for _ in range(_SWEEPS):
        chosen = inner[: max(int(nodes_left), 1)]
        turned = sum(_share_daylight(spots, int(v), branches) for v in chosen)
        nodes_left -= len(chosen)
        if nodes_left <= 0 or turned <= _SMALL_TURN * len(chosen):
            break
    return as_points(turn_flat(spots)[view.position])


def _branches(view: Preorder) -> _Branches:
    up = np.maximum(view.up, 0)
    jumps = [up]
    while jumps[-1].any():
        jumps.append(jumps[-1][jumps[-1]])
    families = np.argsort(up[1:], kind="stable") + 1
    starts = np.searchsorted(up[families], np.arange(len(up) + 1))
    return _Branches(up, last_below(view), jumps[:-1], families, starts)


def _most_branched(branches: _Branches) -> IntArray:
    """Return the internal nodes, those with the most nodes outside their largest branch first."""
    n = len(branches.up)
    size = branches.last - np.arange(n) + 1
    largest = n - size
    np.maximum.at(largest, branches.up[1:], size[1:])
    degree = np.diff(branches.starts) + (np.arange(n) > 0)
    order = np.argsort(largest, kind="stable")
    return order[degree[order] > 1]


def _share_daylight(spots: ComplexArray, v: int, branches: _Branches) -> float:
    """Rotate the branches below v until all gaps around v are equal. Return the mean turn."""
    children = branches.children[branches.starts[v] : branches.starts[v + 1]]
    stop = int(branches.last[v]) + 1
    seen = _angles_from(spots, v, children, branches)
    low = np.minimum.reduceat(seen[:stop], children)
    high = np.maximum.reduceat(seen[:stop], children)
    wide = high - low
    # The branch above v is fixed; at the root, the first branch is fixed.
    outside = np.concatenate([seen[:v], seen[stop:]]) if v else low[:1]
    daylight = 2 * np.pi - wide.sum() - np.ptp(outside)
    if daylight <= 0:
        return 0.0
    gap = daylight / (len(children) + (v > 0))
    begin = outside.max() + np.cumsum(wide + gap) - wide - (0.0 if v else gap)
    turn = np.remainder(begin - low + np.pi, 2 * np.pi) - np.pi
    around = np.repeat(np.exp(1j * turn), np.diff(children, append=stop))
    below = slice(v + 1, stop)
    spots[below] = spots[v] + (spots[below] - spots[v]) * around
    return float(np.abs(turn).mean())


def _angles_from(spots: ComplexArray, v: int, children: IntArray, branches: _Branches) -> FloatArray:
    """Return the angles of all positions around v, continued along every branch.

    A branch may wrap around v, so angles may exceed half a turn.
    """
    away = spots - spots[v]
    away[v] = 1.0
    angle = np.angle(away)
    # The angle changes by less than half a turn along an edge.
    turns = np.rint((angle[branches.up] - angle) / (2 * np.pi))
    turns[children] = turns[v] = 0.0
    for jump in branches.jumps:
        turns += turns[jump]
    return angle + 2 * np.pi * turns
