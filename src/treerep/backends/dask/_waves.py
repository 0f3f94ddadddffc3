"""One split wave of TreeRep on one block of points: what a worker does, as pure functions.

A wave takes a block, the state that the wave before left, and a plan: the pivots of all large
zones, with their coordinates. It sorts the block's points by the ordinary kernels and returns a
new state, and a summary of it for the client: how many points went where, and who may be a
pivot next. So a state that is lost with its worker can be made again from the block and the
plans.

In a state the points lie sorted by *piece*. A zone is one piece of every block. A step makes
nine pieces of one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...fitting.treerep import _zone_kernels as kernels
from ...fitting.treerep._zone_kernels import (
    BINS,
    CLOSEST,
    CODES,
    COULD_BE_R,
    RANDOM,
    Z1_R,
    Arms,
    Pivots,
    Points,
)
from ...fitting.treerep.algorithm import double_buffered
from ...metric.oracle.classes import bytes_per_point, select_points
from ...metric.oracle.distance_kernels import block_distances
from ._spread_points import Block

# Points that are sorted together lie beside their pivots in the cache.
_CACHE_BYTES = 1 << 20
_LOWEST = 4  # how many points a step of any rule looks at
RANK, POINT, NEAR_A, NEAR_B = range(4)  # columns of a table of candidates


class State(NamedTuple):
    """The points of a block that are not in the tree yet, sorted by piece: piece p is starts[p]:starts[p+1]."""

    slots: NDArray[np.int32]  # row in the block
    near_a: NDArray[np.float64]
    near_b: NDArray[np.float64]
    starts: NDArray[np.int64]


class Summary(NamedTuple):
    """What the client learns of a wave.

    Candidates are rows (priority, point, near_a, near_b); inf where there is none.

    Steps are in the order of the plan, with nine pieces each.
    """

    counts: NDArray[np.int64]  # (steps, CODES)
    becomes_r: NDArray[np.float64]  # (steps, 1, 4)
    lowest: NDArray[np.float64]  # (pieces, 4, 4): lowest priority first
    closest: NDArray[
        np.float64
    ]  # (pieces, 1, 4): least near_b; not filled unless the rule asks for it
    yz: NDArray[np.float64]  # (steps,)
    largest: float  # distance from the first point, in the first wave


Wave = tuple[State, Summary]


class Steps(NamedTuple):
    """The steps of a wave, one entry each. `y` and `z` are points, y is -1 for kind 2."""

    kind: NDArray[np.int64]
    y: NDArray[np.int64]
    z: NDArray[np.int64]
    xy: NDArray[np.float64]
    xz: NDArray[np.float64]
    yz: NDArray[np.float64]  # nan where it is to be measured

    def pivots(self, k: int, at_y: int, at_z: int, row_y: int, row_z: int) -> Pivots:
        """Step k as kernels take it, for points at these places in a slice and in an oracle."""
        lengths = float(self.xy[k]), float(self.xz[k]), float(self.yz[k])
        return Pivots(int(self.kind[k]), row_y, row_z, at_y, at_z, *lengths)


class Plan(NamedTuple):
    """What to do in a wave."""

    order: NDArray[
        np.int64
    ]  # (., 2): pieces that still have points, in order, and which step each takes, or -1
    gone: NDArray[
        np.int64
    ]  # (., 2): pieces and the points in them that became r in the wave before
    steps: Steps
    tol: float
    rule: int


class Placed(NamedTuple):
    """A plan with the coordinates of its pivots: an oracle of the steps' y and z in turn (z twice for kind 2)."""

    plan: Plan
    rows: Any


def rows_of(block: Block, points: NDArray[np.int64]) -> Any:
    """The rows of some points of a block."""
    return select_points(block.oracle, points - block.start)


def placed(plan: Plan, place: NDArray[np.int64], *rows: Any) -> Placed:
    """Put rows that came from several blocks in the order of the steps, and measure from y to z."""
    table = type(rows[0])(*(np.concatenate(arrays) for arrays in zip(*rows, strict=True)))
    table = select_points(table, place)
    steps = plan.steps
    yz = steps.yz.copy()
    for k in np.flatnonzero(np.isnan(yz)).tolist():
        block_distances(
            table,
            np.array([2 * k]),
            np.array([2 * k + 1], np.int32),
            yz[k : k + 1].reshape(1, 1),
        )
    return Placed(plan._replace(steps=steps._replace(yz=yz)), table)


