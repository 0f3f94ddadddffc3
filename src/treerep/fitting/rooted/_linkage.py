"""Average linkage by SciPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from ..._core.memory import check_memory
from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric._compiled import CompiledMetric
from ...metric.base import Metric
from ...scores._streaming import triangle_slices
from .._distances import checked_block
from ._gromov_kernels import points_of_clusters

Numbers = NDArray[np.float64]
#: Two points, one from each cluster, and the height of every merge, by increasing height.
Merges = tuple[NDArray[np.int64], NDArray[np.int64], Numbers]


def read_pairs(
    metric: Metric,
    method: str,
    n_jobs: int | None = 1,
    change: Callable[[Numbers, int, slice], Numbers] | None = None,
) -> Numbers:
    """Return the distances of all pairs i < j, in the order of SciPy.

    `change` is applied to the distances from a point to a slice of points. Custom metrics are read on
    one thread.
    """
    n = len(metric)
    # SciPy copies the pairs.
    check_memory(8 * n * n, f"{method} on {n:,} points", "use method='treerep', which needs no matrix")
    pairs = np.empty(n * (n - 1) // 2)
    points = np.arange(n)

    def read(rows: slice) -> int:
        block = checked_block(metric, points[rows], points[rows.start :])
        for row, i in zip(block, points[rows].tolist(), strict=True):
            first = i * (2 * n - i - 1) // 2
            others = slice(i + 1, n)
            found = row[i + 1 - rows.start :]
            pairs[first : first + n - i - 1] = found if change is None else change(found, i, others)
        return len(block)

    jobs = n_jobs if isinstance(metric, CompiledMetric) else 1
    with progress_bar(n, "distances", "points") as bar, Workers(jobs) as workers:
        for count in workers.map(read, triangle_slices(n)):
            bar.update(count)
            workers.check()
    return pairs


def link(pairs: Numbers) -> Merges:
    """Cluster by average linkage, given the distances of all pairs i < j."""
    found: NDArray[Any] = linkage(pairs, "average")
    first, second = points_of_clusters(found[:, :2].astype(np.int64))
    return first, second, found[:, 2].copy()
