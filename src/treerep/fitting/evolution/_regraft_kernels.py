"""Kernels of balanced minimum evolution that prune a subtree and regraft it elsewhere (SPR).

The form of the tree is described in `_sides_kernels`. Here the edges are also
numbered in preorder, so that the edges of a subtree are a range that begins with its own edge.

The *row* of an even side X contains the balanced average distance from X to every edge that is not
within X: to the side of the edge that faces away from X. The row of an inner side is the mean of
the rows of its children. Edges are therefore visited from last to first. Finished rows wait on a
stack until their sibling is finished. The heavier child comes last in preorder, so that the stack
has at most log2(n) + 1 rows, and the averages of all pairs of sides are never in memory together.
The rows of eight leaves are computed together, because every step of a row waits for the previous
step.

Three subtrees meet at every inner node. Each of them can move into either of the other two. With
its row, every position of a pruned subtree is evaluated in O(1) (Hordijk and Gascuel 2005).
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ._sides_kernels import Sides

#: Number of leaves whose rows are computed together.
LEAVES = 8


class Layout(NamedTuple):
    """A tree with edges in preorder. The first child of edge k is edge k + 1."""

    right: Any  # (E,) second child, or -1 for a leaf
    above: Any  # (E,) parent, or -1 for edge 0
    beside: Any  # (E,) sibling, or -1 for edge 0
    size: Any  # (E,) number of points in the even side
    rank: Any  # (E,) number of leaves before the edge
    first: Any  # (E,) position of the edge in `outer`
    leaf: Any  # (n,) edge of each point
    # Leaves and inner edges in order. There are k - rank[k] inner edges before edge k. Two lists
    # are faster than one loop with a branch that cannot be predicted.
    leaves: Any  # (n - 1,) edges of leaves
    inner: Any  # (n - 2,) other edges
    second: Any  # (n - 2,) second children of these


class Averages(NamedTuple):
    """Balanced average distances, and the best moves."""

    pair: Any  # (2E,) between the children of a side; 0 for a leaf
    drop: Any  # (E,) average of the children of the parent minus that of the sibling and the rest
    across: Any  # (E,) between the two sides of an edge
    outer: Any  # from the points of an even side to the rest of the tree, one edge after another
    wanted: Any  # (2E,) whether to look for moves of a side
    place: Any  # (2E,) best position of a pruned side, or -1
    gain: Any  # (2E,) how much shorter the best position makes the tree
    kept: Any  # (W, 2, E) rows of the children of some edges
    slot: Any  # (E,) position of an edge in `kept`, or -1


class Scan(NamedTuple):
    """Working memory of one thread."""

    rows: Any  # (H, E) stack of rows
    leaves: Any  # (LEAVES, E) rows of some leaves
    lanes: Any  # (E, LEAVES) the same, edge by edge
    rest: Any  # (E,) row from the rest of the tree to the edges within a side
    saved: Any  # (E,) how much shorter the tree is with the pruned subtree on the edge
    near: Any  # (E,) average distance from the pruned subtree to the part behind the edge
    weight: Any  # (E,) weight of the pruned subtree in the part behind the edge


# The layout.


@kernel
def preorder(sides: Sides, order: Any, stack: Any) -> None:
    """Sort the even sides: every side comes before its children, and the heavier child last.

    The children of even sides are sorted by size.
    """
    child = sides.child
    stack[0] = 0
    height = 1
    count = 0
    while height > 0:
        height -= 1
        side = stack[height]
        order[count] = side
        count += 1
        if sides.point[side] < 0:
            if sides.size[child[side, 0]] > sides.size[child[side, 1]]:
                child[side, 0], child[side, 1] = child[side, 1], child[side, 0]
            stack[height] = child[side, 1]
            stack[height + 1] = child[side, 0]
            height += 2


@kernel
def lay_out(sides: Sides, layout: Layout) -> int:
    """Fill the layout of a tree whose edges are in preorder; return the length of `outer`."""
    layout.above[0] = -1
    layout.beside[0] = -1
    layout.leaf[0] = 0
    leaves = 0
    total = 0
    for k in range(len(layout.right)):
        layout.size[k] = sides.size[2 * k]
        layout.rank[k] = leaves
        layout.first[k] = total
        total += layout.size[k]
        layout.right[k] = -1
        if sides.point[2 * k] >= 0:
            layout.leaf[sides.point[2 * k]] = k
            layout.leaves[leaves] = k
            leaves += 1
        else:
            right = sides.child[2 * k, 1] // 2
            layout.right[k] = right
            layout.inner[k - leaves] = k
            layout.second[k - leaves] = right
            layout.above[k + 1] = k
            layout.above[right] = k
            layout.beside[k + 1] = right
            layout.beside[right] = k + 1
    return total


# The rows.


@kernel
def visit(
    sides: Sides,
    layout: Layout,
    averages: Averages,
    matrix: Any,
    scan: Scan,
    height: int,
    first: int,
    last: int,
    least: float,
    seek: bool,
) -> int:
    """Compute the rows of the edges first:last, backward, and what follows from them.

    Without `seek`, these are `pair` and `across`, on which the search depends, and the rows to be
    kept for `seek_kept`. With `seek`, these are the best moves that save more than `least`. The
    stack has `height` rows at first. Returns the number of rows at the end.
    """
    ready = 0  # rows in scan.leaves
    for k in range(last - 1, first - 1, -1):
        if layout.right[k] < 0:
            if ready == 0:
                ready = min(LEAVES, layout.rank[k] + 1 - layout.rank[first])
                _leaf_rows(sides, layout, matrix, layout.rank[k], ready, scan)
            ready -= 1
            row = scan.rows[height]
            height += 1
            row[:] = scan.leaves[ready]
            if seek or len(averages.kept) > 0:
                _keep_outer(layout, averages.outer, k, row)
        else:
            left = scan.rows[height - 1]
            right = scan.rows[height - 2]
            height -= 1
            if seek:
                wanted = averages.wanted
                if wanted[2 * k + 1] or wanted[2 * k + 2] or wanted[2 * layout.right[k]]:
                    _seek_moves(layout, averages, scan, k, left, right, least)
            else:
                # Three subtrees meet at this node. Each side away from the node has the other
                # two subtrees as its children.
                two = layout.right[k]
                averages.pair[2 * k] = left[two]
                averages.pair[2 * k + 3] = right[k]
                averages.pair[2 * two + 1] = left[k]
                averages.drop[k + 1] = left[two] - right[k]
                averages.drop[two] = left[two] - left[k]
                if averages.slot[k] >= 0:
                    averages.kept[averages.slot[k], 0] = left
                    averages.kept[averages.slot[k], 1] = right
            row = right
            for e in range(len(row)):
                row[e] = 0.5 * (left[e] + right[e])
        averages.across[k] = row[k]
    return height


@helper
def _leaf_rows(sides: Sides, layout: Layout, matrix: Any, last: int, count: int, scan: Scan) -> None:
    """Compute the rows of the `count` leaves up to the leaf of rank `last`."""
    row = scan.lanes
    points = np.empty(LEAVES, np.int64)
    for lane in range(LEAVES):
        # If there are fewer leaves, the last one is repeated.
        rank = min(last, last - count + 1 + lane)
        points[lane] = sides.point[2 * layout.leaves[rank]]
    for j in range(len(matrix)):
        for lane in range(LEAVES):
            row[layout.leaf[j], lane] = matrix[points[lane], j]
    for t in range(len(layout.inner) - 1, 0, -1):
        k = layout.inner[t]
        second = layout.second[t]
        for lane in range(LEAVES):
            row[k, lane] = 0.5 * (row[k + 1, lane] + row[second, lane])
    for k in range(len(row)):
        for lane in range(LEAVES):
            scan.leaves[lane, k] = row[k, lane]
    for lane in range(count):
        _row_above(layout, layout.leaves[last - count + 1 + lane], scan.leaves[lane])


@helper
def _row_above(layout: Layout, leaf: int, row: Any) -> None:
    """Compute the averages from a leaf to the edges above it, and to its own edge."""
    k = 0
    while k != leaf:
        # The side facing away from the leaf consists of the sibling and the rest of the tree.
        right = layout.right[k]
        child = right if leaf >= right else k + 1
        row[child] = 0.5 * (row[layout.beside[child]] + row[k])
        k = child


@helper
def _keep_outer(layout: Layout, outer: Any, leaf: int, row: Any) -> None:
    """Store the averages from a leaf to the rest of the tree around each side that contains it."""
    k = layout.above[leaf]
    while k >= 0:
        outer[layout.first[k] + layout.rank[leaf] - layout.rank[k]] = row[k]
        k = layout.above[k]


@helper
def _rest_row(layout: Layout, outer: Any, k: int, row: Any) -> None:
    """Compute the averages from the rest of the tree to all edges within an even side."""
    rank = layout.rank[k]
    for t in range(layout.size[k]):
        row[layout.leaves[rank + t]] = outer[layout.first[k] + t]
    for t in range(k - rank + layout.size[k] - 2, k - rank, -1):
        e = layout.inner[t]
        row[e] = 0.5 * (row[e + 1] + row[layout.second[t]])


# The search.


@kernel
def seek_kept(layout: Layout, averages: Averages, scan: Scan, edges: Any, least: float) -> None:
    """Find the best moves of the subtrees at the lower ends of edges whose rows are kept."""
    for k in edges:
        left, right = averages.kept[averages.slot[k]]
        _seek_moves(layout, averages, scan, k, left, right, least)


@helper
def _seek_moves(
    layout: Layout, averages: Averages, scan: Scan, k: int, left: Any, right: Any, least: float
) -> None:
    """Find the best moves of the three subtrees at the lower end of edge k.

    `left` and `right` are the rows of the children.
    """
    one = k + 1
    two = layout.right[k]
    rest = scan.rest
    _rest_row(layout, averages.outer, k, rest)
    # One child moves into the other, or upward.
    best, most = _into(layout, averages.drop, scan, two, left, rest, left[k], -1, least)
    best, most = _upward(layout, averages, scan, k, left, right, left[two], best, most)
    averages.place[2 * one] = best
    averages.gain[2 * one] = most
    best, most = _into(layout, averages.drop, scan, one, right, rest, right[k], -1, least)
    best, most = _upward(layout, averages, scan, k, right, left, right[one], best, most)
    averages.place[2 * two] = best
    averages.gain[2 * two] = most
    # The rest of the tree moves into one of the children.
    best, most = _into(layout, averages.drop, scan, one, rest, right, rest[two], -1, least)
    best, most = _into(layout, averages.drop, scan, two, rest, left, rest[one], best, most)
    averages.place[2 * k + 1] = best
    averages.gain[2 * k + 1] = most


@helper
def _into(
    layout: Layout,
    drop: Any,
    scan: Scan,
    root: int,
    to_x: Any,
    to_y: Any,
    x_y: float,
    best: int,
    most: float,
) -> tuple[int, float]:
    """Return the best position of the pruned subtree X within the even side `root`.

    The three subtrees X, Y and `root` meet at a node.
    """
    scan.saved[root] = 0.0
    scan.near[root] = x_y
    scan.weight[root] = 0.5
    return _within(layout, drop, scan, root, to_x, to_y, best, most)


@helper
def _within(
    layout: Layout,
    drop: Any,
    scan: Scan,
    root: int,
    to_x: Any,
    to_y: Any,
    best: int,
    most: float,
) -> tuple[int, float]:
    """Return the best position within an even side whose entries of `scan` are known.

    The position is given by a side, or is -1. `most` is the least amount to be saved.
    """
    saved = scan.saved
    near = scan.near
    weight = scan.weight
    first = root - layout.rank[root]
    for t in range(first, first + layout.size[root] - 1):
        edge = layout.inner[t]
        b = edge + 1
        c = layout.second[t]
        share = weight[edge]
        # A is the part behind the edge, without the pruned subtree X. In the present tree, X and
        # its sibling Y both have the weight w in that part. Without X, Y has the weight 2w:
        # AC = (average with X) + w (YC - XC).
        more_b = share * (to_y[b] - to_x[b])
        more_c = share * (to_y[c] - to_x[c])
        # From the edge of A to that of B, XA|BC becomes XB|AC, which saves
        # (XA + BC - XB - AC) / 4. The drop is BC minus the average with X of A and C.
        by_b = saved[edge] + 0.25 * (near[edge] - to_x[b] + (drop[b] - more_c))
        by_c = saved[edge] + 0.25 * (near[edge] - to_x[c] + (drop[c] - more_b))
        saved[b] = by_b
        saved[c] = by_c
        near[b] = 0.5 * (near[edge] + to_x[c])
        near[c] = 0.5 * (near[edge] + to_x[b])
        weight[b] = 0.5 * share
        weight[c] = 0.5 * share
        if by_b > most:
            most = by_b
            best = 2 * b
        if by_c > most:
            most = by_c
            best = 2 * c
    return best, most


@helper
def _upward(
    layout: Layout,
    averages: Averages,
    scan: Scan,
    k: int,
    to_x: Any,
    to_y: Any,
    x_y: float,
    best: int,
    most: float,
) -> tuple[int, float]:
    """Return the best position of X outside of the even side of edge k, whose children are X and Y.

    The formulas are those of `_within`. The two sides at the upper end of the edge are the sibling
    and the rest of the tree.
    """
    pair = averages.pair
    saved = 0.0
    near = x_y
    share = 0.5
    while k != 0:
        top = layout.above[k]
        side = layout.beside[k]
        known = near + pair[2 * k + 1]
        a_rest = pair[2 * side + 1] + share * (to_y[top] - to_x[top])
        a_side = pair[2 * top] + share * (to_y[side] - to_x[side])
        scan.saved[side] = saved + 0.25 * (known - to_x[side] - a_rest)
        scan.near[side] = 0.5 * (near + to_x[top])
        scan.weight[side] = 0.5 * share
        if scan.saved[side] > most:
            most = scan.saved[side]
            best = 2 * side
        best, most = _within(layout, averages.drop, scan, side, to_x, to_y, best, most)
        saved += 0.25 * (known - to_x[top] - a_side)
        near = 0.5 * (near + to_x[side])
        share *= 0.5
        if saved > most:
            most = saved
            best = 2 * top + 1
        k = top
    return best, most


# Moves.


class Joints(NamedTuple):
    """A tree in which subtrees move, with point 0 at the top.

    At first, the node at the lower end of edge k has the number k. Point 0 has the number E.
    """

    low: Any  # (E,) node at the lower end of an edge
    high: Any  # (E,) node at the upper end
    over: Any  # (E + 1,) edge above a node, or -1
    under: Any  # (E + 1, 2) edges below a node, or -1


@kernel
def move_all(
    sides: Sides,
    layout: Layout,
    averages: Averages,
    pruned: Any,
    limit: int,
    apart: int,
    joints: Joints,
    marked: Any,
    path: Any,
) -> tuple[int, float]:
    """Move the sides `pruned` in this order; return the number of moves and the sum of their gains.

    A move is skipped if an earlier move began or ended `apart` or fewer steps away from its ends.
    Paths may cross. At most `limit` moves are made. All edges near a path are marked.
    """
    blocked = np.zeros(len(layout.right), np.bool_)
    _read_joints(layout, joints)
    made = 0
    total = 0.0
    for side in pruned:
        edge = side // 2
        target = averages.place[side] // 2
        # The two other edges at the node from which the subtree is cut off.
        one = sides.child[side ^ 1, 0] // 2
        two = sides.child[side ^ 1, 1] // 2
        if blocked[edge] or blocked[target] or blocked[one] or blocked[two]:
            continue
        node = edge if side & 1 else layout.above[edge]
        if not _regraft(joints, node, edge, target):
            continue
        blocked[edge] = blocked[target] = True
        _mark(sides, blocked, side, apart)
        _mark(sides, blocked, side ^ 1, apart + 1)
        _mark(sides, blocked, 2 * target, apart)
        _mark(sides, blocked, 2 * target + 1, apart)
        count = _find_path(layout, side, averages.place[side], path)
        for k in range(count - 1):
            marked[path[k] // 2] = True
            _mark(sides, marked, path[k], apart)
            _mark(sides, marked, path[k] ^ 1, apart)
        made += 1
        total += averages.gain[side]
        if made == limit:
            break
    _write_sides(joints, sides)
    return made, total


@helper
def _mark(sides: Sides, marked: Any, side: int, steps: int) -> None:
    """Mark the edges that are at most some steps away at the end of a side."""
    if steps > 0 and sides.child[side, 0] >= 0:
        for slot in range(2):
            marked[sides.child[side, slot] // 2] = True
            _mark(sides, marked, sides.child[side, slot], steps - 1)


@helper
def _find_path(layout: Layout, pruned: int, place: int, path: Any) -> int:
    """Write the sides from a pruned side to its new position, and return their number.

    Every side is a child of the side before it.
    """
    count = 0
    target = place // 2
    edge = pruned // 2
    if not pruned & 1:
        edge = layout.above[edge]
        # Climb until the target is below.
        while target <= edge or target >= edge + 2 * layout.size[edge] - 1:
            path[count] = 2 * edge + 1
            count += 1
            if target == edge:
                return count
            edge = layout.above[edge]
    # Descend to the target.
    last = count
    while target != edge:
        path[last] = 2 * target
        last += 1
        target = layout.above[target]
    path[count:last] = path[count:last][::-1].copy()
    return last


@helper
def _read_joints(layout: Layout, joints: Joints) -> None:
    top = len(layout.right)
    joints.under[:] = -1
    joints.over[top] = -1
    joints.under[top, 0] = 0
    for k in range(top):
        joints.low[k] = k
        joints.high[k] = layout.above[k] if k > 0 else top
        joints.over[k] = k
        if layout.right[k] >= 0:
            joints.under[k, 0] = k + 1
            joints.under[k, 1] = layout.right[k]


@helper
def _write_sides(joints: Joints, sides: Sides) -> None:
    """Replace the tree of `sides`. Leaves stay the lower ends of their edges."""
    child = sides.child
    edges = len(joints.low)
    order = np.empty(edges, np.int64)
    order[0] = 0
    count = 1
    for t in range(edges):
        k = order[t]
        one, two = joints.under[joints.low[k]]
        if one >= 0:
            child[2 * k] = 2 * one, 2 * two
            child[2 * one + 1] = 2 * two, 2 * k + 1
            child[2 * two + 1] = 2 * one, 2 * k + 1
            order[count] = one
            order[count + 1] = two
            count += 2
    size = sides.size
    n = size[0] + size[1]
    for k in order[::-1]:
        if child[2 * k, 0] >= 0:
            size[2 * k] = size[child[2 * k, 0]] + size[child[2 * k, 1]]
        size[2 * k + 1] = n - size[2 * k]


@helper
def _regraft(joints: Joints, node: int, edge: int, target: int) -> bool:
    """Move the subtree at the end of `edge` with its `node` to the edge `target`.

    Returns False if the subtree contains the target.
    """
    inside = _is_below(joints, target, node if joints.over[node] == edge else joints.low[edge])
    if joints.over[node] == edge:
        if inside:
            _regraft_rest(joints, node, target)
        return inside
    if not inside:
        _regraft_below(joints, node, edge, target)
    return not inside


@helper
def _regraft_below(joints: Joints, node: int, edge: int, target: int) -> None:
    """Move a subtree below `node`. Edge 0 stays the edge of point 0."""
    free = joints.over[node]
    sibling = _sibling(joints, node, edge)
    if free == 0:
        free = sibling
        _hang(joints, joints.low[sibling], 0)
    else:
        _replace(joints, joints.high[free], free, sibling)
    if target == 0:
        _hang(joints, joints.low[0], free)
        _hang(joints, node, 0)
        joints.high[free] = node
        joints.under[node] = edge, free
    else:
        _replace(joints, joints.high[target], target, free)
        _hang(joints, node, free)
        joints.high[target] = node
        joints.under[node] = edge, target


@helper
def _regraft_rest(joints: Joints, node: int, target: int) -> None:
    """Move the rest of the tree, above `node`, to an edge below it.

    The edges from the node to the target are turned upside down.
    """
    first = target
    while joints.high[first] != node:
        first = joints.over[joints.high[first]]
    other = _sibling(joints, node, first)
    lost = target
    above = first  # the edge that will be above `lower`
    lower = joints.high[target]
    while True:
        over = joints.over[lower]
        upper = joints.high[over]
        _hang(joints, lower, above)
        if over == first:
            break
        _replace(joints, lower, lost, over)
        joints.high[over] = lower
        lost = over
        above = over
        lower = upper
    _replace(joints, lower, lost, other)
    joints.high[first] = node
    joints.high[target] = node
    joints.under[node] = first, target


@helper
def _is_below(joints: Joints, edge: int, node: int) -> bool:
    while edge >= 0 and joints.high[edge] != node:
        edge = joints.over[joints.high[edge]]
    return edge >= 0


@helper
def _sibling(joints: Joints, node: int, edge: int) -> int:
    one, two = joints.under[node]
    return two if one == edge else one


@helper
def _hang(joints: Joints, node: int, edge: int) -> None:
    """Make a node the lower end of an edge."""
    joints.low[edge] = node
    joints.over[node] = edge


@helper
def _replace(joints: Joints, node: int, old: int, new: int) -> None:
    """Replace an edge below a node."""
    slot = 0 if joints.under[node, 0] == old else 1
    joints.under[node, slot] = new
    joints.high[new] = node