def first_wave(block: Block, first: int, row: Any, rule: int) -> Wave:
    """All points but the first one hang off it."""
    slots = np.arange(len(block.priority), dtype=np.int32)
    slots = slots[slots != first - block.start]
    near_a = np.empty(len(slots))
    room = _Room(block, len(row[0]))
    for lo in range(0, len(slots), room.size):
        here = slots[lo : lo + room.size]
        oracle = room.beside(here, row)
        near = near_a[lo : lo + room.size].reshape(1, -1)
        block_distances(
            oracle, np.array([len(here)]), np.arange(len(here), dtype=np.int32), near
        )
    state = State(slots, near_a, np.zeros_like(near_a), np.array([0, len(slots)]))
    points = Points(*state[:3], np.empty(0, np.uint8), _writeable(block.priority))
    lowest, closest = _candidates(block, points, state.starts, rule)
    nobody = np.empty((0, 1, 4))
    largest = float(near_a.max(initial=0.0))
    return state, Summary(
        np.empty((0, CODES), np.int64), nobody, lowest, closest, np.empty(0), largest
    )


def wave(block: Block, before: Wave, what: Placed) -> Wave:
    """Sort the points of all pieces that take a step; see the top of this file."""
    plan = what.plan
    state = _without(block, before[0], what.plan.gone)
    half = len(state.slots)
    points = double_buffered(*state[:3], _writeable(block.priority))
    steps = len(plan.steps.kind)
    counts = np.zeros((steps, CODES), np.int64)
    becomes_r = np.full((steps, 1, 4), np.inf)
    starts = [half]
    stepped = list[int]()
    room = _Room(block, 2)
    for piece, k in plan.order.tolist():
        lo = int(state.starts[piece])
        hi = int(state.starts[piece + 1])
        if k < 0:
            _keep(points, lo, hi, starts[-1])
            starts.append(starts[-1] + hi - lo)
            continue
        becomes_r[k, 0] = _sort(block, room, points, lo, hi, what, k, counts[k])
        sizes = counts[k, :BINS].copy()
        sizes[Z1_R] += counts[k, COULD_BE_R]
        ends = starts[-1] + np.cumsum(sizes)
        kernels.scatter_chunk(points, lo, hi, -1, ends - sizes)
        stepped += range(len(starts) - 1, len(starts) + BINS - 1)
        starts += ends.tolist()
    bounds = np.array(starts)
    found = [_candidates(block, points, bounds[p : p + 2], plan.rule) for p in stepped]
    slots, near_a, near_b = (array[half : starts[-1]].copy() for array in points[:3])
    lowest, closest = (np.concatenate(tables) for tables in zip(*found, strict=True))
    return State(slots, near_a, near_b, bounds - half), Summary(
        counts, becomes_r, lowest, closest, plan.steps.yz, 0.0
    )


def summary_of(done: Wave) -> Summary:
    """The part of a wave that the client asks for."""
    return done[1]


def merged(*parts: Summary) -> Summary:
    """One summary of several blocks."""
    becomes_r, lowest = (
        np.concatenate(tables, axis=1)
        for tables in zip(*(part[1:3] for part in parts), strict=True)
    )
    closest = np.concatenate([part.closest for part in parts], axis=1)
    return Summary(
        np.sum([part.counts for part in parts], axis=0),
        _first(becomes_r, np.argsort(becomes_r[:, :, RANK], axis=1), 1),
        _first(lowest, np.argsort(lowest[:, :, RANK], axis=1), _LOWEST),
        _first(closest, np.lexsort((closest[:, :, RANK], closest[:, :, NEAR_B]), axis=1), 1),
        parts[0].yz,
        max(part.largest for part in parts),
    )


