"""Comparison of two metrics on the same points, block by block."""

import math
from collections.abc import Iterator
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import Runner
from .._core.progress import progress_bar
from .._core.typing import MetricLike, RNGLike
from ..metric._matching import matched
from ..metric._missing import refuse_missing
from ..metric.base import Metric, MetricError
from ._sampling import Rows, sample_rows
from ._streaming import read_block, row_slices, to_metric, triangle_slices

#: Number of rows sampled for more than EXACT_POINTS points, unless `rows` is given.
SAMPLED_ROWS = 256

# Up to this many distances of each metric are kept for a second pass: 32 MB, or about 2,900
# points.
_KEPT_ENTRIES = 1 << 22


class Optimum(NamedTuple):
    """The factor that brings the approximation closest to the truth."""

    scale: float
    pull: NDArray[np.float64]  # row i moved the scale by about pull[i]


class _Sides(NamedTuple):
    """The two metrics, and the blocks that are kept, by the start of their slice of rows."""

    approx: Metric
    truth: Metric
    sample: NDArray[np.int64] | None  # rows to compare; None for all
    kept: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]


class Comparison:
    """The pairs that a score compares: all pairs, or those of sampled rows with all other points.

    Pairs whose true distance is missing are left out.
    """

    def __init__(
        self, approx: MetricLike, truth: MetricLike, rows: Rows, rng: RNGLike, runner: Runner
    ) -> None:
        second = to_metric(truth)
        first = matched(to_metric(approx), second, ("approx", "truth"))
        refuse_missing(first, "approx")
        self.n = len(second)
        self.runner = runner
        self.sample = sample_rows(self.n, rows, rng, SAMPLED_ROWS)
        self._sides = _Sides(first, second, self.sample, {})

    @property
    def exact(self) -> bool:
        """Whether all pairs are compared."""
        return self.sample is None

    @property
    def pairs(self) -> int:
        """Number of pairs compared. A pair of two sampled rows counts twice."""
        return self._count - int(self.unmeasured.sum())

    @property
    def _count(self) -> int:
        """Number of pairs, including those whose true distance is missing."""
        if self.sample is None:
            return self.n * (self.n - 1) // 2
        return len(self.sample) * (self.n - 1)

    @cached_property
    def unmeasured(self) -> NDArray[np.float64]:
        """Number of pairs in each row whose true distance is missing."""
        if not self._sides.truth.has_missing:
            return np.zeros(1)
        counts = [_missing_distances(self._sides, part).sum(axis=1) for part in self._slices()]
        return np.concatenate(counts).astype(np.float64)

    def _slices(self) -> Iterator[slice]:
        """Return the slices of the compared rows."""
        if self.sample is None:
            return triangle_slices(self.n)
        return row_slices(len(self.sample), self.n)

    def basis(self, pairs: int) -> str:
        """Describe the pairs behind a score of this comparison."""
        if self.sample is None:
            return f"all {pairs:,} pairs" if pairs == self._count else f"{pairs:,} of {self._count:,} pairs"
        return f"from {len(self.sample):,} of {self.n:,} rows"

    def sums(self, what: int, scale: float = 1.0, *, keep: bool = False) -> NDArray[np.float64]:
        """Return the sums of `_distortion_kernels.row_sums` for every row, (rows, COLUMNS).

        Each row is summed separately, so the result does not depend on blocks or threads. With
        keep=True, a small number of distances stays in memory for the next call.
        """
        from ._distortion_kernels import COLUMNS, RATIO, RELATIVE

        work = partial(_sum_rows, what, scale, keep and self._count <= _KEPT_ENTRIES)
        count = self.n - 1 if self.sample is None else len(self.sample)
        parts = [np.empty((0, COLUMNS))]
        with progress_bar(count, "comparing distances", "row") as bar:
            for part in self.runner.map(work, self._sides, self._slices()):
                parts.append(part)
                bar.update(len(part))
        sums = np.concatenate(parts)
        if what in (RELATIVE, RATIO):
            sums[:, 4] -= self.unmeasured  # pairs at distance 0, without the missing pairs
        return sums

    def optimum(self) -> Optimum:
        """Return the scale alpha = <A, T> / <A, A>, which minimizes the Frobenius norm |T - alpha A|.

        If the approximation is 0 everywhere, every factor is equally good, and the scale is 1.
        """
        from ._distortion_kernels import PRODUCTS

        both, own, size = self.sums(PRODUCTS, keep=True)[:, :3].T
        if not size.any():
            return Optimum(1.0, np.zeros(len(size)))
        unit = 1.0
        if not (_far_from_limits(both) and _far_from_limits(own)):
            # Products of very large or small distances overflow or underflow. Scale the
            # approximation towards 1 and sum again. A power of two changes no digits.
            unit = math.ldexp(1.0, min(1000, -math.frexp(size.max())[1]))
            both, own = self.sums(PRODUCTS, unit)[:, :2].T
        # Only the sum of the truth, which is now in `both`, can still be too large.
        finite = _far_from_limits(own) and np.abs(both).max() < 1e290
        above, below = (math.fsum(both), math.fsum(own)) if finite else (math.inf, 1.0)
        scale = above / below * unit
        if not math.isfinite(scale) or (scale == 0) != (above == 0):
            raise ValueError(
                "no scale within the range of floats fits approx to truth: rescale both metrics towards 1"
            )
        return Optimum(scale, (both - above / below * own) / below * unit)


