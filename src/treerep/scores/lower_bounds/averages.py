"""Lower bounds of average errors: packings of quadruples in subsets of the points."""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import run
from ...metric.base import Metric
from .confidence import lower_limit
from .packing import packing_total
from .result import LowerBound
from .subsets import Cover, Subset, cover_pairs, cover_size, random_subsets

Subsets = int | Literal["all"] | None

CONFIDENCE = 0.95
# With points=None: all points at once up to _WHOLE, and subsets of _POINTS above.
_WHOLE = 64
_POINTS = 32
# With subsets=None: a cover of all pairs up to this many subsets, and a sample above.
_COVER = 400
_SAMPLE = 200


class _Part(NamedTuple):
    """The total error that every tree has on the pairs of a subset, and their number."""

    total: float
    pairs: float


def average_bound(
    metric: Metric,
    *,
    relative: bool,
    margin: float,
    points: int | None,
    subsets: Subsets,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> LowerBound:
    """Return a lower bound of the mean relative or absolute error of every tree."""
    n = len(metric)
    size = _subset_size(n, points)
    if subsets is None:
        subsets = "all" if cover_size(n, size) <= _COVER else _SAMPLE
    if size >= n:
        subsets = "all"

    def part(subset: Subset, weights: NDArray[np.float64]) -> _Part:
        distances = metric.block(subset, subset)
        total = packing_total(distances, weights, relative=relative, margin=margin)
        counted = distances > 0.0 if relative else ~np.isnan(distances)
        return _Part(total, math.fsum(weights[np.tril(counted, -1)]))

    if subsets != "all":
        ones = np.ones((size, size))
        drawn = random_subsets(n, size, subsets, rng)
        return _sampled(list(run(lambda subset: part(subset, ones), drawn, n_jobs)), size)
    cover = cover_pairs(n, size, rng)
    parts = run(lambda subset: part(subset, _weights(cover, subset)), cover.subsets, n_jobs)
    return _certain(list(parts), n)


def _subset_size(n: int, points: int | None) -> int:
    if points is None:
        points = _WHOLE if n <= _WHOLE else _POINTS
    return min(points, n)


def _weights(cover: Cover, subset: Subset) -> NDArray[np.float64]:
    """Divide the weight of a pair between the subsets that contain it."""
    cells = cover.cells[subset]
    same = cells[:, None] == cells[None, :]
    return np.where(same, 1.0 / cover.repeats, 1.0)


def _certain(parts: list[_Part], n: int) -> LowerBound:
    pairs = round(math.fsum(part.pairs for part in parts))
    total = math.fsum(part.total for part in parts)
    if len(parts) == 1:
        basis = f"packing of all quadruples of {n:,} points"
    else:
        basis = f"packings in {len(parts):,} subsets that cover all pairs"
    return LowerBound(total / pairs if pairs else 0.0, basis=basis)


def _sampled(parts: list[_Part], size: int) -> LowerBound:
    most = size * (size - 1) / 2
    totals = np.array([part.total for part in parts]) / most
    counts = np.array([part.pairs for part in parts]) / most
    pairs = math.fsum(counts)
    number = len(parts)
    noun = "subset" if number == 1 else "subsets"
    return LowerBound(
        lower_limit(totals, counts, CONFIDENCE),
        confidence=CONFIDENCE,
        estimate=math.fsum(totals) / pairs if pairs else 0.0,
        basis=f"packings in {number:,} random {noun} of {size} points",
    )