def positions(
    block: Block, state: State, piece: int, gone: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where the points of a piece lie, without those that are gone."""
    lo = int(state.starts[piece])
    hi = int(state.starts[piece + 1])
    places = np.arange(lo, hi)
    for who in gone[gone[:, 0] == piece, 1] - block.start:
        places = places[state.slots[places] != who]
    return places


def _first(
    table: NDArray[np.float64], order: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    return np.take_along_axis(table, order[:, :count, None], axis=1)


def _writeable(array: NDArray[np.int32]) -> NDArray[np.int32]:
    # What has traveled is read-only or lies at odd addresses, and would be compiled for again.
    return np.require(array, requirements=["C", "A", "W"])


class _Room:
    """Memory for some points of a block and for rows from elsewhere, used again and again.

    Nannies have a worker give freed memory back at once (MALLOC_TRIM_THRESHOLD_), so fresh
    memory is slow there.
    """

    def __init__(self, block: Block, more: int) -> None:
        self.size = max(
            256, _CACHE_BYTES // bytes_per_point(block.oracle)
        )  # how many points fit
        self._from = block.oracle
        self._arrays = [
            np.empty((self.size + more, *array.shape[1:]), array.dtype)
            for array in block.oracle
        ]

    def beside(self, slots: NDArray[np.int32], rows: Any) -> Any:
        """An oracle of some points of the block and of rows from elsewhere after them, until the next one is made."""
        arrays = []
        for mine, others, room in zip(self._from, rows, self._arrays, strict=True):
            both = room[: len(slots) + len(others)]
            np.take(
                mine, slots, axis=0, out=both[: len(slots)], mode="clip"
            )  # any other mode has a buffer of its own
            both[len(slots) :] = others
            both.flags.writeable = False
            arrays.append(both)
        return type(self._from)(*arrays)


def _without(block: Block, state: State, gone: NDArray[np.int64]) -> State:
    """A state without the points that became r."""
    out = []
    for piece, who in gone.tolist():
        lo = state.starts[piece]
        hi = state.starts[piece + 1]
        out += (lo + np.flatnonzero(state.slots[lo:hi] == who - block.start)).tolist()
    if not out:
        return state
    starts = state.starts - np.searchsorted(np.sort(out), state.starts)
    slots = state.slots
    near_a = state.near_a
    near_b = state.near_b
    return State(np.delete(slots, out), np.delete(near_a, out), np.delete(near_b, out), starts)


def _keep(points: Points, lo: int, hi: int, to: int) -> None:
    for array in points[:3]:
        array[to : to + hi - lo] = array[lo:hi]


def _sort(
    block: Block,
    room: _Room,
    points: Points,
    lo: int,
    hi: int,
    what: Placed,
    k: int,
    counts: Any,
) -> list[float]:
    """Sort the points lo:hi by step k; return the candidate for r."""
    steps = what.plan.steps
    tol = what.plan.tol
    arms: Arms = kernels.universal_tree(steps.pivots(k, -1, -1, 0, 0), tol)
    at_y, at_z = (
        _position(block, points.slots[lo:hi], int(who)) for who in (steps.y[k], steps.z[k])
    )
    rows = type(what.rows)(*(array[2 * k : 2 * k + 2] for array in what.rows))
    best = [np.inf] * 4
    for start in range(lo, hi, room.size):
        here = slice(start, min(start + room.size, hi))
        slots = points.slots[here]
        size = len(slots)
        part = Points(
            np.arange(size, dtype=np.int32),
            points.near_a[here],
            points.near_b[here],
            points.bins[here],
            block.priority[slots],
        )
        pivots = steps.pivots(k, at_y - (start - lo), at_z - (start - lo), size, size + 1)
        i = kernels.sort_chunk(
            room.beside(slots, rows), part, 0, size, pivots, arms.contracted, tol, counts
        )
        if i >= 0 and part.priority[i] < best[RANK]:
            best = [float(part.priority[i]), float(block.start + slots[i]), 0.0, 0.0]
    return best


def _position(block: Block, slots: NDArray[np.int32], who: int) -> int:
    """Where a point lies in a slice; where no slice has a place if it is in none."""
    found = np.flatnonzero(slots == who - block.start)
    return int(found[0]) if len(found) else -(1 << 40)


def _candidates(
    block: Block, points: Points, bounds: NDArray[np.int64], rule: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Who may be a pivot of the piece between these bounds: (1, 4, 4) and (1, 1, 4)."""
    lo, hi = bounds.tolist()
    lowest = np.full((1, _LOWEST, 4), np.inf)
    closest = np.full((1, 1, 4), np.inf)
    if lo == hi:
        return lowest, closest
    best = np.empty(_LOWEST, np.int64)
    kernels.pick(1, points, lo, hi, RANDOM, best)
    _describe(block, points, best[: hi - lo], lowest[0])
    if rule == CLOSEST:
        kernels.pick(2, points, lo, hi, CLOSEST, best)
        _describe(block, points, best[:1], closest[0])
    return lowest, closest


def _describe(
    block: Block, points: Points, places: NDArray[np.int64], out: NDArray[np.float64]
) -> None:
    slots = points.slots[places]
    rows = (
        block.priority[slots],
        block.start + slots.astype(np.int64),
        points.near_a[places],
        points.near_b[places],
    )
    out[: len(places)] = np.column_stack(rows)
