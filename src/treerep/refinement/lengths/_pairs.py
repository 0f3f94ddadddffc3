"""The pairs of points in an objective, and sums over their paths."""

import copy
import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import available_memory
from ..._core.parallel import Runner, Workers
from ...fitting._distances import checked_block
from ...metric.base import Metric
from ...scores._streaming import BLOCK_ENTRIES, triangle_slices
from ._path_sum_kernels import PRODUCT, RELATIVE, SMOOTH, add_up, cut_sums, row_sums, solve_cuts
from ._splits import SplitTree, Vector, depths, measured

#: Marks pairs without a measured distance. No distance is negative.
_MISSING = -1.0
#: If a weight 1 / d^p would overflow, distances below this fraction of the largest count as 0.
ZERO_SHARE = 1e-100
_PROBES = 8
#: Minimum number of sampled rows that are summed together. Adding two partial sums takes about
#: as long as one row.
_ROWS = 8


class _Task(NamedTuple):
    number: int
    rows: NDArray[np.int64]
    start: int


class _Reader:
    """Reader for blocks of distances and their factors, in any process: see `Pairs`."""

    def __init__(
        self,
        splits: SplitTree,
        metric: Metric,
        upper: bool,
        unit: float,
        power: float,
        keep: bool,
    ) -> None:
        self.splits = splits
        self.metric = metric
        self.upper = upper
        self.unit = unit
        self.power = power
        self.at_zero = 0.0
        self._keep = keep
        self._distances: dict[int, Vector] = {}
        self._factors: dict[int, Vector] = {}

    def with_power(self, power: float) -> "_Reader":
        other = copy.copy(self)
        other.power = power
        other._factors = {}
        return other

    def distance(self, task: _Task) -> Vector:
        distance = self._distances.get(task.number)
        if distance is None:
            points = self.splits.points
            distance = checked_block(self.metric, points[task.rows], points[task.start :]) / self.unit
            if self.metric.has_missing:
                distance[np.isnan(distance)] = _MISSING
            if self._keep:
                self._distances[task.number] = distance
        return distance

    def read(self, task: _Task) -> tuple[Vector, Vector]:
        distance = self.distance(task)
        factor = self._factors.get(task.number)
        if not self.power:
            return distance, (distance >= 0).astype(np.float64)
        if factor is None:
            factor = np.where(distance >= 0, self.at_zero, 0.0)
            if self.power == 2:  # 1 / d, and division is many times faster than a power
                np.divide(1.0, distance, out=factor, where=distance > ZERO_SHARE)
            else:
                np.power(distance, -self.power / 2, out=factor, where=distance > ZERO_SHARE)
            if self._keep:
                self._factors[task.number] = factor
        return distance, factor


def _sum_block(
    what: int, eps: float, depth: Vector, reader: _Reader, task: _Task
) -> tuple[float, Vector, Vector]:
    """Sum a block: return the value and its derivatives at points and at nodes.

    See `path_sum_kernels.row_sums`.
    """
    splits = reader.splits
    at_point = np.zeros(len(splits.points) - task.start)
    at_node = np.zeros(len(depth))
    block = task.rows, task.start, reader.upper, *reader.read(task)
    if what == SMOOTH and reader.power == 2 and reader.at_zero == 0:
        what = RELATIVE
    value = row_sums(what, eps, measured(splits, depth), *block, at_point, at_node)
    return value, at_point, at_node


