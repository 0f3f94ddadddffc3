"""The pairs of points in the objective of a sum of trees, and sums over their paths."""

import copy
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..._core.memory import available_memory
from ..._core.parallel import Workers
from ...fitting._distances import checked_block
from ...metric.base import Metric
from ..lengths._neighborhoods import typical_distance
from ..lengths._pairs import ZERO_SHARE
from ..lengths._path_sum_kernels import PRODUCT, add_down, add_up, solve_cuts
from ..lengths._splits import SplitTree, Vector
from ._sum_kernels import (
    Forest,
    Neighbors,
    row_imprecision,
    smooth_row_imprecision,
    sum_rows,
)

# Rows of a task. Adding the sums of two tasks takes about as long as one row.
_ROWS = 32
# Points whose distances are read to find the largest distance.
_PROBES = 8
# Distances count as equal if they differ by less than this fraction of the largest.
_TIE = 1e-9

Number = TypeVar("Number", bound=np.generic)
#: The value of a task, and its slopes at points and at nodes.
_Part = tuple[float, Vector, Vector]


def make_forest(trees: Sequence[SplitTree], starts: NDArray[np.int64]) -> Forest:
    """Return the trees as one list of nodes; tree t begins at node starts[t]."""
    place = [np.argsort(splits.points) for splits in trees]
    numbered = list(zip(trees, place, starts, strict=True))
    parents = [np.where(splits.up < 0, -1, splits.up + start) for splits, _, start in numbered]
    nodes = [splits.node[order] + start for splits, order, start in numbered]
    return Forest(
        up=np.concatenate(parents).astype(np.int32),
        first=np.concatenate([splits.first for splits in trees]),
        last=np.concatenate([splits.last for splits in trees]),
        points=np.array([splits.points for splits in trees], np.uint32),
        place=np.array(place, np.uint32),
        node=np.array(nodes, np.int32),
    )


