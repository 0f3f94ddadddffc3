"""The best place of a point in a tree, by least squares over all edges.

The place is computed from the distances to the points of the tree. Suppose that the point attaches
at distance i from the lower end of an edge and j from its upper end. The squared errors of the
point sum to

    q - 2 i f + i^2 w  over the points below the edge, and r - 2 j a + j^2 v  over the others,

with the sums W, S, Q of `_edge_fit_kernels`. One pass to the root and one pass back compute the
sums for all edges.

Eight points are processed in parallel, one in each lane (see `_placement_lane_kernels`), so that
data of the tree is loaded once for all eight points. Every lane adds terms in the same order as for
a single point.
"""

from typing import Any, NamedTuple

import numpy as np

from .._core.kernel import helper, kernel
from ..tree.structure.rooted import Preorder
from ._edge_fit_kernels import best_on_edge, shifted, weigh
from ._placement_lane_kernels import (
    ALL_Q,
    ALL_S,
    FIELDS,
    LANES,
    Q,
    S,
    W,
    add_to_parent,
    carry_down,
)

# Number of edges above the nearest point that are tried first to find a limit.
_TRIED = 4
# Margin of the limit for rounding, as a fraction of the sum of squares, so that the best edge
# is never excluded.
_SLACK = 1e-9


class _Best(NamedTuple):
    """The best place of every lane so far."""

    edge: Any  # lower end of the edge
    cost: Any
    along: Any  # distance from the lower end
    height: Any  # distance from the edge
    limit: Any  # upper bound of the least cost
    least: Any  # minimum of cost and limit


