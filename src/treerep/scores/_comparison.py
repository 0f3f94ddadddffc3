"""Comparison of two metrics on the same points, block by block."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import Runner
from .._core.progress import progress_bar
from .._core.typing import MetricLike, RNGLike
from ..metric._matching import matched
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
    """The pairs that a score compares: all pairs, or those of sampled rows with all other points."""

    def __init__(
        self, approx: MetricLike, truth: MetricLike, rows: Rows, rng: RNGLike, runner: Runner
    ) -> None:
        second = to_metric(truth)
        first = matched(to_metric(approx), second, ("approx", "truth"))
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
        if self.sample is None:
            return self.n * (self.n - 1) // 2
        return len(self.sample) * (self.n - 1)

    def basis(self, pairs: int) -> str:
        """Describe the pairs behind a score of this comparison."""
        if self.sample is None:
            return (
                f"all {pairs:,} pairs"
                if pairs == self.pairs
                else f"{pairs:,} of {self.pairs:,} pairs"
            )
        return f"from {len(self.sample):,} of {self.n:,} rows"

    def sums(self, what: int, scale: float = 1.0, *, keep: bool = False) -> NDArray[np.float64]:
        """Return the sums of `_distortion_kernels.row_sums` for every row, (rows, COLUMNS).

        Each row is summed separately, so the result does not depend on blocks or threads. With
        keep=True, a small number of distances stays in memory for the next call.
        """
        from ._distortion_kernels import COLUMNS

        work = partial(_sum_rows, what, scale, keep and self.pairs <= _KEPT_ENTRIES)
        count = self.n - 1 if self.sample is None else len(self.sample)
        slices = triangle_slices(self.n) if self.sample is None else row_slices(count, self.n)
        parts = [np.empty((0, COLUMNS))]
        with progress_bar(count, "comparing distances", "row") as bar:
            for part in self.runner.map(work, self._sides, slices):
                parts.append(part)
                bar.update(len(part))
        return np.concatenate(parts)

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


def _sum_rows(
    what: int, scale: float, keep: bool, sides: _Sides, part: slice
) -> NDArray[np.float64]:
    """Return the sums for a slice of the compared rows."""
    from ._distortion_kernels import COLUMNS, row_sums

    exact = sides.sample is None
    first = part.start if exact else 0  # exact: compare each row with the points after it
    cols = np.arange(first, len(sides.truth))
    rows = np.arange(part.start, part.stop) if sides.sample is None else sides.sample[part]
    blocks = sides.kept.get(part.start) or (
        read_block(sides.approx, rows, cols),
        read_block(sides.truth, rows, cols),
    )
    if keep:
        sides.kept[part.start] = blocks
    out = np.empty((len(rows), COLUMNS))
    row_sums(what, scale, *blocks, rows - first, exact, out)
    if not np.isfinite(out).all():
        _check_distances(rows, cols, *blocks)
    return out


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
