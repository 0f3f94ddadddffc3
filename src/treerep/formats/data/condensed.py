"""Condensed distances as in scipy's pdist: d(0, 1), d(0, 2), ..., d(1, 2), ..."""

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ...metric.base import MetricError


def expand(vector: NDArray[Any]) -> NDArray[Any]:
    """Return the square matrix of a condensed distance vector, with the same dtype.

    >>> expand(np.array([1, 2, 3]))
    array([[0, 1, 2],
           [1, 0, 3],
           [2, 3, 0]])
    """
    n = (1 + isqrt(1 + 8 * len(vector))) // 2
    if n * (n - 1) // 2 != len(vector):
        below = n * (n - 1) // 2
        above = n * (n + 1) // 2
        raise MetricError(
            f"{len(vector):,} numbers cannot be condensed distances: {n} points have "
            f"{below:,}, {n + 1} have {above:,}"
        )
    check_memory(
        n * n * vector.dtype.itemsize,
        f"a matrix of {n:,} points",
        "use fewer points or a smaller dtype",
    )
    square = np.zeros((n, n), vector.dtype)
    begin = 0
    for i in range(n - 1):
        end = begin + n - 1 - i
        square[i, i + 1 :] = square[i + 1 :, i] = vector[begin:end]
        begin = end
    return square
