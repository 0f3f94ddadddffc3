"""TreeRep (Sonthalia and Gilbert, NeurIPS 2020): split together, finish alone.

The method asks for distances from the current pivots to the points of the current zone, about 10 to 40 per point on
real data. So no matrix is needed: each zone carries one or two vectors of distances, O(n) memory in all.

1. *Split*: while zones are large, all of them are sorted into their sub-zones in one data-parallel wave.
2. *Finish*: zones whose points fit a core's cache are gathered there and completed depth-first by one thread.

Every random choice is made by one priority per point, and zones are independent; so the tree does not depend on the
number of threads, nor on where the split phase ends.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common.parallel import Workers
from ..metric.base import Metric
from ..metric.oracles import MatrixOracle, bytes_per_point, gathered

# Points of a zone that are finished together should fit a core's share of the cache.
_CACHE_BYTES = 4 << 20
_FINISH_POINTS = 1 << 15
# Without an oracle a zone's distances are asked for as one small matrix.
_FINISH_BY_MATRIX = 64
_CHUNK = 1 << 15
# Points looked at between two looks at the clock and the keyboard: about a tenth of a second.
_BUDGET = 4_000_000

PIVOT_RULES = ("closest", "random", "near")  # in the order of the kernel's codes


class Zone(NamedTuple):
    """Points lo:hi that hang off node a (kind 1), off the edge (a, b) of this length (kind 2), or equal a (kind 0)."""

    kind: int
    lo: int
    hi: int
    a: int
    b: int
    length: float

    @property
    def size(self) -> int:
        return self.hi - self.lo


class Step(NamedTuple):
    """The pivots of one step: positions of the fresh ones, node ids, distances, and the universal tree on them."""

    pivot_y: int
    pivot_z: int
    y: int
    z: int
    xy: float
    xz: float
    yz: float
    tree: tuple[float, float, float, int]  # lengths of the edges x-r, y-r, z-r; which pivot r is contracted into


class TreeRep:
    """One run of TreeRep on a metric with a given priority of its points.

    Parameters
    ----------
    metric : Metric
    priority : (n,) int32 array, a permutation
    tol : float, or None for "auto"
    rule : index into PIVOT_RULES
    workers, bar : the threads to use and the progress bar to move
    """

    def __init__(
        self, metric: Metric, priority: NDArray[np.int32], tol: float | None, rule: int, workers: Workers, bar: Any
    ) -> None:
        self.metric, self.priority, self.rule, self.workers, self.bar = metric, priority, rule, workers, bar
        self.n = len(metric)
        self.oracle = metric.oracle
        self.edges: list[NDArray[np.int32]] = []
        self.weights: list[NDArray[np.float64]] = []
        # The first zone: everything but the point of lowest priority hangs off it.
        self.first = int(np.argmin(priority))
        self.slots = np.delete(np.arange(self.n, dtype=np.int32), self.first)
        self.near_a = self._distances_from(self.first)
        self.near_b = np.empty_like(self.near_a)
        self.bins = np.empty(self.n - 1, np.uint8)
        self.spare = (np.empty_like(self.slots), np.empty_like(self.near_a), np.empty_like(self.near_a))
        # "Closer than the tolerance" must hold for equal numbers, so it is never 0.
        self.tol = max(automatic_tolerance(metric, self.near_a) if tol is None else tol, np.finfo(np.float64).tiny)
        row = 0 if self.oracle is None else bytes_per_point(self.oracle)
        self.gather = row > 0
        self.finish_points = _FINISH_POINTS if not row else min(_FINISH_POINTS, max(1024, _CACHE_BYTES // row))
        if self.oracle is None:
            self.finish_points = _FINISH_BY_MATRIX

    def run(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return edges (m, 2) and their lengths; Steiner nodes have ids from n on, with gaps."""
        large, small = [Zone(1, 0, self.n - 1, self.first, -1, 0.0)], []
        if self.n - 1 <= self.finish_points:
            large, small = [], large
        while large:
            zones = self._split(large)
            large = [zone for zone in zones if zone.size > self.finish_points and zone.kind]
            small += [zone for zone in zones if zone.size <= self.finish_points or not zone.kind]
        for edges, weights in self.workers.map(self._finish, self._batches(small)):
            self._add(edges, weights)
        return np.concatenate(self.edges), np.concatenate(self.weights)

    def _distances_from(self, point: int) -> NDArray[np.float64]:
        chunks = [self.slots[start : start + _CHUNK] for start in range(0, len(self.slots), _CHUNK)]
        return np.concatenate(list(self.workers.map(lambda chunk: self.metric.block([point], chunk)[0], chunks)))

    def _add(self, edges: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
        self.edges.append(edges)
        self.weights.append(weights)

    # Split: all large zones together.

    def _split(self, zones: list[Zone]) -> list[Zone]:
        """Sort the points of every zone into its sub-zones, in parallel over chunks of points; return the sub-zones."""
        from .zone_kernels import BINS, COULD_BE_R, Z1_R

        steps = list(self.workers.map(self._pivots, zones))
        oracles = [self._pivot_oracle(zone, step) for zone, step in zip(zones, steps, strict=True)]
        chunks = [
            (k, lo, min(lo + _CHUNK, zone.hi)) for k, zone in enumerate(zones) for lo in range(zone.lo, zone.hi, _CHUNK)
        ]
        counts = np.zeros((len(chunks), 11), np.int64)

        def sort(task: int) -> int:
            k, lo, hi = chunks[task]
            return self._sort_chunk(zones[k], steps[k], oracles[k], lo, hi, counts[task])

        chosen = list(self.workers.map(sort, range(len(chunks))))
        new: list[Zone] = []
        places = np.empty((len(chunks), BINS), np.int64)
        becomes_r = np.full(len(zones), -1)
        for k, zone in enumerate(zones):
            mine = [task for task, chunk in enumerate(chunks) if chunk[0] == k]
            candidates = [chosen[task] for task in mine if chosen[task] >= 0]
            if candidates:
                becomes_r[k] = min(candidates, key=lambda position: self.priority[self.slots[position]])
            per_chunk = counts[mine, :BINS]
            per_chunk[:, Z1_R] += counts[mine, COULD_BE_R]
            for row, task in enumerate(mine):
                per_chunk[row, Z1_R] -= chunks[task][1] <= becomes_r[k] < chunks[task][2]
            starts = np.concatenate([[zone.lo], zone.lo + np.cumsum(per_chunk.sum(axis=0))])
            places[mine] = starts[:-1] + np.cumsum(per_chunk, axis=0) - per_chunk
            new += self._grow(zone, steps[k], int(becomes_r[k]), starts)

        def scatter(task: int) -> None:
            k, lo, hi = chunks[task]
            self._scatter_chunk(lo, hi, int(becomes_r[k]), places[task])

        for _ in self.workers.map(scatter, range(len(chunks))):
            pass
        for zone in zones:
            for array, spare in zip((self.slots, self.near_a, self.near_b), self.spare, strict=True):
                array[zone.lo : zone.hi] = spare[zone.lo : zone.hi]
        self.bar.update(sum(zone.size for zone in zones) - sum(zone.size for zone in new))
        return new

    def _pivots(self, zone: Zone) -> Step:
        """Choose the fresh pivots of a zone and build the universal tree."""
        from .zone_kernels import pick_pivots, universal_tree

        best = np.empty(4, np.int64)
        pick_pivots(zone.kind, self.slots, self.near_b, self.priority, zone.lo, zone.hi, self.rule, best)
        pivot_y, pivot_z = (int(best[0]), int(best[1])) if zone.kind == 1 else (-1, int(best[0]))
        z = int(self.slots[pivot_z])
        y = int(self.slots[pivot_y]) if zone.kind == 1 else zone.b
        xz = float(self.near_a[pivot_z])
        if zone.kind == 1:
            xy, yz = float(self.near_a[pivot_y]), float(self.metric.pairs([y], [z])[0])
        else:
            xy, yz = zone.length, float(self.near_b[pivot_z])
        return Step(pivot_y, pivot_z, y, z, xy, xz, yz, universal_tree(xy, xz, yz, self.tol))

    def _pivot_oracle(self, zone: Zone, step: Step) -> tuple[Any, int, int]:
        """The oracle to ask for distances to the pivots, and what y and z are called there."""
        if self.oracle is not None:
            return self.oracle, step.y if zone.kind == 1 else step.z, step.z
        points = self.slots[zone.lo : zone.hi]
        pivots = [step.y, step.z] if zone.kind == 1 else [step.z]
        rows = np.empty((len(pivots), self.n))
        rows[:, points] = self.metric.block(pivots, points)
        rows.flags.writeable = False
        return MatrixOracle(rows), 0, len(pivots) - 1

    def _sort_chunk(
        self, zone: Zone, step: Step, oracle: tuple[Any, int, int], lo: int, hi: int, counts: NDArray[np.int64]
    ) -> int:
        from .zone_kernels import sort_chunk

        return int(
            sort_chunk(
                *oracle, zone.kind, self.slots, self.near_a, self.near_b, self.bins, lo, hi,
                step.xy, step.xz, step.yz, self.tol, step.tree[3], step.pivot_y, step.pivot_z, self.priority, counts,
            )  # fmt: skip
        )

    def _scatter_chunk(self, lo: int, hi: int, becomes_r: int, places: NDArray[np.int64]) -> None:
        from .zone_kernels import scatter_chunk

        scatter_chunk(self.slots, self.near_a, self.near_b, self.bins, lo, hi, becomes_r, places, *self.spare)

    def _grow(self, zone: Zone, step: Step, becomes_r: int, starts: NDArray[np.int64]) -> list[Zone]:
        """Add the edges that are final and return the new zones."""
        from .zone_kernels import BINS, grow

        to_x, to_y, to_z, contracted = step.tree
        r = self.n + step.z
        if contracted:
            r = (zone.a, step.y, step.z)[contracted - 1]
        elif becomes_r >= 0:
            r = int(self.slots[becomes_r])
        table, lengths = np.empty((BINS, 5), np.int64), np.empty(BINS)
        edges, weights = np.empty((3, 2), np.int32), np.empty(3)
        n_zones, n_edges = grow(
            zone.a, step.y, step.z, r, to_x, to_y, to_z, starts, table, lengths, edges, weights
        )
        self._add(edges[:n_edges], weights[:n_edges])
        return [Zone(*map(int, table[k]), float(lengths[k])) for k in range(n_zones)]

    # Finish: every small zone alone.

    def _batches(self, zones: list[Zone]) -> Iterator[list[Zone]]:
        """Neighbouring zones together, so that a task is worth its overhead."""
        batch: list[Zone] = []
        for zone in sorted(zones, key=lambda zone: zone.lo):
            if batch and (zone.hi - batch[0].lo > self.finish_points or self.oracle is None):
                yield batch
                batch = []
            batch.append(zone)
        if batch:
            yield batch

    def _local(self, points: NDArray[np.int32]) -> tuple[Any, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """An oracle for these points, their names, priorities and slots in it."""
        if self.oracle is not None and not self.gather:
            return self.oracle, np.arange(self.n, dtype=np.int32), self.priority, points
        if self.oracle is not None:
            local: Any = gathered(self.oracle, points)
        else:
            block = self.metric.block(points, points)
            block.flags.writeable = False
            local = MatrixOracle(block)
        return local, points, self.priority[points], np.arange(len(points), dtype=np.int32)

    def _finish(self, zones: list[Zone]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Complete neighbouring zones depth-first, looking up now and then to show progress and to be interrupted."""
        from .zone_kernels import finish

        lo, hi = zones[0].lo, zones[-1].hi
        size = hi - lo
        oracle, names, priority, slots = self._local(self.slots[lo:hi].copy())
        table, lengths = np.empty((size + 1, 5), np.int64), np.empty(size + 1)
        for k, zone in enumerate(zones):
            table[k] = zone.kind, zone.lo - lo, zone.hi - lo, zone.a, zone.b
            lengths[k] = zone.length
        edges, weights = np.empty((2 * size + len(zones), 2), np.int32), np.empty(2 * size + len(zones))
        state = np.array([len(zones), 0, 0])
        while state[0] and not self.workers.stopped.is_set():
            before = int(state[2])
            finish(
                oracle, names, priority, slots, self.near_a[lo:hi], self.near_b[lo:hi], self.bins[lo:hi],
                *(spare[lo:hi] for spare in self.spare), table, lengths, edges, weights, state,
                self.n, self.tol, self.rule, _BUDGET,
            )  # fmt: skip
            self.bar.update(int(state[2]) - before)
        return edges[: state[1]].copy(), weights[: state[1]].copy()


def automatic_tolerance(metric: Metric, from_first: NDArray[np.float64]) -> float:
    """The paper's 0.1 for whole-number distances; otherwise a few units in the last place of the largest distance.

    Two errors add up: the input is rounded once to its dtype, and path lengths that were summed along n edges, like the
    distances carried from step to step here, drift by about sqrt(n) roundings of float64. (One term for both,
    64 sqrt(n) eps(dtype), swallows short edges of float32 metrics: see docs/benchmarks.md.)
    """
    if metric.integral:
        return 0.1
    drift = 64 * np.sqrt(len(metric)) * np.finfo(np.float64).eps
    return float((8 * metric.eps + drift) * from_first.max(initial=0.0))
