"""TreeRep on a device: the split phase all the way down, in waves over all zones at once.

Written in torch alone.

Zones and bins are those of fitting/treerep/_zone_kernels.py, which says what they mean. The
points of a zone lie next to each other in order of priority, and sorting keeps that order: so
the first ones are the pivots, and no priority is stored. A wave touches every point still to be
placed three times: to find its bin, to count, and to move it to its next zone. These passes are
Triton kernels on a GPU (triton_sorting.py) and plain torch elsewhere (torch_sorting.py). The
rest is about zones, and is the same everywhere.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from ...._core.extras import require
from ....fitting.treerep._priorities import Priorities
from ..metric import DeviceMetric, Tensor
from ._torch_sorting import BINS, GONE

# rules for the pivot, as in fitting/treerep/_zone_kernels.py; 0 is the closest
RANDOM = 1
NEAR = 2

# What each bin hangs off: x, y, z (0, 1, 2) or r (3); bins 4, 5, 6 off the edge from there to
# r, 7 and 8 are twins.
_HANGS_OFF = (3, 0, 1, 2, 0, 1, 2, 1, 2)

# More points than this do not go through their later waves together: it bounds the memory for
# zones.
_TOGETHER = 1 << 28
_PIECE = 1 << 26  # points whose priorities are computed together


class Points(NamedTuple):
    """Points still to be placed, zone after zone, each zone in order of priority."""

    slots: Tensor  # int32: which point
    near_a: Tensor  # float64: its distance to the node a of its zone ...
    near_b: Tensor  # ... and to b
    zone: Tensor  # int32


class Zones(NamedTuple):
    """A table of zones: kind 1 hangs off the node a, kind 2 off the edge (a, b), and kind 0 holds duplicates of a."""

    kind: Tensor  # int8
    start: Tensor  # int64: where its points begin
    size: Tensor  # int64
    a: Tensor  # int32
    b: Tensor  # int32
    length: Tensor  # float64: of the edge (a, b)
    names: Tensor  # int32: its points are the nodes from here on

    def taken(self, which: Any) -> "Zones":
        """Some of the zones."""
        return Zones(*(column[which] for column in self))


class Steps(NamedTuple):
    """One step in each zone: its pivots x = a, y and z, their distances, and the universal tree on them."""

    at_y: Tensor  # int64: positions of the fresh points; -1 for the y of kind 2
    at_z: Tensor
    slots: Tensor  # (2, Z) int32: which points y and z are
    pivots: Tensor  # (3, Z) int32: the nodes x, y, z
    xy: Tensor  # float64
    xz: Tensor
    yz: Tensor
    arms: Tensor  # (3, Z) float64: lengths of the edges from x, y, z to r
    contracted: Tensor  # int8: 1, 2, 3 where r is x, y, z; else 0
    r: Tensor  # int32


class DeviceTreeRep:
    """One run of TreeRep on a device.

    Parameters
    ----------
    metric : DeviceMetric
    priorities : Priorities
    rule : int
        How a zone on an edge chooses its pivot.
    tolerance : function
        From the largest distance of the first point to the length below which a length is none.
    bar : progress bar

    Attributes
    ----------
    edges : (m, 2) int32 tensor, weights : (m,) float64 tensor
        Steiner nodes are n and up, with gaps.
    nodes : (n,) int32 tensor
        Which node each point is: those of a zone have numbers next to each other.
    waves, visits : int
        How many waves there were, and how often a point was sorted into a bin.
    """

    def __init__(
        self,
        metric: DeviceMetric,
        priorities: Priorities,
        rule: int,
        tolerance: Callable[[float], float],
        bar: Any,
    ) -> None:
        torch = self.torch = require("torch", "embed")
        self.metric = metric
        self.rule = rule
        self.bar = bar
        self.n = len(metric)
        self.device = metric.table.device
        self.passes = passes_for(self.device)
        self.waves = self.visits = self._n_edges = 0
        self._edges = torch.empty((2 * self.n, 2), dtype=torch.int32, device=self.device)
        self._weights = torch.empty(2 * self.n, dtype=torch.float64, device=self.device)
        order = self._order(priorities)
        first = order[:1]
        slots = order[1:]
        self.nodes = torch.empty_like(order)
        self.nodes[first] = 0
        near_a = self.passes.between(metric, first.expand(len(slots)), slots)
        self.tol = tolerance(float(near_a.max()) if len(slots) else 0.0)
        self.points = Points(slots, near_a, torch.zeros_like(near_a), torch.zeros_like(slots))
        kind, start, size, a, names = torch.tensor(
            [[1], [0], [self.n - 1], [0], [1]], device=self.device
        )
        self.zones = Zones(
            kind.to(torch.int8), start, size, a.int(), a.int(), near_a.new_zeros(1), names.int()
        )

    @property
    def edges(self) -> Tensor:
        """Pairs of nodes."""
        return self._edges[: self._n_edges]

    @property
    def weights(self) -> Tensor:
        """Their lengths."""
        return self._weights[: self._n_edges]

    def _order(self, priorities: Priorities) -> Tensor:
        """All points, lowest priority first."""
        torch = self.torch
        order = torch.empty(self.n, dtype=torch.int32, device=self.device)
        for lo in range(0, self.n, _PIECE):
            ranks = torch.arange(lo, min(lo + _PIECE, self.n), device=self.device)
            order[lo : lo + _PIECE] = priorities.points_at(ranks)
        return order

    def run(self) -> None:
        """Place all points."""
        if not bool(_go_on(self.zones)):
            if self.n > 1:
                self._close(self.points, self.zones)
            return
        waiting = [(self.points, self.zones)]
        del self.points, self.zones
        while waiting:
            parts = self._parts(*waiting.pop())
            waiting += parts if len(parts) > 1 else self._wave(parts)

    def _parts(self, points: Points, zones: Zones) -> list[tuple[Points, Zones]]:
        """Cut many points into stretches of whole zones."""
        torch = self.torch
        if len(points.slots) <= _TOGETHER or len(zones.kind) == 1:
            return [(points, zones)]
        # The zone in which a multiple of the limit lies begins a part.
        marks = torch.arange(0, len(points.slots), _TOGETHER, device=self.device)
        firsts = (torch.searchsorted(zones.start, marks, right=True) - 1).unique().tolist()
        parts = []
        for lo, hi in zip(firsts, [*firsts[1:], len(zones.kind)], strict=True):
            mine = zones.taken(slice(lo, hi))
            begin = int(mine.start[0])
            end = int(mine.start[-1] + mine.size[-1])
            slots, near_a, near_b, zone = (column[begin:end] for column in points)
            parts.append(
                (
                    Points(slots, near_a, near_b, zone - lo),
                    mine._replace(start=mine.start - begin),
                )
            )
        return parts

    def _wave(self, part: list[tuple[Points, Zones]]) -> list[tuple[Points, Zones]]:
        """Take one step in every zone; return the points that are left, if any, in their new zones.

        The list loses what it holds: while the points move, nobody else may keep the memory of
        where they were.
        """
        points, zones = part.pop()
        torch = self.torch
        passes = self.passes
        m = len(points.slots)
        self.waves += 1
        self.visits += m
        steps = self._steps(points, zones, self.rule)
        codes, first_r = passes.sort_points(self.metric, points, zones, steps, self.tol)
        found = first_r < m
        names = zones.names + 3 - zones.kind  # behind those of the fresh pivots
        which = torch.nonzero(found)[
            :, 0
        ]  # numbers, not a mask: each use of a mask waits for the device
        codes[first_r[which]] = GONE
        self.nodes[points.slots[first_r[which]]] = names[which]
        steps = steps._replace(r=torch.where(found, names, steps.r))
        counts, ranks = passes.count_points(codes, points, zones)
        self._connect(steps, counts[:, 4:7].T == 0)
        cells, new, n_left = self._bins(counts, steps, names + found)
        # Where the points of each bin go, and the number of their zone.
        target, number = counts.new_empty((2, counts.numel()), dtype=torch.int32)
        target[cells] = new.start.int()
        number[cells] = torch.arange(len(cells), dtype=torch.int32, device=self.device)
        del counts, cells
        total, left = torch.stack([new.size.sum(), new.size[:n_left].sum()]).tolist()
        points = passes.move_points(codes, ranks, points, target, number, total)
        closed = Points(*(column[left:] for column in points))
        rest = new.taken(slice(n_left, None))
        self._close(
            closed._replace(zone=closed.zone - n_left), rest._replace(start=rest.start - left)
        )
        self.bar.update(m - left)
        # Copies, so that the memory of what is closed is free again.
        return (
            [(Points(*(column[:left].clone() for column in points)), new.taken(slice(n_left)))]
            if left
            else []
        )

    def _steps(self, points: Points, zones: Zones, rule: int) -> Steps:
        """Choose the pivots of every zone and build their universal trees."""
        torch = self.torch
        fresh_y = zones.kind == 1
        at_z = zones.start + fresh_y
        if rule != RANDOM:
            at_z = torch.where(fresh_y, at_z, self._nearest(points, zones, rule))
        at_y = torch.where(fresh_y, zones.start, -1)
        slots = torch.stack([points.slots[zones.start], points.slots[at_z]])
        node_y = torch.where(fresh_y, zones.names, zones.b)
        node_z = zones.names + fresh_y
        xy = torch.where(fresh_y, points.near_a[zones.start], zones.length)
        xz = points.near_a[at_z]
        yz = points.near_b[at_z]
        which = torch.nonzero(fresh_y)[:, 0]
        yz[which] = self.passes.between(self.metric, *slots[:, which])
        self.nodes[slots[0, which]] = node_y[which]
        self.nodes[slots[1]] = node_z
        # Lemma 1: d(x, r) = (y, z)_x, d(y, r) = (x, z)_y, d(z, r) = (x, y)_z
        arms = torch.stack([0.5 * (xy + xz - yz), 0.5 * (xy + yz - xz), 0.5 * (xz + yz - xy)])
        short = arms < self.tol  # a pivot that seems to lie beyond r is r
        contracted = torch.where(
            short[0], 1, torch.where(short[1], 2, torch.where(short[2], 3, 0))
        )
        zero = torch.zeros_like(xy)
        into = (
            torch.stack([zero, xy, xz]),
            torch.stack([xy, zero, yz]),
            torch.stack([xz, yz, zero]),
        )
        pivots = torch.stack([zones.a, node_y, node_z])
        r = node_z + self.n
        for q in range(3):
            arms = torch.where(contracted == q + 1, into[q], arms)
            r = torch.where(contracted == q + 1, pivots[q], r)
        return Steps(at_y, at_z, slots, pivots, xy, xz, yz, arms, contracted.to(torch.int8), r)

    def _nearest(self, points: Points, zones: Zones, rule: int) -> Tensor:
        """Position of the point nearest to b: of the first four, or of all.

        The first of equals.
        """
        torch = self.torch
        if rule == NEAR:
            choice = zones.start
            least = points.near_b[zones.start]
            for k in range(1, 4):
                position = zones.start + torch.clamp(zones.size - 1, max=k)
                nearer = points.near_b[position] < least
                choice = torch.where(nearer, position, choice)
                least = points.near_b[choice]
            return choice
        zone = points.zone.long()
        m = len(points.slots)
        least = points.near_b.new_full((len(zones.kind),), torch.inf)
        least.scatter_reduce_(0, zone, points.near_b, "amin")
        positions = torch.arange(m, device=self.device)
        positions = torch.where(points.near_b == least[zone], positions, m)
        return torch.full_like(zones.start, m).scatter_reduce_(0, zone, positions, "amin")

    def _bins(self, counts: Tensor, steps: Steps, names: Tensor) -> tuple[Tensor, Zones, int]:
        """The bins that hold points as zones: which they are, the zones, and how many go on; those come first.

        The points of a zone's bins are the nodes from `names` on, bin by bin.
        """
        torch = self.torch
        flat = counts.reshape(-1)
        cells = torch.nonzero(flat)[:, 0]
        zone = cells // BINS
        place = cells % BINS
        off = torch.tensor(_HANGS_OFF, device=self.device)[place]
        r = steps.r[zone]
        node = torch.where(off == 3, r, steps.pivots[off.clamp(max=2), zone])
        on_edge = (place >= 4) & (place <= 6) & (node != r)
        kind = torch.where(place > 6, 0, torch.where(on_edge, 2, 1)).to(torch.int8)
        size = flat[cells].long()
        before = size.cumsum(0) - size
        # Numbers run on from bin to bin within a zone; before it lie the points of the zones
        # before.
        per_zone = counts.sum(1)
        own = before + (names - (per_zone.cumsum(0) - per_zone))[zone]
        zones = Zones(
            kind, before, size, node, r, steps.arms[off.clamp(max=2), zone], own.int()
        )
        goes_on = _go_on(zones)
        first, then = (torch.nonzero(which)[:, 0] for which in (goes_on, ~goes_on))
        order = torch.cat([first, then])
        zones = zones.taken(order)
        start = zones.size.cumsum(0) - zones.size
        return cells[order], zones._replace(start=start), len(first)

    def _close(self, points: Points, zones: Zones) -> None:
        """Add the edges of zones that hold no more than the pivots of one step, or duplicates."""
        leaf = (zones.kind == 0) | ((zones.kind == 1) & (zones.size == 1))
        position = self.torch.nonzero(leaf[points.zone])[:, 0]
        zone = points.zone[position]
        names = (zones.names[zone] + position - zones.start[zone]).int()
        self.nodes[points.slots[position]] = names
        self._add(zones.a[zone], names, points.near_a[position])
        steps = self._steps(points, zones.taken(self.torch.nonzero(~leaf)[:, 0]), RANDOM)
        self._connect(steps, self.torch.ones_like(steps.arms, dtype=self.torch.bool))

    def _connect(self, steps: Steps, where: Tensor) -> None:
        """Add the edges from the pivots to r, where asked for and where there is one."""
        arm, zone = self.torch.nonzero(where & (steps.pivots != steps.r), as_tuple=True)
        self._add(steps.pivots[arm, zone], steps.r[zone], steps.arms[arm, zone])

    def _add(self, u: Tensor, v: Tensor, weights: Tensor) -> None:
        here = slice(self._n_edges, self._n_edges + len(weights))
        self._edges[here, 0] = u
        self._edges[here, 1] = v
        self._weights[here] = weights
        self._n_edges = here.stop


def _go_on(zones: Zones) -> Tensor:
    """Which zones hold points beyond the pivots of their next step."""
    return ((zones.kind == 1) & (zones.size > 2)) | ((zones.kind == 2) & (zones.size > 1))


def passes_for(device: Any) -> ModuleType:
    """The module that does the passes over points: Triton's on a GPU where there is Triton, or plain torch."""
    if device.type == "cuda":
        try:
            from . import _triton_sorting as triton_sorting
        except ImportError:  # torch for some systems comes without
            pass
        else:
            return triton_sorting
    from . import _torch_sorting as torch_sorting

    return torch_sorting
