"""Subsets of points: random, or such that every pair is in a subset."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Subset = NDArray[np.int64]

# Subsets may be this much larger than asked for: a smaller prime then saves many subsets.
_STRETCH = 1.1


class Cover(NamedTuple):
    """Subsets that contain every pair of points.

    Two points of different cells are together in one subset, and two points of the same cell in
    `repeats` subsets.
    """

    subsets: list[Subset]
    cells: NDArray[np.int64]
    repeats: int


def random_subsets(n: int, points: int, number: int, rng: np.random.Generator) -> list[Subset]:
    """Return independent uniform subsets of 0 ... n-1, each in ascending order."""
    drawn = (rng.choice(n, points, replace=False) for _ in range(number))
    return [np.sort(subset).astype(np.int64) for subset in drawn]


def cover_size(n: int, points: int) -> int:
    """Return the number of subsets of `cover_pairs`.

    >>> cover_size(32, 32), cover_size(452, 32)
    (1, 182)
    """
    if n <= points:
        return 1
    q = _order(n, points)
    return q * q + q


def cover_pairs(n: int, points: int, rng: np.random.Generator) -> Cover:
    """Return subsets of about `points` points that contain every pair.

    The points are spread over the q x q cells of an affine plane. The subsets are its lines: two
    cells are on exactly one line, and a cell is on q + 1 lines.
    """
    everything = np.arange(n)
    if n <= points:
        return Cover([everything], everything, 1)
    q = _order(n, points)
    cells = rng.permutation(q * q)[rng.permutation(n) % (q * q)]
    row, column = np.divmod(cells, q)
    # The lines column = slope * row + k, and the lines row = k.
    directions = [(column - slope * row) % q for slope in range(q)]
    directions.append(row)
    lines = [np.flatnonzero(line == k) for line in directions for k in range(q)]
    return Cover(lines, cells, q + 1)


def _order(n: int, points: int) -> int:
    """Return the smallest prime q with n / q <= 1.1 points."""
    q = max(2, math.ceil(n / (_STRETCH * points)))
    while not _is_prime(q):
        q += 1
    return q


def _is_prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, math.isqrt(number) + 1))
