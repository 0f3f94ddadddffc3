"""The waves of TreeRep: one step in every zone.

A wave processes every pending point three times (_sorting.py): to find its bin, to count, and to
move it to its next zone. The rest of the code works on zones.
"""

from typing import NamedTuple

from ...._core.extras import require
from ...._core.typing import Tensor
from ..metric import DeviceMetric
from . import _sorting as passes
from ._bins import (
    BINS,
    DUPLICATES,
    GONE,
    NEAR,
    ON_EDGE,
    ON_NODE,
    RANDOM,
    TWIN_Y,
    Z2_X,
    Z2_Z,
)

# The node of a step to which each bin is attached: x, y, z are 0, 1, 2, and r is 3.
_X = 0
_Y = 1
_Z = 2
_R = 3
_NODE_OF_BIN = (_R, _X, _Y, _Z, _X, _Y, _Z, _Y, _Z)


class Pending(NamedTuple):
    """Points that are not placed yet, zone by zone, each zone in order of priority."""

    points: Tensor  # int32
    near_a: Tensor  # float64: distance to the node a of the zone ...
    near_b: Tensor  # ... and to b
    zone: Tensor  # int32


class Zones(NamedTuple):
    """A table of zones. `_bins.py` lists their kinds."""

    kind: Tensor  # int8
    start: Tensor  # int64: position of the first of its points
    size: Tensor  # int64
    a: Tensor  # int32
    b: Tensor  # int32
    length: Tensor  # float64: length of the edge (a, b)
    first_node: Tensor  # int32: number of the first node of its points

    def select(self, which: "Tensor | slice") -> "Zones":
        """Return some of the zones."""
        return Zones(*(column[which] for column in self))


class Run(NamedTuple):
    """What all waves share."""

    metric: DeviceMetric
    rule: int  # the rule by which a zone on an edge chooses its pivot
    tol: float  # lengths below this count as zero
    nodes: Tensor  # (n,) int32: the node of each point
    edges: Tensor  # (2 n, 2) int32
    weights: Tensor  # (2 n,) float64


#: Pending points and their zones.
Part = tuple[Pending, Zones]


class Steps(NamedTuple):
    """One step in each zone: the pivots x = a, y and z, and the universal tree on them."""

    at_y: Tensor  # int64: positions of the new pivots; -1 if y is the node b of an edge
    at_z: Tensor
    points: Tensor  # (2, Z) int32: the points y and z
    pivots: Tensor  # (3, Z) int32: the nodes x, y, z
    xy: Tensor  # float64: distances between the pivots
    xz: Tensor
    yz: Tensor
    arms: Tensor  # (3, Z) float64: lengths of the edges from x, y, z to r
    contracted: Tensor  # int8: 1, 2, 3 if r is x, y, z; else 0
    r: Tensor  # int32


class _Division(NamedTuple):
    """The zones created from the bins of a wave, and the target positions of each bin's points."""

    zones: Zones  # those that need another step are first
    n_open: int  # number of zones that need another step
    target: Tensor  # (Z * BINS,) int32: position of the first point of each bin
    number: Tensor  # (Z * BINS,) int32: the new zone of each bin


