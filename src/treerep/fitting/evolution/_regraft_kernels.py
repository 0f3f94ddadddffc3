"""Kernels of balanced minimum evolution that prune a subtree and regraft it elsewhere (SPR).

The form of the tree is described in `_minimum_evolution_kernels`. The table contains the balanced
average distance of every pair of edges: the average between the two disjoint sides that face away
from each other. table[e, e] is the average between the two sides of e.

With the table, every position of a pruned subtree is evaluated in O(1) (Hordijk and Gascuel 2005).
A move changes the averages of the sides that contain the moved subtree, its old position or its new
position. These averages are computed again from the averages of the children, so errors do not
accumulate. An update takes O(n) time for each level of the tree.
"""

from typing import Any, NamedTuple

from ..._core.kernel import helper, kernel
from ._minimum_evolution_kernels import Sides


class RegraftWorkspace(NamedTuple):
    """Working memory of the search for a position and of the updates of the table."""

    order: Any  # (E,) even sides, each before its children, every subtree contiguous
    stack: Any  # (E,) sides to visit; the next three arrays belong to them
    near: Any  # (E,) average distance from the pruned subtree to the part behind the side
    gain: Any  # (E,) how much shorter the tree is with the pruned subtree on the edge
    weight: Any  # (E,) weight of the pruned subtree in the part behind the side
    previous: Any  # (2E,) side from which a side was reached, or -1
    changed: Any  # (E,) whether the even side of an edge contains a change


# The table.


@kernel
def preorder(sides: Sides, order: Any, stack: Any) -> None:
    """Sort the even sides such that every side comes before its children.

    The sides within a side of n points are the next 2n - 2 entries.
    """
    stack[0] = 0
    height = 1
    count = 0
    while height > 0:
        height -= 1
        side = stack[height]
        order[count] = side
        count += 1
        if sides.point[side] < 0:
            stack[height] = sides.child[side, 1]
            stack[height + 1] = sides.child[side, 0]
            height += 2