@kernel
def find_best_places(
    tree: Preorder,
    distances: Any,
    power: float,
    smallest: float,
    short: float,
    node: Any,
    above: Any,
    height: Any,
) -> None:
    """Find the place with the least weighted squared errors for every row of distances.

    Squared errors are divided by distance ** power.

    Column y of the distances belongs to node y of the tree. A duplicate of a point of the tree
    is placed at that point. The bits of a row do not depend on other rows.
    """
    m = distances.shape[1]
    n = len(tree.up)
    lanes = np.zeros((n, FIELDS, LANES))
    column = np.empty(m * LANES)
    weight = np.empty(m * LANES)
    path = np.empty(n, np.int64)
    numbers = np.empty((5, LANES))
    best = _Best(np.empty(LANES, np.int64), numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    nearest = np.empty(LANES, np.int64)
    for start in range(0, len(distances), LANES):
        rows = distances[start : start + LANES]
        _transpose(rows, column)
        weigh(column, power, smallest, weight)
        _sum_below(tree, column, weight, lanes)
        for lane in range(LANES):
            nearest[lane] = np.argmin(rows[min(lane, len(rows) - 1)])
            best.limit[lane] = _limit(tree, lanes, lane, tree.position[nearest[lane]], path)
        _best_edges(tree, lanes, best)
        for lane in range(len(rows)):
            same = nearest[lane]
            k = best.edge[lane]
            x = best.along[lane]
            row = start + lane
            height[row] = best.height[lane]
            if rows[lane, same] == 0.0:
                node[row] = tree.order[tree.position[same]]
                above[row] = 0.0
                height[row] = 0.0
            elif x <= short:
                node[row] = tree.order[k]
                above[row] = 0.0
            elif x >= tree.length[k] - short:
                node[row] = tree.order[tree.up[k]]
                above[row] = 0.0
            else:
                node[row] = tree.order[k]
                above[row] = x


@helper
def _transpose(rows: Any, column: Any) -> None:
    """Put the distances to each point of the tree side by side.

    The last row fills unused lanes.
    """
    for lane in range(LANES):
        row = rows[min(lane, len(rows) - 1)]
        for y in range(len(row)):
            column[y * LANES + lane] = row[y]


@helper
def _sum_below(tree: Preorder, column: Any, weight: Any, lanes: Any) -> None:
    """Compute W, S, Q of the points below every node, measured at the node.

    Also compute S, Q of all points at the root.
    """
    for k in range(len(tree.up)):
        for field in (W, S, Q):
            for lane in range(LANES):
                lanes[k, field, lane] = 0.0
    for y in range(len(column) // LANES):
        at = lanes[tree.position[y]]
        for lane in range(LANES):
            w = weight[y * LANES + lane]
            d = column[y * LANES + lane]
            at[W, lane] = w
            at[S, lane] = w * d
            at[Q, lane] = w * d * d
    # Children add to their parents in decreasing order of their positions.
    for k in range(len(tree.up) - 1, 0, -1):
        add_to_parent(lanes, k, tree.up[k], tree.length[k])
    for lane in range(LANES):
        lanes[0, ALL_S, lane], lanes[0, ALL_Q, lane] = lanes[0, S, lane], lanes[0, Q, lane]


@helper
def beside(w: float, f: float, q: float, length: float, all_w: float, all_s: float, all_q: float) -> Any:
    """Return W, S, Q of the points not below an edge, measured at its upper end.

    These sums are computed from the sums of all points at that end.
    """
    _, shifted_f, shifted_q = shifted(w, f, q, length)
    return all_w - w, all_s - shifted_f, all_q - shifted_q


@helper
def _limit(tree: Preorder, lanes: Any, lane: int, k: int, path: Any) -> float:
    """Return an upper bound of the least cost.

    The bound is the cost of the best place near node k, plus a margin for rounding. With a good
    limit, nearly all edges are excluded before any division.
    """
    count = 0
    while k > 0:
        path[count] = k
        k = tree.up[k]
        count += 1
    best = np.inf
    all_w = lanes[0, W, lane]
    all_s = lanes[0, ALL_S, lane]
    all_q = lanes[0, ALL_Q, lane]
    for step in range(count - 1, -1, -1):
        k = path[step]
        w = lanes[k, W, lane]
        f = lanes[k, S, lane]
        q = lanes[k, Q, lane]
        length = tree.length[k]
        v, a, r = beside(w, f, q, length, all_w, all_s, all_q)
        if step < _TRIED and w > 0.0 and v > 0.0:
            best = min(best, best_on_edge(w, f, q, v, a, r, length)[0])
        # Measured at the lower end, the other points are farther away by the length.
        all_s = f + a - length * v
        all_q = q + r - length * (2.0 * a - length * v)
    return best + _SLACK * lanes[0, ALL_Q, lane]


@helper
def _best_edges(tree: Preorder, lanes: Any, best: _Best) -> None:
    """Find the edge of the best place of every lane. The first edge wins a tie."""
    for lane in range(LANES):
        best.edge[lane] = 1
        best.cost[lane] = np.inf
        best.along[lane] = 0.0
        best.height[lane] = 0.0
        best.least[lane] = best.limit[lane]
    for k in range(1, len(tree.up)):
        promising = carry_down(lanes, k, tree.up[k], tree.length[k], best.least)
        lane = 0
        while promising:
            if promising & 1:
                _try_edge(tree, lanes, lane, k, best)
            promising >>= 1
            lane += 1


@helper
def _try_edge(tree: Preorder, lanes: Any, lane: int, k: int, best: _Best) -> None:
    """Update the best place if the best place on this edge is better."""
    g = tree.up[k]
    length = tree.length[k]
    w = lanes[k, W, lane]
    f = lanes[k, S, lane]
    q = lanes[k, Q, lane]
    v, a, r = beside(w, f, q, length, lanes[0, W, lane], lanes[g, ALL_S, lane], lanes[g, ALL_Q, lane])
    if w > 0.0 and v > 0.0:
        cost, x, y = best_on_edge(w, f, q, v, a, r, length)
        if cost < best.cost[lane]:
            best.edge[lane] = k
            best.cost[lane] = cost
            best.along[lane] = x
            best.height[lane] = y
            best.least[lane] = min(cost, best.limit[lane])
