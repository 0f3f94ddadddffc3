"""The waves of TreeRep as Triton kernels: one step in every zone, in a dozen launches.

The kernels over points are in _triton_sorting.py, and those over zones in _triton_steps.py. The
reference implementation is _torch_waves.py. A wave waits for the device once, to learn how many
zones and points are left.
"""

import itertools
from typing import NamedTuple

import torch
import triton

from ...._core.typing import Tensor
from . import _triton_finish as finishing
from . import _triton_sorting as sorting
from . import _triton_steps as steps
from ._bins import BINS, NEAR, RANDOM
from ._torch_sorting import nearest_to_b
from .zones import Part, Pending, Run, Zones

# Small arrays are kept until the next wave, although they also hold closed zones.
_SMALL = 1 << 20


class _Steps(NamedTuple):
    """One step in each zone: see `Steps` in _torch_waves.py."""

    positions: Tensor  # (2, Z) int64: at_y and at_z
    points: Tensor  # (2, Z) int32
    pivots: Tensor  # (3, Z) int32
    sides: Tensor  # (3, Z) float64: xy, xz, yz
    arms: Tensor  # (3, Z) float64
    contracted: Tensor  # int8
    r: Tensor  # int32


class _Counts(NamedTuple):
    """How many points are in each bin."""

    local: Tensor  # (m,) int16: before each point in its tile
    tiles: Tensor  # (BINS, tiles) int32: in each tile
    up_to: Tensor  # (BINS, tiles) int32: up to and including each tile, see `_running_sums`
    passed: Tensor  # (Z + 1, BINS) int32: before each zone, and in total
    tallies: Tensor  # (TALLIES, Z) int32
    sums: Tensor  # (TALLIES, Z) int32: up to and including each zone, see `_running_sums`


