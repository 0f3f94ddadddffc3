"""The finish of TreeRep on a cluster: the points of a small zone come together on one worker, which completes it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ...fitting.treerep._skeleton import Zone
from ...fitting.treerep.algorithm import Start, TreeRep
from ...metric._compiled import CompiledMetric
from ...metric.oracle.classes import select_points
from ._spread_points import Block
from ._waves import Wave, positions


class Part(NamedTuple):
    """What one block has of the zones of a batch, zone by zone."""

    points: NDArray[np.int32]
    near_a: NDArray[np.float64]
    near_b: NDArray[np.float64]
    priority: NDArray[np.int32]
    rows: Any  # an oracle of these points
    counts: NDArray[np.int64]  # points of each zone


class Batch(NamedTuple):
    """Zones that one worker finishes.

    Their points, found in these pieces, get the names first, first + 1, ...
    """

    zones: list[Zone]
    pieces: list[int]
    first: int
    n: int  # of all points
    tol: float
    rule: int
    joined: int


class Finished(NamedTuple):
    """Edges of the tree on a batch, in the names of the whole tree, and which node each of its points is."""

    points: NDArray[np.int32]
    nodes: NDArray[np.int32]
    edges: NDArray[np.int32]
    weights: NDArray[np.float64]


class _Gathered(CompiledMetric):
    """Points that came together on a worker."""

    def __init__(self, oracle: Any) -> None:
        self.oracle = oracle

    def __len__(self) -> int:
        return len(self.oracle[0])


class _NoBar:
    def update(self, done: int) -> None:
        """Progress is shown by the client, batch by batch."""


def part_of(block: Block, last: Wave, gone: NDArray[np.int64], pieces: list[int]) -> Part:
    """Take the points of some pieces out of a block."""
    state = last[0]
    places = [positions(block, state, piece, gone) for piece in pieces]
    here = np.concatenate(places)
    slots = state.slots[here]
    return Part(
        (block.start + slots).astype(np.int32),
        state.near_a[here],
        state.near_b[here],
        block.priority[slots],
        select_points(block.oracle, slots),
        np.array([len(mine) for mine in places]),
    )


def finish(batch: Batch, *parts: Part) -> Finished:
    """Complete the zones of a batch."""
    done = completed(batch, *parts)
    names = batch.first + np.arange(len(done.points))
    ends = [end for zone in batch.zones for end in (zone.a, zone.b)]
    table = np.concatenate([names, batch.n + names, ends]).astype(np.int32)
    return done._replace(
        nodes=(batch.first + done.nodes).astype(np.int32), edges=table[done.edges]
    )


def completed(batch: Batch, *parts: Part) -> Finished:
    """Complete the zones of a batch by TreeRep itself, on one thread.

    In names of its own: m points are nodes 0 ... m-1, Steiner nodes are m ... 2 m - 1, and then
    come the nodes that the zones hang off, two each.
    """
    zone_of = np.concatenate(
        [np.repeat(np.arange(len(batch.zones)), part.counts) for part in parts]
    )
    order = np.argsort(zone_of, kind="stable")
    points, near_a, near_b, priority = (
        np.concatenate(arrays) for arrays in zip(*(p[:4] for p in parts), strict=True)
    )
    arrays = [
        np.concatenate(tables) for tables in zip(*(part.rows for part in parts), strict=True)
    ]
    for array in arrays:
        array.flags.writeable = False
    m = len(order)
    begin = Start(
        order.astype(np.int32), near_a[order], near_b[order], _local_zones(batch.zones, 2 * m)
    )
    with Workers(1) as workers:
        metric = _Gathered(type(parts[0].rows)(*arrays))
        run = TreeRep(
            metric, priority, batch.tol, batch.rule, workers, _NoBar(), batch.joined, begin
        )
        edges, weights = run.run()
    return Finished(points, run.nodes, edges, weights)


def _local_zones(zones: list[Zone], first_end: int) -> list[Zone]:
    """Zones as slices of the points of a batch, with numbers of their own for the nodes that they hang off."""
    local = []
    lo = 0
    for k, zone in enumerate(zones):
        local.append(
            Zone(
                zone.kind,
                lo,
                lo + zone.size,
                first_end + 2 * k,
                first_end + 2 * k + 1,
                zone.length,
            )
        )
        lo += zone.size
    return local


def twins_of(
    block: Block, last: Wave, gone: NDArray[np.int64], pieces: list[int]
) -> tuple[Any, Any, Any]:
    """Points that equal a node of the tree, their distances to it, and how many each piece has."""
    state = last[0]
    places = [positions(block, state, piece, gone) for piece in pieces]
    here = np.concatenate(places)
    counts = np.array([len(mine) for mine in places])
    return (block.start + state.slots[here]).astype(np.int32), state.near_a[here], counts
