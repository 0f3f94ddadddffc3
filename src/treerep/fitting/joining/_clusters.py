"""Shared parts of neighbor joining and its variants: the clusters, and negative lengths."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric, MetricError
from ...metric.matrix import MatrixMetric
from .._distances import checked_block, dense_matrix
from ._joining_kernels import (
    EDGES,
    LEFT,
    MAYBE_TREE,
    ROUNDING,
    WIDTH,
    Clusters,
    join_closest,
    prepare,
)

# Number of matrix entries read between two checks for interrupts: a few tenths of a second.
_BUDGET = 100_000_000
_OVERFLOW = "the distances are so large that their sums overflow: rescale them"

#: Joins some pairs. The function is called with the clusters and the maximum number of joins.
Step = Callable[[Clusters, int], None]


def join_all(
    metric: Metric,
    method: str,
    step: Step,
    variances: bool = False,
    n_jobs: int | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Join the points of a metric until one cluster is left; return edges and lengths.

    Lengths may be negative. The edges 2k and 2k + 1 belong to join k. Distances are read on
    `n_jobs` threads.
    """
    if len(metric) == 2:
        first = np.array([0])
        second = np.array([1])
        return np.array([[0, 1]]), checked_block(metric, first, second)[0]
    matrix = _working_matrix(metric, method, 2 if variances else 1, n_jobs)
    return join_matrix(matrix, method, step, variances)


def _working_matrix(metric: Metric, method: str, matrices: int, n_jobs: int | None) -> NDArray[Any]:
    """Return the distances as float64, or as float32 if the metric is not more precise."""
    dtype = metric.distances.dtype if isinstance(metric, MatrixMetric) else None
    if dtype == np.float32 or metric.eps >= np.finfo(np.float32).eps:
        matrix = dense_matrix(metric, method, np.float32, matrices, n_jobs)
        # Sums of three distances must not overflow.
        if float(matrix.max()) < 1e37:
            return matrix
        del matrix
    return dense_matrix(metric, method, np.float64, matrices, n_jobs)


def join_matrix(
    matrix: NDArray[Any], method: str, step: Step, variances: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Join three or more points, as `join_all` does; overwrite their distance matrix."""
    n = len(matrix)
    clusters = _clusters(matrix, variances)
    with progress_bar(n, method, "points") as bar, Workers(1) as workers:
        if n > 3 and not prepare(clusters):
            raise MetricError(_OVERFLOW)
        while clusters.counts[LEFT] > 3:
            left = int(clusters.counts[LEFT])
            step(clusters, 1 + _BUDGET // (16 * left))
            bar.update(left - int(clusters.counts[LEFT]))
            workers.check()
    _join_three(clusters)
    return clusters.edges, clusters.lengths


def join_few(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Apply neighbor joining to three or more points, without optimizations; overwrite the matrix.

    Lengths are not negative.
    """
    clusters = _clusters(matrix, variances=False)
    if len(matrix) > 3:
        if not prepare(clusters):
            raise MetricError(_OVERFLOW)
        join_closest(clusters, len(matrix))
    _join_three(clusters)
    return clusters.edges, without_negatives(clusters.lengths)


def _clusters(matrix: NDArray[Any], variances: bool) -> Clusters:
    n = len(matrix)
    n_edges = 2 * n - 3
    counts = np.zeros(5, np.int64)
    counts[WIDTH] = n
    counts[LEFT] = n
    counts[MAYBE_TREE] = 1
    levels = np.zeros(4)
    levels[ROUNDING] = 1e4 * np.finfo(matrix.dtype).eps
    return Clusters(
        matrix=matrix,
        variances=matrix.copy() if variances else np.empty((0, 0), matrix.dtype),
        sums=np.zeros(n),
        means=np.zeros(n),
        gone=np.zeros(n),
        names=np.arange(n, dtype=np.int32),
        partner=np.zeros(n, np.int32),
        reach=np.zeros(n),
        bound=np.zeros(n),
        nearest=np.zeros(n),
        row=np.zeros(n),
        change=np.zeros(n),
        counts=counts,
        levels=levels,
        edges=np.empty((n_edges, 2), np.int32),
        lengths=np.empty(n_edges),
    )


def _join_three(c: Clusters) -> None:
    """Join the last three clusters at one node.

    The length of each edge is the Gromov product of its cluster with the other two.
    """
    left = np.flatnonzero(c.gone[: c.counts[WIDTH]] == 0)
    first = c.counts[EDGES]
    c.edges[first:, 0] = c.names[left]
    c.edges[first:, 1] = len(c.names) + first // 2
    x, y, z = left
    xy = float(c.matrix[x, y])
    xz = float(c.matrix[x, z])
    yz = float(c.matrix[y, z])
    c.lengths[first:] = (xy + xz - yz) / 2, (xy + yz - xz) / 2, (xz + yz - xy) / 2


def without_negatives(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set negative lengths to 0 and give the sibling the whole distance.

    The distance of the pair then does not change.

    >>> without_negatives(np.array([-1.0, 3.0, 1.0, 2.0, 4.0]))
    array([0., 2., 1., 2., 4.])
    """
    pairs = len(lengths) // 2 * 2 - 2  # the last join has three edges
    twos = lengths[:pairs].reshape(-1, 2)
    three = lengths[pairs:]
    sibling_negative = twos[:, ::-1] < 0
    whole = twos.sum(axis=1, keepdims=True)
    twos = np.where(twos < 0, 0, np.where(sibling_negative, whole, twos))
    if len(three) == 3 and three.min() < 0:
        three = np.where(three == three.min(), 0, three + three.min())
    return np.maximum(np.concatenate([twos.ravel(), three]), 0)
