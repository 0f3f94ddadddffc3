"""TreeRep on a device: waves of steps over all zones at once, until every point is placed.

Uses only torch. fitting/treerep/_zone_kernels.py explains zones and bins.

The points of a zone are contiguous and in order of priority, and sorting keeps that order. The
first points of a zone are therefore its pivots, and no priorities are stored.

A wave (_waves.py) takes one step in every zone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ...._core.extras import require
from ...._core.typing import Tensor
from ....fitting.treerep._priorities import Priorities
from ..metric import DeviceMetric
from ._bins import ON_NODE
from ._waves import Part, Pending, Run, Waves, Zones


@dataclass(frozen=True)
class Limits:
    """Limits on the memory of a run."""

    points: int = 1 << 28  # points per wave, if they are in several zones
    ranks: int = 1 << 26  # points whose priorities are computed together


class Bar(Protocol):
    """A progress bar."""

    def update(self, n: int) -> object:
        """Advance the bar by n."""


class DeviceTreeRep:
    """One run of TreeRep on a device.

    Parameters
    ----------
    metric : DeviceMetric
    priorities : Priorities
    rule : int
        The rule by which a zone on an edge chooses its pivot.
    tolerance : function
        Maps the largest distance of the first point to the length below which lengths count as
        zero.
    bar : progress bar
    limits : Limits

    Attributes
    ----------
    edges : (m, 2) int32 tensor, weights : (m,) float64 tensor
        Steiner nodes are n and above, with gaps.
    nodes : (n,) int32 tensor
        The node of each point. The points of a zone have consecutive nodes.
    waves, visits : int
        Number of waves, and number of times a point was sorted into a bin.
    """

    def __init__(
        self,
        metric: DeviceMetric,
        priorities: Priorities,
        rule: int,
        tolerance: Callable[[float], float],
        bar: Bar,
        limits: Limits,
    ) -> None:
        torch = require("torch", "embed")
        self.torch = torch
        self.bar = bar
        self.limits = limits
        self.n = len(metric)
        self.device = metric.table.device
        self.waves = 0
        self.visits = 0
        order = self._by_priority(priorities)
        self.nodes = torch.empty_like(order)
        self.nodes[order[:1]] = 0
        near = metric.pairs(order[:1].expand(self.n - 1), order[1:])
        tol = tolerance(float(near.max()) if self.n > 1 else 0.0)
        edges = torch.empty((2 * self.n, 2), dtype=torch.int32, device=self.device)
        weights = torch.empty(2 * self.n, dtype=torch.float64, device=self.device)
        self._run = Run(metric, rule, tol, self.nodes, edges, weights)
        self._engine = Waves(self._run)
        self._waiting = [self._first_zone(order[1:], near)]

    @property
    def edges(self) -> Tensor:
        """Pairs of nodes."""
        return self._run.edges[: self._engine.edges()]

    @property
    def weights(self) -> Tensor:
        """Lengths of the edges."""
        return self._run.weights[: self._engine.edges()]

    def _by_priority(self, priorities: Priorities) -> Tensor:
        """Return all points in ascending order of priority."""
        torch = self.torch
        step = self.limits.ranks
        order = torch.empty(self.n, dtype=torch.int32, device=self.device)
        for lo in range(0, self.n, step):
            ranks = torch.arange(lo, min(lo + step, self.n), device=self.device)
            order[lo : lo + step] = priorities.points_at(ranks)
        return order

    def _first_zone(self, others: Tensor, near_a: Tensor) -> Part:
        """Attach all other points to the first point, which is node 0, as one zone."""
        torch = self.torch
        zeros = torch.zeros_like(others)
        pending = Pending(others, near_a, torch.zeros_like(near_a), zeros)
        zone = torch.zeros(1, dtype=torch.int32, device=self.device)
        zones = Zones(
            kind=torch.tensor([ON_NODE], dtype=torch.int8, device=self.device),
            start=torch.tensor([0], device=self.device),
            size=torch.tensor([self.n - 1], device=self.device),
            a=zone,
            b=zone,
            length=near_a.new_zeros(1),
            first_node=zone + 1,
        )
        return pending, zones

    def run(self) -> None:
        """Place all points."""
        waiting = self._waiting
        if self.n <= 3:  # no zone needs a step
            pending, zones = waiting.pop()
            if self.n > 1:
                self._engine.close(pending, zones)
            return
        while waiting:
            parts = self._parts(*waiting.pop())
            if len(parts) > 1:
                waiting += parts
                continue
            m = len(parts[0][0].points)
            rest, left = self._engine.step(parts)
            waiting += rest
            del rest  # or these points would stay in memory during the next wave
            self.waves += 1
            self.visits += m
            self.bar.update(m - left)

    def _parts(self, pending: Pending, zones: Zones) -> list[Part]:
        """Cut the points into runs of whole zones if there are too many for one wave."""
        torch = self.torch
        m = len(pending.points)
        n_zones = len(zones.kind)
        if m <= self.limits.points or n_zones == 1:
            return [(pending, zones)]
        # The zone that contains a multiple of the limit starts a part.
        marks = torch.arange(0, m, self.limits.points, device=self.device)
        first_zones = (torch.searchsorted(zones.start, marks, right=True) - 1).unique().tolist()
        parts = []
        for lo, hi in zip(first_zones, [*first_zones[1:], n_zones], strict=True):
            own = zones.select(slice(lo, hi))
            begin = int(own.start[0])
            end = int(own.start[-1] + own.size[-1])
            part = Pending(*(column[begin:end] for column in pending))
            part = part._replace(zone=part.zone - lo)
            parts.append((part, own._replace(start=own.start - begin)))
        return parts
