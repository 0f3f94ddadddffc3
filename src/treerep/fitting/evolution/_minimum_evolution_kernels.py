"""Kernels of minimum evolution that insert points. See also `_exchange_kernels`.

The tree is binary and its leaves are the points. Edge e has two *sides*, 2e and 2e + 1. A side
is the subtree at one end of the edge, and side ^ 1 is the rest of the tree. Even sides do not
contain point 0. Edge 0 is the edge of point 0. A side that is not a leaf has two *children*:
the two sides into which it falls when its edge is removed.

There are two kinds of averages of two disjoint sides. "ols" averages over all pairs of points.
"balanced" averages over the children, with weights 1/2 at every branching. Only the O(n) averages
of neighbors are stored: those between the two children of every side (`pair`) and those between
children at opposite ends of an edge (`cross`).

A change of the tree at one edge changes averages everywhere. The change depends on the average
distance from each side to the subtrees that were moved, which takes only the matrix rows of the
smaller part of the tree.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel


class Sides(NamedTuple):
    """A binary tree. All arrays are indexed by side, except `cross`, which is indexed by edge."""

    # (2E, 2) sides, or -1 for a leaf; the second child of an odd side is odd, all others are
    # even
    child: Any
    point: Any  # point of a leaf, or -1
    size: Any  # number of points
    pair: Any  # average distance between the children
    cross: Any  # (E, 2, 2): between child i of side 2e and child j of side 2e + 1


class Workspace(NamedTuple):
    """Scratch memory."""

    order: Any  # (2E,) sides, each before its children
    share: Any  # (2E,) weight of a side in the average of the side it was reached from
    to: Any  # (2E, 2) averages from a side to one or two subtrees
    weight: Any  # (4, n) weights of points in four subtrees
    total: Any  # (2, n) averages from two of them to all points


@helper
def _outward(sides: Sides, start: int, order: Any, count: int) -> int:
    """Append a side and all sides within it to `order`; return the new length.

    Each side precedes its children.
    """
    first = count
    order[count] = start
    count += 1
    while first < count:
        side = order[first]
        if sides.point[side] < 0:
            order[count] = sides.child[side, 0]
            order[count + 1] = sides.child[side, 1]
            count += 2
        first += 1
    return count


@helper
def _share_of(sides: Sides, part: int, other: int, balanced: bool) -> float:
    """Return the weight of a child in the average of its side."""
    return 0.5 if balanced else sides.size[part] / (sides.size[part] + sides.size[other])


@helper
def _mix(sides: Sides, side: int, first: float, second: float, balanced: bool) -> float:
    """Return the average of a side from the averages of its children."""
    share = _share_of(sides, sides.child[side, 0], sides.child[side, 1], balanced)
    return share * first + (1.0 - share) * second


@helper
def _averages_from(sides: Sides, distances: Any, order: Any, near: Any, balanced: bool) -> int:
    """Fill `near` with average distances from a point to all sides that do not contain the point.

    Returns the number of even sides, which are left in `order`, each before its children.
    """
    count = _outward(sides, 0, order, 0)
    near[1] = distances[0]
    for k in range(count - 1, -1, -1):
        side = order[k]
        if sides.point[side] >= 0:
            near[side] = distances[sides.point[side]]
        else:
            near[side] = _mix(sides, side, near[sides.child[side, 0]], near[sides.child[side, 1]], balanced)
    for k in range(1, count):
        side = order[k] ^ 1
        near[side] = _mix(sides, side, near[sides.child[side, 0]], near[sides.child[side, 1]], balanced)
    return count


@helper
def _saving(
    balanced: bool,
    ab: float,
    cd: float,
    ac: float,
    bd: float,
    ad: float,
    bc: float,
    a: int,
    b: int,
    c: int,
    d: int,
) -> float:
    """Return the length of the tree AB|CD minus the length of AC|BD.

    The difference follows from the averages and the numbers of points of the four subtrees.
    """
    # Balanced: (AB + CD - AC - BD) / 4.
    if balanced:
        return 0.25 * (ab + cd - ac - bd)
    # Least squares: with l = (|A||D| + |B||C|) / ((|A| + |B|)(|C| + |D|)), and l' the same with
    # B and C exchanged, ((l - 1)(AC + BD) - (l' - 1)(AB + CD) - (l - l')(AD + BC)) / 2.
    before = (a * d + b * c) / ((a + b) * (c + d))
    after = (a * d + b * c) / ((a + c) * (b + d))
    return 0.5 * ((before - 1.0) * (ac + bd) - (after - 1.0) * (ab + cd) - (before - after) * (ad + bc))


@helper
def _averages_between(
    sides: Sides,
    matrix: Any,
    n: int,
    roots: Any,
    workspace: Workspace,
    starts: Any,
    balanced: bool,
) -> int:
    """Fill workspace.to with averages between the sides of two groups.

    workspace.to[side, t] is the average from a side within one group to subtree t of the other. The
    first two of four roots form one group of subtrees, and the last two form the second group; -1
    means no subtree. The sides within root k are written to workspace.order[starts[k] : starts[k +
    1]]. Returns the number of matrix rows read.
    """
    order, share, to, weight, total = workspace
    count = 0
    for k in range(4):
        starts[k] = count
        for j in range(n):
            weight[k, j] = 0.0
        if roots[k] >= 0:
            count = _outward(sides, roots[k], order, count)
            _share_out(sides, order, starts[k], count, share, weight[k], balanced)
    starts[4] = count
    parts = 1 if roots[1] < 0 else 2
    # The rows of the smaller group suffice. Groups begin at 0 and 2.
    small = 0 if starts[2] <= count - starts[2] else 2
    rows = 0
    for t in range(parts):
        for j in range(n):
            total[t, j] = 0.0
        for k in range(starts[small + t], starts[small + t + 1]):
            side = order[k]
            if sides.point[side] >= 0:
                rows += 1
                row = matrix[sides.point[side]]
                _add_row(share[side], row, total[t], n)
                for other in range(parts):
                    to[side, other] = _product(weight[2 - small + other], row, n)
    for k in range(starts[2 - small], starts[4 - small]):
        if sides.point[order[k]] >= 0:
            for t in range(parts):
                to[order[k], t] = total[t, sides.point[order[k]]]
    for k in range(count - 1, -1, -1):
        side = order[k]
        if sides.point[side] < 0:
            for t in range(parts):
                to[side, t] = _mix(
                    sides,
                    side,
                    to[sides.child[side, 0], t],
                    to[sides.child[side, 1], t],
                    balanced,
                )
    return rows


@helper
def _share_out(
    sides: Sides, order: Any, first: int, last: int, share: Any, weight: Any, balanced: bool
) -> None:
    """Compute the weights of the sides order[first:last] in the average of the first side.

    Also compute the weights of their points.
    """
    share[order[first]] = 1.0
    for k in range(first, last):
        side = order[k]
        if sides.point[side] >= 0:
            weight[sides.point[side]] = share[side]
        else:
            one = sides.child[side, 0]
            two = sides.child[side, 1]
            share[one] = share[side] * _share_of(sides, one, two, balanced)
            share[two] = share[side] * _share_of(sides, two, one, balanced)


@helper
def _add_row(factor: float, row: Any, total: Any, n: int) -> None:
    """Add factor * row to total."""
    for j in range(n):
        total[j] += factor * row[j]


@helper
def _product(weight: Any, row: Any, n: int) -> float:
    """Return the sum of weight * row."""
    # Four sums in parallel, because a single sum waits for each addition to finish.
    a = b = c = d = 0.0
    for j in range(0, n - n % 4, 4):
        a += weight[j] * row[j]
        b += weight[j + 1] * row[j + 1]
        c += weight[j + 2] * row[j + 2]
        d += weight[j + 3] * row[j + 3]
    for j in range(n - n % 4, n):
        a += weight[j] * row[j]
    return (a + b) + (c + d)


# Insertion.


@kernel
def insert_points(
    sides: Sides, matrix: Any, workspace: Workspace, done: int, balanced: bool, budget: int
) -> int:
    """Insert the points from `done` on, each where the tree stays shortest.

    Returns the number of points in the tree. Returns early after about `budget` distances have
    been read.
    """
    near = np.empty(len(sides.point))
    cost = np.empty(len(sides.point))
    while done < len(matrix) and budget > 0:
        count = _averages_from(sides, matrix[done], workspace.order, near, balanced)
        best = _cheapest_edge(sides, workspace.order, count, near, cost, balanced)
        budget -= done * (10 + _insert(sides, matrix, workspace, near, done, best, balanced))
        done += 1
    return done


@helper
def _cheapest_edge(sides: Sides, order: Any, count: int, near: Any, cost: Any, balanced: bool) -> int:
    """Return the even side above which the tree with the new point is shortest.

    The first of several equally good sides is returned.
    """
    size = sides.size
    pair = sides.pair
    best = 0
    cost[0] = 0.0
    for k in range(count):
        side = order[k]
        if cost[side] < cost[best]:
            best = side
        if sides.point[side] < 0:
            a = side ^ 1
            for slot in range(2):
                b = sides.child[side, slot]
                c = sides.child[side, 1 - slot]
                # From the edge of A to the edge of B, the new point x changes xA|BC into xB|AC.
                cost[b] = cost[side] - _saving(
                    balanced,
                    near[a],
                    pair[side],
                    near[b],
                    pair[b ^ 1],
                    near[c],
                    pair[c ^ 1],
                    1,
                    size[a],
                    size[b],
                    size[c],
                )
    return best


@helper
def _insert(
    sides: Sides,
    matrix: Any,
    workspace: Workspace,
    near: Any,
    new: int,
    top: int,
    balanced: bool,
) -> int:
    """Insert point `new` in the middle of the edge of the even side `top`.

    Returns the number of rows read.
    """
    child = sides.child
    point = sides.point
    size = sides.size
    pair = sides.pair
    old_average = _across(sides, matrix, top, balanced)
    up = top ^ 1
    low = 2 * (2 * new - 3)
    leaf = 2 * (2 * new - 3) + 2
    # The edge of `top` keeps its upper half. The lower half becomes the edge of `low`, and the edge
    # of the point is that of `leaf`.
    child[low, 0], child[low, 1] = child[top, 0], child[top, 1]
    point[low] = point[top]
    size[low] = size[top]
    pair[low] = pair[top]
    near[low] = near[top]
    if point[low] < 0:
        child[child[low, 0] ^ 1, 1] = child[child[low, 1] ^ 1, 1] = low ^ 1
    point[top] = point[low ^ 1] = point[leaf ^ 1] = -1
    point[leaf] = new
    child[leaf, 0] = child[leaf, 1] = -1
    child[top, 0] = low
    child[top, 1] = leaf
    child[low ^ 1, 0] = leaf
    child[low ^ 1, 1] = up
    child[leaf ^ 1, 0] = low
    child[leaf ^ 1, 1] = up
    size[leaf] = 1
    size[leaf ^ 1] = new
    size[low ^ 1] = size[up] + 1
    size[top] = size[low] + 1
    pair[top] = near[low]
    pair[low ^ 1] = near[up]
    pair[leaf ^ 1] = old_average

    starts = np.empty(5, np.int64)
    rows = 0
    if balanced:
        rows = _averages_between(sides, matrix, new, (low, -1, up, -1), workspace, starts, balanced)
    count = _outward(sides, up, workspace.order, _outward(sides, low, workspace.order, 0))
    _spread_insertion(sides, workspace, near, count, balanced)
    return rows


@helper
def _across(sides: Sides, matrix: Any, side: int, balanced: bool) -> float:
    """Return the average distance between the two sides of an edge."""
    if sides.point[side] >= 0:
        side = side ^ 1
    if sides.point[side] >= 0:
        return matrix[0, 1]
    one = sides.child[side, 0]
    two = sides.child[side, 1]
    # The children of `two ^ 1` are `one` and the other end of this edge.
    return _mix(sides, side, sides.pair[two ^ 1], sides.pair[one ^ 1], balanced)


@helper
def _spread_insertion(sides: Sides, workspace: Workspace, near: Any, count: int, balanced: bool) -> None:
    """Update all sides that contain a new point, and the averages of their neighbors."""
    size = sides.size
    pair = sides.pair
    for k in range(count):
        side = workspace.order[k]
        if sides.point[side] < 0:
            for slot in range(2):
                one = sides.child[side, slot]
                two = sides.child[side, 1 - slot]
                size[one ^ 1] += 1
                # pair[two ^ 1] is the average between `one` and side ^ 1, which contains the
                # new point.
                if balanced:
                    pair[two ^ 1] += workspace.share[side] * 0.5 * (near[one] - workspace.to[one, 0])
                else:
                    pair[two ^ 1] += (near[one] - pair[two ^ 1]) / size[side ^ 1]


# Averages from scratch, and quantities derived from them.


@kernel
def add_averages(
    sides: Sides,
    matrix: Any,
    workspace: Workspace,
    leaves: Any,
    first: int,
    last: int,
    balanced: bool,
) -> None:
    """Add the contribution of the points first:last to all averages of neighbors.

    leaves[i] is the side of point i. The average of P and Q is the sum over the points i in P
    of (weight of i in P) (average from i to Q). P is always an even side, so the path from i up
    to point 0 passes every average to which i contributes.
    """
    child = sides.child
    pair = sides.pair
    cross = sides.cross
    near = np.empty(len(sides.point))
    for i in range(max(first, 1), last):
        _averages_from(sides, matrix[i], workspace.order, near, balanced)
        side = leaves[i]
        weight = 1.0
        while side != 0:
            sibling = child[side ^ 1, 0]
            rest = child[side ^ 1, 1]
            above = rest ^ 1
            slot = 0 if child[above, 0] == side else 1
            if slot == 0:
                pair[above] += weight * near[sibling]
            pair[sibling ^ 1] += weight * near[rest]
            if above != 0:
                cross[above // 2, slot, 0] += weight * near[child[rest, 0]]
                cross[above // 2, slot, 1] += weight * near[child[rest, 1]]
            weight *= _share_of(sides, side, sibling, balanced)
            side = above


@kernel
def edge_list(sides: Sides, workspace: Workspace, edges: Any, lengths: Any, balanced: bool) -> None:
    """Write the tree as pairs of nodes, with new nodes from n on, and lengths."""
    count = _outward(sides, 0, workspace.order, 0)
    steiner = (len(sides.cross) + 3) // 2
    head = np.empty(2 * len(sides.cross), np.int64)  # node at the lower end of an even side ...
    upper = np.zeros(2 * len(sides.cross), np.int64)  # ... and the node above it
    for k in range(count):
        side = workspace.order[k]
        head[side] = sides.point[side]
        if sides.point[side] < 0:
            head[side] = steiner
            steiner += 1
            upper[sides.child[side, 0]] = upper[sides.child[side, 1]] = head[side]
        edges[side // 2, 0] = upper[side]
        edges[side // 2, 1] = head[side]
        lengths[side // 2] = _edge_length(sides, side, balanced)


@helper
def _edge_length(sides: Sides, side: int, balanced: bool) -> float:
    """Return the length of the edge of a side. The length may be negative."""
    size = sides.size
    pair = sides.pair
    if sides.point[side] >= 0 or sides.point[side ^ 1] >= 0:
        inner = side ^ 1 if sides.point[side] >= 0 else side
        a = sides.child[inner, 0]
        b = sides.child[inner, 1]
        # Leaf x with A and B at the other end: (xA + xB - AB) / 2.
        return 0.5 * (pair[a ^ 1] + pair[b ^ 1] - pair[inner])
    a = sides.child[side, 0]
    b = sides.child[side, 1]
    c = sides.child[side ^ 1, 0]
    d = sides.child[side ^ 1, 1]
    ac = sides.cross[side // 2, 0, 0]
    ad = sides.cross[side // 2, 0, 1]
    bc = sides.cross[side // 2, 1, 0]
    bd = sides.cross[side // 2, 1, 1]
    # Edge of AB|CD: (l (AC + BD) + (1 - l)(AD + BC) - AB - CD) / 2, with l as in `_saving`, and
    # l = 1/2 if balanced.
    share = 0.5
    if not balanced:
        share = (size[a] * size[d] + size[b] * size[c]) / ((size[a] + size[b]) * (size[c] + size[d]))
    return 0.5 * (share * (ac + bd) + (1.0 - share) * (ad + bc) - pair[side] - pair[side ^ 1])
