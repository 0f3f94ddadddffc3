"""Distances between two trees on the same points."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import run
from ..structure.rooted import Preorder, points_below

if TYPE_CHECKING:
    from ..tree import Tree

_ROWS = 64


class TreeDifference(NamedTuple):
    """Distances between two trees. All distances are 0 if the trees agree."""

    robinson_foulds: int  # splits in exactly one of the trees
    normalized: float  # divided by the largest possible value
    path: float  # Euclidean norm of the difference of all path lengths; nan if not requested


class Branches(NamedTuple):
    """The lengths of the splits in two trees. An absent split has length 0."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    trivial: NDArray[np.bool_]  # one point versus all others


def branches(first: Preorder, second: Preorder, n_points: int) -> Branches:
    """List the splits of both trees with their lengths. O(N), exact.

    Both views are rooted at point 0. The edges along a chain of Steiner nodes form one split.
    Edges with no data point beyond them form no split.
    """
    from .split_kernels import match_splits

    count = points_below(first, n_points)
    other_count = points_below(second, n_points)
    split, other_split, match = match_splits(
        first.order, first.up, count, second.order, second.up, other_count, n_points
    )
    length = _lengths(split, first.length)
    other_length = _lengths(other_split, second.length)
    matched = np.flatnonzero(match >= 0)
    opposite = np.zeros(len(length))
    opposite[match[matched]] = other_length[matched]
    mine = np.flatnonzero(split == np.arange(len(split)))
    alone = np.flatnonzero((other_split == np.arange(len(other_split))) & (match < 0))
    counts = np.concatenate([count[mine], other_count[alone]])
    return Branches(
        np.concatenate([length[mine], np.zeros(len(alone))]),
        np.concatenate([opposite[mine], other_length[alone]]),
        (counts == 1) | (counts == n_points - 1),
    )


def _lengths(split: NDArray[np.int32], length: NDArray[np.float64]) -> NDArray[np.float64]:
    # Edges without a split are added to the root, which has no split itself.
    total = np.zeros(len(split))
    np.add.at(total, np.maximum(split, 0), length)
    total[0] = 0.0
    return total


def robinson_foulds(splits: Branches) -> tuple[int, float]:
    """Count the splits of positive length in exactly one tree; also return the normalized count.

    Trivial splits count: a point that is a leaf of one tree and an internal node of the other
    adds 1. If all points are leaves of both trees, trivial splits cancel, and the result is the
    Robinson-Foulds distance (Math. Biosci. 53, 1981). The denominator is the largest possible
    count, without the trivial splits that both trees have, as is usual.
    """
    first = splits.first > 0
    second = splits.second > 0
    different = int(np.count_nonzero(first ^ second))
    shared_trivial = int(np.count_nonzero(first & second & splits.trivial))
    most = int(np.count_nonzero(first)) + int(np.count_nonzero(second)) - 2 * shared_trivial
    return different, different / most if most else 0.0


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
