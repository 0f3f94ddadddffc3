"""Find one's way in a tree: at every node, where to go next so that half of what is left falls away."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tree.structure.rooted import exact_depths
from ..tree.tree import Tree


class Signposts(NamedTuple):
    """For every node v its arms, starts[v]:starts[v + 1], each with some data points that stand for it.

    An arm leads to a neighbour of v; a data point is an arm of its own, too. Arms without data points are left out.
    """

    first: int  # the node to begin with
    starts: NDArray[np.int64]
    neighbor: NDArray[np.int64]  # v itself for the arm of its own
    following: NDArray[np.int64]  # which node to ask next; -1 if nothing but the edge to the neighbour is left
    points: NDArray[np.int64]  # (k, arms): data points in the arm ...
    gaps: NDArray[np.float64]  # ... and how far from v they are
    position: NDArray[np.int64]  # of each node in preorder ...
    order: NDArray[np.int64]  # ... and the node at each position
    end: NDArray[np.int64]  # by position: where its subtree ends ...
    depth: NDArray[np.float64]  # ... its distance to the root ...
    depth_rest: NDArray[np.float64]  # ... and what was rounded off it
    least: NDArray[np.int32]  # (., N): the least parent of the 2^k positions from here on
    most: int  # arms that a walk may meet


def signposts(tree: Tree, k: int, short: float, rng: np.random.Generator) -> Signposts:
    """Choose the order in which nodes are asked, and k random points to stand for each arm. O(N log^2 N).

    Every node is a separator: it cuts what is left when its turn comes into parts of at most half the size, so at most
    log2(N) + 1 nodes are asked. Nodes with less than `short` between them count as one, that of them nearest to the
    root: no distance tells their arms apart.
    """
    view, n = tree._view, tree.n_points
    end, top = _subtree_ends(view.up), _tops(view.up, view.length < short)
    counted = np.concatenate([[0], np.cumsum(view.order < n)])  # data points before each position
    parent = top[np.maximum(view.up, 0)]
    inner = np.flatnonzero((top == np.arange(len(top))) & (counted[end] > counted[:-1]))[1:]  # all but the root
    first, down, up = _separators(parent, end, np.append(0, inner))
    own, own_point = np.unique(top[view.position[:n]], return_index=True)
    # Three kinds of arms: from a parent to its child, from a child to its parent, and data points themselves.
    source = np.concatenate([parent[inner], inner, own])
    neighbor = np.concatenate([inner, parent[inner], own])
    following = np.concatenate([down[inner], up[inner], np.full(len(own), -1)])
    rank = counted[view.position[own_point]]
    low = np.concatenate([counted[inner], counted[end[inner]], rank])
    high = np.concatenate([counted[end[inner]], counted[inner] + n, rank + 1])
    # Data points in preorder, read as a circle: those outside a subtree are in one piece, too.
    circle = view.order[view.order < n].astype(np.int64)
    points = circle[(low + (rng.random((k, len(low))) * (high - low)).astype(np.int64)) % n]
    node = view.order.astype(np.int64)
    order = np.argsort(node[source], kind="stable")
    source, neighbor, points = node[source[order]], node[neighbor[order]], np.ascontiguousarray(points[:, order])
    following = np.where(following < 0, -1, node[following])[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=tree.n_nodes))])
    gaps = tree.pairs(source[None, :], points)
    begin = int(node[first])
    by_position = (node, end, *exact_depths(view), _least_parents(view.up))
    most = _longest_walk(begin, starts, following)
    return Signposts(
        begin, starts, neighbor, following, points, gaps, view.position.astype(np.int64), *by_position, most
    )


def _least_parents(up: NDArray[np.int32]) -> NDArray[np.int32]:
    """The least parent of the 2^k positions from each on, for every k: what lowest common ancestors are read from."""
    levels = [up]
    for k in range(len(up).bit_length() - 1):
        longer = levels[-1].copy()
        np.minimum(longer[: -(1 << k)], levels[-1][1 << k :], out=longer[: -(1 << k)])
        levels.append(longer)
    return np.array(levels)


def _longest_walk(first: int, starts: NDArray[np.int64], following: NDArray[np.int64]) -> int:
    """Return the largest number of arms at the nodes of one walk."""
    counts = np.diff(starts)
    here, met, most = np.array([first]), counts[[first]], 0
    while len(here):
        most = max(most, int(met.max()))
        arms = np.repeat(starts[here] + counts[here] - np.cumsum(counts[here]), counts[here]) + np.arange(
            counts[here].sum()
        )
        on = following[arms] >= 0
        here, met = following[arms[on]], np.repeat(met, counts[here])[on]
        met = met + counts[here]
    return most


def _subtree_ends(up: NDArray[np.int32]) -> NDArray[np.int64]:
    """Where the subtree of each position ends."""
    above, size = up.tolist(), [1] * len(up)
    for k in range(len(above) - 1, 0, -1):
        size[above[k]] += size[k]
    return np.arange(len(up)) + np.array(size)


def _tops(up: NDArray[np.int32], merged: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The first position of those that count as one with each, where the marked ones count as one with their parent."""
    above, top = up.tolist(), list(range(len(up)))
    for k in np.flatnonzero(merged).tolist():
        if k:
            top[k] = top[above[k]]
    return np.array(top)


def _separators(
    parent: NDArray[np.int64], end: NDArray[np.int64], kept: NDArray[np.int64]
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Return the first separator, and the next one after k's parent in the part of k, and after k in its parent's.

    All parts are cut at once. The nodes of a part that lie in a subtree follow each other in preorder, so the sizes of
    subtrees within parts are differences of positions in one sorted list.
    """
    n = len(parent)
    down, up = np.full(n, -1), np.full(n, -1)
    children = np.append(-1, np.sort(parent[kept[1:]] * n + kept[1:]))
    alive, part, first = kept, np.zeros(len(kept), np.int64), -1
    while len(alive):
        order = np.argsort(part * n + alive)
        alive, part = alive[order], part[order]
        keys = part * n + alive
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        sizes = np.diff(starts, append=len(alive))
        within = np.searchsorted(keys, part * n + end[alive]) - np.arange(len(alive))
        heavy = 2 * within >= np.repeat(sizes, sizes)  # a chain from the part's top down; its last node is a separator
        last = np.maximum.reduceat(np.where(heavy, np.arange(len(alive)), -1), starts)
        chosen, names = alive[last], part[starts]
        if first < 0:
            first = int(chosen[0])
        else:  # a part is called after the child whose parent was cut off, or n + the child that was cut off
            down[names[names < n]] = chosen[names < n]
            up[names[names >= n] - n] = chosen[names >= n]
        centre = np.repeat(chosen, sizes)
        inside = (alive > centre) & (alive < end[centre])
        branch = children[np.searchsorted(children, centre * n + alive, side="right") - 1] % n
        part = np.where(inside, branch, n + centre)
        left = alive != centre
        alive, part = alive[left], part[left]
    return first, down, up
