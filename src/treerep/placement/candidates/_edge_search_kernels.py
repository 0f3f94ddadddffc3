"""The edges of a rooted tree at which a point fits best, by weighted least squares.

Each node k of the tree has the sums W, S, Q of `_edge_fit_kernels` over the points at k. One pass
to the root and one pass back compute the sums on both sides of every edge. The sums beyond an edge
are added up from the other branches. They are not a difference from the sums of all points, because
one near point outweighs all others, and the difference would be lost to rounding.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper
from .._edge_fit_kernels import best_on_edge, shifted

W, S, Q = range(3)
#: First columns of the sums beyond the edge above a node (measured at the upper end), and of the
#: sums beyond the node (measured at the node), including its branches that were passed.
BEYOND = 3
PASSED = 6
COLUMNS = 9


class BestEdges(NamedTuple):
    """The best edges for one point, with increasing errors. Unused entries are -1."""

    edge: Any  # lower end
    error: Any
    above: Any  # distance of the place from the lower end
    height: Any  # distance of the point from the place


@helper
def find_best_edges(up: Any, length: Any, n: int, sums: Any, best: BestEdges) -> None:
    """Fill `best` with the best edges of a tree of n nodes. The first of equal edges wins.

    Parents precede their children. On entry, the first columns of `sums` are W, S, Q of the
    points at each node.
    """
    last = len(best.edge) - 1
    for i in range(last + 1):
        best.edge[i] = -1
        best.error[i] = np.inf
    for k in range(n - 1, 0, -1):
        g = up[k]
        # So far, the parent has the sums of the points at the parent and of later branches.
        for j in range(3):
            sums[k, BEYOND + j] = sums[g, j]
        raised = shifted(sums[k, W], sums[k, S], sums[k, Q], length[k])
        for j in range(3):
            sums[g, j] += raised[j]
    for j in range(3):
        sums[0, PASSED + j] = 0.0
    for k in range(1, n):
        g = up[k]
        w = sums[k, W]
        f = sums[k, S]
        q = sums[k, Q]
        v = sums[k, BEYOND + W] + sums[g, PASSED + W]
        a = sums[k, BEYOND + S] + sums[g, PASSED + S]
        r = sums[k, BEYOND + Q] + sums[g, PASSED + Q]
        raised = shifted(w, f, q, length[k])
        lowered = shifted(v, a, r, length[k])
        for j in range(3):
            sums[g, PASSED + j] += raised[j]
            sums[k, PASSED + j] = lowered[j]
        # If the distances on both sides could be chosen freely, the error would be
        # q - f^2 / w + r - a^2 / v.
        worst = best.error[last]
        if w > 0.0 and v > 0.0 and (q + r - worst) * w * v < f * f * v + a * a * w:
            error, x, y = best_on_edge(w, f, q, v, a, r, length[k])
            if error < worst:
                insert_edge(best, last, k, max(error, 0.0), x, y)


@helper
def insert_edge(best: BestEdges, place: int, edge: int, error: float, above: float, height: float) -> None:
    """Insert an edge after those with smaller errors. The edge at `place` is dropped."""
    i = place
    while i > 0 and best.error[i - 1] > error:
        best.edge[i] = best.edge[i - 1]
        best.error[i] = best.error[i - 1]
        best.above[i] = best.above[i - 1]
        best.height[i] = best.height[i - 1]
        i -= 1
    best.edge[i] = edge
    best.error[i] = error
    best.above[i] = above
    best.height[i] = height


@helper
def put_first(best: BestEdges, edge: int, above: float, height: float) -> None:
    """Move an edge to the front, with the least error so far. The last edge may be dropped."""
    place = len(best.edge) - 1
    error = 0.0 if best.edge[0] < 0 else best.error[0]
    for i in range(len(best.edge)):
        if best.edge[i] == edge:
            place = i
    while place > 0:
        best.edge[place] = best.edge[place - 1]
        best.error[place] = best.error[place - 1]
        best.above[place] = best.above[place - 1]
        best.height[place] = best.height[place - 1]
        place -= 1
    best.edge[0] = edge
    best.error[0] = error
    best.above[0] = above
    best.height[0] = height
