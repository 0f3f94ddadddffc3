"""TreeRep on a device: waves of steps over all zones at once, until every point is placed.

Uses only torch. fitting/treerep/_zone_kernels.py explains zones and bins.

The points of a zone are contiguous and in order of priority, and sorting keeps that order. The
first points of a zone are therefore its pivots, and no priorities are stored.

A wave takes one step in every zone. On a GPU, a wave is a dozen Triton kernels
(_triton_waves.py), because small waves would otherwise wait for hundreds of launches, and one
kernel takes all steps of small zones (_triton_finish.py). On other devices, a wave is plain torch
(_torch_waves.py), which is the reference implementation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...._core.extras import require
from ...._core.typing import Tensor, TorchDevice
from ....fitting.treerep._priorities import Priorities
from ..metric import DeviceMetric
from ._bins import ON_EDGE, ON_NODE


@dataclass(frozen=True)
class Limits:
    """Limits on the memory of a run."""

    points: int = 1 << 28  # points per wave, if they are in several zones
    ranks: int = 1 << 26  # points whose priorities are computed together


class Bar(Protocol):
    """A progress bar."""

    def update(self, n: int) -> object:
        """Advance the bar by n."""


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


class Waves(Protocol):
    """The steps of a run."""

    def step(self, part: list[Part]) -> tuple[list[Part], int]:
        """Take one step in every zone.

        Returns the points left, in their new zones, if any, and their number. `part` is emptied,
        so that the old arrays can be freed when the points have moved.
        """

    def close(self, pending: Pending, zones: Zones) -> None:
        """Take the steps of zones whose points are all pivots of one step, or duplicates."""

    def edges(self) -> int:
        """Return the number of edges so far."""


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
        near = device_pairs(metric, order[:1].expand(self.n - 1), order[1:])
        tol = tolerance(float(near.max()) if self.n > 1 else 0.0)
        edges = torch.empty((2 * self.n, 2), dtype=torch.int32, device=self.device)
        weights = torch.empty(2 * self.n, dtype=torch.float64, device=self.device)
        self._run = Run(metric, rule, tol, self.nodes, edges, weights)
        self._engine = waves_for(self._run)
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
        bijection = priorities.bijection()
        if bijection is not None and has_triton(self.device):
            from ._triton_priorities import points_by_priority

            return points_by_priority(bijection, self.device)
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


def needs_step(zones: Zones) -> Tensor:
    """Return which zones contain points beyond the pivots of their next step."""
    on_node = (zones.kind == ON_NODE) & (zones.size > 2)
    on_edge = (zones.kind == ON_EDGE) & (zones.size > 1)
    return on_node | on_edge


def has_triton(device: TorchDevice) -> bool:
    """Return whether waves on this device are Triton kernels. Some builds of torch lack Triton."""
    if device.type != "cuda":
        return False
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


def device_pairs(metric: DeviceMetric, i: Tensor, j: Tensor) -> Tensor:
    """Return distances of pairs in float64."""
    if has_triton(metric.table.device):
        from ._triton_sorting import pairs

        return pairs(metric, i, j)
    return metric.pairs(i, j)


def waves_for(run: Run) -> Waves:
    """Return the waves of a run: Triton kernels on a GPU with Triton, otherwise torch."""
    if has_triton(run.metric.table.device):
        from ._triton_waves import TritonWaves

        return TritonWaves(run)
    from ._torch_waves import TorchWaves

    return TorchWaves(run)
