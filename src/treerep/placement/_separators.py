"""Signposts in a tree: where to go next at every node, so that half of what is left falls away."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tree.structure.rooted import Preorder, exact_depths, heads
from ..tree.tree import Tree

Indices = NDArray[np.int64]


class Signposts(NamedTuple):
    """The arms of every node v, starts[v]:starts[v + 1], with data points that stand for each.

    An arm leads to a neighbor of v; a data point is an arm of its own, too. Arms without data
    points are left out.
    """

    first: int  # the node to begin with
    starts: Indices
    neighbor: Indices  # v itself for the arm of its own
    following: (
        Indices  # which node to ask next; -1 if nothing but the edge to the neighbor is left
    )
    points: Indices  # (k, arms): data points in the arm ...
    gaps: NDArray[np.float64]  # ... and how far from v they are
    tree: Preorder
    depth: NDArray[np.float64]  # by position: distance to the root ...
    depth_rest: NDArray[np.float64]  # ... and what was rounded off it
    least: NDArray[np.int32]  # (., N): the least parent of the 2^k positions from here on
    most: int  # arms that a walk may meet


class _Arms(NamedTuple):
    """Arms of all nodes, by preorder position."""

    source: Indices  # the node that has the arm
    neighbor: Indices  # the first node of the arm
    following: Indices  # the separator to ask next, or -1
    low: Indices  # its data points are low ... high - 1, in the numbering of `_choose_points`
    high: Indices


def signposts(tree: Tree, k: int, short: float, rng: np.random.Generator) -> Signposts:
    """Choose the order in which nodes are asked, and k points to stand for each arm.

    O(N log^2 N).

    Every node is a separator: it cuts what is left when its turn comes into parts of at most
    half the size, so at most log2(N) + 1 nodes are asked. Nodes with less than `short` between
    them count as one, that of them nearest to the root: no distance tells their arms apart.
    """
    view = tree._view
    first, arms = _find_arms(view, tree.n_points, short)
    points = _choose_points(view, tree.n_points, arms, k, rng)
    # From positions to nodes. The arms of a node come one after the other.
    node = view.order.astype(np.int64)
    order = np.argsort(node[arms.source], kind="stable")
    source = node[arms.source[order]]
    points = np.ascontiguousarray(points[:, order])
    following = np.where(arms.following < 0, -1, node[arms.following])[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=tree.n_nodes))])
    begin = int(node[first])
    depth, rest = exact_depths(view)
    return Signposts(
        first=begin,
        starts=starts,
        neighbor=node[arms.neighbor[order]],
        following=following,
        points=points,
        gaps=tree.pairs(source[None, :], points),
        tree=view,
        depth=depth,
        depth_rest=rest,
        least=_least_parents(view.up),
        most=_longest_walk(begin, starts, following),
    )


def _find_arms(view: Preorder, n: int, short: float) -> tuple[int, _Arms]:
    """Return the first separator, and the arms of all nodes."""
    here = np.arange(len(view.up))
    end = here + view.size  # the subtree of position k is k ... end[k] - 1
    before = np.concatenate(
        [[0], np.cumsum(view.order < n)]
    )  # data points before each position
    # Of nodes that count as one, the top one stands for all.
    top = heads(view.up, view.length < short).astype(np.int64)
    parent = top[np.maximum(view.up, 0)]
    # Edges that lead to data points, by their lower ends: the first is the root, which has no
    # edge.
    inner = np.flatnonzero((top == here) & (before[end] > before[:-1]))[1:]
    first, down, up = _separators(parent, end, np.append(0, inner))
    # The first data point at each node that has any, and its number in preorder.
    own, own_point = np.unique(top[view.position[:n]], return_index=True)
    rank = before[view.position[own_point]]
    # Three kinds of arms: from a parent to its child, from a child to its parent, and data
    # points themselves. Behind the edge from a child to its parent are all points but those of
    # the subtree: from its end on, around the circle of n points, and up to its begin.
    arms = _Arms(
        source=np.concatenate([parent[inner], inner, own]),
        neighbor=np.concatenate([inner, parent[inner], own]),
        following=np.concatenate([down[inner], up[inner], np.full(len(own), -1)]),
        low=np.concatenate([before[inner], before[end[inner]], rank]),
        high=np.concatenate([before[end[inner]], before[inner] + n, rank + 1]),
    )
    return first, arms


def _choose_points(
    view: Preorder,
    n: int,
    arms: _Arms,
    k: int,
    rng: np.random.Generator,
) -> Indices:
    """Choose k random data points in each arm, (k, arms).

    Data points are numbered in preorder and read as a circle: number i + n is number i again.
    So the points outside a subtree are in one piece, too.
    """
    circle = view.order[view.order < n].astype(np.int64)
    share = rng.random((k, len(arms.low)))
    number = arms.low + (share * (arms.high - arms.low)).astype(np.int64)
    return circle[number % n]


def _least_parents(up: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the least parent of the 2^k positions from each on: for lowest common ancestors."""
    levels = [up]
    for k in range(len(up).bit_length() - 1):
        longer = levels[-1].copy()
        np.minimum(longer[: -(1 << k)], levels[-1][1 << k :], out=longer[: -(1 << k)])
        levels.append(longer)
    return np.array(levels)


