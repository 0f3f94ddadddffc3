"""Backbone trees on a Dask cluster. The workers keep the points, place them and join them.

The client refines the tree of the sample, sorts points into zones by their positions, and assembles
the branches. The client needs 20 bytes per point, the rows of the sample, and one row in 256 while
large zones are split. All results come from tasks on blocks, so they are computed again if a worker
dies.
"""

from collections.abc import Callable, Iterator
from copy import copy
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ..._core.typing import DaskClient, DaskFuture, RNGLike
from ...fitting._finished_tree import finished_tree
from ...fitting.treerep._priorities import Priorities
from ...fitting.treerep._settings import checked_choices
from ...metric.oracle.classes import select_points
from ...placement._least_squares_places import best_places, place_rows, rooted_backbone
from ...placement._locate import Indices, Numbers, Places
from ...refinement._arguments import check_arguments
from ...refinement._candidates import exact_distortion
from ...refinement.backbone import _branches as branches
from ...refinement.backbone._near_relations import coordinates
from ...refinement.backbone._small_tree import Weighting, weighting
from ...refinement.backbone._threads import CHECKED_ROWS, other_points, weighed
from ...refinement.backbone.build import backbone_tree
from ...scores._sampling import sample_rows
from ...tree.tree import Tree
from ._oracles import GatheredPoints, RowOracle, stacked
from ._spread_points import Block, SpreadPoints, dropping, raise_first, submit_to
from ._treerep_run import Run
from .runner import Parcel

_CHUNK = 4096  # points placed together on a worker
_BATCH = 1 << 15  # points of zones joined by one task

Thing = TypeVar("Thing")


