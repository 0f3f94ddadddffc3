"""The client's part of TreeRep on a cluster: it keeps the zones and the futures of what the workers hold."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.parallel import Workers
from ...fitting.treerep import _zone_kernels as kernels
from ...fitting.treerep._settings import Choices, tolerance
from ...fitting.treerep._skeleton import Skeleton, Zone
from ...fitting.treerep._zone_kernels import BINS, CLOSEST, COULD_BE_R, NEAR, Z1_R
from ._finish import Batch, Finished, finish, part_of, twins_of
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
    placed,
    rows_of,
    summary_of,
    wave,
)

_FAN_IN = 16  # summaries that are merged by one task before the client sees them


class Held(NamedTuple):
    """A zone, the piece of every block that holds its points, and who may be its next pivots."""

    zone: Zone
    piece: int
    lowest: NDArray[np.float64]
    closest: NDArray[np.float64]


class Run:
    """One run of TreeRep on points spread over workers. `drop` lets go of what they hold.

    Attributes
    ----------
    skeleton : Skeleton
    tol : float
    waves : list of dict
        For each wave: how many zones and points were split.
    """

    def __init__(
        self,
        client: Any,
        points: SpreadPoints,
        choices: Choices,
        finish_points: int,
        workers: Workers,
        bar: Any,
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
        self.held: list[Held] = []
        self.gone = np.empty((0, 2), np.int64)
        self.states: list[Any] = []
        self.running: set[Any] = set()
        self.waves: list[dict[str, int]] = []

    def run(self, first: int, at_once: int) -> None:
        """Complete the skeleton.

        All points hang off the point `first` at the beginning; at the end, so many batches are
        finished at once.
        """
        with dropping(self.client, self._futures()):
            self._split(first)
            self._finish(at_once)
        self.states = []
        self.points.blocks = []

    @property
    def _every(self) -> range:
        return range(len(self.points.blocks))

    def _submit_to(
        self, b: int, task: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Any:
        """A future of a task on block b, where that is."""
        return submit_to(
            self.client,
            self.points.homes[b],
            task,
            self.points.blocks[b],
            *arguments,
            **options,
        )

    def _futures(self) -> Iterator[Any]:
        yield from (*self.running, *self.states, *self.points.blocks)

    # Split: all large zones together.

    def _split(self, first: int) -> None:
        """Hang all points off the first one, and split zones until each fits a worker."""
        rule = self.choices.rule
        row = self._submit_to(int(self._owner(first)), rows_of, np.array([first]))
        self.states = [self._submit_to(b, first_wave, first, row, rule) for b in self._every]
        summary = self._summary()
        self.tol = tolerance(self.points, self.choices.tol, summary.largest)
        zone = Zone(1, 0, self.n - 1, self.skeleton.name(first), -1, 0.0)
        self.held = [Held(zone, 0, summary.lowest[0], summary.closest[0])]
        while any(self._is_large(held) for held in self.held):
            self.workers.check()
            self._wave()

    def _is_large(self, held: Held) -> bool:
        return held.zone.kind > 0 and held.zone.size > self.finish_points

    def _wave(self) -> None:
        large = [held for held in self.held if self._is_large(held)]
        steps = self._steps(large)
        taken = {held.piece: k for k, held in enumerate(large)}
        order = np.array([(held.piece, taken.get(held.piece, -1)) for held in self.held])
        plan = self._placed(Plan(order, self.gone, steps, self.tol, self.choices.rule))
        self.states = [self._submit_to(b, wave, self.states[b], plan) for b in self._every]
        summary = self._summary()
        steps = steps._replace(yz=summary.yz)
        before = self.held
        gone = []
        self.held = []
        piece = 0
        for held, k in zip(before, order[:, 1].tolist(), strict=True):
            if k < 0:
                self.held.append(held._replace(piece=piece))
                piece += 1
                continue
            new, r = self._grow(held, steps, k, summary, piece)
            gone += [(zone.piece, r) for zone in new if zone.piece == piece + Z1_R and r >= 0]
            self.held += new
            piece += BINS
        self.gone = np.array(gone, np.int64).reshape(-1, 2)
        size = sum(held.zone.size for held in large)
        self.waves.append({"zones": len(large), "points": size})
        self.bar.update(
            sum(held.zone.size for held in before) - sum(held.zone.size for held in self.held)
        )

    def _steps(self, large: list[Held]) -> Steps:
        """The pivots of each zone: chosen as `zone_kernels` does, from the candidates of all blocks."""
        rows = []
        for zone, _, lowest, closest in large:
            y = lowest[0]
            z = lowest[1]
            if zone.kind == 1:
                rows.append((1, y[POINT], z[POINT], y[NEAR_A], z[NEAR_A], np.nan))
                continue
            z = lowest[0]
            if self.choices.rule == NEAR:
                z = lowest[
                    np.argmin(lowest[:, NEAR_B])
                ]  # the first of equals has the lowest priority
            elif self.choices.rule == CLOSEST:
                z = closest[0]
            rows.append((2, -1, z[POINT], zone.length, z[NEAR_A], z[NEAR_B]))
        columns = np.array(rows).T
        return Steps(*(column.astype(np.int64) for column in columns[:3]), *columns[3:])

    def _placed(self, plan: Plan) -> Any:
        """A future of the plan with the coordinates of its pivots, which come from the blocks that have them."""
        steps = plan.steps
        wanted = np.column_stack([np.where(steps.kind == 1, steps.y, steps.z), steps.z]).ravel()
        points, place = np.unique(wanted, return_inverse=True)
        owners = self._owner(points)
        rows = [
            self._submit_to(b, rows_of, points[owners == b]) for b in np.unique(owners).tolist()
        ]
        return self.client.submit(placed, plan, place, *rows, pure=False)

    def _owner(self, point: Any) -> Any:
        return np.searchsorted(self.points.starts, point, side="right") - 1

    def _summary(self) -> Summary:
        """What all blocks together say of the wave under way."""
        parts = [
            submit_to(self.client, self.points.homes[b], summary_of, self.states[b])
            for b in self._every
        ]
        while len(parts) > _FAN_IN:
            groups = [parts[k : k + _FAN_IN] for k in range(0, len(parts), _FAN_IN)]
            parts = [self.client.submit(merged, *group, pure=False) for group in groups]
        return merged(*raise_first(self.client, parts))

    def _grow(
        self, held: Held, steps: Steps, k: int, summary: Summary, piece: int
    ) -> tuple[list[Held], int]:
        """The zones that step k makes of a zone, of which the pieces begin here, and the point that becomes r or -1."""
        arms = kernels.universal_tree(steps.pivots(k, -1, -1, 0, 0), self.tol)
        best = summary.becomes_r[k, 0]
        r = int(best[POINT]) if best[RANK] < np.inf else -1
        sizes = summary.counts[k, :BINS].copy()
        sizes[Z1_R] += summary.counts[k, COULD_BE_R] - (r >= 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        fresh = [int(steps.y[k]), int(steps.z[k])][2 - (3 - held.zone.kind) :]
        zones = self.skeleton.grow(held.zone, fresh, arms, r, starts)
        new = []
        for zone, where in zip(zones, np.flatnonzero(sizes).tolist(), strict=True):
            lowest = summary.lowest[BINS * k + where]
            if where == Z1_R:
                lowest = lowest[lowest[:, POINT] != r]
            new.append(Held(zone, piece + where, lowest, summary.closest[BINS * k + where]))
        return new, r

    # Finish: every small zone alone.

    def _finish(self, at_once: int) -> None:
        """Complete all zones, so many batches at a time."""
        batches = self._batches([held for held in self.held if held.zone.kind > 0])
        twins = [held for held in self.held if held.zone.kind == 0]
        if twins:
            self._add_twins(
                twins, sum(held.zone.size for held in self.held if held.zone.kind > 0)
            )
        done = require("distributed", "dask").as_completed(
            loop=self.client.loop, with_results=True, raise_errors=False
        )
        waiting = iter(batches)
        self.running = {self._submit(batch) for batch in itertools.islice(waiting, at_once)}
        done.update(self.running)
        for future, result in done:
            self.workers.check()
            if future.status == "error":
                raise explained(future.exception()) from None
            self._add(result)
            self.running.discard(future)
            for batch in itertools.islice(waiting, 1):
                self.running.add(more := self._submit(batch))
                done.add(more)

    def _batches(self, small: list[Held]) -> list[Batch]:
        """Zones together up to the largest size allowed; large ones first, so that no worker waits at the end."""
        groups: list[list[Held]] = []
        size = self.finish_points
        for held in sorted(small, key=lambda held: -held.zone.size):
            if size + held.zone.size > self.finish_points:
                groups.append([])
                size = 0
            groups[-1].append(held)
            size += held.zone.size
        batches = []
        first = 0
        for group in groups:
            zones = [held.zone for held in group]
            pieces = [held.piece for held in group]
            batches.append(
                Batch(
                    zones,
                    pieces,
                    first,
                    self.n,
                    self.tol,
                    self.choices.rule,
                    self.choices.joined,
                )
            )
            first += sum(zone.size for zone in zones)
        return batches

    def _submit(self, batch: Batch) -> Any:
        """A future of a batch's edges."""
        return self.client.submit(finish, batch, *self._parts(batch), pure=False)

    def _parts(self, batch: Batch) -> list[Any]:
        """Futures of what each block has of a batch.

        They need no name: Dask drops them as soon as they are used.

        They go before batches that are asked for already: others wait for them. If they waited
        long enough, Dask would let an idle worker take over, and send it the whole block.
        """
        given = self.gone, batch.pieces
        return [
            self._submit_to(b, part_of, self.states[b], *given, priority=1) for b in self._every
        ]

    def _add(self, done: Any) -> None:
        self.skeleton.nodes[done.points] = done.nodes
        self.skeleton.add(done.edges, done.weights)
        self.bar.update(len(done.points))

    def _add_twins(self, twins: list[Held], first: int) -> None:
        """Points that equal a node become its leaves.

        There may be more of them than fit a worker, but few bytes.
        """
        pieces = [held.piece for held in twins]
        ends = np.array([held.zone.a for held in twins])
        parts = [
            self._submit_to(b, twins_of, self.states[b], self.gone, pieces) for b in self._every
        ]
        for points, near_a, counts in raise_first(self.client, parts):
            nodes = np.arange(first, first + len(points), dtype=np.int32)
            first += len(points)
            edges = np.column_stack([np.repeat(ends, counts), nodes]).astype(np.int32)
            self._add(Finished(points, nodes, edges, near_a))
