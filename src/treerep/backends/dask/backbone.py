"""Backbone trees on a Dask cluster: the points stay with the workers, which place them and join them zone by zone.

The client refines the tree of the sample, sorts points into zones by their places, and puts the
branches together: it holds 20 bytes a point for that, the rows of the sample, and one row in
256 while large zones are split. All that is computed is the result of tasks on blocks, so that
what a dead worker had is made again.
"""

from collections.abc import Callable, Iterator
from copy import copy
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ..._core.typing import RNGLike
from ...fitting._finished_tree import finished_tree
from ...fitting.treerep._priorities import Priorities
from ...fitting.treerep._settings import checked_choices
from ...metric._compiled import CompiledMetric
from ...metric.oracle.classes import select_points
from ...placement._least_squares_places import Scale, best_places, place_rows, rooted_backbone
from ...placement._locate import Indices, Numbers, Places
from ...refinement._candidates import exact_distortion
from ...refinement.backbone import _branches as branches
from ...refinement.backbone._small_tree import Weighting, weighting
from ...refinement.backbone._threads import CHECKED_ROWS, other_points, weighed
from ...refinement.backbone.build import backbone_tree
from ...refinement.refine import check_arguments
from ...scores._sampling import sample_rows
from ...tree.tree import Tree
from ._run import Run
from ._spread_points import Block, SpreadPoints, dropping, raise_first, submit_to
from .runner import Parcel

_CHUNK = 4096  # points placed together on a worker
_BATCH = 1 << 15  # points of zones that are joined by one task


