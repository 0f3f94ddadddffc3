"""One split wave of TreeRep on one block of points: the tasks of a worker, as pure functions.

The input of a wave is a block, the state after the previous wave, and a plan with the pivots of
all large zones and their coordinates. The wave sorts the points of the block with the same
kernels as on one machine. It returns a new state and a summary for the client: the number of
points in each bin, and the candidates for the next pivots. If a worker is lost, its states are
recomputed from the block and the plans.

In a state, the points are sorted by *piece*. A zone is one piece of every block. A step turns
one piece into nine.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...fitting.treerep import _zone_kernels as kernels
from ...fitting.treerep._zone_kernels import (
    BINS,
    CLOSEST,
    CODES,
    COULD_BE_R,
    Z1_R,
    Arms,
    Pivots,
    Points,
)
from ...fitting.treerep.algorithm import double_buffered
from ...metric.oracle.blocks import write_block
from ...metric.oracle.classes import bytes_per_point, select_points
from ._oracles import RowOracle, part_of_oracle, stacked
from ._spread_points import Block

# Points that are sorted together fit into the cache along with their pivots.
_CACHE_BYTES = 1 << 20
_FEWEST_POINTS = 256  # minimum number of points sorted together
_LOWEST = 4  # largest number of points that a step compares, for any rule

# Columns of a table of candidates.
RANK = 0
POINT = 1
NEAR_A = 2
NEAR_B = 3
COLUMNS = 4


class State(NamedTuple):
    """The points of a block that are not yet in the tree, sorted by piece."""

    slots: NDArray[np.int32]  # row in the block
    near_a: NDArray[np.float64]
    near_b: NDArray[np.float64]
    starts: NDArray[np.int64]  # piece p is starts[p]:starts[p+1]

    def bounds(self, piece: int) -> tuple[int, int]:
        """Return the first position and the end of a piece."""
        return int(self.starts[piece]), int(self.starts[piece + 1])


class Summary(NamedTuple):
    """The results of a wave for the client.

    Candidates are rows (priority, point, near_a, near_b). A row of inf means no candidate.
    Steps are in the order of the plan, with nine pieces each.
    """

    counts: NDArray[np.int64]  # (steps, CODES)
    r_candidates: NDArray[np.float64]  # (steps, 1, 4): points that may become r
    lowest: NDArray[np.float64]  # (pieces, 4, 4): lowest priority first
    # (pieces, 1, 4): least near_b; filled only if the rule needs it
    closest: NDArray[np.float64]
    yz: NDArray[np.float64]  # (steps,)
    largest: float  # distance from the first point, in the first wave


Wave = tuple[State, Summary]


class Steps(NamedTuple):
    """The steps of a wave, one entry each. `y` and `z` are points; y is -1 for kind 2."""

    kind: NDArray[np.int64]
    y: NDArray[np.int64]
    z: NDArray[np.int64]
    xy: NDArray[np.float64]
    xz: NDArray[np.float64]
    yz: NDArray[np.float64]  # nan until measured

    def pivots(self, k: int, at_y: int, at_z: int, row_y: int, row_z: int) -> Pivots:
        """Return step k in the form that kernels accept.

        `at_y` and `at_z` are positions in a slice of points, `row_y` and `row_z` in an oracle.
        """
        return Pivots(
            kind=int(self.kind[k]),
            y=row_y,
            z=row_z,
            at_y=at_y,
            at_z=at_z,
            xy=float(self.xy[k]),
            xz=float(self.xz[k]),
            yz=float(self.yz[k]),
        )


class Plan(NamedTuple):
    """The instructions for a wave."""

    # (., 2): pieces that still have points, in order, and the step of each, or -1
    order: NDArray[np.int64]
    # (., 2): pieces and the points in them that became r in the previous wave
    became_r: NDArray[np.int64]
    steps: Steps
    tol: float
    rule: int


class PlanWithPivots(NamedTuple):
    """A plan with the coordinates of its pivots."""

    plan: Plan
    rows: RowOracle  # y and z of each step in turn; z twice for kind 2


def rows_of(block: Block, points: NDArray[np.int64]) -> RowOracle:
    """Return the rows of some points of a block."""
    return select_points(block.oracle, points - block.start)


def with_pivots(plan: Plan, row: NDArray[np.int64], *rows: RowOracle) -> PlanWithPivots:
    """Add the pivots to a plan, and measure the distances from y to z.

    `rows` come from several blocks. `row` contains, for each y and z in turn, its row in `rows`.
    """
    table = select_points(stacked(*rows), row)
    steps = plan.steps
    yz = steps.yz.copy()
    for k in np.flatnonzero(np.isnan(yz)).tolist():
        y = np.array([2 * k])
        z = np.array([2 * k + 1], np.int32)
        write_block(table, y, z, yz[k : k + 1].reshape(1, 1))
    return PlanWithPivots(plan._replace(steps=steps._replace(yz=yz)), table)


def first_wave(block: Block, first: int, row: RowOracle, rule: int) -> Wave:
    """Attach all other points to the first point, whose coordinates are in `row`."""
    slots = np.arange(len(block.priority), dtype=np.int32)
    slots = slots[slots != first - block.start]
    near_a = np.empty(len(slots))
    workspace = _Workspace(block, len(row[0]))
    for lo in range(0, len(slots), workspace.size):
        here = slots[lo : lo + workspace.size]
        size = len(here)
        oracle = workspace.oracle(here, row)
        near = near_a[lo : lo + size].reshape(1, -1)
        write_block(oracle, np.array([size]), np.arange(size, dtype=np.int32), near)
    state = State(slots, near_a, np.zeros_like(near_a), np.array([0, len(slots)]))
    points = Points(*state[:3], np.empty(0, np.uint8), _writeable(block.priority))
    lowest, closest = _candidates(block, points, 0, len(slots), rule)
    summary = Summary(
        counts=np.empty((0, CODES), np.int64),
        r_candidates=np.empty((0, 1, COLUMNS)),
        lowest=lowest,
        closest=closest,
        yz=np.empty(0),
        largest=float(near_a.max(initial=0.0)),
    )
    return state, summary


def wave(block: Block, before: Wave, sent: PlanWithPivots) -> Wave:
    """Sort the points of all pieces that take a step. See the module docstring."""
    plan = sent.plan
    state = _without_r(block, before[0], plan.became_r)
    # The second half of these arrays receives the points in their next order.
    half = len(state.slots)
    points = double_buffered(*state[:3], _writeable(block.priority))
    n_steps = len(plan.steps.kind)
    counts = np.zeros((n_steps, CODES), np.int64)
    r_candidates = np.full((n_steps, 1, COLUMNS), np.inf)
    starts = [half]
    divided = list[int]()  # the new pieces that need candidates for pivots
    workspace = _Workspace(block, 2)
    for piece, k in plan.order.tolist():
        lo, hi = state.bounds(piece)
        if k < 0:
            _copy_piece(points, lo, hi, starts[-1])
            starts.append(starts[-1] + hi - lo)
            continue
        r_candidates[k, 0] = _sort(block, workspace, points, (lo, hi), sent, k, counts[k])
        sizes = counts[k, :BINS].copy()
        sizes[Z1_R] += counts[k, COULD_BE_R]
        ends = starts[-1] + np.cumsum(sizes)
        kernels.scatter_chunk(points, lo, hi, -1, ends - sizes)
        divided += range(len(starts) - 1, len(starts) + BINS - 1)
        starts += ends.tolist()
    found = [_candidates(block, points, starts[piece], starts[piece + 1], plan.rule) for piece in divided]
    lowest, closest = (np.concatenate(tables) for tables in zip(*found, strict=True))
    slots, near_a, near_b = (array[half : starts[-1]].copy() for array in points[:3])
    after = State(slots, near_a, near_b, np.array(starts) - half)
    return after, Summary(counts, r_candidates, lowest, closest, plan.steps.yz, 0.0)


def summary_of(done: Wave) -> Summary:
    """Return the part of a wave that the client needs."""
    return done[1]


def merged(*parts: Summary) -> Summary:
    """Merge the summaries of several blocks."""
    r_candidates = np.concatenate([part.r_candidates for part in parts], axis=1)
    lowest = np.concatenate([part.lowest for part in parts], axis=1)
    closest = np.concatenate([part.closest for part in parts], axis=1)
    by_rank = np.argsort(r_candidates[:, :, RANK], axis=1)
    lowest_by_rank = np.argsort(lowest[:, :, RANK], axis=1)
    # Sorted by near_b, then by priority.
    by_near_b = np.lexsort((closest[:, :, RANK], closest[:, :, NEAR_B]), axis=1)
    return Summary(
        np.sum([part.counts for part in parts], axis=0),
        _take_first(r_candidates, by_rank, 1),
        _take_first(lowest, lowest_by_rank, _LOWEST),
        _take_first(closest, by_near_b, 1),
        parts[0].yz,
        max(part.largest for part in parts),
    )


def positions(block: Block, state: State, piece: int, became_r: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the points of a piece, except those that became r."""
    here = np.arange(*state.bounds(piece))
    for slot in became_r[became_r[:, 0] == piece, 1] - block.start:
        here = here[state.slots[here] != slot]
    return here


