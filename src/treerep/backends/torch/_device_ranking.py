"""Average precisions of all points on a torch device.

Rows are not sorted. Counting the points that are at most as far away as each neighbor is
enough, because there are few neighbors.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.progress import progress_bar
from ..._core.typing import Tensor, TorchDevice
from ...metric.base import Metric, MetricError
from ...scores._precision_kernels import TOLERANCE
from ...scores.mean_average_precision import Ranking
from ...tree.tree import Tree
from ._blocks import blocks_of
from ._rectangles import entries_on
from ._tree_distances import TreeTensors, tree_tensors


def average_precisions(ranking: Ranking, device: TorchDevice) -> NDArray[np.float64]:
    """Return the average precision of each point, up to rounding, in the preorder of a tree."""
    ranked = _DeviceRanking(ranking.judged, device)
    parts = [np.empty(0)]
    with progress_bar(len(ranking.points), "ranking neighbors", "point") as bar:
        for chosen, distances in ranked.rows(ranking.points):
            parts.append(ranked.precisions(chosen, distances, ranking))
            bar.update(len(chosen))
    return np.concatenate(parts)


class _Near(NamedTuple):
    """The neighbors of some points, by point and distance, and the groups of ties among them."""

    row: NDArray[np.int64]  # index of the point
    point: NDArray[np.int64]  # the neighbor
    # First and last neighbor of its group, counted from the first neighbor of the point.
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    # Smallest and largest distance of a point that ties with the group.
    nearest: NDArray[np.float64]
    farthest: NDArray[np.float64]
    before: NDArray[np.float64]  # largest distance that ties with the previous group


class _DeviceRanking:
    """The distances to rank, on a device. Columns are in the preorder of a tree."""

    def __init__(self, judged: Metric, device: TorchDevice) -> None:
        self.torch = require("torch", "embed")
        self.device = device
        self.n = len(judged)
        self.order = np.arange(self.n)
        self.tree = None
        self.blocks = None
        if isinstance(judged, Tree):
            self.order, self.tree = tree_tensors(judged, device)
        else:
            self.blocks = blocks_of(judged, self.order, device, "approx")
        self.position = np.empty(self.n, np.int64)
        self.position[self.order] = np.arange(self.n)

    def rows(self, points: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Tensor]]:
        """Yield some of the points at a time, and their distances to all points."""
        positions = np.sort(self.position[points])
        step = max(1, entries_on(self.device) // self.n)
        for start in range(0, len(positions), step):
            part = positions[start : start + step]
            if self.blocks is not None:
                found = self.blocks.block(part[None], np.arange(self.n)[None])[0]
            else:
                assert self.tree is not None
                found = self._tree_rows(self.tree, part)
            yield self.order[part], found

    def _tree_rows(self, tree: TreeTensors, positions: NDArray[np.int64]) -> Tensor:
        """Return rows of distances in the tree. Consecutive rows are cheaper than single rows."""
        first = int(positions[0])
        last = int(positions[-1])
        is_dense = 2 * len(positions) > last - first
        if not is_dense:
            return tree.from_points(positions)
        found = tree.run(first, last + 1)
        if len(positions) < len(found):
            return found[self._tensor(positions - first)]
        return found

    def _tensor(self, array: NDArray[np.generic]) -> Tensor:
        return self.torch.from_numpy(array).to(self.device)

    def precisions(
        self, points: NDArray[np.int64], distances: Tensor, ranking: Ranking
    ) -> NDArray[np.float64]:
        """Return the average precision of each of the points. Overwrites `distances`."""
        starts = ranking.starts
        largest = distances.abs().amax(1).cpu().numpy()
        if not np.isfinite(largest).all():
            a, b = (~distances.isfinite()).nonzero()[0].tolist()
            value = float(distances[a, b])
            other = self.order[b]
            raise MetricError(f"approx has d({points[a]}, {other}) = {value}: scores need finite distances")
        every = np.arange(len(points))
        degrees = starts[points + 1] - starts[points]
        row = np.repeat(every, degrees)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
        point = ranking.neighbors[np.repeat(starts[points], degrees) + offset]
        values = distances[self._tensor(row), self._tensor(self.position[point])].cpu().numpy()
        near = _groups(row, point, values, TOLERANCE * largest)
        # A point is not a neighbor of itself.
        distances[self._tensor(every), self._tensor(self.position[points])] = np.inf
        hits = near.last + 1.0
        if ranking.by_rank:
            hits = near.first + _ranks_in_group(near)
        found = hits / self._counts(near, distances, ranking.by_rank)
        total: NDArray[np.float64] = np.bincount(near.row, found, minlength=len(points)) / degrees
        return total

    def _counts(self, near: _Near, distances: Tensor, by_rank: bool) -> NDArray[np.float64]:
        """Return how many points are at most as far away as each neighbor, itself included."""
        counts = np.empty(len(near.row))
        step = max(1, entries_on(self.device) // self.n)
        numbers = self._tensor(self.order)
        for start in range(0, len(counts), step):
            part = slice(start, start + step)
            d = distances[self._tensor(near.row[part])]
            up_to = d <= self._tensor(near.farthest[part])[:, None]
            if by_rank:  # of tied points, count only those with a lower number
                ties_before = d <= self._tensor(near.before[part])[:, None]
                is_nearer = d < self._tensor(near.nearest[part])[:, None]
                is_lower = numbers <= self._tensor(near.point[part])[:, None]
                up_to &= ties_before | is_nearer | is_lower
            counts[part] = up_to.sum(1).cpu().numpy()
        return counts


def _groups(
    row: NDArray[np.int64],
    point: NDArray[np.int64],
    values: NDArray[np.float64],
    tolerance: NDArray[np.float64],
) -> _Near:
    """Divide the neighbors of each point into groups of ties, as `precision_kernels` does."""
    by_value = np.lexsort((values, row))
    row = row[by_value]
    point = point[by_value]
    values = values[by_value]
    near = values - tolerance[row]
    far = values + tolerance[row]
    opens_row = np.diff(row, prepend=-1) != 0
    opens = opens_row.copy()
    opens[1:] |= values[1:] > far[:-1]
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(row)) - 1
    group = np.cumsum(opens) - 1
    begin = np.flatnonzero(opens_row)[np.cumsum(opens_row) - 1]
    before = np.where(opens_row[first], -np.inf, far[first - 1])
    return _Near(
        row,
        point,
        first[group] - begin,
        last[group] - begin,
        near[first][group],
        far[last][group],
        before[group],
    )


def _ranks_in_group(near: _Near) -> NDArray[np.float64]:
    """Return ranks among tied neighbors, by number, starting at 1."""
    order = np.lexsort((near.point, near.first, near.row))
    ranks = np.empty(len(order))
    # Groups are consecutive in both orders, so positions differ by the rank.
    opens = np.diff(near.row[order], prepend=-1) != 0
    opens[1:] |= np.diff(near.first[order]) != 0
    begin = np.flatnonzero(opens)[np.cumsum(opens) - 1]
    ranks[order] = np.arange(len(order)) - begin + 1
    return ranks
