"""The largest distance of a metric, or bounds of it, from a few rows of distances.

Takes and Kosters, Determining the diameter of small world networks (CIKM 2011).
"""

import math

import numpy as np

from ..metric.base import Metric
from .pace import Pace, Stopped
from .streaming import read_block


def bound_diameter(metric: Metric, triangles: bool, rows: float, pace: Pace) -> tuple[float, float]:
    """Return a lower and an upper bound of the largest distance; both are exact if `rows` rows suffice.

    From a row of v, ecc(u) lies between max(d(u, v), ecc(v) - d(u, v)) and ecc(v) + d(u, v). Rows are taken in turn of
    the point that may reach farthest and of the most central one; a few dozen do for most graphs. Without the triangle
    inequality (`triangles`) there is no upper bound.
    """
    n = len(metric)
    everyone = np.arange(n)
    low, least, most = 0.0, np.zeros(n), np.full(n, np.inf)
    open_points = np.ones(n, np.bool_)
    point, taken = 0, 0
    try:
        while taken < rows:
            row = read_block(metric, np.array([point]), everyone)[0]
            taken += 1
            reach = float(row.max())
            low = max(low, reach)
            np.maximum(least, np.maximum(row, reach - row), out=least)
            np.minimum(most, reach + row, out=most)
            most[point] = reach
            open_points &= most > low
            if triangles and not open_points.any():
                return low, low
            choice = np.where(open_points, -least if taken % 2 == 0 else most, -np.inf)
            point = int(np.argmax(choice)) if triangles else int(np.argmax(row))
            pace.check()
    except Stopped:
        pass
    return low, float(most.max()) if triangles else math.inf
