"""Kernels of moves that lower the largest error.

The largest error is smoothed. With the errors q = d_T - d and a rate b, the objective is

    sum over all pairs of exp(b q) + exp(-b q),   at least exp(b max |q|).

The larger b, the more the largest errors count. The tree is binary and in preorder, as in
`_move_kernels`.

Remove the subtree s from its place p. For each leaf y outside s, two sums represent the points x
of s, with the errors q_xy before the removal:

    P_y = sum over x of exp(b q_xy),   M_y = sum over x of exp(-b q_xy)

Attach s at another place, by an edge that is longer by t than before. The distance from y to the
new place minus the distance from y to p is c_y. All errors of y grow by c_y + t. The objective is

    P exp(b t) + M exp(-b t)   with   P = sum of P_y exp(b c_y),   M = sum of M_y exp(-b c_y).

The best t gives 2 sqrt(P M). A walk from p outward finds P and M on all edges. At a place that is
w from p, the leaves behind p have c_y = w, and the leaves beyond the place have c_y = -w. If w is
more than twice the largest error, some error becomes larger than the largest error, so the walk
stops there. All terms are positive, and their logarithms are at most 3 b max |q|. Nothing cancels,
and nothing overflows if b max |q| is at most 200.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ..moves._move_kernels import BinaryPreorder, _move

# Gains below this fraction of the objective may be due to rounding.
_LEAST_GAIN = 1e-9


class Errors(NamedTuple):
    """The errors of the tree, and the objective."""

    growth: Any  # (leaves, leaves) exp(b q) of all pairs, updated by every move
    rate: Any  # b
    reach: Any  # distance from the old place within which new places are compared


class Workspace(NamedTuple):
    """Working memory."""

    leaf: Any  # (2, leaves) P and M of every leaf
    side: Any  # (2, 2, nodes) P and M of the leaves below a node and of all others, without c_y
    before: Any  # (leaves,) distance from the subtree to every leaf before the move
    after: Any  # (leaves,) and after the move
    edge: Any  # (2, nodes) edges still to visit: lower end, and whether the walk goes up
    near: Any  # (3, nodes) P and M of the leaves on this side of the edges, and w
    ints: Any  # (4, nodes) and
    reals: Any  # (nodes,): for reordering and distances


def new_workspace(leaves: int) -> Workspace:
    """Allocate the working memory for a tree with this many leaves."""
    nodes = 2 * leaves - 2
    return Workspace(
        leaf=np.empty((2, leaves)),
        side=np.empty((2, 2, nodes)),
        before=np.empty(leaves),
        after=np.empty(leaves),
        edge=np.empty((2, nodes), np.int64),
        near=np.empty((3, nodes)),
        ints=np.empty((4, nodes), np.int32),
        reals=np.empty(nodes),
    )


@kernel
def soften(
    tree: BinaryPreorder,
    errors: Errors,
    workspace: Workspace,
    nodes: Any,
    start: int,
    budget: int,
) -> int:
    """Move the subtrees of nodes[start:] to their best places.

    Returns the index reached before `budget` steps were used up.
    """
    done = start
    while done < len(nodes) and budget > 0:
        node = nodes[done]
        done += 1
        s = tree.position[node]
        if tree.up[s] <= 0:
            continue
        leaves = (tree.size[s] + 1) // 2
        budget -= len(tree.up) + leaves * len(errors.growth)
        _sum_rows(tree, errors, workspace, s)
        _sum_below(tree, workspace, s)
        _sum_above(tree, workspace)
        edge, along, pendant = _best_place(tree, errors, workspace, s)
        if edge > 0:
            _measure(tree, workspace, s, workspace.before)
            _move(tree, workspace, s, edge, along, pendant)
            s = tree.position[node]
            _measure(tree, workspace, s, workspace.after)
            _update(tree, errors, workspace, s)
    return done


@helper
def _sum_rows(tree: BinaryPreorder, errors: Errors, workspace: Workspace, s: int) -> None:
    """Compute P and M of every leaf from the rows of the points in the subtree s."""
    plus = workspace.leaf[0]
    minus = workspace.leaf[1]
    for y in range(len(plus)):
        plus[y] = minus[y] = 0.0
    for k in range(s, s + tree.size[s]):
        if tree.size[k] == 1:
            row = errors.growth[tree.order[k]]
            for y in range(len(row)):
                plus[y] += row[y]
                minus[y] += 1.0 / row[y]


@helper
def _sum_below(tree: BinaryPreorder, workspace: Workspace, s: int) -> None:
    """Sum P and M over the leaves below every node, without the subtree s."""
    for c in range(2):
        below = workspace.side[0, c]
        leaf = workspace.leaf[c]
        for k in range(len(below)):
            below[k] = 0.0
        for y in range(len(leaf)):
            below[tree.position[y]] = leaf[y]
        for k in range(s, s + tree.size[s]):
            below[k] = 0.0
        # The root, node 0, is a leaf.
        for k in range(len(below) - 1, 1, -1):
            below[tree.up[k]] += below[k]


@helper
def _sum_above(tree: BinaryPreorder, workspace: Workspace) -> None:
    """Sum P and M over the leaves that are not below a node, without the removed subtree."""
    for c in range(2):
        below = workspace.side[0, c]
        above = workspace.side[1, c]
        above[1] = below[0]
        for k in range(1, len(above)):
            if tree.size[k] > 1:
                i = k + 1
                j = i + tree.size[i]
                above[i] = above[k] + below[j]
                above[j] = above[k] + below[i]


@helper
def _best_place(tree: BinaryPreorder, errors: Errors, workspace: Workspace, s: int) -> Any:
    """Find the best place for the subtree s.

    Returns the lower end of the edge, the distance from that end, and the pendant length. The
    edge is -1 if no place is better than the current place.
    """
    rate = errors.rate
    edge = workspace.edge
    near = workspace.near
    side = workspace.side
    p = tree.up[s]
    best = (1.0 - _LEAST_GAIN) * side[:, :, p].sum()
    found = -1
    along = 0.0
    longer = 1.0
    shortest = np.exp(-rate * tree.length[s])  # exp(b t) of a pendant edge of length 0
    other = _other_child(tree.size, p, s)
    count = _push_both(edge, near, side, 0, other, p, 1, 0.0, 0.0, 0.0, 1.0)
    while count > 0:
        count -= 1
        k = edge[0, count]
        upward = edge[1, count]
        plus = near[0, count]
        minus = near[1, count]
        w = near[2, count]
        shrink = np.exp(-rate * w)
        end = np.exp(rate * tree.length[k])
        far_plus = side[upward, 0, k] * shrink
        far_minus = side[upward, 1, k] / shrink
        cost, x, t = _best_on_edge(plus, minus, far_plus, far_minus, end, shortest, best)
        if cost < best:
            best = cost
            found = k
            longer = t
            x = min(np.log(x) / rate, tree.length[k])
            along = x if upward else tree.length[k] - x
        w += tree.length[k]
        far = tree.up[k] if upward else k
        # The root is also a leaf.
        if w > errors.reach or far == 0 or tree.size[far] == 1:
            continue
        first = _other_child(tree.size, far, k) if upward else k + 1
        second = far if upward else first + tree.size[first]
        count = _push_both(
            edge,
            near,
            side,
            count,
            first,
            second,
            upward,
            plus * end,
            minus / end,
            w,
            shrink / end,
        )
    pendant = tree.length[s] + np.log(longer) / rate
    return found, along, max(pendant, 0.0)


@helper
def _other_child(size: Any, parent: int, child: int) -> int:
    first = parent + 1
    return first if child > first else child + size[child]


@helper
def _push_both(
    edge: Any,
    near: Any,
    side: Any,
    count: int,
    first: int,
    second: int,
    upward: int,
    plus: float,
    minus: float,
    w: float,
    shrink: float,
) -> int:
    """Continue the walk from a node along its two other edges. Only `second` may lead up.

    The node is w from p, and `shrink` is exp(-b w). `plus` and `minus` are P and M of the leaves
    that the walk has passed. On either edge, the leaves beyond the other edge have been passed.
    """
    edge[0, count] = first
    edge[1, count] = 0
    near[0, count] = plus + side[upward, 0, second] * shrink
    near[1, count] = minus + side[upward, 1, second] / shrink
    near[2, count] = w
    count += 1
    edge[0, count] = second
    edge[1, count] = upward
    near[0, count] = plus + side[0, 0, first] * shrink
    near[1, count] = minus + side[0, 1, first] / shrink
    near[2, count] = w
    return count + 1


@helper
def _best_on_edge(
    near_plus: float,
    near_minus: float,
    far_plus: float,
    far_minus: float,
    end: float,
    shortest: float,
    best: float,
) -> Any:
    """Return the least objective on an edge, X = exp(b x) and exp(b t).

    Here x is the distance from the near end of the edge, where P and M are given:

        P(x) = near P X + far P / X,   M(x) = near M / X + far M X

    `end` is X at the far end. The result is infinite if it cannot be less than `best`.
    """
    # If X could be any positive number, sqrt(P M) would be this sum at best.
    least = np.sqrt(near_plus) * np.sqrt(near_minus) + np.sqrt(far_plus) * np.sqrt(far_minus)
    if not 2.0 * least < best:
        return np.inf, 1.0, 1.0
    # P M is least if X^4 = (far P / near P) (near M / far M).
    x = np.sqrt(np.sqrt(far_plus / near_plus) * np.sqrt(near_minus / far_minus))
    x = min(max(x, 1.0), end)
    plus = near_plus * x + far_plus / x
    minus = near_minus / x + far_minus * x
    t = np.sqrt(minus / plus)
    if not t < shortest:
        return 2.0 * np.sqrt(minus) * np.sqrt(plus), x, t
    # The objective is convex in x and t, so the pendant edge of the best place has length 0.
    rising = near_plus * shortest + far_minus / shortest
    falling = far_plus * shortest + near_minus / shortest
    x = min(max(np.sqrt(falling / rising), 1.0), end)
    return rising * x + falling / x, x, shortest


@helper
def _measure(tree: BinaryPreorder, workspace: Workspace, s: int, out: Any) -> None:
    """Compute the distances from the root of the subtree s to all leaves outside s."""
    up = tree.up
    distance = workspace.reals
    for k in range(len(up)):
        distance[k] = -1.0
    distance[s] = 0.0
    k = s
    while k > 0:
        distance[up[k]] = distance[k] + tree.length[k]
        k = up[k]
    for k in range(1, len(up)):
        if distance[k] < 0.0:
            distance[k] = distance[up[k]] + tree.length[k]
    for y in range(len(out)):
        out[y] = distance[tree.position[y]]


@helper
def _update(tree: BinaryPreorder, errors: Errors, workspace: Workspace, s: int) -> None:
    """Update exp(b q) of all pairs with one point in the subtree s."""
    growth = errors.growth
    factor = workspace.leaf[0]
    for y in range(len(factor)):
        factor[y] = np.exp(errors.rate * (workspace.after[y] - workspace.before[y]))
    behind = s + tree.size[s]
    for k in range(s, behind):
        if tree.size[k] == 1:  # errors within the subtree stay
            factor[tree.order[k]] = 1.0
    for k in range(s, behind):
        if tree.size[k] == 1:
            x = tree.order[k]
            for y in range(len(factor)):
                growth[x, y] *= factor[y]
                growth[y, x] = growth[x, y]