def _sum_rows(what: int, scale: float, keep: bool, sides: _Sides, part: slice) -> NDArray[np.float64]:
    """Return the sums for a slice of the compared rows."""
    from ._distortion_kernels import COLUMNS, row_sums

    rows, cols = _compared(sides, part)
    blocks = sides.kept.get(part.start) or _blocks(sides, rows, cols)
    if keep:
        sides.kept[part.start] = blocks
    out = np.empty((len(rows), COLUMNS))
    row_sums(what, scale, *blocks, rows - cols[0], sides.sample is None, out)
    if not np.isfinite(out).all():
        _check_distances(rows, cols, *blocks)
    return out


def _compared(sides: _Sides, part: slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and columns of a block. Without a sample, compare with later points only."""
    if sides.sample is None:
        return np.arange(part.start, part.stop), np.arange(part.start, len(sides.truth))
    return sides.sample[part], np.arange(len(sides.truth))


def _blocks(
    sides: _Sides, rows: NDArray[np.int64], cols: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distances of both metrics. Missing pairs get distance 0, which adds nothing."""
    approx = read_block(sides.approx, rows, cols)
    truth = read_block(sides.truth, rows, cols)
    if sides.truth.has_missing:
        missing = np.isnan(truth)
        approx[missing] = 0.0
        truth[missing] = 0.0
    return approx, truth


def _missing_distances(sides: _Sides, part: slice) -> NDArray[np.bool_]:
    """Return which true distances of the compared pairs are missing."""
    rows, cols = _compared(sides, part)
    missing = np.isnan(sides.truth.block(rows, cols))
    if sides.sample is None:
        missing &= rows[:, None] < cols
    return missing


def _far_from_limits(sums: NDArray[np.float64]) -> bool:
    # Leaves a margin above for the sum over all rows, and below for full precision of the
    # largest terms.
    return bool(1e-280 < np.abs(sums).max() < 1e280)


def _check_distances(
    rows: NDArray[np.int64],
    cols: NDArray[np.int64],
    approx: NDArray[np.float64],
    truth: NDArray[np.float64],
) -> None:
    """Raise a MetricError that names the first pair without a usable distance, if any."""
    distinct = rows[:, None] != cols
    bad_approx = ~np.isfinite(approx) & distinct
    bad_truth = ~(np.isfinite(truth) & (truth >= 0)) & distinct
    for a, b in np.argwhere(bad_approx | bad_truth)[:1]:
        name, value = ("approx", approx[a, b]) if bad_approx[a, b] else ("truth", truth[a, b])
        raise MetricError(
            f"{name} has d({rows[a]}, {cols[b]}) = {value}: distances must be finite, and "
            "true distances must not be negative"
        )
