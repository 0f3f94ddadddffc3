"""The points of a metric in another order."""

from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .base import Metric, check_indices


class ReorderedMetric(Metric):
    """A view of a metric whose point i is point order[i] of the original.

    Distances are not copied.
    """

    def __init__(
        self,
        metric: Metric,
        order: NDArray[np.int64],
        labels: tuple[str, ...] | None,
        order_known: bool,
    ) -> None:
        self.metric = metric
        self.order = order
        self.labels = labels
        self.order_known = order_known
        self.integral = metric.integral
        self.eps = metric.eps
        self.on_disk = metric.on_disk
        self.has_missing = metric.has_missing

    def __len__(self) -> int:
        return len(self.order)

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances from each row to each column point, as a float64 array."""
        return self.metric.block(*(self.order[check_indices(x, len(self)).reshape(-1)] for x in (rows, cols)))

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Return the distances of the pairs (i[k], j[k]), as a float64 array of the same shape."""
        return self.metric.pairs(*(self.order[check_indices(x, len(self))] for x in (i, j)))

    def random_access(self) -> AbstractContextManager[None]:
        """Context manager: hint that upcoming reads are random access."""
        return self.metric.random_access()
