"""Average and complete linkage of all points."""

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ...metric.base import Metric
from ...metric.matrix import MatrixMetric
from .._distances import dense_matrix
from ._linkage_kernels import link, mirror

#: Two points, one from each cluster, and the height of every merge, by increasing height.
Merges = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def link_metric(metric: Metric, method: str, n_jobs: int | None = None) -> Merges:
    """Cluster the points of a metric by average linkage.

    A symmetric matrix in memory is not copied as a whole.
    """
    if isinstance(metric, MatrixMetric):
        given = metric.distances
        if given.dtype == np.float64 and metric.symmetric:
            return _sorted(*link(given, _working_rows(len(given), method), False, False))
    return link_matrix(dense_matrix(metric, method, n_jobs=n_jobs), False)


def link_matrix(matrix: NDArray[np.float64], complete: bool) -> Merges:
    """Cluster by average or complete linkage. The matrix is overwritten.

    Only entries above the diagonal are read.
    """
    mirror(matrix)
    source = matrix.view()
    source.flags.writeable = False
    return _sorted(*link(source, matrix, True, complete))


def _working_rows(n: int, method: str) -> NDArray[np.float64]:
    """Return space for n rows. Only rows that are in use at the same time take memory."""
    # An odd number of cache lines: after 2^k bytes, entries of a column would compete for the same
    # places in the cache.
    width = 8 * (n // 16 * 2 + 3)
    check_memory(8 * n * width, f"{method} on {n:,} points", "use method='treerep'")
    return np.empty((n, width))


def _sorted(first: NDArray[np.int64], second: NDArray[np.int64], height: NDArray[np.float64]) -> Merges:
    order = np.argsort(height, kind="stable")
    return first[order], second[order], height[order]