class SumPairs:
    """All pairs of points, or sampled rows with all other points: see `PathSums`.

    Points keep their numbers, because each tree lists them in another order. All edges of all trees
    are in one vector. Distances are kept if they fit in memory, and are read again in every pass
    otherwise. A pair at distance 0 has no relative error, and is left out if there are factors.
    """

    #: There is no solution in O(N) for several trees together.
    weighted = True

    def __init__(
        self,
        trees: Sequence[SplitTree],
        metric: Metric,
        sample: NDArray[np.int64] | None,
        power: float,
        workers: Workers,
    ) -> None:
        self.trees = trees
        sizes = [len(splits.up) for splits in trees]
        self.starts = np.cumsum([0, *sizes])
        self.forest = make_forest(trees, self.starts[:-1])
        self.below = (self.forest.last - self.forest.first).astype(np.int64)
        self.power = power
        self.workers = workers
        self.metric = metric
        self.n = n = len(metric)
        self.upper = sample is None
        rows = np.arange(n) if sample is None else sample
        self.rows = [rows[low : low + _ROWS] for low in range(0, len(rows), _ROWS)]
        # Each pair is counted once, or 2 rows / n times on average.
        self.scale = 1.0 if sample is None else n / (2 * len(rows))
        probed = checked_block(metric, np.arange(n)[:: max(1, n // _PROBES)], np.arange(n))
        self.radius = float(probed.max(initial=0.0)) or 1.0
        self.unit = math.ldexp(1.0, math.frexp(self.radius)[1])
        self._keep = 16 * n * len(rows) < available_memory() // 2
        self._distances: dict[int, Vector] = {}
        self._factors: dict[int, Vector] = {}

    def with_power(self, power: float) -> "SumPairs":
        """Return the same pairs with other factors. The distances are shared."""
        other = copy.copy(self)
        other.power = power
        other._factors = {}
        return other

    def _distance(self, task: int) -> Vector:
        distance = self._distances.get(task)
        if distance is None:
            block = checked_block(self.metric, self.rows[task], np.arange(self.n))
            distance = block / self.unit
            if self._keep:
                self._distances[task] = distance
        return distance

    def _factor(self, task: int, distance: Vector) -> Vector:
        factor = self._factors.get(task)
        if factor is None:
            factor = np.ones_like(distance)
            if self.power:
                factor[:] = 0.0
                apart = distance > ZERO_SHARE
                np.power(distance, -self.power / 2, out=factor, where=apart)
            factor[np.arange(len(factor)), self.rows[task]] = 0.0  # a point with itself
            if self._keep:
                self._factors[task] = factor
        return factor

    def crossing(self) -> Vector:
        """Return the number of paths through each edge. For sampled rows, the expected number."""
        return (self.below * (self.n - self.below)).astype(np.float64)

    def depths(self, length: Vector) -> tuple[Vector, Vector]:
        """Return the depth of each node, and the sum of the depths of each point in all trees."""
        depth = length.copy()
        for splits, part in zip(self.trees, self.parts(depth), strict=True):
            part[0] = 0.0
            add_down(splits.up, part)
        return depth, depth[self.forest.node].sum(axis=0)

    def parts(self, vector: NDArray[Number]) -> list[NDArray[Number]]:
        """Return the part of each tree, as views."""
        return np.split(vector, self.starts[1:-1])

    def sums(self, what: int, length: Vector, eps: float = 0.0) -> tuple[float, Vector]:
        """Return the sum of values over the pairs, and of derivatives over the paths of each edge."""
        depth, ends = self.depths(length)

        def work(task: int) -> _Part:
            at_point = np.zeros(self.n)
            at_node = np.zeros(len(depth))
            distance = self._distance(task)
            block = self.rows[task], self.upper, distance, self._factor(task, distance)
            value = sum_rows(what, eps, self.forest, depth, ends, *block, at_point, at_node)
            return value, at_point, at_node

        value, slope = self.add_tasks(work, range(len(self.rows)))
        return self.scale * value, self.scale * slope

    def add_tasks(self, work: Any, tasks: Iterable[Any]) -> tuple[float, Vector]:
        """Add the parts of all tasks. Return their value and the slope of each edge."""
        self.workers.check()
        value = 0.0
        ends = np.zeros(self.n)
        slope = np.zeros(len(self.below))
        for part, at_point, at_node in self.workers.map(work, tasks):
            value += part
            ends += at_point
            slope += at_node
        for splits, own in zip(self.trees, self.parts(slope), strict=True):
            own += np.bincount(splits.node, ends[splits.points], minlength=len(own))
            add_up(splits.up, own)
            own[0] = 0.0
        return value, slope

    def product(self, length: Vector) -> Vector:
        """Return A^T U^2 A w in one pass over the pairs."""
        return self.sums(PRODUCT, length)[1]

    def solve(self, free: NDArray[np.bool_], right: Vector) -> Vector:
        """Solve A^T A w = b for each tree alone, among its free edges. O(N)."""
        out = np.empty(len(right))
        vectors = self.parts(self.below), self.parts(free), self.parts(right), self.parts(out)
        for splits, *part in zip(self.trees, *vectors, strict=True):
            solve_cuts(splits.up, *part)
        return out


class SumNeighborhoods:
    """The neighborhoods of the points of a sum: see `Precision`."""

    def __init__(self, graph: csr_array, pairs: SumPairs) -> None:
        self.pairs = pairs
        self.near = typical_distance(graph) / pairs.unit
        starts = graph.indptr.astype(np.int64)
        self.neighbors = Neighbors(starts, graph.indices.astype(np.int64))
        n = pairs.n
        self.blocks = [(low, min(low + _ROWS, n)) for low in range(0, n, _ROWS)]

    def loss(self, length: Vector) -> float:
        """Return 1 - mean average precision."""
        pairs = self.pairs
        depth, ends = pairs.depths(length)
        slack = 2.0 * _TIE * float(ends.max())
        pairs.workers.check()
        parts = pairs.workers.map(
            lambda block: row_imprecision(pairs.forest, depth, ends, self.neighbors, *block, slack),
            self.blocks,
        )
        return sum(parts) / pairs.n

    def smooth_loss(self, length: Vector, width: float) -> tuple[float, Vector]:
        """Return the loss with smooth steps of this width, and its gradient."""
        pairs = self.pairs
        depth, ends = pairs.depths(length)

        def work(block: tuple[int, int]) -> _Part:
            at_point = np.zeros(pairs.n)
            at_node = np.zeros(len(depth))
            sums = width, at_point, at_node
            value = smooth_row_imprecision(pairs.forest, depth, ends, self.neighbors, *block, *sums)
            return value, at_point, at_node

        value, slope = pairs.add_tasks(work, self.blocks)
        return value / pairs.n, slope / pairs.n
