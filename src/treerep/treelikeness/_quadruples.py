"""Quadruples of points, with six distances and three sums."""

import numpy as np
from numpy.typing import NDArray

from ..metric.base import MetricError


def check_distances(found: NDArray[np.float64], i: NDArray[np.int64], j: NDArray[np.int64]) -> None:
    """Raise a MetricError that names the first bad distance d(i, j); i and j are broadcast."""
    good = np.isfinite(found) & (found >= 0)
    if not good.all():
        a, b, bad = (np.broadcast_to(x, found.shape)[~good][0] for x in (i, j, found))
        raise MetricError(f"d({a}, {b}) = {bad}: hyperbolicity needs finite distances of at least 0")


def split_sums(
    four: NDArray[np.int64], pairs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return h = largest - second largest sum of each row, and the reordered rows.

    In a reordered row (a, b, c, d) the largest sum is d(a, b) + d(c, d). `pairs` are d(a, b),
    d(c, d), d(a, c), d(b, d), d(a, d), d(b, c) of each row.
    """
    sums = pairs[0::2] + pairs[1::2]
    first = np.argmax(sums, axis=0)
    ordered = np.sort(sums, axis=0)
    # ab|cd, ac|bd, ad|bc
    orders = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]])
    return ordered[2] - ordered[1], np.take_along_axis(four, orders[first], axis=1)
