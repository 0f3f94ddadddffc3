"""What neighbor joining and its relatives share: the clusters, and what becomes of negative lengths."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric, MetricError
from ...metric.matrix import MatrixMetric
from .._distances import checked_block, dense_matrix
from ._joining_kernels import EDGES, LEFT, WIDTH, Clusters, join_closest, prepare

# Entries of the matrix looked at between two looks at the clock and the keyboard: some tenths
# of a second.
_BUDGET = 100_000_000
_OVERFLOW = "the distances are so large that their sums overflow: rescale them"

#: Joins some pairs: called with the clusters and how many joins it may do.
Step = Callable[[Clusters, int], None]


def join_all(
    metric: Metric, method: str, step: Step, variances: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Join clusters until one is left; return the edges and their lengths, which may be negative.

    The edges 2k and 2k + 1 are those of join k. The working matrix is float64, or float32 for a
    float32 matrix.
    """
    n = len(metric)
    if n == 2:
        return np.array([[0, 1]]), checked_block(metric, np.array([0]), np.array([1]))[0]
    single = isinstance(metric, MatrixMetric) and metric.distances.dtype == np.float32
    # Sums of three distances must fit, too.
    single = single and float(metric.distances.max()) < 1e37  # type: ignore[attr-defined]
    matrix = dense_matrix(
        metric, method, np.float32 if single else np.float64, room=2 if variances else 1
    )
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
    """Neighbor joining of three points or more, without ado; the matrix is used up.

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
    sums, means, gone, reach, bound, nearest, row, change = (np.zeros(n) for _ in range(8))
    edges = np.empty((2 * n - 3, 2), np.int32)
    lengths = np.empty(2 * n - 3)
    counts = np.array([n, n, 0, 0, 1])
    levels = np.array([0.0, 0.0, 1e4 * np.finfo(matrix.dtype).eps, 0.0])
    return Clusters(
        matrix,
        matrix.copy() if variances else np.empty((0, 0), matrix.dtype),
        sums,
        means,
        gone,
        np.arange(n, dtype=np.int32),
        np.zeros(n, np.int32),
        reach,
        bound,
        nearest,
        row,
        change,
        counts,
        levels,
        edges,
        lengths,
    )


def _join_three(c: Clusters) -> None:
    """Hang the last three clusters off one node, each at its Gromov product of the other two."""
    here = np.flatnonzero(c.gone[: c.counts[WIDTH]] == 0)
    edge = c.counts[EDGES]
    c.edges[edge:, 0], c.edges[edge:, 1] = c.names[here], len(c.names) + edge // 2
    x, y, z = here
    xy, xz, yz = (float(c.matrix[pair]) for pair in ((x, y), (x, z), (y, z)))
    c.lengths[edge:] = (xy + xz - yz) / 2, (xy + yz - xz) / 2, (xz + yz - xy) / 2


def without_negatives(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set negative lengths to 0 and give the sibling the whole distance, so that the pair stays as far apart as it was.

    >>> without_negatives(np.array([-1.0, 3.0, 1.0, 2.0, 4.0]))
    array([0., 2., 1., 2., 4.])
    """
    pairs = len(lengths) // 2 * 2 - 2  # the last join has three
    twos = lengths[:pairs].reshape(-1, 2)
    three = lengths[pairs:]
    twos = np.where(
        twos < 0, 0, np.where(twos[:, ::-1] < 0, twos.sum(axis=1, keepdims=True), twos)
    )
    if len(three) == 3 and three.min() < 0:
        three = np.where(three == three.min(), 0, three + three.min())
    return np.maximum(np.concatenate([twos.ravel(), three]), 0)
