"""Grow branches around a backbone on a device: zones are sorted, split and joined there.

The reference is refinement/backbone/_branches.py.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...._core.extras import require
from ...._core.parallel import Workers
from ...._core.typing import TorchDevice
from ....placement._locate import Places
from ....refinement.backbone._branches import CENTERS, LARGEST, hung_off
from ....tree.tree import Tree
from ..metric import DeviceMetric, Tensor

Zones = NDArray[np.int64]  # (Z, 2): first position and end of each


class Pieces(NamedTuple):
    """Branches of all zones, where points are known by position, and joins by the number of points + position."""

    # (2 n,) int64: the two nodes that each join puts together; -1 where there is none
    join: Tensor
    join_length: Tensor  # (2 n,): of the edges from the join to them
    # (n,) int64: the node of each branch that hangs off the backbone, -1 where there is none
    top: Tensor
    top_height: Tensor
    top_above: Tensor


class Grown(NamedTuple):
    """A tree on a device: numbers below n are points, Steiner nodes follow."""

    edges: Tensor  # (E, 2) int32
    weights: Tensor


def grow(
    passes: ModuleType,
    backbone: Tree,
    space: DeviceMetric,
    sample: NDArray[np.int64],
    rest: Tensor,
    places: Places,
    short: float,
    workers: Workers,
) -> Grown:
    """Return the edges and lengths of `grow` (refinement/backbone/_branches.py), with other names of Steiner nodes."""
    torch = require("torch", "embed")
    n = len(space)
    count = len(rest)
    device = rest.device
    node, above, height = places
    order, zones = _sorted_zones(node, above)
    order, zones = _split(passes, space, rest, order, zones)
    workers.check()
    points = rest[order]
    node = node[order]
    found = passes.join_zones(space, points, height[order], above[order], zones, short)
    workers.check()
    kept = torch.nonzero(found.join[::2] >= 0)[:, 0]  # which joins there are, by position
    names = torch.empty(2 * count, dtype=torch.int32, device=device)
    names[:count] = points
    names[count + kept] = torch.arange(n, n + len(kept), dtype=torch.int32, device=device)
    branches = torch.stack(
        [names[found.join.view(-1, 2)[kept]], names[count + kept][:, None].expand(-1, 2)], dim=2
    )
    tops = torch.nonzero(found.top >= 0)[:, 0]
    where = (node[tops].long(), found.top_above[tops], found.top_height[tops])
    hung, weights = hung_off(
        backbone,
        sample,
        names[found.top[tops]].long().numpy(force=True),
        Places(*(column.numpy(force=True) for column in where)),
        n + len(kept),
        short,
        workers,
    )
    edges = torch.cat(
        [branches.view(-1, 2), torch.from_numpy(hung.astype(np.int32)).to(device)]
    )
    lengths = torch.cat(
        [found.join_length.view(-1, 2)[kept].view(-1), torch.from_numpy(weights).to(device)]
    )
    return Grown(edges, lengths)


def _sorted_zones(node: Tensor, above: Tensor) -> tuple[Tensor, Zones]:
    """Sort points by the node or edge at which they are: those at one are a zone."""
    torch = require("torch", "embed")
    key, order = (2 * node + (above > 0)).int().sort(stable=True)
    return order, _runs(torch.unique_consecutive(key, return_counts=True)[1])


def _runs(counts: Tensor) -> Zones:
    ends = np.cumsum(counts.numpy(force=True))
    return np.column_stack([ends - counts.numpy(force=True), ends])


def _split(
    passes: ModuleType, space: DeviceMetric, rest: Tensor, order: Tensor, zones: Zones
) -> tuple[Tensor, Zones]:
    """Split zones until they are small enough: each point goes to the nearest of some of its zone."""
    torch = require("torch", "embed")
    while (large := zones[:, 1] - zones[:, 0] > LARGEST).any():
        parts = passes.nearest_centers(space, rest[order], zones[large], CENTERS)
        ends = torch.from_numpy(zones[:, 1].copy()).to(order.device)
        number = torch.bucketize(
            torch.arange(len(order), device=order.device), ends, right=True
        )
        key, by = (number * len(order) + parts).sort(stable=True)
        key, counts = torch.unique_consecutive(key, return_counts=True)
        order = order[by]
        zones = _runs(counts)
        of = (key // len(order)).numpy(force=True)  # the zone that each new one was a part of
        alone = (np.diff(of, prepend=-1) != 0) & (np.diff(of, append=-1) != 0)
        zones = _cut(zones, alone & large[of])
    return order, zones


def _cut(zones: Zones, stuck: NDArray[np.bool_]) -> Zones:
    """Cut zones whose points all went to one center, being in one place, as `np.array_split` does."""
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
    """Return the module that works on points and zones: Triton's kernels on a GPU, or compiled ones of the host."""
    if device.type == "cuda":
        try:
            from . import _triton_kernels as triton_backbone
        except ImportError:  # torch for some systems comes without
            pass
        else:
            return triton_backbone
    from . import _placement as torch_placement

    return torch_placement
