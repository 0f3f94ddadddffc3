"""The best place of a point on one edge by weighted least squares.

Placements and moves share these kernels.

Let w = d^-p. The sums W = sum of w, S = sum of w d and Q = sum of w d^2 over some points
determine how well a place fits the distances d to these points. Placements and moves keep these
sums for both sides of every edge.
"""

from typing import Any

from .._core.kernel import helper


@helper
def weigh(row: Any, power: float, smallest: float, weight: Any) -> None:
    """Compute the weights of a row of distances."""
    if power == 0.0:
        for y in range(len(row)):
            weight[y] = 1.0
    elif power == 1.0:
        for y in range(len(row)):
            weight[y] = 1.0 / max(row[y], smallest)
    elif power == 2.0:
        for y in range(len(row)):
            d = max(row[y], smallest)
            weight[y] = 1.0 / (d * d)
    elif power == 3.0:
        for y in range(len(row)):
            d = max(row[y], smallest)
            weight[y] = 1.0 / (d * d * d)
    elif power == 4.0:
        for y in range(len(row)):
            square = max(row[y], smallest) ** 2
            weight[y] = 1.0 / (square * square)
    else:
        for y in range(len(row)):
            weight[y] = max(row[y], smallest) ** -power


@helper
def shifted(w: float, f: float, q: float, length: float) -> Any:
    """Return the sums W, S, Q of leaves, measured `length` farther away from these leaves."""
    g = f - length * w
    return w, g, q - length * (f + g)


@helper
def best_on_edge(w: float, f: float, q: float, v: float, a: float, r: float, length: float) -> Any:
    """Return the least cost of a place on an edge, with x and y of the place.

    The cost is

        q - 2 i f + i^2 w + r - 2 j a + j^2 v

    with i = x + y, j = length - x + y, 0 <= x <= length and y >= 0. The sums w, f, q belong to
    the leaves below the edge, and v, a, r to the other leaves.
    """
    i = f / w
    j = a / v
    x = (length + i - j) / 2
    y = (i + j - length) / 2
    if 0.0 <= x <= length and y >= 0.0:
        return cost_at(w, f, q, i) + cost_at(v, a, r, j), x, y
    # The function is convex, so its minimum is on the boundary: at one end of the edge, or where
    # y = 0.
    x = min(max((f - a + length * v) / (w + v), 0.0), length)
    y = 0.0
    best = cost_at(w, f, q, x) + cost_at(v, a, r, length - x)
    for end in (0.0, length):
        up = max((f - end * w + a - (length - end) * v) / (w + v), 0.0)
        cost = cost_at(w, f, q, end + up) + cost_at(v, a, r, length - end + up)
        if cost < best:
            best = cost
            x = end
            y = up
    return best, x, y


@helper
def cost_at(w: float, f: float, q: float, distance: float) -> float:
    """Return the sum of weighted squared errors at this distance from all points of the sums."""
    return q - 2.0 * distance * f + distance * distance * w
