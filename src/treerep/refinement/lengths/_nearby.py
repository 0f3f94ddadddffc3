"""The neighborhoods of points in their surroundings in the tree, as part of an objective.

The surroundings of a point are about a hundred points near it in the tree. Its neighbors are the
ten of these that are nearest in the data. Lengths can only order points that the topology has
brought together, so neighbors elsewhere are left out. A pass takes O(n), so that the number of
points is not limited, unlike that of `Neighborhoods`.
"""

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ...metric.base import Metric
from ._nearby_kernels import find_windows, loss, smooth_loss
from ._neighborhoods import loss_of_blocks, smooth_loss_of_blocks
from ._splits import SplitTree, Vector

_SIZE = 128
_NEIGHBORS = 10
# Tasks of at least this many points, and the most tasks: each task has its own sums.
_POINTS = 256
_TASKS = 16
# Distances read together.
_PAIRS = 1 << 20


class Nearby:
    """Neighbors in the surroundings of each point. Points are numbered as in `splits`."""

    def __init__(self, metric: Metric, splits: SplitTree, unit: float, workers: Workers) -> None:
        self.splits = splits
        self.workers = workers
        n = len(splits.points)
        self.windows = np.empty((2, n), np.int64)
        find_windows(splits.up, splits.first, splits.last, splits.node, _SIZE, *self.windows)
        rows = max(1, _PAIRS // (2 * _SIZE + 1))
        found = list(
            workers.map(lambda low: self._nearest(metric, low, min(low + rows, n)), range(0, n, rows))
        )
        self.neighbors = np.concatenate([places for places, _ in found])
        apart = np.concatenate([lengths for _, lengths in found])
        apart = apart[apart > 0]
        self.near = float(np.median(apart)) / unit if len(apart) else 1.0
        size = max(_POINTS, -(-n // _TASKS))
        self.blocks = [(low, min(low + size, n)) for low in range(0, n, size)]

    def _nearest(
        self, metric: Metric, start: int, stop: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the nearest points in the surroundings of some points, and their distances."""
        low, high = self.windows[:, start:stop]
        width = int((high - low).max())
        places = np.arange(width)
        others = low[:, None] + places
        own = np.arange(start, stop)[:, None]
        is_other = (others < high[:, None]) & (others != own)
        points = self.splits.points
        distance = np.full(others.shape, np.inf)
        first = np.broadcast_to(own, others.shape)[is_other]
        distance[is_other] = metric.pairs(points[first], points[others[is_other]])
        count = min(_NEIGHBORS, width)
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :count]
        lengths = np.take_along_axis(distance, nearest, axis=1)
        nearest[np.isinf(lengths)] = -1
        return nearest, lengths[np.isfinite(lengths)]

    def loss(self, length: Vector) -> float:
        """Return 1 - mean average precision in the surroundings."""
        return loss_of_blocks(self, loss, (self.windows, self.neighbors), length)

    def smooth_loss(self, length: Vector, width: float) -> tuple[float, Vector]:
        """Return the loss with smooth steps of this width, and its gradient."""
        return smooth_loss_of_blocks(self, smooth_loss, (self.windows, self.neighbors), length, width)