class OnCluster:
    """The engine that runs on a cluster: see `refinement.backbone.Engine`."""

    graph = None  # only points are distributed, not graphs

    def __init__(
        self, client: DaskClient, space: SpreadPoints, finish_points: int, n_jobs: int | None
    ) -> None:
        self.client = client
        self.space = space
        self.finish_points = finish_points
        self.n_jobs = n_jobs
        self._blocks = range(len(space.blocks))

    def table(self, points: Indices) -> Numbers:
        """Return the distances among some points."""
        everything = np.arange(len(points))
        return GatheredPoints(self._rows(points)).block(everything, everything)

    def coordinates(self, points: Indices) -> NDArray[Any] | None:
        """Return coordinates of some points, if their Euclidean distances are known."""
        return coordinates(GatheredPoints(self._rows(points)))

    def places(self, tree: Tree, sample: Indices, points: Indices, powers: tuple[float, ...]) -> list[Places]:
        """Return the best positions of a few points, for each power."""
        metric = GatheredPoints(self._rows(np.concatenate([sample, points])))
        m = len(sample)
        others = m + np.arange(len(points))
        with Workers(self.n_jobs) as workers:
            return [best_places(tree, metric, np.arange(m), others, power, workers) for power in powers]

    def whole(self, rng: np.random.Generator) -> Tree | None:
        """Return TreeRep's tree of all points if it is exact."""
        n = len(self.space)
        starts = self.space.starts.tolist()
        priorities = Priorities(n, rng)
        blocks = [
            self._task(b, _with_priorities, priorities.part(starts[b], starts[b + 1])) for b in self._blocks
        ]
        points = copy(self.space)
        points.blocks = blocks
        with (
            dropping(self.client, blocks),
            progress_bar(n, "TreeRep", "points") as bar,
            Workers(1) as workers,
        ):
            run = Run(self.client, points, checked_choices(), self.finish_points, workers, bar)
            run.run(int(priorities.points_at(np.zeros(1, np.int64))[0]), 2 * len(self._blocks))
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
        for b in self._blocks:
            start, stop = self.space.starts[b : b + 2].tolist()
            for lo in range(start, stop, _CHUNK):
                hi = min(lo + _CHUNK, stop)
                task = self._task(b, _distances_to, known, lo - start, hi - start)
                truth = raise_first(self.client, [task])[0]
                difference = np.abs(tree.block(rows, np.arange(lo, hi)) - truth)
                apart = truth > 0
                total += float((difference[apart] / truth[apart]).sum())
                count += int(apart.sum())
        return total / max(count, 1)

    def grown(self, tree: Tree, sample: Indices, power: float, short: float) -> Tree:
        """Place all other points around the sample's tree and join nearby points."""
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
        """Return the tree with the lengths of least distortion. For few points, one worker fits them."""
        precision = self.space.eps, self.space.integral
        parcel = Parcel((tree, choice, rng, time_limit, self.n_jobs, precision))
        task = self.client.submit(_weighed, parcel, *self.space.blocks, pure=False)
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
        """Return the best positions of all points that are not in the sample."""
        shared = self._shared((*rooted_backbone(tree, power), self._rows(sample)))
        tasks = [self._task(b, _place, shared, self._slots(b, sample)) for b in self._blocks]
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
        """Split zones until they are small enough, assigning each point to the nearest center."""
        while large := [k for k, zone in enumerate(zones) if len(zone) > branches.LARGEST]:
            nearest = self._nearest_centers([rest[zones[k]] for k in large])
            workers.check()
            divided = {k: branches.split_by(zones[k], part) for k, part in zip(large, nearest, strict=True)}
            zones = [part for k, zone in enumerate(zones) for part in divided.get(k, [zone])]
        return zones

    def _nearest_centers(self, zones: list[Indices]) -> list[Indices]:
        """Return the nearest center of each point. Some points of each zone are its centers."""
        centers = [zone[:: branches.CENTERS] for zone in zones]
        ends = np.cumsum([len(own) for own in centers])
        shared = self._shared((self._rows(np.concatenate(centers)), ends))
        sizes = [len(zone) for zone in zones]
        points = np.concatenate(zones)
        zone_of = np.repeat(np.arange(len(zones)), sizes)
        owner = self._owner(points)
        tasks = []
        for b in self._blocks:
            own = owner == b
            slots = points[own] - self.space.starts[b]
            tasks.append(self._task(b, _nearest, shared, slots, zone_of[own]))
        nearest = np.empty(len(points), np.int64)
        for b, found in enumerate(raise_first(self.client, tasks)):
            nearest[owner == b] = found
        return np.split(nearest, np.cumsum(sizes)[:-1])

    def _joined(
        self,
        rest: Indices,
        places: Places,
        zones: list[Indices],
        short: float,
        workers: Workers,
    ) -> Iterator[branches.Branches]:
        """Yield the branches of each zone, running a few tasks at a time."""
        batches = _batches(zones)
        running = [self._join(rest, places, batch, short) for batch in islice(batches, 2 * len(self._blocks))]
        with dropping(self.client, running):
            while running:
                done = raise_first(self.client, [running.pop(0)])[0].thing
                running += [self._join(rest, places, batch, short) for batch in islice(batches, 1)]
                workers.check()
                yield from done

    def _join(self, rest: Indices, places: Places, zones: list[Indices], short: float) -> DaskFuture:
        """Submit the task that joins the points of some zones."""
        together = np.concatenate(zones)
        parts, order = self._parts(rest[together])
        batch = Batch(
            sizes=[len(zone) for zone in zones],
            order=order,
            height=places.height[together],
            above=places.above[together],
            short=short,
        )
        return self.client.submit(_join, Parcel(batch), *parts, pure=False)

    def _rows(self, points: Indices) -> RowOracle:
        """Gather some points at the client."""
        parts, order = self._parts(points)
        return select_points(stacked(*raise_first(self.client, parts)), order)

    def _parts(self, points: Indices) -> tuple[list[DaskFuture], Indices]:
        """Submit tasks that extract points from their blocks.

        Returns their futures, and the position of each point in the concatenated parts.
        """
        owner = self._owner(points)
        parts = []
        for b in np.unique(owner).tolist():
            slots = points[owner == b] - self.space.starts[b]
            parts.append(self._task(b, _take, slots))
        by_block = np.argsort(owner, kind="stable")
        return parts, np.argsort(by_block, kind="stable")

    def _owner(self, points: Indices) -> Indices:
        """Return the block of each point."""
        return np.searchsorted(self.space.starts, points, side="right") - 1

    def _slots(self, b: int, points: Indices) -> Indices:
        """Return the rows of those points that are in a block."""
        start, stop = self.space.starts[b : b + 2].tolist()
        is_inside = (points >= start) & (points < stop)
        return points[is_inside] - start

    def _task(self, b: int, task: Callable[..., object], *arguments: object) -> DaskFuture:
        """Submit a task on block b to the worker that stores it."""
        home = self.space.homes[b]
        return submit_to(self.client, home, task, self.space.blocks[b], *arguments)

    def _shared(self, thing: object) -> DaskFuture:
        """Send shared data as the result of a task, so that the scheduler can recover it."""
        return self.client.submit(_same, Parcel(thing), pure=False)


