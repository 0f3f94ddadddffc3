"""Bounds of all eccentricities of a graph, from successive searches."""

from typing import Any

import numpy as np

from .._core.kernel import helper, kernel
from ..metric.shortest_paths.search_kernels import search_breadth_first, search_nearest_first


@helper
def _next_point(least: Any, most: Any, low: float, central: bool) -> int:
    """Return the most central or most eccentric point that may reach beyond `low`, or -1."""
    point = -1
    for v in range(len(least)):
        if most[v] > low:
            if point < 0 or (least[v] < least[point] if central else most[v] > most[point]):
                point = v
    return point


@kernel
def search_eccentricities(
    starts: Any, neighbors: Any, lengths: Any, least: Any, most: Any, low: float, searches: int
) -> Any:
    """Narrow least <= eccentricity <= most; return (largest eccentricity found, complete)."""
    n = len(starts) - 1
    heap = np.empty(n, np.int32)
    place = np.empty(n, np.int32)
    steps = np.empty(n, np.int32)
    row = np.empty(n, np.float64)
    for k in range(searches):
        point = _next_point(least, most, low, k % 2 == 0)
        if point < 0:
            return low, True
        if lengths is None:
            search_breadth_first(starts, neighbors, point, steps, heap)
            for v in range(n):
                row[v] = steps[v]
        else:
            search_nearest_first(starts, neighbors, lengths, point, row, heap, place)
        reach = 0.0
        for v in range(n):
            reach = row[v] if row[v] > reach else reach
        low = max(low, reach)
        for v in range(n):
            # max(d(u, v), ecc(u) - d(u, v)) <= ecc(v) <= ecc(u) + d(u, v)
            least[v] = max(least[v], row[v], reach - row[v])
            most[v] = min(most[v], reach + row[v])
        most[point] = reach
    return low, _next_point(least, most, low, False) < 0