class OnCluster:
    """The engine of a cluster: see `refinement.backbone.Engine`."""

    graph = None  # points are spread, not graphs

    def __init__(
        self, client: Any, space: SpreadPoints, finish_points: int, n_jobs: int | None
    ) -> None:
        self.client = client
        self.space = space
        self.finish_points = finish_points
        self.n_jobs = n_jobs
        self._every = range(len(space.blocks))

    def table(self, points: Indices) -> Numbers:
        """Return the distances among some points."""
        at = np.arange(len(points))
        return _Rows(self._rows(points)).block(at, at)

    def places(
        self, tree: Tree, sample: Indices, points: Indices, powers: tuple[float, ...]
    ) -> list[Places]:
        """Return the best places of a few points, for each power."""
        metric = _Rows(self._rows(np.concatenate([sample, points])))
        m = len(sample)
        others = m + np.arange(len(points))
        with Workers(self.n_jobs) as workers:
            return [
                best_places(tree, metric, np.arange(m), others, power, workers)
                for power in powers
            ]

    def whole(self, rng: np.random.Generator) -> Tree | None:
        """Return the tree that TreeRep learns of all points, if it is exact."""
        n = len(self.space)
        starts = self.space.starts.tolist()
        priorities = Priorities(n, rng)
        blocks = [
            self._task(b, _with_priorities, priorities.part(starts[b], starts[b + 1]))
            for b in self._every
        ]
        points = copy(self.space)
        points.blocks = blocks
        with (
            dropping(self.client, blocks),
            progress_bar(n, "TreeRep", "points") as bar,
            Workers(1) as workers,
        ):
            run = Run(self.client, points, checked_choices(), self.finish_points, workers, bar)
            run.run(int(priorities.points_at(np.zeros(1, np.int64))[0]), 2 * len(self._every))
        tree = finished_tree(self.space, *run.skeleton.all_edges(), run.skeleton.nodes)
        return tree if self._error(tree) <= exact_distortion(self.space) else None

    def _error(self, tree: Tree) -> float:
        """Return the average distortion on some rows."""
        n = len(self.space)
        chosen = sample_rows(n, min(n, CHECKED_ROWS), 0, CHECKED_ROWS)
        rows = np.arange(n) if chosen is None else chosen
        known = self._shared(self._rows(rows))
        total = 0.0
        count = 0
        for b in self._every:
            start, stop = self.space.starts[b : b + 2].tolist()
            for lo in range(start, stop, _CHUNK):
                hi = min(lo + _CHUNK, stop)
                truth = raise_first(
                    self.client, [self._task(b, _distances_to, known, lo - start, hi - start)]
                )[0]
                apart = truth > 0
                total += float(
                    (
                        np.abs(tree.block(rows, np.arange(lo, hi)) - truth)[apart]
                        / truth[apart]
                    ).sum()
                )
                count += int(apart.sum())
        return total / max(count, 1)

    def grown(self, tree: Tree, sample: Indices, power: float, short: float) -> Tree:
        """Place all other points around the tree of the sample, and join those that are close to each other."""
        rest = other_points(len(self.space), sample)
        with Workers(1) as workers:  # so that no interrupt is lost
            places = self._placed(tree, sample, power, workers)
            zones = self._split(rest, branches.zones_of(places), workers)
            found = self._joined(rest, places, zones, short, workers)
            edges, weights = branches.put_together(
                tree, len(self.space), sample, rest, places, zones, found, short, workers
            )
        return finished_tree(self.space, edges, weights)

    def weighed(
        self, tree: Tree, choice: Weighting, rng: np.random.Generator, time_limit: float | None
    ) -> Tree:
        """Return the tree with lengths of least distortion: few points, fitted by one worker."""
        facts = self.space.eps, self.space.integral
        task = self.client.submit(
            _weighed,
            Parcel((tree, choice, rng, time_limit, self.n_jobs, facts)),
            *self.space.blocks,
            pure=False,
        )
        fitted, state = raise_first(self.client, [task])[0].thing
        rng.bit_generator.state = state
        return Tree._trusted(
            fitted.n_points,
            fitted.edges,
            fitted.weights,
            self.space.labels,
            None,
            self.space.order_known,
        )

    def _placed(self, tree: Tree, sample: Indices, power: float, workers: Workers) -> Places:
        """Return the best places of all points that are not in the sample."""
        shared = self._shared((*rooted_backbone(tree, power), self._rows(sample)))
        tasks = [self._task(b, _place, shared, self._mine(b, sample)) for b in self._every]
        parts = []
        with (
            dropping(self.client, tasks),
            progress_bar(len(self.space) - len(sample), "placing", "points") as bar,
        ):
            for task in tasks:
                parts += raise_first(self.client, [task])
                bar.update(len(parts[-1][0]))
                workers.check()
        return Places(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _split(self, rest: Indices, zones: list[Indices], workers: Workers) -> list[Indices]:
        """Split zones until they are small enough: each point goes to the nearest of some of its zone."""
        while large := [k for k, zone in enumerate(zones) if len(zone) > branches.LARGEST]:
            centers = [rest[zones[k][:: branches.CENTERS]] for k in large]
            ends = np.cumsum([len(mine) for mine in centers])
            shared = self._shared((self._rows(np.concatenate(centers)), ends))
            points = np.concatenate([rest[zones[k]] for k in large])
            zone_of = np.repeat(np.arange(len(large)), [len(zones[k]) for k in large])
            owner = self._owner(points)
            tasks = []
            nearest = np.empty(len(points), np.int64)
            for b in self._every:
                mine = np.flatnonzero(owner == b)
                tasks.append(
                    self._task(
                        b,
                        _nearest,
                        shared,
                        self._mine(b, points[mine], inside=True),
                        zone_of[mine],
                    )
                )
            for b, found in enumerate(raise_first(self.client, tasks)):
                nearest[owner == b] = found
            workers.check()
            parts = np.split(nearest, np.flatnonzero(np.diff(zone_of)) + 1)
            divided = {
                k: branches.split_by(zones[k], part)
                for k, part in zip(large, parts, strict=True)
            }
            zones = [part for k, zone in enumerate(zones) for part in divided.get(k, [zone])]
        return zones

    def _joined(
        self,
        rest: Indices,
        places: Places,
        zones: list[Indices],
        short: float,
        workers: Workers,
    ) -> Iterator[branches.Branches]:
        """Yield the branches of each zone: a few tasks are under way at a time."""
        batches = _batches(zones)
        asked = [
            self._join(rest, places, batch, short)
            for batch in islice(batches, 2 * len(self._every))
        ]
        with dropping(self.client, asked):
            while asked:
                done = raise_first(self.client, [asked.pop(0)])[0].thing
                asked += [
                    self._join(rest, places, batch, short) for batch in islice(batches, 1)
                ]
                workers.check()
                yield from done

    def _join(self, rest: Indices, places: Places, zones: list[Indices], short: float) -> Any:
        """A future of the branches of some zones, whose points come together on one worker."""
        together = np.concatenate(zones)
        points = rest[together]
        owner = self._owner(points)
        blocks = np.unique(owner)
        parts = [
            self._task(b, _take, self._mine(b, points[owner == b], inside=True))
            for b in blocks.tolist()
        ]
        order = np.argsort(
            np.argsort(owner, kind="stable"), kind="stable"
        )  # where each point is in the parts
        batch = Batch(
            [len(zone) for zone in zones],
            order,
            places.height[together],
            places.above[together],
            short,
        )
        return self.client.submit(_join, Parcel(batch), *parts, pure=False)

    def _rows(self, points: Indices) -> Any:
        """Return an oracle of some points, which come to the client."""
        owner = self._owner(points)
        blocks = np.unique(owner).tolist()
        parts = raise_first(
            self.client,
            [
                self._task(b, _take, self._mine(b, points[owner == b], inside=True))
                for b in blocks
            ],
        )
        order = np.argsort(np.argsort(owner, kind="stable"), kind="stable")
        return select_points(_stacked(*parts), order)

    def _owner(self, points: Indices) -> Indices:
        return np.searchsorted(self.space.starts, points, side="right") - 1

    def _mine(self, b: int, points: Indices, inside: bool = False) -> Indices:
        """Points as rows of a block; with `inside`, they are all in it."""
        start, stop = self.space.starts[b : b + 2].tolist()
        return points - start if inside else points[(points >= start) & (points < stop)] - start

    def _task(self, b: int, task: Callable[..., Any], *arguments: Any) -> Any:
        return submit_to(
            self.client, self.space.homes[b], task, self.space.blocks[b], *arguments
        )

    def _shared(self, thing: Any) -> Any:
        """A future of what tasks share: the result of a task, which the scheduler does not lose."""
        return self.client.submit(_same, Parcel(thing), pure=False)


def _batches(zones: list[Indices]) -> Iterator[list[Indices]]:
    """Put neighboring zones together."""
    batch: list[Indices] = []
    for zone in zones:
        if batch and sum(map(len, batch)) + len(zone) > _BATCH:
            yield batch
            batch = []
        batch.append(zone)
    yield batch


def fit_backbone(
    client: Any,
    space: SpreadPoints,
    finish_points: int,
    rng: RNGLike,
    n_jobs: int | None,
    *,
    size: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Learn a backbone tree of points that are spread over a cluster; see `treerep.fit`."""
    check_arguments(True, 0.0 if balance is None else balance, time_limit)
    options: Any = {
        "rng": np.random.default_rng(rng),
        "n_jobs": n_jobs,
        "size": size,
        "time_limit": time_limit,
    }
    with dropping(client, space.blocks):
        engine = OnCluster(client, space, finish_points, n_jobs)
        return backbone_tree(engine, weighting("points", balance), **options)


# On the workers.


class Batch(NamedTuple):
    """Zones that one worker joins."""

    sizes: list[int]
    order: Indices  # where each point is in the parts
    height: Numbers
    above: Numbers
    short: float


class _Rows(CompiledMetric):
    """Points that came together in one place."""

    def __init__(self, oracle: Any, eps: float = 0.0, integral: bool = False) -> None:
        self.oracle = oracle
        self.eps = eps
        self.integral = integral

    def __len__(self) -> int:
        return len(self.oracle[0])


def _same(thing: Any) -> Any:
    return thing


def _stacked(*oracles: Any) -> Any:
    """One oracle of the points of several, in memory of its own, as kernels take it."""
    arrays = [np.concatenate(columns) for columns in zip(*oracles, strict=True)]
    for array in arrays:
        array.flags.writeable = False
    return type(oracles[0])(*arrays)


def _take(block: Block, slots: Indices) -> Any:
    return select_points(block.oracle, slots)


def _with_priorities(block: Block, priority: Callable[[], Any]) -> Block:
    return block._replace(priority=priority())


def _chunks(block: Block, slots: Indices) -> Iterator[Any]:
    for lo in range(0, len(slots), _CHUNK):
        yield select_points(block.oracle, slots[lo : lo + _CHUNK])


def _place(block: Block, shared: Parcel, left_out: Indices) -> Places:
    """Place the points of a block around a backbone, without those of the sample."""
    known: Any
    scale: Scale
    known, scale, sample = shared.thing
    m = len(sample[0])
    parts = []
    for rows in _chunks(block, np.delete(np.arange(len(block.oracle[0])), left_out)):
        count = len(rows[0])
        distances = _Rows(_stacked(sample, rows)).block(m + np.arange(count), np.arange(m))
        distances.flags.writeable = False
        parts.append(Places(np.empty(count, np.int64), np.empty(count), np.empty(count)))
        place_rows(known, scale, distances, parts[-1])
    parts.append(Places(np.empty(0, np.int64), np.empty(0), np.empty(0)))
    node, above, height = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Places(node.astype(np.int32), above, height)


def _nearest(block: Block, shared: Parcel, slots: Indices, zones: Indices) -> Indices:
    """Return the nearest center of each point, the first of equals, among those of its zone."""
    centers, ends = shared.thing
    out = np.empty(len(slots), np.int64)
    for zone in np.unique(zones).tolist():
        mine = np.flatnonzero(zones == zone)
        near = select_points(centers, np.arange(ends[zone - 1] if zone else 0, ends[zone]))
        m = len(near[0])
        found = []
        for rows in _chunks(block, slots[mine]):
            both = _Rows(_stacked(near, rows))
            found.append(both.block(m + np.arange(len(rows[0])), np.arange(m)).argmin(axis=1))
        out[mine] = np.concatenate(found)
    return out


def _distances_to(block: Block, shared: Parcel, start: int, stop: int) -> Numbers:
    """Distances of some rows to points of a block."""
    m = len(shared.thing[0])
    both = _Rows(_stacked(shared.thing, select_points(block.oracle, np.arange(start, stop))))
    return both.block(np.arange(m), m + np.arange(stop - start))


def _join(parcel: Parcel, *parts: Any) -> Parcel:
    """Join the points of the zones of a batch."""
    batch: Batch = parcel.thing
    metric = _Rows(select_points(_stacked(*parts), batch.order))
    found = []
    lo = 0
    for size in batch.sizes:
        zone = np.arange(lo, lo + size)
        part = slice(lo, lo + size)
        height = batch.height[part].copy()
        above = batch.above[part].copy()
        found.append(branches.joined(metric.block(zone, zone), height, above, batch.short))
        lo += size
    return Parcel(found)


def _weighed(parcel: Parcel, *blocks: Block) -> Parcel:
    tree, choice, rng, time_limit, n_jobs, facts = parcel.thing
    metric = _Rows(_stacked(*(block.oracle for block in blocks)), *facts)
    fitted = weighed(tree, metric, choice, rng, time_limit, n_jobs)
    return Parcel((fitted, rng.bit_generator.state))
