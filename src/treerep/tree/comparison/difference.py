"""Distances between two trees on the same points."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import run
from .splits import Keys, Splits, look_up

if TYPE_CHECKING:
    from ..tree import Tree

_ROWS = 64


class TreeDifference(NamedTuple):
    """Distances between two trees. All distances are 0 if the trees agree."""

    robinson_foulds: int  # splits in exactly one of the trees
    normalized: float  # divided by the number of splits of both trees
    path: float  # Euclidean norm of the difference of all path lengths; nan if not requested


def robinson_foulds(first: Keys, second: Keys) -> tuple[int, float]:
    """Count the splits in exactly one of two trees; also return the share of all their splits.

    Robinson and Foulds (Math. Biosci. 53, 1981). The share is |A xor B| / (|A| + |B|), and 0 if
    neither tree has a split.
    """
    total = len(first) + len(second)
    different = total - 2 * int(np.count_nonzero(look_up(first, second)[1]))
    return different, different / total if total else 0.0


def length_changes(first: Splits, second: Splits) -> NDArray[np.float64]:
    """Return how much the lengths of divisions differ. An absent division has length 0."""
    place, found = look_up(first.keys, second.keys)
    opposite = np.zeros(len(first.keys))
    opposite[found] = second.lengths[place[found]]
    alone = np.ones(len(second.keys), bool)
    alone[place[found]] = False
    return np.concatenate([np.abs(first.lengths - opposite), second.lengths[alone]])


def path_difference(first: "Tree", second: "Tree", n_jobs: int | None = None) -> float:
    """Return the Euclidean norm of the difference of path lengths over all pairs i < j.

    Steel and Penny, Distributions of tree comparison metrics (Syst. Biol. 42, 1993).
    O(n N) time, O(N) memory. Rows are summed in fixed blocks, so the result does not depend on
    n_jobs.
    """
    n = len(first)

    def squares(start: int) -> float:
        rows = np.arange(start, min(start + _ROWS, n))
        cols = np.arange(start, n)
        gap = np.triu(first.block(rows, cols) - second.block(rows, cols), 1)
        return float(np.sum(gap * gap))

    return math.sqrt(math.fsum(run(squares, range(0, n, _ROWS), n_jobs)))
