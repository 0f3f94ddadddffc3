"""The best place of a point in a tree, by least squares over all edges, from its distances to the tree's points.

Let the point hang at distance i from the lower end of an edge and j from its upper end. Its squared errors sum up to

    q - 2 i f + i^2 w   over the points below the edge, and   r - 2 j a + j^2 v   over the others,

with the sums W, S, Q of `move_kernels`: one pass to the root and one back give them for all edges.
"""

from typing import Any, NamedTuple

import numpy as np

from ..common.kernel import helper, kernel
from .move_kernels import best_on_edge, shifted, weigh


class Backbone(NamedTuple):
    """A rooted tree by preorder position."""

    up: Any  # position of the parent; -1 at position 0
    length: Any  # of the edge to the parent
    node: Any  # node at each position
    place: Any  # position of each point


@kernel
def find_best_places(
    tree: Backbone, distances: Any, power: float, smallest: float, short: float, node: Any, above: Any, height: Any
) -> None:
    """Find the place of least squared errors, each divided by distance ** power, for every row of distances.

    A duplicate of a point of the tree is placed there.
    """
    m = distances.shape[1]
    weight, below, total = np.empty(m), np.empty((len(tree.up), 3)), np.empty((len(tree.up), 2))
    for row in range(len(distances)):
        same = np.argmin(distances[row])
        if distances[row, same] == 0.0:
            node[row], above[row], height[row] = tree.node[tree.place[same]], 0.0, 0.0
            continue
        weigh(distances[row], power, smallest, weight)
        all_weights = _sum_below(tree, distances[row], weight, below)
        total[0, 0], total[0, 1] = below[0, 1], below[0, 2]
        edge, x, y = _best_edge(tree, below, total, all_weights)
        if x <= short:
            node[row], above[row] = tree.node[edge], 0.0
        elif x >= tree.length[edge] - short:
            node[row], above[row] = tree.node[tree.up[edge]], 0.0
        else:
            node[row], above[row] = tree.node[edge], x
        height[row] = y


@helper
def _sum_below(tree: Backbone, row: Any, weight: Any, below: Any) -> float:
    """W, S, Q of the points below every node, measured there; returns W of all points."""
    for k in range(len(tree.up)):
        below[k, 0] = below[k, 1] = below[k, 2] = 0.0
    for y in range(len(row)):
        k, d = tree.place[y], row[y]
        below[k, 0], below[k, 1], below[k, 2] = weight[y], weight[y] * d, weight[y] * d * d
    for k in range(len(tree.up) - 1, 0, -1):
        g = tree.up[k]
        w, f, q = shifted(below[k, 0], below[k, 1], below[k, 2], tree.length[k])
        below[g, 0] += w
        below[g, 1] += f
        below[g, 2] += q
    return below[0, 0]


@helper
def _best_edge(tree: Backbone, below: Any, total: Any, all_weights: float) -> Any:
    """The edge of the best place, by its lower end; the distance from that end; and the height above the edge."""
    best, edge, along, height = np.inf, 1, 0.0, 0.0
    for k in range(1, len(tree.up)):
        g, length = tree.up[k], tree.length[k]
        w, f, q = below[k, 0], below[k, 1], below[k, 2]
        _, shifted_f, shifted_q = shifted(w, f, q, length)
        # What is not below the edge: its weight, and its sums measured at the upper end.
        v, a, r = all_weights - w, total[g, 0] - shifted_f, total[g, 1] - shifted_q
        # Measured at the lower end the rest is farther away by the length.
        total[k, 0] = f + a - length * v
        total[k, 1] = q + r - length * (2.0 * a - length * v)
        # Free to choose the distances on both sides, the errors are at least q - f^2 / w + r - a^2 / v.
        if w > 0.0 and v > 0.0 and (q + r - best) * w * v < f * f * v + a * a * w:
            cost, x, y = best_on_edge(w, f, q, v, a, r, length)
            if cost < best:
                best, edge, along, height = cost, k, x, y
    return edge, along, height
