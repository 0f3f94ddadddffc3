"""Separators of a tree: each separator leaves parts of at most half of the remaining nodes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tree.structure.rooted import Preorder, exact_depths, heads
from ..tree.tree import Tree

Indices = NDArray[np.int64]


class Separators(NamedTuple):
    """The arms starts[v]:starts[v + 1] of every node v, with points that represent each arm.

    An arm leads to a neighbor of v. A node that is a point has one more arm, which is the point
    itself. Arms without points are omitted.
    """

    first: int  # the first separator
    starts: Indices
    neighbor: Indices  # neighbor of each arm; v itself if the arm is the point v
    following: Indices  # next separator; -1 if only the edge to the neighbor is left
    points: Indices  # (k, arms): points in the arm
    gaps: NDArray[np.float64]  # (k, arms): distances from these points to v
    tree: Preorder
    depth: NDArray[np.float64]  # distance to the root, by position
    depth_rest: NDArray[np.float64]  # the rounding error of `depth`
    least: NDArray[np.int32]  # (levels, N): least parent of the 2^level positions from here on
    most: int  # maximum number of arms that a walk may meet


class _Arms(NamedTuple):
    """Arms of all nodes, by preorder position."""

    source: Indices  # node to which the arm belongs
    neighbor: Indices  # the first node of the arm
    following: Indices  # the next separator, or -1
    low: Indices  # the points are low ... high - 1, in the numbering of `_choose_points`
    high: Indices


def find_separators(tree: Tree, k: int, short: float, rng: np.random.Generator) -> Separators:
    """Choose the order of separators, and k points to represent each arm. O(N log^2 N).

    Every node is a separator of a part of the tree: it splits the part into pieces of at most half
    its size. A walk therefore meets at most log2(N) + 1 separators. Nodes less than `short` apart
    count as one node, the node nearest to the root, because no distance can distinguish their arms.
    """
    view = tree._view
    first, arms = _find_arms(view, tree.n_points, short)
    points = _choose_points(view, tree.n_points, arms, k, rng)
    # Translate positions to nodes, and make the arms of each node contiguous.
    node = view.order.astype(np.int64)
    order = np.argsort(node[arms.source], kind="stable")
    source = node[arms.source[order]]
    points = np.ascontiguousarray(points[:, order])
    following = np.where(arms.following < 0, -1, node[arms.following])[order]
    arm_counts = np.bincount(source, minlength=tree.n_nodes)
    starts = np.concatenate([[0], np.cumsum(arm_counts)])
    first_node = int(node[first])
    depth, rest = exact_depths(view)
    return Separators(
        first=first_node,
        starts=starts,
        neighbor=node[arms.neighbor[order]],
        following=following,
        points=points,
        gaps=tree.pairs(source[None, :], points),
        tree=view,
        depth=depth,
        depth_rest=rest,
        least=_least_parents(view.up),
        most=_longest_walk(first_node, starts, following),
    )


def _find_arms(view: Preorder, n: int, short: float) -> tuple[int, _Arms]:
    """Return the first separator, and the arms of all nodes."""
    position = np.arange(len(view.up))
    end = position + view.size  # the subtree of position k is k ... end[k] - 1
    is_point = view.order < n
    points_before = np.concatenate([[0], np.cumsum(is_point)])
    # The top node represents all nodes that count as one.
    top = heads(view.up, view.length < short).astype(np.int64)
    parent = top[np.maximum(view.up, 0)]
    # Lower ends of the edges above points. The first of them is the root, which has no edge.
    has_points = points_before[end] > points_before[:-1]
    lower = np.flatnonzero((top == position) & has_points)[1:]
    upper = parent[lower]
    first, down, up = _cut_parts(parent, end, np.append(0, lower))
    # Nodes that are points, or count as one with a point, and the number of their first point
    # in preorder.
    own, own_point = np.unique(top[view.position[:n]], return_index=True)
    own_number = points_before[view.position[own_point]]
    # There are three kinds of arms: from a parent to its child, from a child to its parent, and
    # points themselves. Arms of the second kind contain all points outside the subtree. On a circle
    # of n points, these points run from the end of the subtree to its beginning.
    begin_number = points_before[lower]
    end_number = points_before[end[lower]]
    no_separator = np.full(len(own), -1)
    arms = _Arms(
        source=np.concatenate([upper, lower, own]),
        neighbor=np.concatenate([lower, upper, own]),
        following=np.concatenate([down[lower], up[lower], no_separator]),
        low=np.concatenate([begin_number, end_number, own_number]),
        high=np.concatenate([end_number, begin_number + n, own_number + 1]),
    )
    return first, arms


def _choose_points(
    view: Preorder,
    n: int,
    arms: _Arms,
    k: int,
    rng: np.random.Generator,
) -> Indices:
    """Choose k random points in each arm, (k, arms).

    Points are numbered in preorder on a circle: number i + n is the same as number i. The
    points outside a subtree are therefore also contiguous.
    """
    circle = view.order[view.order < n].astype(np.int64)
    share = rng.random((k, len(arms.low)))
    number = arms.low + (share * (arms.high - arms.low)).astype(np.int64)
    return circle[number % n]


def _least_parents(up: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the least parent of the 2^k positions from each position on, for lowest common ancestors."""
    levels = [up]
    for k in range(len(up).bit_length() - 1):
        longer = levels[-1].copy()
        np.minimum(longer[: -(1 << k)], levels[-1][1 << k :], out=longer[: -(1 << k)])
        levels.append(longer)
    return np.array(levels)


