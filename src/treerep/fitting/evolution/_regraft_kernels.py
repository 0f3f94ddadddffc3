"""Kernels of balanced minimum evolution that prune a subtree and regraft it elsewhere (SPR).

The form of the tree is described in `_minimum_evolution_kernels`. Here the edges are also
numbered in preorder, so that the edges of a subtree are a range that begins with its own edge.

The *row* of an even side X contains the balanced average distance from X to every edge that is not
within X: to the side of the edge that faces away from X. The row of an inner side is the mean of
the rows of its children. Edges are therefore visited from last to first. Finished rows wait on a
stack until their sibling is finished. The heavier child comes last in preorder, so that the stack
has at most log2(n) + 1 rows, and the averages of all pairs of sides are never in memory together.

Three subtrees meet at every inner node. Each of them can move into either of the other two. With
its row, every position of a pruned subtree is evaluated in O(1) (Hordijk and Gascuel 2005).
"""

from typing import Any, NamedTuple

from ..._core.kernel import helper, kernel
from ._minimum_evolution_kernels import Sides


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
    drop: (
        Any  # (E,) average of the children of the parent minus that of the sibling and the rest
    )
    across: Any  # (E,) between the two sides of an edge
    outer: (
        Any  # from the points of an even side to the rest of the tree, one edge after another
    )
    wanted: Any  # (2E,) whether to look for moves of a side
    place: Any  # (2E,) best position of a pruned side, or -1
    gain: Any  # (2E,) how much shorter the best position makes the tree


class Scan(NamedTuple):
    """Working memory of one thread."""

    rows: Any  # (H, E) stack of rows
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

    Without `seek`, these are `pair` and `across`, on which the search depends. With `seek`, these
    are the best moves that save more than `least`. The stack has `height` rows at first. Returns
    the number of rows at the end.
    """
    for k in range(last - 1, first - 1, -1):
        if layout.right[k] < 0:
            row = scan.rows[height]
            height += 1
            _leaf_row(layout, matrix[sides.point[2 * k]], k, row)
            if seek:
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
            row = right
            for e in range(len(row)):
                row[e] = 0.5 * (left[e] + right[e])
        averages.across[k] = row[k]
    return height


@helper
def _leaf_row(layout: Layout, distances: Any, leaf: int, row: Any) -> None:
    """Compute the row of a leaf."""
    for j in range(len(distances)):
        row[layout.leaf[j]] = distances[j]
    for t in range(len(layout.inner) - 1, 0, -1):
        k = layout.inner[t]
        row[k] = 0.5 * (row[k + 1] + row[layout.second[t]])
    row[0] = distances[0]
    _row_above(layout, leaf, row)


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


@kernel
def move_all(
    sides: Sides,
    layout: Layout,
    averages: Averages,
    pruned: Any,
    limit: int,
    apart: int,
    marked: Any,
    path: Any,
) -> tuple[int, float]:
    """Move the sides `pruned` in this order; return the number of moves and the sum of their gains.

    A move is skipped if an earlier move changed its path, or was made `apart` or fewer steps away
    from it. At most `limit` moves are made. All edges near a move are marked.
    """
    made = 0
    total = 0.0
    for side in pruned:
        count = _find_path(layout, side, averages.place[side], path)
        free = True
        for k in range(count - 1):
            free = free and not marked[path[k] // 2]
        if not free:
            continue
        for k in range(count - 1):
            marked[path[k] // 2] = True
            _mark(sides, marked, path[k], apart)
            _mark(sides, marked, path[k] ^ 1, apart)
        for k in range(count - 1):
            _step(sides, side, path[k], path[k + 1])
        made += 1
        total += averages.gain[side]
        if made == limit:
            break
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
