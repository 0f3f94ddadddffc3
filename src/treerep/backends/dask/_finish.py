"""The last phase of TreeRep on a cluster: one worker gathers and finishes small zones."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ...fitting.treerep._skeleton import Zone
from ...fitting.treerep.algorithm import Start, TreeRep
from ...metric.oracle.classes import select_points
from ._oracles import GatheredPoints, RowOracle, stacked
from ._spread_points import Block
from ._waves import Wave, positions


class Part(NamedTuple):
    """The points of one block in the zones of a batch, zone by zone."""

    points: NDArray[np.int32]
    near_a: NDArray[np.float64]
    near_b: NDArray[np.float64]
    priority: NDArray[np.int32]
    rows: RowOracle
    counts: NDArray[np.int64]  # number of points of each zone


class Batch(NamedTuple):
    """Zones that one worker finishes. Their points become the nodes first, first + 1, ..."""

    zones: list[Zone]
    pieces: list[int]
    first: int
    n: int  # total number of points
    tol: float
    rule: int


class Finished(NamedTuple):
    """Edges of the tree of a batch, and the node of each of its points."""

    points: NDArray[np.int32]
    nodes: NDArray[np.int32]
    edges: NDArray[np.int32]
    weights: NDArray[np.float64]


class Bar(Protocol):
    """A progress bar."""

    def update(self, n: int) -> object:
        """Advance the bar by n."""


class _SilentBar:
    """A bar that shows nothing, because the client shows progress batch by batch."""

    def update(self, n: int) -> None:
        """Do nothing."""


def part_of(block: Block, last: Wave, became_r: NDArray[np.int64], pieces: list[int]) -> Part:
    """Extract the points of some pieces from a block."""
    state = last[0]
    by_piece = [positions(block, state, piece, became_r) for piece in pieces]
    here = np.concatenate(by_piece)
    slots = state.slots[here]
    return Part(
        (block.start + slots).astype(np.int32),
        state.near_a[here],
        state.near_b[here],
        block.priority[slots],
        select_points(block.oracle, slots),
        np.array([len(piece) for piece in by_piece]),
    )


def finish(batch: Batch, *parts: Part) -> Finished:
    """Complete the zones of a batch with TreeRep, on one thread."""
    zone_of = np.concatenate([np.repeat(np.arange(len(batch.zones)), part.counts) for part in parts])
    order = np.argsort(zone_of, kind="stable")
    points, near_a, near_b, priority = (
        np.concatenate(arrays) for arrays in zip(*(p[:4] for p in parts), strict=True)
    )
    metric = GatheredPoints(stacked(*(part.rows for part in parts)))
    zones = _local_zones(batch.zones, 2 * len(order))
    begin = Start(order.astype(np.int32), near_a[order], near_b[order], zones)
    with Workers(1) as workers:
        run = TreeRep(metric, priority, batch.tol, batch.rule, workers, _SilentBar(), begin)
        edges, weights = run.run()
    # The run numbers nodes within the batch: m points are 0 ... m - 1, and Steiner nodes m ... 2 m - 1.
    # The nodes to which the zones are attached follow, two for each zone.
    named = batch.first + np.arange(len(points))
    ends = [end for zone in batch.zones for end in (zone.a, zone.b)]
    number = np.concatenate([named, batch.n + named, ends]).astype(np.int32)
    nodes = (batch.first + run.nodes).astype(np.int32)
    return Finished(points, nodes, number[edges], weights)


def _local_zones(zones: list[Zone], first_end: int) -> list[Zone]:
    """Return zones as slices of the points of a batch. Their ends are numbered from first_end on."""
    local = []
    lo = 0
    for k, zone in enumerate(zones):
        a = first_end + 2 * k
        local.append(Zone(zone.kind, lo, lo + zone.size, a, a + 1, zone.length))
        lo += zone.size
    return local


class Duplicates(NamedTuple):
    """Points of one block that coincide with a node of the tree."""

    points: NDArray[np.int32]
    near_a: NDArray[np.float64]  # distance to the node
    counts: NDArray[np.int64]  # number of points of each piece


def duplicates_of(block: Block, last: Wave, became_r: NDArray[np.int64], pieces: list[int]) -> Duplicates:
    """Extract the points of some pieces from a block, without their coordinates."""
    state = last[0]
    by_piece = [positions(block, state, piece, became_r) for piece in pieces]
    here = np.concatenate(by_piece)
    points = (block.start + state.slots[here]).astype(np.int32)
    counts = np.array([len(piece) for piece in by_piece])
    return Duplicates(points, state.near_a[here], counts)
