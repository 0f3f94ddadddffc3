"""A first lower bound of hyperbolicity, from quadruples of points that are far apart.

Points that are far from all before them: Gonzalez, Clustering to minimize the maximum
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
    """Offer the worst quadruple of 32 points, each the farthest from those before it.

    Does nothing if there are few points. row(k) returns the distances of points[k] to all of
    them. These 32 rows give a result early, in case time is short.
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
            nearest[k] = 0  # choose it once, whatever its row holds
    except LimitReached:
        pass
    if len(rows) < 4:
        return
    # Ascending: if a matrix is a little asymmetric, the upper half counts.
    chosen = np.array(sorted(rows))
    d = np.array([rows[k][chosen] for k in chosen])
    four = np.array(list(combinations(range(len(chosen)), 4)))
    a, b, c, e = four.T
    values, ordered = split_sums(
        four, np.array([d[a, b], d[c, e], d[a, c], d[b, e], d[a, e], d[b, c]])
    )
    worst = int(np.argmax(values))
    best.offer(float(values[worst]), points[chosen[ordered[worst]]])
    best.show(np.inf)