def _longest_walk(first: int, starts: Indices, following: Indices) -> int:
    """Return the largest total number of arms at the nodes of one walk."""
    counts = np.diff(starts)
    here = np.array([first])  # nodes that walks reach at the current step
    met = counts[[first]]  # arms met so far
    most = 0
    while len(here):
        most = max(most, int(met.max()))
        # The arms of all current nodes, one node after the other: starts[v], starts[v] + 1, ...
        own = counts[here]
        arms = np.repeat(starts[here] + own - np.cumsum(own), own) + np.arange(own.sum())
        goes_on = following[arms] >= 0
        here = following[arms[goes_on]]
        met = np.repeat(met, own)[goes_on] + counts[here]
    return most


def _cut_parts(parent: Indices, end: Indices, kept: Indices) -> tuple[int, Indices, Indices]:
    """Cut a tree at separators until no node is left.

    Returns the first separator. Also returns, by the lower end k of an edge, the separator that
    follows the upper end in the part of k, and the separator that follows k in the other part.

    All parts are cut at once. The nodes of a part that are in the same subtree are consecutive
    in preorder. The sizes of subtrees within parts are therefore differences of positions in
    one sorted list.
    """
    n = len(parent)
    down = np.full(n, -1)
    up = np.full(n, -1)
    # Pairs (a, b) of numbers below n are sorted as numbers a * n + b.
    children = np.append(-1, np.sort(parent[kept[1:]] * n + kept[1:]))
    left = kept  # nodes that are not separators yet
    part = np.zeros(len(kept), np.int64)  # name of the part of each node
    first = -1
    while len(left):
        order = np.argsort(part * n + left)
        left = left[order]
        part = part[order]
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        sizes = np.diff(starts, append=len(left))
        separators = left[_last_heavy(left, part, end, starts, sizes)]
        names = part[starts]
        if first < 0:
            first = int(separators[0])
        else:
            # A part below a separator is named after the separator's child in it. The part
            # above separator k is named n + k.
            is_below = names < n
            down[names[is_below]] = separators[is_below]
            up[names[~is_below] - n] = separators[~is_below]
        center = np.repeat(separators, sizes)
        # A node below the separator belongs to the part of the last child that is not after the
        # node.
        inside = (left > center) & (left < end[center])
        child = np.searchsorted(children, center * n + left, side="right") - 1
        part = np.where(inside, children[child] % n, n + center)
        remaining = left != center
        left = left[remaining]
        part = part[remaining]
    return first, down, up


def _last_heavy(
    left: Indices,
    part: Indices,
    end: Indices,
    starts: Indices,
    sizes: Indices,
) -> Indices:
    """Return the index of the last node of each part with at least half of the part below it.

    These nodes form a chain from the top of the part down. The last node of the chain is a
    separator.
    """
    n = len(end)
    index = np.arange(len(left))
    first_after = np.searchsorted(part * n + left, part * n + end[left])
    subtree_size = first_after - index
    heavy = 2 * subtree_size >= np.repeat(sizes, sizes)
    return np.maximum.reduceat(np.where(heavy, index, -1), starts)
