"""Kernels of moves: find the best place of a subtree among all edges, and move it.

The tree is binary, rooted at a leaf and numbered in preorder throughout. A subtree is a range
of numbers, the first child of k is k + 1, and the second child follows the range of the first.
All passes therefore access memory sequentially, and no lists of children or neighbors are
needed.

Remove the subtree s. For each leaf y outside s, three sums represent the points x of s. With
h_x the distance from x to the root of s:

    W_y = sum over x of w_xy,   S_y = sum of w_xy (d_xy - h_x),   Q_y = sum of w_xy (d_xy -
    h_x)^2

Attach s by an edge of length l at a position at distance r_y from y. The squared errors of the
pairs (x, y) then sum to Q_y - 2 (r_y + l) S_y + (r_y + l)^2 W_y. Sums at one node give the sums
at a neighbor at distance L: replace S by S - L W and Q by Q - 2 L S + L^2 W. One pass to the
root and one pass back give the errors of s at all positions on all edges.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ...placement._edge_fit_kernels import best_on_edge, cost_at, shifted, weigh
from ...tree.structure.rooted import Preorder

# Gains below this fraction of the sums that are subtracted may be due to rounding.
_LEAST_GAIN = 1e-11


class BinaryPreorder(Preorder):
    """A binary tree rooted at a leaf, which `improve` changes in place. Leaves are numbered first."""

    __slots__ = ()


class Task(NamedTuple):
    """The distances to fit."""

    matrix: Any  # distances between the leaves
    scale: Any  # errors of this size count equally; negative if the distance is missing
    power: Any  # squared errors are divided by scale ** power
    smallest: Any  # smaller distances count as this one in the weights


class Workspace(NamedTuple):
    """Working memory."""

    weight: Any  # (leaves,) weights of one row
    leaf: Any  # (3, leaves) W, S, Q of every leaf
    below: Any  # (nodes, 3) W, S, Q of all leaves in the subtree of a node, measured there
    all: Any  # (nodes, 2) S, Q of all leaves of the tree, measured there
    height: Any  # (nodes,) distance to the root of the removed subtree
    ints: Any  # (4, nodes) and
    reals: Any  # (nodes,): for reordering


@helper
def _weigh(distances: Any, power: float, smallest: float, weight: Any) -> None:
    """Compute the weights of a row. Missing distances have weight 0."""
    weigh(distances, power, smallest, weight)
    for k in range(len(weight)):
        weight[k] = 0.0 if distances[k] < 0.0 else weight[k]


@kernel
def improve(
    tree: BinaryPreorder,
    task: Task,
    workspace: Workspace,
    nodes: Any,
    start: int,
    cap: int,
    budget: int,
) -> Any:
    """Move the subtrees of nodes[start:] with at most `cap` leaves to their best positions.

    Returns the index reached before `budget` steps were used up, the number of changes, and the
    total gain.
    """
    k = start
    moves = 0
    gain = 0.0
    while k < len(nodes) and budget > 0:
        s = tree.position[nodes[k]]
        k += 1
        if tree.up[s] <= 0 or tree.size[s] > 2 * cap - 1:
            continue
        leaves = (tree.size[s] + 1) // 2
        budget -= len(tree.up) + leaves * len(task.matrix)
        _sum_up_rows(tree, task, workspace, s)
        weight = _sum_up_leaves(tree, workspace, s)
        largest = _sum_up_all(tree, workspace, s, weight)
        edge, along, pendant, saved = _best_place(tree, workspace, s, weight, largest)
        if edge > 0:
            _move(tree, workspace, s, edge, along, pendant)
            moves += 1
            gain += saved
    return k, moves, gain


@helper
def _sum_up_rows(tree: BinaryPreorder, task: Task, workspace: Workspace, s: int) -> None:
    """Compute W, S, Q of every leaf from the rows of the points in the subtree s."""
    leaf = workspace.leaf
    weight = workspace.weight
    for y in range(len(weight)):
        leaf[0, y] = leaf[1, y] = leaf[2, y] = 0.0
    for k in range(s, s + tree.size[s]):
        h = workspace.height[tree.up[k]] + tree.length[k] if k > s else 0.0
        workspace.height[k] = h
        if tree.size[k] == 1:
            row = task.matrix[tree.order[k]]
            _weigh(task.scale[tree.order[k]], task.power, task.smallest, weight)
            for y in range(len(row)):
                error = row[y] - h
                leaf[0, y] += weight[y]
                leaf[1, y] += weight[y] * error
                leaf[2, y] += weight[y] * error * error


@helper
def _sum_up_leaves(tree: BinaryPreorder, workspace: Workspace, s: int) -> float:
    """Compute W, S, Q below every node, without the subtree s. Return W of all leaves.

    S and Q of all leaves at the root are stored in workspace.all.
    """
    up = tree.up
    length = tree.length
    below = workspace.below
    leaf = workspace.leaf
    for k in range(len(up)):
        below[k, 0] = below[k, 1] = below[k, 2] = 0.0
    for y in range(leaf.shape[1]):
        k = tree.position[y]
        below[k, 0] = leaf[0, y]
        below[k, 1] = leaf[1, y]
        below[k, 2] = leaf[2, y]
    behind = s + tree.size[s]
    k = len(up) - 1
    while k > 0:
        if k == behind - 1:  # skip the subtree
            k = s - 1
        # Leaves and other nodes are treated alike, because a branch here would be hard to
        # predict.
        g = up[k]
        w, f, q = shifted(below[k, 0], below[k, 1], below[k, 2], length[k])
        below[g, 0] += w
        below[g, 1] += f
        below[g, 2] += q
        k -= 1
    workspace.all[0, 0] = below[0, 1]
    workspace.all[0, 1] = below[0, 2]
    return below[0, 0]


@helper
def _sum_up_all(tree: BinaryPreorder, workspace: Workspace, s: int, weight: float) -> float:
    """Compute S and Q of all leaves at every node. Return the largest Q."""
    below = workspace.below
    total = workspace.all
    behind = s + tree.size[s]
    largest = total[0, 1]
    k = 1
    while k < len(tree.up):
        if k == s:
            k = behind
            continue
        g = tree.up[k]
        length = tree.length[k]
        w = below[k, 0]
        f = below[k, 1]
        q = below[k, 2]
        _, shifted_f, shifted_q = shifted(w, f, q, length)
        v = weight - w
        # Seen from the lower end of the edge, the leaves below are closer by the length of the
        # edge, and the other leaves (v is their W) are farther by this length. The formula depends
        # as little as possible on the numbers of the node above, which may just have been computed.
        more = q - shifted_q + length * (2.0 * shifted_f + length * v)
        total[k, 0] = total[g, 0] + length * (w - v)
        total[k, 1] = total[g, 1] - 2.0 * length * total[g, 0] + more
        largest = max(largest, total[k, 1])
        k += 1
    return largest


@helper
def _best_place(tree: BinaryPreorder, workspace: Workspace, s: int, weight: float, largest: float) -> Any:
    """Find the best position for the subtree s.

    Returns the lower end of the edge, the distance from that end, the pendant length, and the
    reduction of the error.

    The edge is -1 if no position is better than the current one by more than rounding.
    """
    below = workspace.below
    total = workspace.all
    behind = s + tree.size[s]
    p = tree.up[s]
    now = cost_at(weight, total[p, 0], total[p, 1], tree.length[s])
    best = now - _LEAST_GAIN * largest
    edge = -1
    along = 0.0
    pendant = 0.0
    k = 1
    while k < len(tree.up):
        if k == s:
            k = behind
            continue
        g = tree.up[k]
        length = tree.length[k]
        w = below[k, 0]
        f = below[k, 1]
        q = below[k, 2]
        # Leaves that are not below the edge, measured at its upper end.
        _, shifted_f, shifted_q = shifted(w, f, q, length)
        v = weight - w
        a = total[g, 0] - shifted_f
        r = total[g, 1] - shifted_q
        # Without a measured distance on one side, every place on the edge fits as well as its end.
        # Even with free choice of the distances on both sides, the errors are at least q - f^2
        # / w + r - a^2 / v.
        measured = w > 0.0 and v > 0.0
        if measured and (q + r - best) * w * v < f * f * v + a * a * w:
            cost, x, y = best_on_edge(w, f, q, v, a, r, length)
            if cost < best:
                best = cost
                edge = k
                along = x
                pendant = y
        k += 1
    return edge, along, pendant, now - best


@helper
def _move(
    tree: BinaryPreorder,
    workspace: Workspace,
    s: int,
    edge: int,
    along: float,
    pendant: float,
) -> None:
    """Move the subtree s to the edge above node `edge`, at distance `along` from it."""
    up = tree.up
    length = tree.length
    size = tree.size
    p = up[s]
    other = p + 1 if s > p + 1 else s + size[s]
    tree.length[s] = pendant
    if edge == p:
        edge = other
        along = length[other] + along
    length[other] += length[p]  # p is removed ...
    if edge != other:
        up[other] = up[p]
        _grow(tree, up[p], -1 - size[s])
        up[p] = up[edge]
        up[edge] = p
        size[p] = size[edge] + 1 + size[s]
        _grow(tree, up[p], 1 + size[s])
    # ... and inserted here
    length[p] = max(length[edge] - along, 0.0)
    length[edge] = along
    if edge != other:
        _reorder(tree, workspace, p, s, edge)


@helper
def _grow(tree: BinaryPreorder, k: int, nodes: int) -> None:
    while k >= 0:
        tree.size[k] += nodes
        k = tree.up[k]


@helper
def _reorder(tree: BinaryPreorder, workspace: Workspace, p: int, s: int, edge: int) -> None:
    """Restore the preorder after p and the subtree s moved above `edge`."""
    up = tree.up
    length = tree.length
    size = tree.size
    order = tree.order
    behind = s + size[s]
    first = min(p, edge)
    last = max(behind, edge)
    new = workspace.ints[0]
    free = first
    for k in range(first, last + 1):
        if k == edge:
            new[p] = free
            for j in range(s, behind):
                new[j] = free + 1 + j - s
            free += 1 + size[s]
        if k < last and k != p and not s <= k < behind:
            new[k] = free
            free += 1
    for k in range(first, last):
        workspace.ints[1, k] = up[k]
        workspace.ints[2, k] = size[k]
        workspace.ints[3, k] = order[k]
        workspace.reals[k] = length[k]
    for k in range(first, last):
        j = new[k]
        up[j] = workspace.ints[1, k]
        size[j] = workspace.ints[2, k]
        order[j] = workspace.ints[3, k]
        length[j] = workspace.reals[k]
        tree.position[order[j]] = j
    for k in range(first, len(up)):
        if first <= up[k] < last:
            up[k] = new[up[k]]


@kernel
def sum_of_errors(matrix: Any, tree_distances: Any, power: float, smallest: float) -> float:
    """Return the sum of weighted squared errors of a block, summed row by row."""
    weight = np.empty(matrix.shape[1])
    total = 0.0
    for i in range(len(matrix)):
        _weigh(matrix[i], power, smallest, weight)
        part = 0.0
        for j in range(len(weight)):
            part += weight[j] * (tree_distances[i, j] - matrix[i, j]) ** 2
        total += part
    return total