def _batches(zones: list[Indices]) -> Iterator[list[Indices]]:
    """Yield groups of consecutive zones with up to _BATCH points."""
    batch: list[Indices] = []
    for zone in zones:
        if batch and sum(map(len, batch)) + len(zone) > _BATCH:
            yield batch
            batch = []
        batch.append(zone)
    yield batch


def fit_backbone(
    client: DaskClient,
    space: SpreadPoints,
    finish_points: int,
    rng: RNGLike,
    n_jobs: int | None,
    *,
    size: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Learn a backbone tree of points distributed over a cluster. See `treerep.fit`."""
    check_arguments(True, 0.0 if balance is None else balance, time_limit)
    with dropping(client, space.blocks):
        engine = OnCluster(client, space, finish_points, n_jobs)
        return backbone_tree(
            engine,
            weighting("points", balance, len(space)),
            rng=np.random.default_rng(rng),
            n_jobs=n_jobs,
            size=size,
            time_limit=time_limit,
        )


# Code that runs on the workers.


class Batch(NamedTuple):
    """Zones that one worker joins."""

    sizes: list[int]
    order: Indices  # position of each point in the parts
    height: Numbers
    above: Numbers
    short: float


def _same(thing: Thing) -> Thing:
    return thing


def _take(block: Block, slots: Indices) -> RowOracle:
    return select_points(block.oracle, slots)


def _with_priorities(block: Block, priority: Callable[[], NDArray[np.int32]]) -> Block:
    return block._replace(priority=priority())


def _chunks(block: Block, slots: Indices) -> Iterator[RowOracle]:
    for lo in range(0, len(slots), _CHUNK):
        yield select_points(block.oracle, slots[lo : lo + _CHUNK])


def _place(block: Block, shared: Parcel, left_out: Indices) -> Places:
    """Place the points of a block around a backbone, except those of the sample."""
    known, scale, sample = shared.thing
    m = len(sample[0])
    parts = []
    others = np.delete(np.arange(len(block.oracle[0])), left_out)
    for rows in _chunks(block, others):
        count = len(rows[0])
        both = GatheredPoints(stacked(sample, rows))
        distances = both.block(m + np.arange(count), np.arange(m))
        distances.flags.writeable = False
        parts.append(Places(np.empty(count, np.int64), np.empty(count), np.empty(count)))
        place_rows(known, scale, distances, parts[-1])
    parts.append(Places(np.empty(0, np.int64), np.empty(0), np.empty(0)))
    node, above, height = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Places(node.astype(np.int32), above, height)


def _nearest(block: Block, shared: Parcel, slots: Indices, zones: Indices) -> Indices:
    """Return the nearest center of each point within its zone, the first if tied."""
    centers, ends = shared.thing
    out = np.empty(len(slots), np.int64)
    for zone in np.unique(zones).tolist():
        own = np.flatnonzero(zones == zone)
        begin = ends[zone - 1] if zone else 0
        own_centers = select_points(centers, np.arange(begin, ends[zone]))
        m = len(own_centers[0])
        found = []
        for rows in _chunks(block, slots[own]):
            both = GatheredPoints(stacked(own_centers, rows))
            distances = both.block(m + np.arange(len(rows[0])), np.arange(m))
            found.append(distances.argmin(axis=1))
        out[own] = np.concatenate(found)
    return out


def _distances_to(block: Block, shared: Parcel, start: int, stop: int) -> Numbers:
    """Return distances of some rows to points of a block."""
    m = len(shared.thing[0])
    others = select_points(block.oracle, np.arange(start, stop))
    both = GatheredPoints(stacked(shared.thing, others))
    return both.block(np.arange(m), m + np.arange(stop - start))


def _join(parcel: Parcel, *parts: RowOracle) -> Parcel:
    """Join the points of the zones of a batch."""
    batch: Batch = parcel.thing
    metric = GatheredPoints(select_points(stacked(*parts), batch.order))
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
    tree, choice, rng, time_limit, n_jobs, precision = parcel.thing
    metric = GatheredPoints(stacked(*(block.oracle for block in blocks)), *precision)
    fitted = weighed(tree, metric, choice, rng, time_limit, n_jobs)
    return Parcel((fitted, rng.bit_generator.state))
