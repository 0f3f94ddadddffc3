"""The four-point condition, checked on a sample of points of a distance matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_SAMPLE = 32  # points, or about 500 distances, which are read quickly even from disk


def obeys_four_points(distances: NDArray[Any]) -> bool:
    """Tell whether the distances between a sample of points are those of a tree, up to rounding.

    The result is True for every tree metric, and usually False for other matrices, including
    rounded tree metrics. It is deterministic.

    >>> quartet = np.array(
    ...     [
    ...         [0, 2, 2.002, 2.002],
    ...         [2, 0, 2.002, 2.002],
    ...         [2.002, 2.002, 0, 2],
    ...         [2.002, 2.002, 2, 0],
    ...     ]
    ... )
    >>> obeys_four_points(quartet)
    True
    >>> quartet[0, 2] = quartet[2, 0] = 2.003
    >>> obeys_four_points(quartet)
    False
    """
    n = len(distances)
    sample = (
        np.arange(n) if n <= _SAMPLE else np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))
    )
    d = distances[np.ix_(sample, sample)].astype(np.float64)
    d = np.maximum(d, d.T)  # a matrix may be slightly asymmetric
    # Twice the Gromov product with the first point as the base: (x, y) = d(0, x) + d(0, y) -
    # d(x, y).
    product = d[0, :, None] + d[0] - d
    # d is a tree metric if and only if (x, z) >= min((x, y), (y, z)) for all x, y, z and any
    # one base.
    through = np.minimum(product[:, :, None], product).max(axis=1)
    slack = 16 * np.finfo(np.float64).eps * d.max(initial=0.0)
    return bool((through <= product + slack).all())