class TritonWaves:
    """The steps of a run: see `Waves`."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.n = len(run.nodes)
        self.device = run.nodes.device
        self._arguments, self._constants = sorting.measuring(run.metric)
        self._window = finishing.largest_zone(self.n)
        # The rule that compares all points of a zone needs a pass over all points.
        self._small = self._window if run.rule in (RANDOM, NEAR) else 0
        self._programs = finishing.programs(self.device)
        self._scratch = finishing.scratch(self.device, self._window)
        self._finish_constants = finishing.constants(run.rule, self._window, self._constants)
        self._pairs_of_nodes = run.edges.view(torch.int64)[:, 0]
        self._tol = sorting.in_memory(run.tol, self.device)
        self._n_edges = torch.zeros(1, dtype=torch.int64, device=self.device)

    def edges(self) -> int:
        """Return the number of edges so far."""
        return int(self._n_edges)

    def step(self, part: list[Part]) -> tuple[list[Part], int]:
        """Take one step in every zone: see `Waves`."""
        pending, zones = part.pop()
        chosen = self._choose(pending, zones)
        codes, next_node = self._sort(pending, zones, chosen)
        counts = self._count(codes, pending, zones, chosen)
        n_open, left, n_closed, n_done, n_edges = _row_sums(counts.sums)
        new_zones, origin, number = self._divide(counts, chosen, next_node, (n_open, n_closed), left)
        self._n_edges += n_edges
        del chosen, next_node
        moved = self._move(codes, counts, pending, (origin, number), left + n_done)
        del pending, counts, codes, origin, number
        self._close(moved, new_zones, left)
        if not left:
            return [], 0
        rest = Pending(*(column[:left] for column in moved))
        if len(moved.points) > _SMALL and 4 * left < 3 * len(moved.points):
            # Copy, so that the memory of closed zones can be freed.
            rest = Pending(*(column.clone() for column in rest))
        return [(rest, new_zones.select(slice(n_open)))], left

    def close(self, pending: Pending, zones: Zones) -> None:
        """Take all steps of zones that contain few points."""
        self._close(pending, zones, 0)

    def _empty(self, shape: tuple[int, ...] | int, dtype: torch.dtype) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=self.device)

    def _choose(self, pending: Pending, zones: Zones) -> _Steps:
        """Choose the pivots of every zone, place them, and build their universal trees."""
        rule = self.run.rule
        n_zones = len(zones.kind)
        chosen = _Steps(
            positions=self._empty((2, n_zones), torch.int64),
            points=self._empty((2, n_zones), torch.int32),
            pivots=self._empty((3, n_zones), torch.int32),
            sides=self._empty((3, n_zones), torch.float64),
            arms=self._empty((3, n_zones), torch.float64),
            contracted=self._empty(n_zones, torch.int8),
            r=self._empty(n_zones, torch.int32),
        )
        if rule not in (RANDOM, NEAR):
            chosen.positions[1] = nearest_to_b(pending, zones)
        steps.choose[(triton.cdiv(n_zones, self._constants["BLOCK"]),)](
            *self._arguments,
            *pending[:3],
            *zones,
            self.run.nodes,
            *chosen,
            self._tol,
            self.n,
            n_zones,
            RULE=rule,
            **self._constants,
        )
        return chosen

    def _sort(self, pending: Pending, zones: Zones, chosen: _Steps) -> tuple[Tensor, Tensor]:
        """Sort all points into bins. The first point of a zone at the position of r becomes r.

        Returns the code of each point, and the next free node of each zone.
        """
        m = len(pending.points)
        n_zones = len(zones.kind)
        codes = self._empty(m, torch.uint8)
        first_r = torch.full_like(zones.start, m)
        sorting.sort[(triton.cdiv(m, self._constants["BLOCK"]),)](
            *self._arguments,
            *pending,
            zones.kind,
            *chosen[:2],
            chosen.sides,
            chosen.contracted,
            codes,
            first_r,
            self._tol,
            m,
            n_zones,
            **self._constants,
        )
        next_node = self._empty(n_zones, torch.int32)
        steps.place_r[(triton.cdiv(n_zones, steps.ZONES),)](
            codes,
            pending.points,
            zones.kind,
            zones.first_node,
            first_r,
            self.run.nodes,
            chosen.r,
            next_node,
            m,
            n_zones,
            BLOCK=steps.ZONES,
        )
        return codes, next_node

    def _count(self, codes: Tensor, pending: Pending, zones: Zones, chosen: _Steps) -> _Counts:
        """Count the points in each bin, and the zones and edges that the bins become."""
        m = len(codes)
        n_zones = len(zones.kind)
        n_tiles = triton.cdiv(m, sorting.TILE)
        local = self._empty(m, torch.int16)
        tiles = self._empty((BINS, n_tiles), torch.int32)
        before_start = self._empty((n_zones, sorting.PACKED), torch.int32)
        sorting.count[(n_tiles,)](
            codes, pending.zone, local, tiles, before_start, m, n_tiles, TILE=sorting.TILE
        )
        up_to = _running_sums(tiles)
        passed = self._empty((n_zones + 1, BINS), torch.int32)
        tallies = self._empty((steps.TALLIES, n_zones), torch.int32)
        steps.tally[(triton.cdiv(n_zones, steps.ZONES),)](
            up_to,
            tiles,
            before_start,
            zones.start,
            chosen.pivots,
            chosen.r,
            passed,
            tallies,
            n_zones,
            n_tiles,
            SMALL=self._small,
            TILE=sorting.TILE,
            BLOCK=steps.ZONES,
        )
        sums = _running_sums(tallies)
        return _Counts(local, tiles, up_to, passed, tallies, sums)

    def _divide(
        self,
        counts: _Counts,
        chosen: _Steps,
        next_node: Tensor,
        n_new: tuple[int, int],
        left: int,
    ) -> tuple[Zones, Tensor, Tensor]:
        """Create zones from the bins that contain points, and the edges without points.

        n_new : number of new zones that need another step, and of other zones
        left : number of points in new zones that need another step
        """
        n_zones = len(next_node)
        total = sum(n_new)
        zones = Zones(
            kind=self._empty(total, torch.int8),
            start=self._empty(total, torch.int64),
            size=self._empty(total, torch.int64),
            a=self._empty(total, torch.int32),
            b=self._empty(total, torch.int32),
            length=self._empty(total, torch.float64),
            first_node=self._empty(total, torch.int32),
        )
        origin = self._empty((n_zones, BINS), torch.int32)
        number = self._empty((n_zones, BINS), torch.int32)
        steps.divide[(triton.cdiv(n_zones, steps.ZONES),)](
            counts.passed,
            counts.tallies,
            counts.sums,
            chosen.pivots,
            chosen.arms,
            chosen.r,
            next_node,
            *zones,
            origin,
            number,
            self.run.edges,
            self.run.weights,
            self._n_edges,
            n_zones,
            n_new[0],
            left,
            SMALL=self._small,
            BLOCK=steps.ZONES,
        )
        return zones, origin, number

    def _move(
        self,
        codes: Tensor,
        counts: _Counts,
        pending: Pending,
        where: tuple[Tensor, Tensor],
        total: int,
    ) -> Pending:
        """Move the points of each bin, in order, to their new zones."""
        m = len(codes)
        n_tiles = counts.tiles.shape[1]
        moved = Pending(*(self._empty(total, column.dtype) for column in pending))
        ranks = counts.local, counts.up_to, counts.tiles
        sorting.move[(n_tiles,)](codes, *ranks, *pending, *where, *moved, m, n_tiles, TILE=sorting.TILE)
        return moved

    def _close(self, pending: Pending, zones: Zones, left: int) -> None:
        """Take all steps of the zones of the points from `left` on."""
        m = len(pending.points)
        if m == left:
            return
        windows = triton.cdiv(m - left, self._window)
        finishing.finish[(min(windows, self._programs),)](
            *self._arguments,
            *pending,
            *zones,
            self.run.nodes,
            self._pairs_of_nodes,
            self.run.weights,
            self._n_edges,
            torch.zeros(1, dtype=torch.int32, device=self.device),
            *self._scratch,
            self._tol,
            self.n,
            left,
            m,
            windows,
            **self._finish_constants,
        )


def _running_sums(table: Tensor) -> Tensor:
    """Return running sums of int32 that continue from row to row.

    One long sum is many times faster than a sum for each of a few rows. Sums above 2^31 wrap
    around, and so do their differences.
    """
    return table.view(-1).cumsum(0, dtype=torch.int32).view_as(table)


def _row_sums(sums: Tensor) -> list[int]:
    """Return the sum of each row, from its running sums. Waits for the device."""
    ends = [0, *sums[:, -1].tolist()]
    return [(end - begin) % (1 << 32) for begin, end in itertools.pairwise(ends)]
