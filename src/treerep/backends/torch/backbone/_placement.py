"""Backbone trees without Triton.

The device measures distances, and kernels on the host do the rest.
"""

import numpy as np
from numpy.typing import NDArray

from ...._core.extras import require
from ...._core.typing import Tensor
from ....metric.base import read_only
from ....placement._least_squares_places import Scale, place_rows
from ....placement._locate import Places
from ....refinement.backbone._branches import joined
from ....tree.structure.rooted import Preorder
from ..metric import DeviceMetric
from ._branches import Joins, Zones

_ENTRIES = 1 << 20  # distances at a time


class Placement:
    """Places points in one tree, at most `step` at a time."""

    def __init__(self, space: DeviceMetric, tree: Preorder, sample: Tensor, scale: Scale) -> None:
        self.space = space
        self.tree = tree
        self.sample = sample
        self.scale = scale
        self.step = max(1, _ENTRIES // len(sample))

    def __call__(self, points: Tensor, node: Tensor, above: Tensor, height: Tensor) -> None:
        """Write the positions of points."""
        m = len(points)
        found = Places(np.empty(m, np.int64), np.empty(m), np.empty(m))
        distances = read_only(block(self.space, points, self.sample))
        place_rows(self.tree, self.scale, distances, found)
        for out, values in zip((node, above, height), found, strict=True):
            out.copy_(require("torch", "embed").from_numpy(values))


def block(space: DeviceMetric, rows: Tensor, cols: Tensor) -> NDArray[np.float64]:
    """Return the distances between two lists of points, on the host."""
    i = rows.long().repeat_interleave(len(cols))
    j = cols.long().repeat(len(rows))
    measured = space.pairs(i, j).view(len(rows), len(cols))
    distances: NDArray[np.float64] = measured.numpy(force=True)
    return distances


def nearest_centers(space: DeviceMetric, points: Tensor, zones: Zones, step: int) -> Tensor:
    """Return the nearest center of each point. Every step-th point of a zone is a center."""
    torch = require("torch", "embed")
    out = torch.zeros(len(points), dtype=torch.int32, device=points.device)
    for begin, end in zones.tolist():
        centers = points[begin:end:step]
        rows = max(1, _ENTRIES // len(centers))
        for lo in range(begin, end, rows):
            part = slice(lo, min(lo + rows, end))
            nearest = block(space, points[part], centers).argmin(axis=1)
            out[part] = torch.from_numpy(nearest).to(out)
    return out


def join_zones(
    space: DeviceMetric,
    points: Tensor,
    height: Tensor,
    above: Tensor,
    zones: Zones,
    short: float,
) -> Joins:
    """Join the points of each zone into branches."""
    torch = require("torch", "embed")
    n = len(points)
    join = np.full((n, 2), -1)
    length = np.zeros((n, 2))
    top = np.full(n, -1)
    heights, aboves = (column.numpy(force=True).copy() for column in (height, above))
    for begin, end in zones.tolist():
        part = slice(begin, end)
        distances = block(space, points[part], points[part])
        found = joined(distances, heights[part].copy(), aboves[part].copy(), short)
        joins = len(found.lengths) // 2
        names = np.concatenate([np.arange(begin, end), n + begin + np.arange(joins)])
        join[begin : begin + joins] = names[found.edges[:, 0]].reshape(-1, 2)
        length[begin : begin + joins] = found.lengths.reshape(-1, 2)
        # Only the order of the branches matters, not their indices in the zone.
        here = slice(begin, begin + len(found.tops))
        top[here] = names[found.tops]
        aboves[here] = found.above
        heights[here] = found.height
    arrays = (join.reshape(-1), length.reshape(-1), top, heights, aboves)
    return Joins(*(torch.from_numpy(array).to(points.device) for array in arrays))
