"""The client side of TreeRep on a cluster. The client keeps zones; the workers keep points."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.parallel import Workers
from ..._core.typing import DaskClient, DaskFuture
from ...fitting.treerep import _zone_kernels as kernels
from ...fitting.treerep._settings import Choices, tolerance
from ...fitting.treerep._skeleton import Skeleton, Zone
from ...fitting.treerep._zone_kernels import BINS, CLOSEST, COULD_BE_R, NEAR, Z1_R
from ._finish import Bar, Batch, Finished, duplicates_of, finish, part_of
from ._spread_points import SpreadPoints, dropping, explained, raise_first, submit_to
from ._waves import (
    NEAR_A,
    NEAR_B,
    POINT,
    RANK,
    Plan,
    Steps,
    Summary,
    first_wave,
    merged,
    rows_of,
    summary_of,
    wave,
    with_pivots,
)

_FAN_IN = 16  # summaries merged by one task before they are sent to the client


class SpreadZone(NamedTuple):
    """A zone, the piece of every block that contains its points, and candidates for its pivots."""

    zone: Zone
    piece: int
    lowest: NDArray[np.float64]
    closest: NDArray[np.float64]


class Run:
    """One run of TreeRep on points distributed over workers.

    Attributes
    ----------
    skeleton : Skeleton
    tol : float
    zones : list of SpreadZone
        In the order of their pieces.
    became_r : (., 2) int64 array
        Pieces, and the points in them that became r in the last wave.
    states : list of Future
        The state of each block after the last wave.
    waves : list of dict
        For each wave, the number of zones and points that were split.
    """

    def __init__(
        self,
        client: DaskClient,
        points: SpreadPoints,
        choices: Choices,
        finish_points: int,
        workers: Workers,
        bar: Bar,
    ) -> None:
        self.client = client
        self.points = points
        self.choices = choices
        self.workers = workers
        self.bar = bar
        self.finish_points = finish_points
        self.n = len(points)
        self.skeleton = Skeleton(self.n)
        self.tol = 0.0
        self.zones: list[SpreadZone] = []
        self.became_r = np.empty((0, 2), np.int64)
        self.states: list[DaskFuture] = []
        self.running: set[DaskFuture] = set()
        self.waves: list[dict[str, int]] = []

    def run(self, first: int, at_once: int) -> None:
        """Complete the skeleton.

        Initially, all points are attached to the point `first`. At the end, `at_once` batches
        of zones are finished at a time.
        """
        with dropping(self.client, self._futures()):
            self._split(first)
            self._finish(at_once)
        self.states = []
        self.points.blocks = []

    @property
    def _blocks(self) -> range:
        return range(len(self.points.blocks))

    def _submit_to(
        self, b: int, task: Callable[..., object], *arguments: object, **options: object
    ) -> DaskFuture:
        """Submit a task on block b to the worker that stores it."""
        home = self.points.homes[b]
        block = self.points.blocks[b]
        return submit_to(self.client, home, task, block, *arguments, **options)

    def _futures(self) -> Iterator[DaskFuture]:
        yield from (*self.running, *self.states, *self.points.blocks)

    # Split phase: all large zones together.

    def _split(self, first: int) -> None:
        """Attach all points to the first point, and split zones until each fits on a worker."""
        rule = self.choices.rule
        row = self._submit_to(int(self._owner(first)), rows_of, np.array([first]))
        self.states = [self._submit_to(b, first_wave, first, row, rule) for b in self._blocks]
        summary = self._summary()
        self.tol = tolerance(self.points, self.choices.tol, summary.largest)
        zone = Zone(1, 0, self.n - 1, self.skeleton.name(first), -1, 0.0)
        self.zones = [SpreadZone(zone, 0, summary.lowest[0], summary.closest[0])]
        while any(self._is_large(zone) for zone in self.zones):
            self.workers.check()
            self._wave()

    def _is_large(self, spread: SpreadZone) -> bool:
        return spread.zone.kind > 0 and spread.zone.size > self.finish_points

    def _wave(self) -> None:
        """Take one step in every large zone: the workers sort points, and the client adds edges."""
        large = [zone for zone in self.zones if self._is_large(zone)]
        steps = self._steps(large)
        # The step of each zone, in the order of the pieces; -1 for zones without a step.
        numbers = itertools.count()
        taken = [next(numbers) if self._is_large(zone) else -1 for zone in self.zones]
        summary = self._sort_points(steps, taken)
        n_before = _count_points(self.zones)
        self._grow_zones(steps._replace(yz=summary.yz), taken, summary)
        self.waves.append({"zones": len(large), "points": _count_points(large)})
        self.bar.update(n_before - _count_points(self.zones))

    def _sort_points(self, steps: Steps, taken: list[int]) -> Summary:
        """Let the workers sort the points of their blocks and summarize the results."""
        pieces = [zone.piece for zone in self.zones]
        order = np.column_stack([pieces, taken])
        plan = Plan(order, self.became_r, steps, self.tol, self.choices.rule)
        sent = self._with_pivots(plan)
        self.states = [self._submit_to(b, wave, self.states[b], sent) for b in self._blocks]
        return self._summary()

    def _grow_zones(self, steps: Steps, taken: list[int], summary: Summary) -> None:
        """Replace each zone that took a step by the zones of its bins.

        Pieces are renumbered: one for each zone without a step, and nine (one per bin) for each
        zone with a step.
        """
        before = self.zones
        self.zones = []
        became_r = []
        piece = 0
        for zone, k in zip(before, taken, strict=True):
            if k < 0:
                self.zones.append(zone._replace(piece=piece))
                piece += 1
                continue
            r = _point_for_r(summary, k)
            grown = self._grow(zone, steps, k, summary, r, piece)
            # The workers still have r among the points of Z1[r], if other points are left
            # there.
            if r >= 0 and any(new.piece == piece + Z1_R for new in grown):
                became_r.append((piece + Z1_R, r))
            self.zones += grown
            piece += BINS
        self.became_r = np.array(became_r, np.int64).reshape(-1, 2)

    def _grow(
        self, spread: SpreadZone, steps: Steps, k: int, summary: Summary, r: int, piece: int
    ) -> list[SpreadZone]:
        """Return the zones that step k creates from a zone. Their pieces start at `piece`.

        `r` is the point that becomes r, or -1.
        """
        arms = kernels.universal_tree(steps.pivots(k, -1, -1, 0, 0), self.tol)
        sizes = summary.counts[k, :BINS].copy()
        sizes[Z1_R] += summary.counts[k, COULD_BE_R] - (r >= 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        new_pivots = [int(steps.z[k])]
        if spread.zone.kind == 1:
            new_pivots.insert(0, int(steps.y[k]))
        zones = self.skeleton.grow(spread.zone, new_pivots, arms, r, starts)
        grown = []
        for zone, bin_ in zip(zones, np.flatnonzero(sizes).tolist(), strict=True):
            lowest = summary.lowest[BINS * k + bin_]
            closest = summary.closest[BINS * k + bin_]
            if bin_ == Z1_R:
                lowest = lowest[lowest[:, POINT] != r]
            grown.append(SpreadZone(zone, piece + bin_, lowest, closest))
        return grown

    def _steps(self, large: list[SpreadZone]) -> Steps:
        """Choose the pivots of each zone as in `zone_kernels`, from the candidates of all blocks."""
        rows = [self._step(zone) for zone in large]
        kind, y, z, xy, xz, yz = np.array(rows).T
        return Steps(kind.astype(np.int64), y.astype(np.int64), z.astype(np.int64), xy, xz, yz)

    def _step(self, spread: SpreadZone) -> tuple[float, ...]:
        """Return the fields of `Steps` for one zone."""
        zone = spread.zone
        lowest = spread.lowest
        if zone.kind == 1:
            y = lowest[0]
            z = lowest[1]
            return 1, y[POINT], z[POINT], y[NEAR_A], z[NEAR_A], np.nan
        z = lowest[0]
        if self.choices.rule == NEAR:
            # Among equal candidates, argmin returns the first, which has the lowest priority.
            z = lowest[np.argmin(lowest[:, NEAR_B])]
        elif self.choices.rule == CLOSEST:
            z = spread.closest[0]
        return 2, -1, z[POINT], zone.length, z[NEAR_A], z[NEAR_B]

    def _with_pivots(self, plan: Plan) -> DaskFuture:
        """Add the coordinates of the pivots, from the blocks that contain the pivots, to a plan."""
        steps = plan.steps
        first = np.where(steps.kind == 1, steps.y, steps.z)
        pivots = np.column_stack([first, steps.z]).ravel()
        points, row = np.unique(pivots, return_inverse=True)
        owners = self._owner(points)
        rows = [self._submit_to(b, rows_of, points[owners == b]) for b in np.unique(owners).tolist()]
        return self.client.submit(with_pivots, plan, row, *rows, pure=False)

    def _owner(self, point: int | NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the block of each point."""
        return np.searchsorted(self.points.starts, point, side="right") - 1

    def _summary(self) -> Summary:
        """Merge the summaries of the last wave from all blocks."""
        parts = [
            submit_to(self.client, self.points.homes[b], summary_of, self.states[b]) for b in self._blocks
        ]
        while len(parts) > _FAN_IN:
            groups = [parts[k : k + _FAN_IN] for k in range(0, len(parts), _FAN_IN)]
            parts = [self.client.submit(merged, *group, pure=False) for group in groups]
        return merged(*raise_first(self.client, parts))

    # Finish phase: each small zone separately.

    def _finish(self, at_once: int) -> None:
        """Complete all zones, `at_once` batches at a time."""
        small = [zone for zone in self.zones if zone.zone.kind > 0]
        duplicates = [zone for zone in self.zones if zone.zone.kind == 0]
        if duplicates:
            self._add_duplicates(duplicates, _count_points(small))
        done = require("distributed", "dask").as_completed(
            loop=self.client.loop, with_results=True, raise_errors=False
        )
        waiting = iter(self._batches(small))
        self.running = {self._submit(batch) for batch in itertools.islice(waiting, at_once)}
        done.update(self.running)
        for future, result in done:
            self.workers.check()
            if future.status == "error":
                raise explained(future.exception()) from None
            self._add(result)
            self.running.discard(future)
            for batch in itertools.islice(waiting, 1):
                another = self._submit(batch)
                self.running.add(another)
                done.add(another)

    def _batches(self, small: list[SpreadZone]) -> list[Batch]:
        """Combine zones into batches up to the largest size allowed.

        Large zones are first, so that no worker waits at the end.
        """
        groups: list[list[SpreadZone]] = []
        size = self.finish_points
        for spread in sorted(small, key=lambda spread: -spread.zone.size):
            if size + spread.zone.size > self.finish_points:
                groups.append([])
                size = 0
            groups[-1].append(spread)
            size += spread.zone.size
        batches = []
        first = 0
        for group in groups:
            batch = Batch(
                zones=[spread.zone for spread in group],
                pieces=[spread.piece for spread in group],
                first=first,
                n=self.n,
                tol=self.tol,
                rule=self.choices.rule,
            )
            batches.append(batch)
            first += _count_points(group)
        return batches

    def _submit(self, batch: Batch) -> DaskFuture:
        """Submit the task that finds the edges of a batch."""
        return self.client.submit(finish, batch, *self._parts(batch), pure=False)

    def _parts(self, batch: Batch) -> list[DaskFuture]:
        """Submit the tasks that extract the points of a batch from each block.

        No references to these futures are kept, so Dask drops them as soon as they are used.

        The tasks have priority over batches that were submitted earlier, because other tasks wait
        for them. If these tasks waited long, Dask would send the whole block to an idle worker.
        """
        return [
            self._submit_to(b, part_of, self.states[b], self.became_r, batch.pieces, priority=1)
            for b in self._blocks
        ]

    def _add(self, done: Finished) -> None:
        """Add the edges of a batch, given the result of its task."""
        self.skeleton.nodes[done.points] = done.nodes
        self.skeleton.add(done.edges, done.weights)
        self.bar.update(len(done.points))

    def _add_duplicates(self, duplicates: list[SpreadZone], first: int) -> None:
        """Attach points that coincide with a node as leaves, as nodes `first`, first + 1, ...

        There may be more such points than fit on a worker, but they take few bytes.
        """
        pieces = [spread.piece for spread in duplicates]
        ends = np.array([spread.zone.a for spread in duplicates])
        parts = [
            self._submit_to(b, duplicates_of, self.states[b], self.became_r, pieces) for b in self._blocks
        ]
        for points, near_a, counts in raise_first(self.client, parts):
            nodes = np.arange(first, first + len(points), dtype=np.int32)
            first += len(points)
            edges = np.column_stack([np.repeat(ends, counts), nodes]).astype(np.int32)
            self._add(Finished(points, nodes, edges, near_a))


def _count_points(zones: Iterable[SpreadZone]) -> int:
    return sum(spread.zone.size for spread in zones)


def _point_for_r(summary: Summary, k: int) -> int:
    """Return the point that becomes the node r of step k, or -1."""
    best = summary.r_candidates[k, 0]
    return int(best[POINT]) if best[RANK] < np.inf else -1