def _longest_walk(first: int, starts: NDArray[np.int64], following: NDArray[np.int64]) -> int:
    """Return the largest number of arms at the nodes of one walk."""
    counts = np.diff(starts)
    here = np.array([first])
    met = counts[[first]]
    most = 0
    while len(here):
        most = max(most, int(met.max()))
        # The arms of all nodes here, one node after the other: starts[v], starts[v] + 1, ...
        own = counts[here]
        arms = np.repeat(starts[here] + own - np.cumsum(own), own) + np.arange(own.sum())
        on = following[arms] >= 0
        here = following[arms[on]]
        met = np.repeat(met, own)[on]
        met = met + counts[here]
    return most


def _separators(parent: Indices, end: Indices, kept: Indices) -> tuple[int, Indices, Indices]:
    """Return the first separator, the next after k's parent in k's part, and after k in the other.

    All parts are cut at once. The nodes of a part that lie in a subtree follow each other in
    preorder, so the sizes of subtrees within parts are differences of positions in one sorted
    list.
    """
    n = len(parent)
    down = np.full(n, -1)
    up = np.full(n, -1)
    # Pairs (a, b) of numbers below n are sorted as numbers a * n + b.
    children = np.append(-1, np.sort(parent[kept[1:]] * n + kept[1:]))
    alive = kept
    part = np.zeros(len(kept), np.int64)
    first = -1
    while len(alive):
        order = np.argsort(part * n + alive)
        alive = alive[order]
        part = part[order]
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        sizes = np.diff(starts, append=len(alive))
        last = _last_heavy(alive, part, end, starts, sizes)
        chosen = alive[last]
        names = part[starts]
        if first < 0:
            first = int(chosen[0])
        else:
            # A part is called after the child whose parent was cut off, or n + the child cut
            # off.
            down[names[names < n]] = chosen[names < n]
            up[names[names >= n] - n] = chosen[names >= n]
        center = np.repeat(chosen, sizes)
        # Below its center, a node goes on in the part of the center's child above it: the last
        # child up to the node.
        inside = (alive > center) & (alive < end[center])
        branch = children[np.searchsorted(children, center * n + alive, side="right") - 1] % n
        part = np.where(inside, branch, n + center)
        left = alive != center
        alive = alive[left]
        part = part[left]
    return first, down, up


def _last_heavy(
    alive: Indices,
    part: Indices,
    end: Indices,
    starts: Indices,
    sizes: Indices,
) -> Indices:
    """Return the index of the last node of each part with at least half of it below: a separator.

    Such nodes form a chain from the part's top down.
    """
    n = len(end)
    index = np.arange(len(alive))
    within = np.searchsorted(part * n + alive, part * n + end[alive]) - index
    heavy = 2 * within >= np.repeat(sizes, sizes)
    return np.maximum.reduceat(np.where(heavy, index, -1), starts)
