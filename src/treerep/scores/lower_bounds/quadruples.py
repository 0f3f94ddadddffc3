"""Lower bounds of largest errors: the quadruple that is farthest from a tree."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metric.base import Metric
from .result import LowerBound
from .subsets import random_subsets

# All quadruples are searched up to this many points (10 million quadruples), and all triples up
# to this many (22 million triples).
_ALL_QUADRUPLES = 128
_ALL_TRIPLES = 512
# A matrix of this many points is searched from this many quadruples.
_CANDIDATES = 2_048
_STARTS = 4_000
_SWEEPS = 10


class _Search(NamedTuple):
    metric: Metric
    ratio: bool
    margin: float
    rng: np.random.Generator

    def candidates(self, most: int) -> NDArray[np.int64]:
        """Return all points, or a random sample of `most` points."""
        n = len(self.metric)
        if n <= most:
            return np.arange(n)
        return np.sort(self.rng.choice(n, most, replace=False))

    def distances(self, points: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.metric.block(points, points))


class _Found(NamedTuple):
    """S1 - S2 or S1 / S2, and the points with these sums."""

    value: float
    points: NDArray[np.int64]
    basis: str


def largest_bound(metric: Metric, *, ratio: bool, margin: float, rng: np.random.Generator) -> LowerBound:
    """Return a lower bound of the largest absolute error of every tree, or of the largest ratio.

    Let S1 >= S2 >= S3 be the sums of opposite distances of four points, and T1, T2, T3 the same
    sums in a tree, so T1 <= max(T2, T3). If all errors are at most e, then

        S1 - 2 e <= T1 <= max(T2, T3) <= S2 + 2 e,

    so e >= (S1 - S2) / 4. If all ratios of tree to true distance are between low and high, then

        low S1 <= T1 <= max(T2, T3) <= high S2,

    so high / low >= S1 / S2. For three points, let S1 be the longest side and S2 the sum of the
    other two. Likewise, e >= (S1 - S2) / 3 and high / low >= S1 / S2.
    """
    search = _Search(metric, ratio, margin, rng)
    quadruple = _worst_quadruple(search)
    triple = _worst_triple(search)
    four = quadruple.value if ratio else quadruple.value / 4.0
    three = triple.value if ratio else triple.value / 3.0
    found = triple if three > four else quadruple
    value = max(three, four)
    trivial = 1.0 if ratio else 0.0
    if value <= trivial:
        return LowerBound(trivial, basis=found.basis)
    witness = tuple(sorted(int(point) for point in found.points))
    return LowerBound(value, basis=found.basis, witness=witness)


def _worst_triple(search: _Search) -> _Found:
    from .quadruple_kernels import search_triples

    n = len(search.metric)
    points = search.candidates(_ALL_TRIPLES)
    distances = search.distances(points)
    value, triple = search_triples(distances, search.ratio, search.margin)
    basis = f"the worst triple of {len(points):,} points"
    if len(points) < n:
        basis = f"a triple found among {len(points):,} points"
    return _Found(float(value), points[triple], basis)


def _worst_quadruple(search: _Search) -> _Found:
    from .quadruple_kernels import climb, search_all

    n = len(search.metric)
    points = search.candidates(_CANDIDATES)
    distances = search.distances(points)
    if n <= _ALL_QUADRUPLES:
        value, quadruple = search_all(distances, search.ratio, search.margin)
        basis = f"the worst quadruple of {n:,} points"
        return _Found(float(value), quadruple, basis)
    starts = np.array(random_subsets(len(points), 4, _STARTS, search.rng))
    value, quadruple = climb(distances, starts, search.ratio, search.margin)
    found = _Found(float(value), points[quadruple], "a quadruple found by local search")
    return found if len(points) == n else _improve(search, found)


def _improve(search: _Search, found: _Found) -> _Found:
    """Exchange one point at a time for the best of all points."""
    from .quadruple_kernels import best_fourth

    everything = np.arange(len(search.metric))
    value = found.value
    points = found.points
    for _ in range(_SWEEPS):
        before = value
        for place in range(4):
            others = np.delete(points, place)
            rows = np.ascontiguousarray(search.metric.block(others, everything))
            better, fourth = best_fourth(rows, others, search.ratio, search.margin)
            if better > value:
                value = better
                points = np.insert(others, place, fourth)
        if value <= before:
            break
    return _Found(float(value), points, found.basis)
