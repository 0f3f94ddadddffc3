"""TreeRep (Sonthalia and Gilbert, NeurIPS 2020): split together, finish alone.

The method asks for distances from the current pivots to the points of the current zone, some 10
to 20 per point on the data measured. So no matrix is needed: each zone carries one or two
vectors of distances, O(n) memory in all.

1. *Split*: while zones are large, all of them are sorted into their sub-zones in one
   data-parallel wave.
2. *Finish*: zones whose points fit a core's cache are gathered there and completed depth-first
   by one thread.

Every random choice is made by one priority per point, and zones are independent; so the tree
does not depend on the number of threads, nor on where the split phase ends.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric, read_only
from ...metric.oracle.classes import (
    COMPILED_ORACLES,
    MatrixOracle,
    bytes_per_point,
    select_points,
)
from ...metric.oracle.distance_kernels import block_distances
from ...tree.tree import Tree
from .._distances import checked_block, finished_tree
from ..joining._clusters import join_few
from . import _zone_kernels as kernels
from ._priorities import Priorities
from ._settings import checked_choices, tolerance
from ._skeleton import Skeleton, Zone
from ._zone_kernels import BINS, CODES, COULD_BE_R, Z1_R, Arms, Growth, Pivots, Points

# Points of a zone that are finished together should fit a core's share of the cache.
_CACHE_BYTES = 4 << 20
_FINISH_POINTS = 1 << 15
_FINISH_ON_DISK = 1 << 11  # zones for many threads, each of which waits for the disk
# Without an oracle a zone's distances are asked for as one small matrix.
_FINISH_BY_MATRIX = 64
_CHUNK = 1 << 15
# Points looked at between two looks at the clock and the keyboard: about a tenth of a second.
_BUDGET = 4_000_000


def treerep(
    metric: Metric,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    tol: float | str = "auto",
    pivot: str = "random",
    finish: str = "treerep",
    zone_size: int | None = None,
) -> Tree:
    """Learn a tree with TreeRep; see `fit`.

    Exact on tree metrics. About O(n log n) time (O(n^2) at worst, for example on a star) and
    O(n) memory. Sonthalia and Gilbert, Tree! I am no Tree! I am a low dimensional hyperbolic
    embedding (NeurIPS 2020).
    """
    choices = checked_choices(tol, pivot, finish, zone_size)
    n = len(metric)
    priority = Priorities(n, rng).of_points(0, n)
    with (
        progress_bar(n, "TreeRep", "points") as bar,
        Workers(n_jobs) as workers,
        metric.random_access(),
    ):
        engine = TreeRep(
            metric, priority, choices.tol, choices.rule, workers, bar, choices.joined
        )
        edges, weights = engine.run()
    nodes = engine.nodes
    short = engine.tol
    del engine  # its working memory is not needed any more, and the next step has its own
    tree = finished_tree(metric, edges, weights, nodes)
    # Neighbor joining makes every point a leaf and every node binary, at the price of edges
    # without length.
    return tree.contracted(short) if choices.joined else tree


#: Edges, their lengths, and how many points were sorted for them.
Finished = tuple[NDArray[np.int32], NDArray[np.float64], int]


class Step(NamedTuple):
    """One step of a large zone: its pivots, the universal tree on them, and the oracle that knows the pivots."""

    pivots: Pivots
    arms: Arms
    oracle: Any
    fresh: list[int]  # the points that become pivots: y and z, or z alone


class Start(NamedTuple):
    """Zones to begin with: slices of these arrays, whose nodes a and b have numbers from 2 n on."""

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
    workers, bar : the threads to use and the progress bar to move
    joined : int
        Zones of at most so many points are finished by neighbor joining; 0: none.
    start : Start, optional
        What to begin with, for points that hang off a tree already; by default all points but
        the first hang off it.

    Attributes
    ----------
    nodes : (n,) int32 array
        Which node of the tree each point is: neighbors in the tree have near numbers.
    visits : int
        How often a point was sorted into a zone, over all points: the work done.
    """

    def __init__(
        self,
        metric: Metric,
        priority: NDArray[np.int32],
        tol: float | None,
        rule: int,
        workers: Workers,
        bar: Any,
        joined: int = 0,
        start: Start | None = None,
    ) -> None:
        self.metric = metric
        self.rule = rule
        self.workers = workers
        self.bar = bar
        self.joined = joined
        self.n = len(metric)
        self.oracle = metric.oracle if isinstance(metric.oracle, COMPILED_ORACLES) else None
        self.visits = 0
        self.skeleton = Skeleton(self.n)
        self.nodes = self.skeleton.nodes
        begin = self._first_zone(priority) if start is None else start
        self.zones = begin.zones
        self.half = len(begin.slots)
        self.points = with_room(*begin[:3], priority)
        largest = float(begin.near_a.max(initial=0.0))
        self.tol = tolerance(metric, tol, largest)
        self.row_bytes = 0 if self.oracle is None else bytes_per_point(self.oracle)
        self.finish_points = _FINISH_ON_DISK if metric.on_disk else _FINISH_POINTS
        if self.row_bytes:
            self.finish_points = min(_FINISH_POINTS, max(1024, _CACHE_BYTES // self.row_bytes))
        elif self.oracle is None:
            self.finish_points = _FINISH_BY_MATRIX
            self.rows = np.empty(
                (2, self.n)
            )  # distances to the pivots y and z of the zone that a point is in
        if joined:
            self.finish_points = joined

    def run(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return edges (m, 2) and their lengths: point i is node nodes[i], Steiner nodes are n and up, with gaps."""
        waiting = self.zones
        small = []
        while waiting:
            self.workers.check()
            large = [zone for zone in waiting if zone.kind and zone.size > self.finish_points]
            small += [
                zone for zone in waiting if not (zone.kind and zone.size > self.finish_points)
            ]
            waiting = self._split(large) if large else []
        for edges, weights, visits in self.workers.map(
            self._finish, list(self._batches(small))
        ):
            self.skeleton.add(edges, weights)
            self.visits += visits
        self.workers.check()  # zones left unfinished are no tree
        return self.skeleton.all_edges()

    def _first_zone(self, priority: NDArray[np.int32]) -> Start:
        """Everything but the point of lowest priority hangs off it."""
        first = int(np.argmin(priority))
        slots = np.delete(np.arange(self.n, dtype=np.int32), first)
        near_a = self._distances_from(first, slots)
        zone = Zone(1, 0, self.n - 1, self.skeleton.name(first), -1, 0.0)
        return Start(slots, near_a, np.empty_like(near_a), [zone])

    def _distances_from(self, point: int, slots: NDArray[np.int32]) -> NDArray[np.float64]:
        from_point = np.empty((1, len(slots)))

        def fill(start: int) -> None:
            part = slice(start, start + _CHUNK)
            if self.oracle is None:
                from_point[:, part] = self._block(np.array([point]), slots[part])
            else:
                block_distances(
                    self.oracle, np.array([point]), slots[part], from_point[:, part]
                )

        for _ in self.workers.map(fill, range(0, len(slots), _CHUNK)):
            pass
        return from_point[0]

    def _block(self, rows: NDArray[Any], cols: NDArray[Any]) -> NDArray[np.float64]:
        return checked_block(self.metric, rows, cols)

    # Split: all large zones together.

    def _split(self, zones: list[Zone]) -> list[Zone]:
        """Sort the points of every zone into its sub-zones, in parallel over chunks of points; return the sub-zones."""
        steps = list(self.workers.map(self._step, zones))
        chunks: list[tuple[int, int, int]] = []  # zone, lo, hi
        spans: list[slice] = []  # which chunks a zone has
        for k, zone in enumerate(zones):
            start = len(chunks)
            chunks += [
                (k, lo, min(lo + _CHUNK, zone.hi)) for lo in range(zone.lo, zone.hi, _CHUNK)
            ]
            spans.append(slice(start, len(chunks)))
        counts = np.zeros((len(chunks), CODES), np.int64)

        def sort(task: int) -> int:
            k, lo, hi = chunks[task]
            step = steps[k]
            return kernels.sort_chunk(
                step.oracle,
                self.points,
                lo,
                hi,
                step.pivots,
                step.arms.contracted,
                self.tol,
                counts[task],
            )

        candidates = list(self.workers.map(sort, range(len(chunks))))
        new: list[Zone] = []
        places = np.empty((len(chunks), BINS), np.int64)
        becomes_r = [-1] * len(zones)
        for k, (zone, step, mine) in enumerate(zip(zones, steps, spans, strict=True)):
            becomes_r[k] = self._lowest(
                [position for position in candidates[mine] if position >= 0]
            )
            per_chunk = counts[mine, :BINS].copy()
            per_chunk[:, Z1_R] += counts[mine, COULD_BE_R]
            per_chunk[:, Z1_R] -= [lo <= becomes_r[k] < hi for _, lo, hi in chunks[mine]]
            to = (
                zone.lo + self.half if zone.lo < self.half else zone.lo - self.half
            )  # the other half
            starts = np.concatenate([[to], to + np.cumsum(per_chunk.sum(axis=0))])
            places[mine] = starts[:-1] + np.cumsum(per_chunk, axis=0) - per_chunk
            r = int(self.points.slots[becomes_r[k]]) if becomes_r[k] >= 0 else -1
            new += self.skeleton.grow(zone, step.fresh, step.arms, r, starts)

        def scatter(task: int) -> None:
            k, lo, hi = chunks[task]
            kernels.scatter_chunk(self.points, lo, hi, becomes_r[k], places[task])

        for _ in self.workers.map(scatter, range(len(chunks))):
            pass
        sizes = sum(zone.size for zone in zones)
        self.visits += sizes
        self.bar.update(sizes - sum(zone.size for zone in new))
        return new

    def _lowest(self, positions: list[int]) -> int:
        """Which of these points comes first, or -1."""
        priority = self.points.priority
        slots = self.points.slots
        return min(positions, key=lambda position: int(priority[slots[position]]), default=-1)

    def _step(self, zone: Zone) -> Step:
        """Choose the pivots of a zone and build the universal tree."""
        if self.oracle is None:
            return self._step_by_blocks(zone)
        row = np.array(zone[:5])
        pivots, arms = kernels.choose(
            self.oracle, self.points, row, zone.length, self.rule, self.tol
        )
        return Step(
            pivots, arms, self.oracle, [pivots.y, pivots.z] if zone.kind == 1 else [pivots.z]
        )

    def _step_by_blocks(self, zone: Zone) -> Step:
        """The same for a metric without an oracle: its distances to the pivots become the rows of a small matrix."""
        best = np.empty(4, np.int64)
        kernels.pick(zone.kind, self.points, zone.lo, zone.hi, self.rule, best)
        fresh = best[: 3 - zone.kind]
        others = self.points.slots[zone.lo : zone.hi]
        names = self.points.slots[fresh]
        # Zones share no point, so they can share the rows: a point is a column, y is row 0 and
        # z row 1.
        self.rows[zone.kind - 1 :, others] = self._block(names, others)
        near_a = self.points.near_a
        near_b = self.points.near_b
        if zone.kind == 1:
            yz = self.rows[0, names[1]]
            pivots = Pivots(1, 0, 1, fresh[0], fresh[1], near_a[fresh[0]], near_a[fresh[1]], yz)
        else:
            pivots = Pivots(
                2, 1, 1, np.int64(-1), fresh[0], zone.length, near_a[fresh[0]], near_b[fresh[0]]
            )
        arms = kernels.universal_tree(pivots, self.tol)
        return Step(pivots, arms, MatrixOracle(read_only(self.rows)), names.tolist())

    # Finish: every small zone alone.

    def _batches(self, zones: list[Zone]) -> Iterator[list[Zone]]:
        """Neighboring zones together, so that a task is worth its overhead; and their points get their numbers."""
        batch: list[Zone] = []
        size = named = 0
        for zone in sorted(zones, key=lambda zone: zone.lo % self.half):
            self.nodes[self.points.slots[zone.lo : zone.hi]] = np.arange(
                named, named + zone.size
            )
            named += zone.size
            if batch and (size + zone.size > self.finish_points or self.oracle is None):
                yield batch
                batch = []
                size = 0
            batch.append(zone)
            size += zone.size
        if batch:
            yield batch

    def _local(self, zones: list[Zone]) -> tuple[Any, NDArray[np.int32], Points]:
        """An oracle for the points of these zones, in a core's cache where that pays; their names; and themselves."""
        taken = (
            np.concatenate([array[zone.lo : zone.hi] for zone in zones])
            for array in self.points[:3]
        )
        slots, near_a, near_b = taken
        priority = self.points.priority
        if self.oracle is not None and not self.row_bytes:
            return self.oracle, self.nodes, with_room(slots, near_a, near_b, priority)
        if self.oracle is not None:
            local: Any = select_points(self.oracle, slots)
        else:
            local = MatrixOracle(read_only(self._block(slots, slots)))
        here = np.arange(len(slots), dtype=np.int32)
        return local, self.nodes[slots], with_room(here, near_a, near_b, priority[slots])

    def _finish(self, zones: list[Zone]) -> Finished:
        """Complete neighboring zones: by steps of TreeRep, or by neighbor joining where that is asked for."""
        if not self.joined:
            return self._finish_by_steps(zones)
        enough = [zone.kind > 0 and zone.size + zone.kind > 3 for zone in zones]
        parts = [self._join(zone) for zone, join in zip(zones, enough, strict=True) if join]
        few = [zone for zone, join in zip(zones, enough, strict=True) if not join]
        parts += [self._finish_by_steps(few)] if few else []
        edges, weights, visits = zip(*parts, strict=True)
        return np.concatenate(edges), np.concatenate(weights), sum(visits)

    def _join(self, zone: Zone) -> Finished:
        """Join the points of a zone, with the nodes that it hangs off as two points or one more."""
        if self.workers.stopped.is_set():
            return np.empty((0, 2), np.int32), np.empty(0), 0
        m = zone.size
        part = slice(zone.lo, zone.hi)
        slots = self.points.slots[zone.lo : zone.hi]
        within = np.empty((m, m))
        if self.oracle is None:
            within[:] = self._block(slots, slots)
        else:
            block_distances(self.oracle, slots.astype(np.int64), slots, within)
        matrix = np.zeros((m + zone.kind, m + zone.kind))
        matrix[:m, :m] = within
        for k, near in enumerate((self.points.near_a, self.points.near_b)[: zone.kind]):
            matrix[m + k, :m] = matrix[:m, m + k] = near[part]
        matrix[m:, m:] = zone.length * (1 - np.eye(zone.kind))
        edges, weights = join_few(matrix)
        # There are fewer new nodes than points: each is called after one of them.
        nodes = self.nodes[slots]
        names = np.concatenate([nodes, [zone.a, zone.b][: zone.kind], self.n + nodes]).astype(
            np.int32
        )
        self.bar.update(m)
        return names[edges], weights, m

    def _finish_by_steps(self, zones: list[Zone]) -> Finished:
        """Complete neighboring zones depth-first, looking up now and then to show progress and to be interrupted."""
        oracle, names, points = self._local(zones)
        size = len(points.slots) // 2
        # Every point brings at most one Steiner node, and a zone on an edge one edge more.
        room = 2 * size + len(zones)
        table = np.empty((size + 1, 5), np.int64)
        lengths = np.empty(size + 1)
        growth = Growth(table, lengths, np.empty((room, 2), np.int32), np.empty(room))
        lo = 0
        for k, zone in enumerate(zones):
            table[k] = zone.kind, lo, lo + zone.size, zone.a, zone.b
            lengths[k] = zone.length
            lo += zone.size
        state = np.array([len(zones), 0, 0, 0, _BUDGET])
        while state[0] and not self.workers.stopped.is_set():
            before = int(state[2])
            kernels.finish(oracle, names, points, growth, state, self.n, self.tol, self.rule)
            self.bar.update(int(state[2]) - before)
        n_edges = state[1]
        return growth.edges[:n_edges].copy(), growth.weights[:n_edges].copy(), int(state[3])


def with_room(slots: Any, near_a: Any, near_b: Any, priority: Any) -> Points:
    """Points in the first half of arrays that have room for their next order in the second."""
    n = len(slots)
    doubled = [np.empty(2 * n, array.dtype) for array in (slots, near_a, near_b)]
    for array, values in zip(doubled, (slots, near_a, near_b), strict=True):
        array[:n] = values
    return Points(doubled[0], doubled[1], doubled[2], np.empty(2 * n, np.uint8), priority)