def _row_parts(count: int, width: int) -> Iterator[slice]:
    """Cut sampled rows into parts like blocks, but with at least _ROWS rows each."""
    size = max(_ROWS, BLOCK_ENTRIES // max(width, 1))
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


class PathSums(Protocol):
    """Sums over the paths of some pairs of points, in one tree or in a sum of trees.

    Lengths are listed by split. They are measured in `unit`, a power of two near `radius`, which is
    the largest distance found.
    """

    n: int  # number of points
    power: float  # errors are weighted by u = 1 / d^(power / 2)
    unit: float
    radius: float
    upper: bool  # all pairs are used, and not a sample of rows
    below: NDArray[np.int64]  # number of points below each split

    @property
    def weighted(self) -> bool:
        """Whether the pairs have different factors, or their trees no solution in O(N)."""

    def sums(self, what: int, length: Vector, eps: float = 0.0) -> tuple[float, Vector]:
        """Return the sum of values over the pairs, and of derivatives over paths."""

    def crossing(self) -> Vector:
        """Return the number of paths through each edge."""

    def product(self, length: Vector) -> Vector:
        """Return A^T U^2 A w."""

    def solve(self, free: NDArray[np.bool_], right: Vector) -> Vector:
        """Solve A^T A w = b among the free edges of each tree, for all pairs. O(N)."""

    def with_power(self, power: float) -> "PathSums":
        """Return the same pairs with other factors. The distances are shared."""


class Pairs:
    """The pairs in an objective: all pairs, or sampled rows with all other points.

    Points are numbered as in `splits`. Distances are kept if they fit in memory and are read again
    in every pass otherwise. Distances are measured in `unit`, a power of two near the largest
    distance, so that squares neither overflow nor underflow. Factors u = 1 / d^(power / 2) weight
    the errors of the pairs. A pair at distance 0 is excluded (u = 0), or weighted like the smallest
    positive distance if `with_zeros` is true. A pair without a measured distance is excluded. If a
    `runner` is given, the runner performs the passes over the pairs instead of the workers and
    keeps no distances. A `bar` counts the passes.
    """

    def __init__(
        self,
        splits: SplitTree,
        metric: Metric,
        sample: NDArray[np.int64] | None,
        power: float,
        workers: Workers,
        with_zeros: bool = False,
        runner: Runner | None = None,
        bar: Any = None,
    ) -> None:
        self.splits = splits
        self.power = power
        self.workers = workers
        self.bar = bar
        self.n = n = len(splits.points)
        self.upper = sample is None
        if sample is None:
            rows = np.arange(n)
            self.tasks = [_Task(k, rows[part], part.start) for k, part in enumerate(triangle_slices(n))]
            self.count = n * (n - 1) // 2
            self.scale = 1.0
        else:
            rows = np.flatnonzero(np.isin(splits.points, sample))
            self.tasks = [_Task(k, rows[part], 0) for k, part in enumerate(_row_parts(len(rows), n))]
            # Each pair is counted 2 rows / n times on average, once from either end.
            self.count = len(rows) * (n - 1)
            self.scale = n / (2 * len(rows))
        # Reading one block is faster than sending it.
        self.runner = runner if len(self.tasks) > 1 else None
        self.below = (splits.last - splits.first).astype(np.int64)
        self.sampled_below = np.searchsorted(rows, splits.last) - np.searchsorted(rows, splits.first)
        # Use several points: if the triangle inequality fails, one point may be at distance 0
        # from all others.
        few = splits.points[:: max(1, n // _PROBES)]
        probed = checked_block(metric, few, splits.points)
        self.radius = float(probed.max(initial=0.0, where=probed >= 0)) or 1.0
        self.unit = math.ldexp(1.0, math.frexp(self.radius)[1])
        self._has_missing = metric.has_missing
        needed = self.count * (16 if power else 8)
        keep = self.runner is None and needed < available_memory() // 2
        self._reader = _Reader(splits, metric, self.upper, self.unit, power, keep)
        self._reader.at_zero = self._smallest() ** (-power / 2) if power and with_zeros else 0.0

    @property
    def weighted(self) -> bool:
        """Whether the pairs have different factors."""
        return self.power > 0 or self._has_missing

    def _smallest(self) -> float:
        """Return the smallest positive distance."""

        def least(task: _Task) -> float:
            distance = self._reader.distance(task)
            return float(distance.min(where=distance > ZERO_SHARE, initial=np.inf))

        smallest = min(self.workers.map(least, self.tasks), default=np.inf)
        return smallest if smallest < np.inf else 1.0 / self.unit

    def with_power(self, power: float) -> "Pairs":
        """Return the same pairs with other factors. The distances are shared."""
        other = copy.copy(self)
        other.power = power
        other._reader = self._reader.with_power(power)
        return other

    def cut_sums(self, length: Vector) -> Vector:
        """Return the sum of path lengths over the paths through each edge, without factors. O(N)."""
        out = np.empty(len(length))
        cut_sums(self.splits.up, self.below, self.sampled_below, length, out)
        return (0.5 if self.upper else self.scale) * out

    def product(self, length: Vector) -> Vector:
        """Return A^T U^2 A w. O(N) for U = 1, otherwise a pass over the pairs."""
        if self.weighted:
            return self.sums(PRODUCT, length)[1]
        return self.cut_sums(length)

    def solve(self, free: NDArray[np.bool_], right: Vector) -> Vector:
        """Solve A^T A w = b among the free edges, for all pairs. O(N)."""
        out = np.empty(len(right))
        solve_cuts(self.splits.up, self.below, free, right, out)
        return out

    def crossing(self) -> Vector:
        """Number of paths through each edge."""
        s = self.below
        t = self.sampled_below
        n = self.n
        r = self.sampled_below[0]
        return (0.5 if self.upper else self.scale) * (t * (n - s) + s * (r - t))

    def sums(self, what: int, length: Vector, eps: float = 0.0) -> tuple[float, Vector]:
        """Return the sum of values over the pairs, and of derivatives over paths.

        Derivatives are summed over the paths through each edge.
        """
        splits = self.splits
        depth = depths(splits, length)
        work = partial(_sum_block, what, eps, depth)
        self.workers.check()
        if self.runner is None:
            found = self.workers.map(partial(work, self._reader), self.tasks)
        else:
            found = self.runner.map(work, self._reader, self.tasks)
        value = 0.0
        ends = np.zeros(self.n)
        sums = np.zeros(len(depth))
        for task, (part, at_point, at_node) in zip(self.tasks, found, strict=True):
            value += part
            ends[task.start :] += at_point
            sums += at_node
        sums[splits.node] += ends
        add_up(splits.up, sums)
        sums[0] = 0.0
        if self.bar is not None:
            self.bar.update()
        return self.scale * value, self.scale * sums


class Optimum(NamedTuple):
    """The result of a search, with lengths in units of `Pairs.unit`."""

    length: Vector
    value: float
    start: float
    residual: float
    iterations: int
