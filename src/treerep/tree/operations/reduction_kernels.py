"""Compiled passes that make a tree smaller.

Both passes read a tree in an order in which parents precede children.
"""

from typing import Any

import numpy as np

from ..._core.kernel import kernel
from ..structure.rooting_kernels import add_exactly


@kernel
def contract(order: Any, up: Any, length: Any, n_points: Any, tol: Any) -> Any:
    """Merge the ends of edges no longer than `tol`, but never two data points. O(N).

    Returns `up`, `length` and `number` of the merged nodes, parents first: the position of the
    parent (-1 at position 0), the length of the edge to the parent, and the data point that a
    merged node represents (-1 for a Steiner node).
    """
    n = len(order)
    group = np.empty(n, np.int32)
    new_up = np.empty(n, np.int32)
    new_length = np.empty(n)
    number = np.empty(n, np.int32)
    count = 0
    for k in range(n):
        point = order[k] if order[k] < n_points else -1
        if k > 0 and length[k] <= tol:
            above = group[up[k]]
            if point < 0 or number[above] < 0:
                group[k] = above
                number[above] = max(number[above], point)
                continue
        group[k] = count
        number[count] = point
        new_up[count] = group[up[k]] if k > 0 else -1
        new_length[count] = length[k]
        count += 1
    return new_up[:count], new_length[:count], number[:count]


@kernel
def span(up: Any, length: Any, number: Any, n_points: Any) -> Any:
    """Keep the subtree between the chosen nodes; join the edges at nodes of degree two. O(N).

    Parameters
    ----------
    up, length : (N,) a tree, parents first
    number : (N,) int32, new number of each chosen node, -1 for the others; the root is chosen
    n_points : number of chosen nodes

    Returns edges (E, 2) int64, in which Steiner nodes are numbered from n_points on, and
    weights (E,) float64.
    """
    n = len(up)
    branches = np.zeros(n, np.int32)  # children that lead to a chosen node
    for k in range(n - 1, 0, -1):
        if number[k] >= 0 or branches[k] > 0:
            branches[up[k]] += 1
    # Number of the nearest remaining node above, and the distance to it.
    above = np.empty(n, np.int32)
    reach = np.empty(n)
    rest = np.empty(n)
    new_number = np.empty(n, np.int32)
    new_number[0] = number[0]
    edges = np.empty((2 * n_points, 2), np.int64)
    weights = np.empty(2 * n_points)
    count = 0
    steiner = n_points
    for k in range(1, n):
        if number[k] < 0 and branches[k] == 0:
            continue
        p = up[k]
        if number[p] < 0 and branches[p] == 1:
            above[k] = above[p]
            reach[k], rest[k] = add_exactly(reach[p], rest[p], length[k])
        else:
            above[k] = new_number[p]
            reach[k] = length[k]
            rest[k] = 0.0
        if number[k] < 0 and branches[k] == 1:
            continue
        new_number[k] = number[k]
        if number[k] < 0:
            new_number[k] = steiner
            steiner += 1
        edges[count, 0] = above[k]
        edges[count, 1] = new_number[k]
        weights[count] = reach[k]
        count += 1
    return edges[:count], weights[:count]
