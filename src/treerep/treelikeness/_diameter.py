"""Bounds of the largest distance of a metric, from a few rows.

Takes and Kosters, Determining the diameter of small world networks (CIKM 2011).
"""

import math

import numpy as np

from ..metric.base import Metric
from ..metric.graph import GraphMetric
from ._pace import LimitReached, Pace
from ._quadruples import check_distances
from ._spaces import adjacency_arrays, read_row

_CHECK_NS = 2e7  # nanoseconds of searching between two checks of the time


def bound_graph_diameter(graph: GraphMetric, pace: Pace) -> tuple[float, float]:
    """Return lower and upper bounds of a graph's diameter, which agree unless time runs out.

    Searches alternate between the vertex that may reach farthest and the most central vertex
    that may reach beyond the largest known distance. A few dozen searches suffice for most
    graphs.
    """
    from ._diameter_kernels import search_eccentricities

    arrays = adjacency_arrays(graph)
    low = 0.0
    done = False
    least = np.zeros(len(graph))
    most = np.full(len(graph), np.inf)
    searches = 1
    try:
        while not done:
            low, done = search_eccentricities(*arrays, least, most, low, searches)
            searches = max(2, min(64, int(_CHECK_NS / graph.search_cost())))
            pace.check()
    except LimitReached:
        pass
    return low, low if done else max(low, float(most.max()))


def bound_diameter(metric: Metric, triangle_inequality: bool, rows: int, pace: Pace) -> tuple[float, float]:
    """Return a lower and, given the triangle inequality, an upper bound of the diameter.

    A few rows are read. Each row belongs to the point farthest from the previous point.
    """
    everyone = np.arange(len(metric))
    low = 0.0
    high = math.inf
    point = 0
    try:
        for _ in range(rows):
            row = read_row(metric, point)
            check_distances(row, np.array(point), everyone)
            low = max(low, float(row.max()))
            point = int(np.argmax(row))
            if triangle_inequality:
                high = min(high, 2 * float(row.max()))
            pace.check()
    except LimitReached:
        pass
    return low, high
