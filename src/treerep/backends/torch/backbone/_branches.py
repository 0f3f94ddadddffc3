"""Branches around a backbone on a device, which sorts, splits and joins zones.

The reference implementation is refinement/backbone/_branches.py.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...._core.extras import require
from ...._core.parallel import Workers
from ...._core.typing import Tensor, TorchDevice
from ....placement._locate import Places
from ....refinement.backbone._branches import CENTERS, LARGEST, hung_off
from ....tree.tree import Tree
from ..metric import DeviceMetric

Zones = NDArray[np.int64]  # (Z, 2): start and end of each


class DevicePlaces(NamedTuple):
    """`Places` on a device."""

    node: Tensor
    above: Tensor
    height: Tensor


class Joins(NamedTuple):
    """Branches of all zones. Nodes 0 ... n-1 are points by position, n + k is join k."""

    join: Tensor  # (2 n,) int64: the two nodes of each join, -1 for none
    join_length: Tensor  # (2 n,): lengths of the edges from the join to them
    top: Tensor  # (n,) int64: top node of each branch, -1 for none
    top_height: Tensor
    top_above: Tensor


class Grown(NamedTuple):
    """A tree on a device. Nodes below n are points, Steiner nodes follow."""

    edges: Tensor  # (E, 2) int32
    weights: Tensor


def grow(
    passes: ModuleType,
    backbone: Tree,
    space: DeviceMetric,
    sample: NDArray[np.int64],
    rest: Tensor,
    places: DevicePlaces,
    short: float,
    workers: Workers,
) -> Grown:
    """Return the tree of `grow` in refinement/backbone/_branches.py, up to numbers of Steiner nodes."""
    torch = require("torch", "embed")
    n = len(space)
    count = len(rest)
    device = rest.device
    order, zones = _sorted_zones(places.node, places.above)
    order, zones = _split(passes, space, rest, order, zones)
    workers.check()
    points = rest[order]
    placed = DevicePlaces(*(column[order] for column in places))
    found = passes.join_zones(space, points, placed.height, placed.above, zones, short)
    workers.check()
    # Number the joins that exist n, n + 1, ...
    joins = torch.nonzero(found.join[::2] >= 0)[:, 0]
    steiner = torch.arange(n, n + len(joins), dtype=torch.int32, device=device)
    number = torch.empty(2 * count, dtype=torch.int32, device=device)
    number[:count] = points
    number[count + joins] = steiner
    # Each join has two edges, one to each of its nodes.
    lower = number[found.join.view(-1, 2)[joins]]
    upper = steiner[:, None].expand(-1, 2)
    branches = torch.stack([lower, upper], dim=2).view(-1, 2)
    branch_lengths = found.join_length.view(-1, 2)[joins].view(-1)
    # The branches are attached to the backbone at the positions of their top nodes.
    tops = torch.nonzero(found.top >= 0)[:, 0]
    node = placed.node[tops].long().numpy(force=True)
    above = found.top_above[tops].numpy(force=True)
    height = found.top_height[tops].numpy(force=True)
    edges, lengths = hung_off(
        backbone,
        sample,
        number[found.top[tops]].long().numpy(force=True),
        Places(node, above, height),
        n + len(joins),
        short,
        workers,
    )
    backbone_edges = torch.from_numpy(edges.astype(np.int32)).to(device)
    backbone_lengths = torch.from_numpy(lengths).to(device)
    return Grown(
        torch.cat([branches, backbone_edges]),
        torch.cat([branch_lengths, backbone_lengths]),
    )


def _sorted_zones(node: Tensor, above: Tensor) -> tuple[Tensor, Zones]:
    """Sort points by the node or edge of their position. The points of each form a zone."""
    torch = require("torch", "embed")
    key, order = (2 * node + (above > 0)).int().sort(stable=True)
    return order, _runs(torch.unique_consecutive(key, return_counts=True)[1])


def _runs(counts: Tensor) -> Zones:
    ends = np.cumsum(counts.numpy(force=True))
    return np.column_stack([ends - counts.numpy(force=True), ends])


def _split(
    passes: ModuleType, space: DeviceMetric, rest: Tensor, order: Tensor, zones: Zones
) -> tuple[Tensor, Zones]:
    """Split zones until they are small enough, assigning each point to the nearest center."""
    torch = require("torch", "embed")
    while (large := zones[:, 1] - zones[:, 0] > LARGEST).any():
        parts = passes.nearest_centers(space, rest[order], zones[large], CENTERS)
        ends = torch.from_numpy(zones[:, 1].copy()).to(order.device)
        position = torch.arange(len(order), device=order.device)
        number = torch.bucketize(position, ends, right=True)
        # Sort by zone and center, keeping the order of the points.
        key, by = (number * len(order) + parts).sort(stable=True)
        key, counts = torch.unique_consecutive(key, return_counts=True)
        order = order[by]
        zones = _runs(counts)
        # A large zone that remains in one part was not split.
        old = (key // len(order)).numpy(force=True)  # the original zone of each new one
        is_first = np.diff(old, prepend=-1) != 0
        is_last = np.diff(old, append=-1) != 0
        zones = _cut(zones, is_first & is_last & large[old])
    return order, zones


def _cut(zones: Zones, stuck: NDArray[np.bool_]) -> Zones:
    """Cut zones whose points were all assigned to one center, as `np.array_split` does."""
    if not stuck.any():
        return zones
    pieces = []
    for (begin, end), cut in zip(zones.tolist(), stuck.tolist(), strict=True):
        if cut:
            cuts = np.array_split(np.arange(begin, end), -(-(end - begin) // LARGEST))
            pieces += [(part[0], part[-1] + 1) for part in cuts]
        else:
            pieces.append((begin, end))
    return np.array(pieces)


def zone_passes(device: TorchDevice) -> ModuleType:
    """Return the module for points and zones: Triton kernels on a GPU, or host kernels."""
    if device.type == "cuda":
        try:
            from . import _triton_kernels as triton_backbone
        except ImportError:  # some builds of torch lack Triton
            pass
        else:
            return triton_backbone
    from . import _placement as torch_placement

    return torch_placement