class Waves:
    """The steps of a run."""

    def __init__(self, run: Run) -> None:
        self.torch = require("torch", "embed")
        self.metric = run.metric
        self.rule = run.rule
        self.tol = run.tol
        self.nodes = run.nodes
        self.n = len(run.nodes)
        self.device = run.nodes.device
        self._edges = run.edges
        self._weights = run.weights
        self._n_edges = 0

    def edges(self) -> int:
        """Return the number of edges so far."""
        return self._n_edges

    def step(self, part: list[Part]) -> tuple[list[Part], int]:
        """Take one step in every zone.

        Returns the points left, in their new zones, if any, and their number. `part` is emptied,
        so that the old arrays can be freed when the points have moved.
        """
        pending, zones = part.pop()
        steps = self._choose_steps(pending, zones, self.rule)
        codes, steps, next_node = self._sort(pending, zones, steps)
        counts, ranks = passes.count_points(codes, pending, zones)
        # The edge from a pivot to r is final when no point is attached to it.
        is_empty = counts[:, Z2_X : Z2_Z + 1].T == 0
        self._connect(steps, is_empty)
        division = self._divide(counts, steps, next_node)
        del counts
        sizes = division.zones.size
        n_open = division.n_open
        # One transfer from the device for both numbers.
        both = self.torch.stack([sizes.sum(), sizes[:n_open].sum()])
        total, left = both.tolist()
        pending = passes.move_points(codes, ranks, pending, division.target, division.number, total)
        self._close_last(pending, division, left)
        if not left:
            return [], 0
        # Copy, so that the memory of closed zones can be freed.
        rest = Pending(*(column[:left].clone() for column in pending))
        return [(rest, division.zones.select(slice(n_open)))], left

    def _sort(self, pending: Pending, zones: Zones, steps: Steps) -> tuple[Tensor, Steps, Tensor]:
        """Sort all points into bins. The first point of a zone at the position of r becomes r.

        Returns the code of each point, the steps with these r, and the next free node of each
        zone.
        """
        torch = self.torch
        codes, first_r = passes.sort_points(self.metric, pending, zones, steps, self.tol)
        found = first_r < len(pending.points)
        # At this point, a zone on a node has placed y and z, and a zone on an edge only z.
        next_node = zones.first_node + 3 - zones.kind
        # Use indices of zones, not a mask, because each use of a mask waits for the device.
        which = torch.nonzero(found)[:, 0]
        at_r = first_r[which]
        codes[at_r] = GONE
        self.nodes[pending.points[at_r]] = next_node[which]
        steps = steps._replace(r=torch.where(found, next_node, steps.r))
        return codes, steps, next_node + found

    def _close_last(self, pending: Pending, division: _Division, left: int) -> None:
        """Close all zones that need no further step. Their points start at `left`."""
        n_open = division.n_open
        closed = Pending(*(column[left:] for column in pending))
        closed = closed._replace(zone=closed.zone - n_open)
        zones = division.zones.select(slice(n_open, None))
        self.close(closed, zones._replace(start=zones.start - left))

    def _choose_steps(self, pending: Pending, zones: Zones, rule: int) -> Steps:
        """Choose the pivots of every zone, place them, and build their universal trees."""
        torch = self.torch
        on_node = zones.kind == ON_NODE
        # On a node, the first two points are y and z. On an edge y = b, and z is chosen.
        at_y = torch.where(on_node, zones.start, -1)
        at_z = zones.start + on_node
        if rule != RANDOM:
            at_z = torch.where(on_node, at_z, self._nearest_to_b(pending, zones, rule))
        points = torch.stack([pending.points[zones.start], pending.points[at_z]])
        node_y = torch.where(on_node, zones.first_node, zones.b)
        node_z = zones.first_node + on_node
        xy = torch.where(on_node, pending.near_a[zones.start], zones.length)
        xz = pending.near_a[at_z]
        yz = pending.near_b[at_z]
        which = torch.nonzero(on_node)[:, 0]
        yz[which] = self.metric.pairs(*points[:, which])
        self.nodes[points[0, which]] = node_y[which]
        self.nodes[points[1]] = node_z
        pivots = torch.stack([zones.a, node_y, node_z])
        arms, contracted, r = self._universal_tree(pivots, xy, xz, yz)
        return Steps(at_y, at_z, points, pivots, xy, xz, yz, arms, contracted, r)

    def _universal_tree(
        self, pivots: Tensor, xy: Tensor, xz: Tensor, yz: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the lengths from x, y and z to r, which of them is r (1, 2, 3 or 0), and r."""
        torch = self.torch
        # Lemma 1: d(x, r) = (y, z)_x, d(y, r) = (x, z)_y, d(z, r) = (x, y)_z
        from_x = 0.5 * (xy + xz - yz)
        from_y = 0.5 * (xy + yz - xz)
        from_z = 0.5 * (xz + yz - xy)
        arms = torch.stack([from_x, from_y, from_z])
        # A pivot that seems to be beyond r is r. If there are several such pivots, the first is r.
        short = arms < self.tol
        contracted = torch.where(short[2], 3, 0)
        contracted = torch.where(short[1], 2, contracted)
        contracted = torch.where(short[0], 1, contracted)
        zero = torch.zeros_like(xy)
        to_x = torch.stack([zero, xy, xz])
        to_y = torch.stack([xy, zero, yz])
        to_z = torch.stack([xz, yz, zero])
        r = pivots[_Z] + self.n  # the Steiner node of a step is n + the node z
        for q, to_q in enumerate((to_x, to_y, to_z)):
            is_r = contracted == q + 1
            arms = torch.where(is_r, to_q, arms)
            r = torch.where(is_r, pivots[q], r)
        return arms, contracted.to(torch.int8), r

    def _nearest_to_b(self, pending: Pending, zones: Zones, rule: int) -> Tensor:
        """Return the position of the point nearest to b, the first if tied.

        The rule NEAR compares the first four points of a zone; the other rules compare all
        points.
        """
        if rule == NEAR:
            return self._nearest_of_four(pending, zones)
        return passes.nearest_to_b(pending, zones)

    def _nearest_of_four(self, pending: Pending, zones: Zones) -> Tensor:
        torch = self.torch
        near_b = pending.near_b
        choice = zones.start
        least = near_b[zones.start]
        for k in range(1, 4):
            position = zones.start + torch.clamp(zones.size - 1, max=k)
            nearer = near_b[position] < least
            choice = torch.where(nearer, position, choice)
            least = near_b[choice]
        return choice

    def _divide(self, counts: Tensor, steps: Steps, next_node: Tensor) -> _Division:
        """Create zones from the bins that contain points.

        The points of a zone's bins become the nodes from `next_node` on, bin by bin.
        """
        torch = self.torch
        flat = counts.reshape(-1)
        cells = torch.nonzero(flat)[:, 0]
        zones = self._zones_of_cells(cells, flat[cells].long(), counts, steps, next_node)
        is_open = _needs_step(zones)
        opened = torch.nonzero(is_open)[:, 0]
        closed = torch.nonzero(~is_open)[:, 0]
        order = torch.cat([opened, closed])
        zones = zones.select(order)
        cells = cells[order]
        zones = zones._replace(start=zones.size.cumsum(0) - zones.size)
        target, number = counts.new_empty((2, counts.numel()), dtype=torch.int32)
        target[cells] = zones.start.int()
        number[cells] = torch.arange(len(cells), dtype=torch.int32, device=self.device)
        return _Division(zones, len(opened), target, number)

    def _zones_of_cells(
        self, cells: Tensor, size: Tensor, counts: Tensor, steps: Steps, next_node: Tensor
    ) -> Zones:
        """Return the bins `cells` (zone * BINS + bin) of these sizes as zones."""
        torch = self.torch
        zone = cells // BINS
        bin_ = cells % BINS
        end = torch.tensor(_NODE_OF_BIN, device=self.device)[bin_]
        pivot = end.clamp(max=_Z)
        r = steps.r[zone]
        node = torch.where(end == _R, r, steps.pivots[pivot, zone])
        # If a pivot coincides with r, there is no edge between them, and the points of that edge
        # are attached to r.
        on_edge = (bin_ >= Z2_X) & (bin_ <= Z2_Z) & (node != r)
        kind = torch.where(on_edge, ON_EDGE, ON_NODE)
        kind = torch.where(bin_ >= TWIN_Y, DUPLICATES, kind)
        # Within a zone, nodes are numbered from bin to bin: next_node + (points of all earlier
        # bins) - (points of all earlier zones).
        before = size.cumsum(0) - size
        per_zone = counts.sum(1)
        before_zone = per_zone.cumsum(0) - per_zone
        first_node = before + (next_node - before_zone)[zone]
        return Zones(
            kind=kind.to(torch.int8),
            start=before,
            size=size,
            a=node,
            b=r,
            length=steps.arms[pivot, zone],
            first_node=first_node.int(),
        )

    def close(self, pending: Pending, zones: Zones) -> None:
        """Add the edges of zones whose points are all pivots of one step, or duplicates."""
        torch = self.torch
        is_single = (zones.kind == ON_NODE) & (zones.size == 1)
        has_leaves = (zones.kind == DUPLICATES) | is_single
        position = torch.nonzero(has_leaves[pending.zone])[:, 0]
        zone = pending.zone[position]
        nodes = (zones.first_node[zone] + position - zones.start[zone]).int()
        self.nodes[pending.points[position]] = nodes
        self._add(zones.a[zone], nodes, pending.near_a[position])
        last_steps = zones.select(torch.nonzero(~has_leaves)[:, 0])
        steps = self._choose_steps(pending, last_steps, RANDOM)
        self._connect(steps, torch.ones_like(steps.arms, dtype=torch.bool))

    def _connect(self, steps: Steps, chosen: Tensor) -> None:
        """Add the chosen edges (3, Z) from the pivots to r, except edges from r to itself."""
        exists = steps.pivots != steps.r
        arm, zone = self.torch.nonzero(chosen & exists, as_tuple=True)
        self._add(steps.pivots[arm, zone], steps.r[zone], steps.arms[arm, zone])

    def _add(self, u: Tensor, v: Tensor, weights: Tensor) -> None:
        here = slice(self._n_edges, self._n_edges + len(weights))
        self._edges[here, 0] = u
        self._edges[here, 1] = v
        self._weights[here] = weights
        self._n_edges = here.stop


def _needs_step(zones: Zones) -> Tensor:
    """Return which zones contain points beyond the pivots of their next step."""
    on_node = (zones.kind == ON_NODE) & (zones.size > 2)
    on_edge = (zones.kind == ON_EDGE) & (zones.size > 1)
    return on_node | on_edge