def _take_first(table: NDArray[np.float64], order: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    return np.take_along_axis(table, order[:, :count, None], axis=1)


def _writeable(array: NDArray[np.int32]) -> NDArray[np.int32]:
    # Received arrays may be read-only or unaligned. Kernels would be compiled again for such
    # arrays.
    return np.require(array, requirements=["C", "A", "W"])


class _Workspace:
    """Memory for an oracle of some points of a block and of rows from other blocks.

    The memory is reused, because allocation is slow on workers with a nanny: they return freed
    memory immediately (MALLOC_TRIM_THRESHOLD_).
    """

    def __init__(self, block: Block, n_others: int) -> None:
        # Number of points of the block that fit.
        self.size = max(_FEWEST_POINTS, _CACHE_BYTES // bytes_per_point(block.oracle))
        self._block_oracle = block.oracle
        self._arrays = [
            np.empty((self.size + n_others, *array.shape[1:]), array.dtype) for array in block.oracle
        ]

    def oracle(self, slots: NDArray[np.int32], others: RowOracle) -> RowOracle:
        """Return an oracle of some points of the block, followed by rows of other blocks.

        The oracle is valid until the next call.
        """
        arrays = []
        m = len(slots)
        for mine, theirs, memory in zip(self._block_oracle, others, self._arrays, strict=True):
            both = memory[: m + len(theirs)]
            # Any other mode of `take` allocates a buffer.
            np.take(mine, slots, axis=0, out=both[:m], mode="clip")
            both[m:] = theirs
            both.flags.writeable = False
            arrays.append(both)
        return type(self._block_oracle)(*arrays)


def _without_r(block: Block, state: State, became_r: NDArray[np.int64]) -> State:
    """Return a state without the points that became r."""
    removed: list[int] = []
    for piece, point in became_r.tolist():
        lo, hi = state.bounds(piece)
        found = np.flatnonzero(state.slots[lo:hi] == point - block.start)
        removed += (lo + found).tolist()
    if not removed:
        return state
    n_before = np.searchsorted(np.sort(removed), state.starts)
    return State(
        np.delete(state.slots, removed),
        np.delete(state.near_a, removed),
        np.delete(state.near_b, removed),
        state.starts - n_before,
    )


def _copy_piece(points: Points, lo: int, hi: int, to: int) -> None:
    for array in points[:3]:
        array[to : to + hi - lo] = array[lo:hi]


def _sort(
    block: Block,
    workspace: _Workspace,
    points: Points,
    bounds: tuple[int, int],
    sent: PlanWithPivots,
    k: int,
    counts: NDArray[np.int64],
) -> list[float]:
    """Sort the points between these bounds by step k, and return the candidate for r."""
    lo, hi = bounds
    steps = sent.plan.steps
    tol = sent.plan.tol
    arms: Arms = kernels.universal_tree(steps.pivots(k, -1, -1, 0, 0), tol)
    at_y = _position(block, points.slots[lo:hi], int(steps.y[k]))
    at_z = _position(block, points.slots[lo:hi], int(steps.z[k]))
    y_and_z = part_of_oracle(sent.rows, slice(2 * k, 2 * k + 2))
    best = [np.inf] * COLUMNS
    for start in range(lo, hi, workspace.size):
        here = slice(start, min(start + workspace.size, hi))
        slots = points.slots[here]
        size = len(slots)
        # In the oracle, the points of this part are followed by y and z.
        oracle = workspace.oracle(slots, y_and_z)
        part = Points(
            slots=np.arange(size, dtype=np.int32),
            near_a=points.near_a[here],
            near_b=points.near_b[here],
            bins=points.bins[here],
            priority=block.priority[slots],
        )
        passed = start - lo
        pivots = steps.pivots(k, at_y - passed, at_z - passed, size, size + 1)
        i = kernels.sort_chunk(oracle, part, 0, size, pivots, arms.contracted, tol, counts)
        if i >= 0 and part.priority[i] < best[RANK]:
            best = [float(part.priority[i]), float(block.start + slots[i]), 0.0, 0.0]
    return best


def _position(block: Block, slots: NDArray[np.int32], point: int) -> int:
    """Return the position of a point in a slice, or a number outside any slice."""
    found = np.flatnonzero(slots == point - block.start)
    return int(found[0]) if len(found) else -(1 << 40)


def _candidates(
    block: Block, points: Points, lo: int, hi: int, rule: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return candidates for pivots among the points lo:hi: `lowest` (1, 4, 4), `closest` (1, 1, 4)."""
    lowest = np.full((1, _LOWEST, COLUMNS), np.inf)
    closest = np.full((1, 1, COLUMNS), np.inf)
    if lo == hi:
        return lowest, closest
    best = np.empty(_LOWEST, np.int64)
    kernels.lowest(points, lo, hi, best)
    _describe(block, points, best[: hi - lo], lowest[0])
    if rule == CLOSEST:
        kernels.pick(2, points, lo, hi, CLOSEST, best)
        _describe(block, points, best[:1], closest[0])
    return lowest, closest


def _describe(block: Block, points: Points, chosen: NDArray[np.int64], out: NDArray[np.float64]) -> None:
    """Write a row for each candidate."""
    slots = points.slots[chosen]
    m = len(chosen)
    out[:m, RANK] = block.priority[slots]
    out[:m, POINT] = block.start + slots.astype(np.int64)
    out[:m, NEAR_A] = points.near_a[chosen]
    out[:m, NEAR_B] = points.near_b[chosen]