@kernel
def fill_rows(
    sides: Sides, matrix: Any, table: Any, work: RegraftWorkspace, first: int, last: int
) -> None:
    """Compute the averages between disjoint even sides: the rows order[first:last], backward."""
    for k in range(last - 1, first - 1, -1):
        side = work.order[k]
        if sides.point[side] >= 0:
            _leaf_row(sides, matrix[sides.point[side]], table[side // 2], work.order)
        else:
            _mean_row(sides, table, side)
        table[0, side // 2] = table[side // 2, 0]


@helper
def _leaf_row(sides: Sides, distances: Any, row: Any, order: Any) -> None:
    """Compute the averages from a point to all even sides, and the distance to point 0."""
    for k in range(len(order) - 1, 0, -1):
        side = order[k]
        if sides.point[side] >= 0:
            row[side // 2] = distances[sides.point[side]]
        else:
            row[side // 2] = 0.5 * (
                row[sides.child[side, 0] // 2] + row[sides.child[side, 1] // 2]
            )
    row[0] = distances[0]


@helper
def _mean_row(sides: Sides, table: Any, side: int) -> None:
    """Compute the averages from an even side to all disjoint sides.

    Entries of sides within or around the side are filled with other numbers, which `fill_nested`
    replaces.
    """
    one = table[sides.child[side, 0] // 2]
    two = table[sides.child[side, 1] // 2]
    row = table[side // 2]
    if side == 0:  # only point 0 is disjoint
        row[0] = 0.5 * (one[0] + two[0])
        return
    for e in range(len(row)):
        row[e] = 0.5 * (one[e] + two[e])


@kernel
def fill_nested(
    sides: Sides, table: Any, work: RegraftWorkspace, first: int, last: int
) -> None:
    """Compute the averages between side ^ 1 and the sides within a side of order[first:last].

    Edge 0 has been done by `fill_rows`.
    """
    order = work.order
    for k in range(max(first, 1), last):
        side = order[k]
        edge = side // 2
        # side ^ 1 consists of the sibling and of the rest of the tree.
        sibling = table[sides.child[side ^ 1, 0] // 2]
        rest = table[sides.child[side ^ 1, 1] // 2]
        for inner in range(k, k + 2 * sides.size[side] - 1):
            e = order[inner] // 2
            table[edge, e] = 0.5 * (sibling[e] + rest[e])
            table[e, edge] = table[edge, e]


@kernel
def read_pairs(sides: Sides, table: Any) -> None:
    """Set the averages of the two children of every side."""
    for side in range(len(sides.point)):
        if sides.point[side] < 0:
            sides.pair[side] = table[sides.child[side, 0] // 2, sides.child[side, 1] // 2]


@kernel
def read_crosses(sides: Sides, table: Any) -> None:
    """Set the averages of children at opposite ends of every edge."""
    for edge in range(len(table)):
        if sides.point[2 * edge] < 0 and sides.point[2 * edge + 1] < 0:
            for i in range(2):
                for j in range(2):
                    sides.cross[edge, i, j] = table[
                        sides.child[2 * edge, i] // 2, sides.child[2 * edge + 1, j] // 2
                    ]


@helper
def _update_table(sides: Sides, table: Any, work: RegraftWorkspace) -> None:
    """Bring the table up to date after a move that marked edges as changed."""
    preorder(sides, work.order, work.stack)
    for k in range(len(work.order) - 1, -1, -1):
        side = work.order[k]
        edge = side // 2
        if work.changed[edge]:
            _mean_row(sides, table, side)
            if side != 0:
                for e in range(len(table)):
                    table[e, edge] = table[edge, e]
            work.changed[edge] = False
    fill_nested(sides, table, work, 1, len(work.order))
    read_pairs(sides, table)


# The search.


@kernel
def regraft(
    sides: Sides, table: Any, work: RegraftWorkspace, first: int, least: float, budget: int
) -> tuple[int, int]:
    """Move each side from `first` on to its best position, if that saves more than `least`.

    Returns the next side to try and the number of moves. Returns early when about `budget`
    entries of the table have been read.
    """
    side = first
    made = 0
    while side < len(sides.point) and budget > 0:
        budget -= 10 + 4 * sides.size[side ^ 1]
        if sides.point[side ^ 1] < 0:
            place, _ = best_position(sides, table, work, side, least)
            if place >= 0:
                _move(sides, work, side, place)
                _update_table(sides, table, work)
                budget -= 100 * len(table)
                made += 1
        side += 1
    return side, made


@kernel
def best_position(
    sides: Sides, table: Any, work: RegraftWorkspace, pruned: int, least: float
) -> tuple[int, float]:
    """Return the edge onto which moving a side saves the most, and the amount saved.

    The edge is given by the one of its sides that faces away from the pruned side, and is -1 if no
    move saves more than `least`. `work.previous` leads from the edge back to the old position.
    """
    stack, near, gain, weight = work.stack, work.near, work.gain, work.weight
    to_x = table[pruned // 2]
    best = -1
    most = least
    for k in range(2):
        start = sides.child[pruned ^ 1, k]
        sibling = sides.child[pruned ^ 1, 1 - k]
        to_y = table[sibling // 2]
        if sides.child[start, 0] < 0:
            continue
        work.previous[start] = -1
        stack[0], near[0], gain[0], weight[0] = start, to_x[sibling // 2], 0.0, 0.5
        height = 1
        while height > 0:
            height -= 1
            side = stack[height]
            x_a, gained, share = near[height], gain[height], weight[height]
            for slot in range(2):
                b = sides.child[side, slot]
                c = sides.child[side, 1 - slot]
                x_c = to_x[c // 2]
                # A is the part behind the side, without the pruned subtree X. In the present tree,
                # X and its sibling Y both have the weight w in that part. Without X, Y has the
                # weight 2w: AC = (average with X) + w (YC - XC).
                a_c = sides.pair[b ^ 1] + share * (to_y[c // 2] - x_c)
                # From the edge of A to that of B, XA|BC becomes XB|AC, which saves
                # (XA + BC - XB - AC) / 4.
                saved = gained + 0.25 * (x_a + sides.pair[side] - to_x[b // 2] - a_c)
                work.previous[b] = side
                if saved > most:
                    most = saved
                    best = b
                if sides.child[b, 0] >= 0:
                    stack[height] = b
                    gain[height] = saved
                    near[height] = 0.5 * (x_a + x_c)
                    weight[height] = 0.5 * share
                    height += 1
    return best, most


@helper
def _move(sides: Sides, work: RegraftWorkspace, pruned: int, place: int) -> None:
    """Move a side to an edge that `best_position` found, and mark the edges that changed."""
    # The path was recorded backward; its steps are made forward.
    count = 0
    side = place
    while side >= 0:
        work.stack[count] = side
        count += 1
        side = work.previous[side]
    for k in range(count - 1, 0, -1):
        _step(sides, pruned, work.stack[k], work.stack[k - 1])
    for k in range(1, count):
        side = work.stack[k] & ~1
        while not work.changed[side // 2]:
            work.changed[side // 2] = True
            if side == 0:
                break
            side = sides.child[side ^ 1, 1] ^ 1


@helper
def _step(sides: Sides, pruned: int, side: int, target: int) -> None:
    """Move a subtree at one end of an edge to the edge of `target`, a child of `side`.

    The subtree changes places with the other child of `side`. The same tree results if `target`
    changes places with the sibling of the subtree. The exchange that does not move point 0 is made,
    so that even sides stay even.
    """
    child = sides.child
    size = sides.size
    low = side & ~1
    up = low ^ 1
    fixed = child[up, 1]  # the odd one
    upper = child[up, 0]
    # `lower` becomes the sibling of `fixed`: both are `pruned` or `target`, or neither is.
    first = child[low, 0]
    same = (first == pruned or first == target) == (fixed == pruned or fixed == target)
    slot = 0 if same else 1
    lower = child[low, slot]
    stays = child[low, 1 - slot]
    child[low, slot] = upper
    child[up, 0] = lower
    child[lower ^ 1, 0], child[lower ^ 1, 1] = low, fixed
    child[fixed ^ 1, 0], child[fixed ^ 1, 1] = lower, low
    child[upper ^ 1, 0], child[upper ^ 1, 1] = stays, up
    child[stays ^ 1, 0], child[stays ^ 1, 1] = upper, up
    size[low] = size[upper] + size[stays]
    size[up] = size[lower] + size[fixed]
