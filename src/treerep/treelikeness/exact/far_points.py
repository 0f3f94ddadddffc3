"""A first lower bound of hyperbolicity, from quadruples of distant points.

Each point is far from all previous points: Gonzalez, Clustering to minimize the maximum
intercluster distance (1985).
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .._pace import Best, LimitReached, Pace
from .._quadruples import split_sums

_POINTS = 32  # 35,960 quadruples
_LARGE = 5_000  # fewer points are searched completely in the same time


def search_far_points(
    row: Callable[[int], NDArray[np.float64]], points: NDArray[np.int64], best: Best, pace: Pace
) -> None:
    """Offer the worst quadruple of 32 points, each of which is the farthest from the previous ones.

    Does nothing if there are few points. row(k) returns the distances from points[k] to all points.
    These 32 rows give an early result in case time is short.
    """
    if len(points) < _LARGE:
        return
    rows: dict[int, NDArray[np.float64]] = {}
    nearest = np.full(len(points), np.inf)
    try:
        while len(rows) < _POINTS and nearest.max() > 0:
            k = int(np.argmax(nearest))
            pace.check()
            rows[k] = row(k)
            np.minimum(nearest, rows[k], out=nearest)
            nearest[k] = 0  # choose each point once, whatever its row contains
    except LimitReached:
        pass
    if len(rows) < 4:
        return
    # Ascending: if a matrix is slightly asymmetric, the upper half is used.
    chosen = np.array(sorted(rows))
    d = np.array([rows[k][chosen] for k in chosen])
    four = np.array(list(combinations(range(len(chosen)), 4)))
    a, b, c, e = four.T
    values, ordered = split_sums(four, np.array([d[a, b], d[c, e], d[a, c], d[b, e], d[a, e], d[b, c]]))
    worst = int(np.argmax(values))
    best.offer(float(values[worst]), points[chosen[ordered[worst]]])
    best.show(np.inf)
