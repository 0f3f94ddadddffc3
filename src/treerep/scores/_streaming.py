"""Distances of any metric, read in blocks of rows.

Blocks depend only on the number of points, never on the number of threads. Each row is summed
separately.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._core.typing import MetricLike
from ..metric.base import Metric

#: Distances per block: 2 MB, so that blocks are still in the cache when they are summed (the
#: fastest of the sizes from 1 to 32 MB).
BLOCK_ENTRIES = 1 << 18


def to_metric(data: MetricLike, metric: str | None = None) -> Metric:
    """Return data as a Metric; a Metric is returned unchanged."""
    if isinstance(data, Metric) and metric is None:
        return data
    from ..metric.as_metric import as_metric

    return as_metric(data, metric=metric)


def read_block(metric: Metric, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return metric.block(rows, cols) in the layout of kernels, and check its shape."""
    block = np.require(metric.block(rows, cols), np.float64, ["C", "W", "E"])
    if block.shape != (len(rows), len(cols)):
        shape = " x ".join(map(str, block.shape))
        raise ValueError(
            f"{type(metric).__name__}.block returned an array of shape {shape} for "
            f"{len(rows)} rows and {len(cols)} columns"
        )
    return block


def row_slices(count: int, width: int) -> Iterator[slice]:
    """Split `count` rows of `width` entries into blocks of about BLOCK_ENTRIES.

    >>> list(row_slices(3, 400_000))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    size = max(1, BLOCK_ENTRIES // max(width, 1))
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def triangle_slices(n: int) -> Iterator[slice]:
    """Split the rows 0 ... n - 2 of the pairs i < j into blocks of about BLOCK_ENTRIES."""
    start = 0
    while start < n - 1:
        stop = min(start + max(1, BLOCK_ENTRIES // (n - start)), n - 1)
        yield slice(start, stop)
        start = stop
