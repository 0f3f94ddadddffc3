"""TreeRep (Sonthalia and Gilbert, NeurIPS 2020), with a parallel split and a serial finish.

The method reads distances from the current pivots to the points of the current zone, about 10
to 20 per point on the data measured. It therefore needs no matrix. Each zone has one or two
vectors of distances, so the total memory is O(n).

1. *Split*: while zones are large, the points of all zones are sorted into sub-zones in one
   data-parallel wave.
2. *Finish*: when the points of a zone fit into the cache of a core, one thread completes the
   zone depth-first.

One priority per point determines every random choice, and zones are independent. The tree
therefore depends neither on the number of threads nor on the size at which the split phase
ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric, read_only
from ...metric.oracle.blocks import write_block
from ...metric.oracle.classes import (
    COMPILED_ORACLES,
    MatrixOracle,
    bytes_per_point,
    select_points,
)
from ...tree.tree import Tree
from .._distances import checked_block
from .._finished_tree import finished_tree
from . import _zone_kernels as kernels
from ._priorities import Priorities
from ._settings import checked_choices, tolerance
from ._skeleton import Skeleton, Zone
from ._zone_kernels import (
    BINS,
    BUDGET,
    CODES,
    COULD_BE_R,
    N_EDGES,
    N_PLACED,
    N_SORTED,
    N_ZONES,
    STATES,
    Z1_R,
    Arms,
    Growth,
    Pivots,
    Points,
)


@dataclass(frozen=True)
class Limits:
    """Sizes of zones and tasks. The tree does not depend on these limits."""

    #: Maximum number of points in zones that one thread finishes.
    finish_points: int = 1 << 15
    #: The coordinates of these points should fit into a core's share of the cache.
    cache_bytes: int = 4 << 20
    #: `finish_points` for a matrix on disk. With small zones, many threads can wait for the
    #: disk at once.
    finish_on_disk: int = 1 << 11
    #: `finish_points` for a custom metric: the distances of a zone are read as one small
    #: matrix.
    finish_by_matrix: int = 64
    #: Number of points that one task of a wave sorts.
    chunk: int = 1 << 15
    #: Number of points sorted between two checks for interrupts: about 0.1 s.
    budget: int = 4_000_000


LIMITS = Limits()


def treerep(
    metric: Metric,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    tol: float | str = "auto",
    pivot: str = "random",
) -> Tree:
    """Fit a tree by TreeRep. `fit` describes the options.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.auto : The default method.
    place : Add new points by the rule of TreeRep.

    Notes
    -----
    Exact on tree metrics. About O(n log n) time (O(n^2) in the worst case, for example on a
    star) and O(n) memory. Sonthalia and Gilbert, Tree! I am no Tree! I am a low dimensional
    hyperbolic embedding (NeurIPS 2020).
    """
    choices = checked_choices(tol, pivot)
    n = len(metric)
    priority = Priorities(n, rng).of_points(0, n)
    with (
        progress_bar(n, "TreeRep", "points") as bar,
        Workers(n_jobs) as workers,
        metric.random_access(),
    ):
        engine = TreeRep(metric, priority, choices.tol, choices.rule, workers, bar)
        edges, weights = engine.run()
    nodes = engine.nodes
    del engine  # frees its memory for the next step
    return finished_tree(metric, edges, weights, nodes)


#: Edges, their lengths, and the number of points sorted for them.
Finished = tuple[NDArray[np.int32], NDArray[np.float64], int]


class Step(NamedTuple):
    """One step of a large zone: its pivots and their universal tree."""

    pivots: Pivots
    arms: Arms
    oracle: object  # contains the distances to the pivots
    fresh: list[int]  # points that become pivots: y and z, or only z


class _Chunk(NamedTuple):
    """Points lo:hi of a large zone that one task sorts."""

    zone: int  # index in the wave
    lo: int
    hi: int


class Start(NamedTuple):
    """Initial zones: slices of these arrays. Nodes a and b are numbered from 2 n on."""

    slots: NDArray[np.int32]
    near_a: NDArray[np.float64]
    near_b: NDArray[np.float64]
    zones: list[Zone]


class TreeRep:
    """One run of TreeRep on a metric with a given priority of its points.

    Parameters
    ----------
    metric : Metric of at least two points
    priority : (n,) int32 array, a permutation
    tol : float, or None for "auto"
    rule : index into PIVOT_RULES
    workers, bar : the threads and the progress bar
    start : Start, optional
        Zones of points that already attach to a tree. By default, all other points attach to the
        first point.

    Attributes
    ----------
    nodes : (n,) int32 array
        The node of each point in the tree. Neighbors in the tree have close numbers.
    visits : int
        How often points were sorted into zones, a measure of the work done.
    """

    def __init__(
        self,
        metric: Metric,
        priority: NDArray[np.int32],
        tol: float | None,
        rule: int,
        workers: Workers,
        bar: Any,
        start: Start | None = None,
    ) -> None:
        self.metric = metric
        self.rule = rule
        self.workers = workers
        self.bar = bar
        self.n = len(metric)
        self.oracle = metric.oracle if isinstance(metric.oracle, COMPILED_ORACLES) else None
        self.visits = 0
        self.skeleton = Skeleton(self.n)
        self.nodes = self.skeleton.nodes
        begin = self._first_zone(priority) if start is None else start
        self.zones = begin.zones
        self.half = len(begin.slots)
        self.points = double_buffered(begin.slots, begin.near_a, begin.near_b, priority)
        largest = float(begin.near_a.max(initial=0.0))
        self.tol = tolerance(metric, tol, largest)
        self.row_bytes = 0 if self.oracle is None else bytes_per_point(self.oracle)
        self.finish_points = self._finish_points()
        if self.oracle is None:
            # Distances from each point to the pivots y and z of its zone.
            self.rows = np.empty((2, self.n))

    def _finish_points(self) -> int:
        """Return the size up to which one thread finishes a zone."""
        limits = LIMITS
        if self.oracle is None:
            return limits.finish_by_matrix
        if self.row_bytes:
            cached = limits.cache_bytes // self.row_bytes
            return min(limits.finish_points, max(1024, cached))
        return limits.finish_on_disk if self.metric.on_disk else limits.finish_points

    def run(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return edges (m, 2) and their lengths.

        Point i is node nodes[i]. Steiner nodes are numbered from n on, with gaps.
        """
        waiting = self.zones
        small: list[Zone] = []
        while waiting:
            self.workers.check()
            large: list[Zone] = []
            for zone in waiting:
                is_large = zone.kind and zone.size > self.finish_points
                (large if is_large else small).append(zone)
            waiting = self._split(large) if large else []
        batches = list(self._batches(small))
        for edges, weights, visits in self.workers.map(self._finish, batches):
            self.skeleton.add(edges, weights)
            self.visits += visits
        self.workers.check()  # after an interrupt, zones are unfinished
        return self.skeleton.all_edges()

    def _first_zone(self, priority: NDArray[np.int32]) -> Start:
        """Return one zone in which all other points attach to the point of lowest priority."""
        first = int(np.argmin(priority))
        slots = np.arange(self.n - 1, dtype=np.int32)
        slots[first:] += 1
        near_a = self._distances_from(first, slots)
        zone = Zone(1, 0, self.n - 1, self.skeleton.name(first), -1, 0.0)
        return Start(slots, near_a, np.empty_like(near_a), [zone])

    def _distances_from(self, point: int, slots: NDArray[np.int32]) -> NDArray[np.float64]:
        from_point = np.empty((1, len(slots)))

        row = np.array([point])
        chunk = LIMITS.chunk

        def fill(start: int) -> None:
            part = slice(start, start + chunk)
            if self.oracle is None:
                from_point[:, part] = self._block(row, slots[part])
            else:
                write_block(self.oracle, row, slots[part], from_point[:, part])

        for _ in self.workers.map(fill, range(0, len(slots), chunk)):
            pass
        return from_point[0]

    def _block(self, rows: NDArray[Any], cols: NDArray[Any]) -> NDArray[np.float64]:
        return checked_block(self.metric, rows, cols)

    # Split: all large zones together.

    def _split(self, zones: list[Zone]) -> list[Zone]:
        """Sort the points of every zone into its sub-zones, and return the sub-zones.

        Chunks of points are sorted in parallel.
        """
        steps = list(self.workers.map(self._step, zones))
        chunks = self._chunks(zones)
        counts = np.zeros((len(chunks), CODES), np.int64)

        def sort(task: int) -> int:
            k, lo, hi = chunks[task]
            pivots, arms, oracle, _ = steps[k]
            return kernels.sort_chunk(
                oracle, self.points, lo, hi, pivots, arms.contracted, self.tol, counts[task]
            )

        # By chunk: the position of a candidate for r, or -1.
        candidates = list(self.workers.map(sort, range(len(chunks))))
        # The chunks of zone k are first_chunk[k]:first_chunk[k + 1].
        zone_of_chunk = np.array([chunk.zone for chunk in chunks])
        first_chunk = np.searchsorted(zone_of_chunk, np.arange(len(zones) + 1))
        places = np.empty((len(chunks), BINS), np.int64)
        new_r = []  # by zone: position of the point that becomes r, or -1
        new: list[Zone] = []
        for k, (zone, step) in enumerate(zip(zones, steps, strict=True)):
            mine = slice(first_chunk[k], first_chunk[k + 1])
            at = self._lowest([position for position in candidates[mine] if position >= 0])
            new_r.append(at)
            sizes = counts[mine, :BINS].copy()
            sizes[:, Z1_R] += counts[mine, COULD_BE_R]
            sizes[:, Z1_R] -= [chunk.lo <= at < chunk.hi for chunk in chunks[mine]]
            starts = self._bin_starts(zone, sizes)
            # In a bin, the points of a chunk follow those of all previous chunks.
            places[mine] = starts[:-1] + np.cumsum(sizes, axis=0) - sizes
            r = int(self.points.slots[at]) if at >= 0 else -1
            new += self.skeleton.grow(zone, step.fresh, step.arms, r, starts)

        def scatter(task: int) -> None:
            k, lo, hi = chunks[task]
            kernels.scatter_chunk(self.points, lo, hi, new_r[k], places[task])

        for _ in self.workers.map(scatter, range(len(chunks))):
            pass
        n_sorted = sum(zone.size for zone in zones)
        self.visits += n_sorted
        self.bar.update(n_sorted - sum(zone.size for zone in new))
        return new

    def _chunks(self, zones: list[Zone]) -> list[_Chunk]:
        """Split the points of each zone into chunks."""
        size = LIMITS.chunk
        return [
            _Chunk(k, lo, min(lo + size, zone.hi))
            for k, zone in enumerate(zones)
            for lo in range(zone.lo, zone.hi, size)
        ]

    def _bin_starts(self, zone: Zone, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the starts of the bins of a zone, and the end of the last bin.

        The bins are consecutive, at the position of the zone in the other half.
        """
        to = zone.lo + self.half if zone.lo < self.half else zone.lo - self.half
        return np.concatenate([[to], to + np.cumsum(sizes.sum(axis=0))])

    def _lowest(self, positions: list[int]) -> int:
        """Return the position of the point of lowest priority, or -1 if there are no points."""
        priority = self.points.priority
        slots = self.points.slots
        return min(positions, key=lambda position: int(priority[slots[position]]), default=-1)

    def _step(self, zone: Zone) -> Step:
        """Choose the pivots of a zone and build their universal tree."""
        best = np.empty(4, np.int64)
        kernels.pick(zone.kind, self.points, zone.lo, zone.hi, self.rule, best)
        fresh = best[: 3 - zone.kind]
        slots = self.points.slots[fresh]
        oracle, rows = self._oracle_of_pivots(zone, slots)
        at_z = fresh[-1]
        near_a = self.points.near_a
        if zone.kind == 1:
            at_y = fresh[0]
            xy = near_a[at_y]
            yz = self._between(slots)
        else:
            at_y = np.int64(-1)
            xy = np.float64(zone.length)
            yz = self.points.near_b[at_z]
        pivots = Pivots(zone.kind, rows[0], rows[-1], at_y, at_z, xy, near_a[at_z], yz)
        arms = kernels.universal_tree(pivots, self.tol)
        return Step(pivots, arms, oracle, slots.tolist())

    def _oracle_of_pivots(self, zone: Zone, slots: NDArray[np.int32]) -> tuple[object, list[int]]:
        """Return an oracle, and the fresh pivots as points of this oracle.

        The distances of a custom metric from the fresh pivots become the rows of a small matrix.
        """
        if self.oracle is not None:
            return self.oracle, slots.tolist()
        others = self.points.slots[zone.lo : zone.hi]
        # No point is in two zones, so zones share the rows: one column for each point, row 0
        # for y and row 1 for z.
        self.rows[zone.kind - 1 :, others] = self._block(slots, others)
        return MatrixOracle(read_only(self.rows)), [0, 1][zone.kind - 1 :]

    def _between(self, slots: NDArray[np.int32]) -> float:
        """Return the distance between the fresh pivots y and z."""
        if self.oracle is None:
            return float(self.rows[0, slots[1]])
        distance = np.empty((1, 1))
        write_block(self.oracle, slots[:1], slots[1:], distance)
        return float(distance[0, 0])

    # Finish: every small zone separately.

    def _batches(self, zones: list[Zone]) -> Iterator[list[Zone]]:
        """Name the points of small zones, and yield groups of zones for one task.

        The zones of a group are neighbors, and large enough together to be worth the overhead of a
        task.
        """
        batch: list[Zone] = []
        size = 0
        named = 0
        for zone in sorted(zones, key=lambda zone: zone.lo % self.half):
            slots = self.points.slots[zone.lo : zone.hi]
            self.nodes[slots] = np.arange(named, named + zone.size)
            named += zone.size
            if batch and (size + zone.size > self.finish_points or self.oracle is None):
                yield batch
                batch = []
                size = 0
            batch.append(zone)
            size += zone.size
        if batch:
            yield batch

    def _local(self, zones: list[Zone]) -> tuple[object, NDArray[np.int32], Points]:
        """Return an oracle for the points of these zones, their names, and the points.

        If the points then fit into a core's cache, the oracle contains only these points.
        """

        def take(array: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([array[zone.lo : zone.hi] for zone in zones])

        slots = take(self.points.slots)
        near_a = take(self.points.near_a)
        near_b = take(self.points.near_b)
        priority = self.points.priority
        if self.oracle is not None and not self.row_bytes:
            points = double_buffered(slots, near_a, near_b, priority)
            return self.oracle, self.nodes, points
        local: object
        if self.oracle is not None:
            local = select_points(self.oracle, slots)
        else:
            local = MatrixOracle(read_only(self._block(slots, slots)))
        local_slots = np.arange(len(slots), dtype=np.int32)
        points = double_buffered(local_slots, near_a, near_b, priority[slots])
        return local, self.nodes[slots], points

    def _finish(self, zones: list[Zone]) -> Finished:
        """Complete neighboring zones depth-first.

        The kernel returns regularly, to show progress and to allow interrupts.
        """
        oracle, names, points = self._local(zones)
        size = len(points.slots) // 2
        growth = empty_growth(size, len(zones))
        lo = 0
        for k, zone in enumerate(zones):
            growth.zones[k] = zone.kind, lo, lo + zone.size, zone.a, zone.b
            growth.lengths[k] = zone.length
            lo += zone.size
        state = finish_state(len(zones), LIMITS.budget)
        while state[N_ZONES] and not self.workers.stopped.is_set():
            before = int(state[N_PLACED])
            kernels.finish(oracle, names, points, growth, state, self.n, self.tol, self.rule)
            self.bar.update(int(state[N_PLACED]) - before)
        n_edges = state[N_EDGES]
        edges = growth.edges[:n_edges].copy()
        weights = growth.weights[:n_edges].copy()
        return edges, weights, int(state[N_SORTED])


def empty_growth(n_points: int, n_zones: int) -> Growth:
    """Return arrays for the zones and edges of `finish`.

    Every point adds at most one zone and one Steiner node. A zone on an edge adds one more
    edge.
    """
    most_edges = 2 * n_points + n_zones
    return Growth(
        zones=np.empty((n_points + 1, 5), np.int64),
        lengths=np.empty(n_points + 1),
        edges=np.empty((most_edges, 2), np.int32),
        weights=np.empty(most_edges),
    )


def finish_state(n_zones: int, budget: int) -> NDArray[np.int64]:
    """Return the state of `finish` before the first call."""
    state = np.zeros(STATES, np.int64)
    state[N_ZONES] = n_zones
    state[BUDGET] = budget
    return state


def double_buffered(
    slots: NDArray[np.int32],
    near_a: NDArray[np.float64],
    near_b: NDArray[np.float64],
    priority: NDArray[np.int32],
) -> Points:
    """Return points in the first half of arrays whose second half is for their next order."""
    n = len(slots)
    both_slots = np.empty(2 * n, slots.dtype)
    both_near_a = np.empty(2 * n, near_a.dtype)
    both_near_b = np.empty(2 * n, near_b.dtype)
    both_slots[:n] = slots
    both_near_a[:n] = near_a
    both_near_b[:n] = near_b
    return Points(both_slots, both_near_a, both_near_b, np.empty(2 * n, np.uint8), priority)
