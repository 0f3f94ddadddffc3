"""Readers for the distances that a method needs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.memory import check_memory
from .._core.parallel import Workers
from .._core.progress import progress_bar
from ..metric._compiled import CompiledMetric
from ..metric.base import Metric, MetricError
from ..scores._streaming import read_block, row_slices


def dense_matrix(
    metric: Metric,
    method: str,
    dtype: type[np.floating[Any]] = np.float64,
    matrices: float = 1.0,
    n_jobs: int | None = 1,
) -> NDArray[Any]:
    """Return all distances as a new matrix.

    `matrices` is the total number of matrices of this size that the method needs. If these matrices
    do not fit in memory, a MemoryError is raised. Custom metrics are read on one thread.
    """
    n = len(metric)
    check_memory(
        int(matrices * n * n * np.dtype(dtype).itemsize),
        f"{method} on {n:,} points",
        "use method='treerep', which needs no matrix",
    )
    matrix = np.empty((n, n), dtype)
    points = np.arange(n)

    def read(rows: slice) -> int:
        matrix[rows] = checked_block(metric, points[rows], points)
        return len(points[rows])

    jobs = n_jobs if isinstance(metric, CompiledMetric) else 1
    with progress_bar(n, "distances", "points") as bar, Workers(jobs) as workers:
        for count in workers.map(read, row_slices(n, n)):
            bar.update(count)
            workers.check()
    return matrix


def checked_block(metric: Metric, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distances of a block. Distances of a custom metric are validated."""
    block = read_block(metric, rows, cols)
    if isinstance(metric, CompiledMetric):  # validated on creation
        return block
    valid = (block >= 0) & (block < np.inf)
    if not valid.all():
        i, j = np.argwhere(~valid)[0]
        raise MetricError(
            f"{type(metric).__name__}.block returned d({rows[i]}, {cols[j]}) = "
            f"{block[i, j]}: distances must be finite and not negative"
        )
    return block


def checked_pairs(metric: Metric, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distances of pairs. Distances of a custom metric are validated."""
    if isinstance(metric, CompiledMetric):
        return metric.pairs(i, j)
    return np.array([checked_block(metric, i[k : k + 1], j[k : k + 1])[0, 0] for k in range(len(i))])


def rounding_of(metric: Metric, largest: float) -> float:
    """Return how much equal sums of distances may differ by rounding.

    `largest` is the largest distance. Two errors add up. The input is rounded once to its dtype.
    Path lengths drift by about sqrt(n) roundings of float64, because they are sums along n edges.
    (A single term for both errors, 64 sqrt(n) eps(dtype), would swallow short edges of float32
    metrics.)
    """
    drift = 64 * np.sqrt(len(metric)) * np.finfo(np.float64).eps
    return float((8 * max(metric.eps, metric.input_eps) + drift) * largest)
