"""The passes of TreeRep over points in plain torch: for any device, and as the twin of the Triton kernels."""

from typing import TYPE_CHECKING, NamedTuple

from ...._core.extras import require
from ..metric import DeviceMetric, Tensor

if TYPE_CHECKING:
    from .zones import Points, Steps, Zones

# As in fitting/treerep/_zone_kernels.py, which cannot be imported without a compiler.
BINS = 9
COULD_BE_R = 9
GONE = 10


class Ranks(NamedTuple):
    """Which bin of which zone each point is in, and how many points of that bin come before it."""

    cell: Tensor
    rank: Tensor


def between(metric: DeviceMetric, i: Tensor, j: Tensor) -> Tensor:
    """Distances of pairs in float64."""
    return metric.between(i, j)


def sort_points(
    metric: DeviceMetric, points: "Points", zones: "Zones", steps: "Steps", tol: float
) -> tuple[Tensor, Tensor]:
    """Return the bin of each point, and the first of each zone that could be r (or the number of points).

    near_a and near_b become what the next zones carry. See `_sort` in
    fitting/treerep/_zone_kernels.py.
    """
    torch = require("torch", "embed")
    zone = points.zone.long()
    m = len(points.slots)
    fresh_y = (zones.kind == 1)[zone]
    x = points.near_a
    to_z = metric.between(steps.slots[1][zone], points.slots)
    y = torch.where(fresh_y, 0.0, points.near_b)
    which = torch.nonzero(fresh_y)[:, 0]
    y[which] = metric.between(steps.slots[0][zone[which]], points.slots[which])
    where, to_q, to_r = _bin(x, y, to_z, steps.xy[zone], steps.xz[zone], steps.yz[zone], tol)
    twin_y = fresh_y & (y < tol)
    twin_z = to_z < tol
    where = torch.where(twin_z, 8, torch.where(twin_y, 7, where))
    to_q = torch.where(twin_z, to_z, torch.where(twin_y, y, to_q))
    to_r = torch.where(twin_z | twin_y, 0.0, to_r)
    contracted = steps.contracted[zone]
    where = torch.where((where == COULD_BE_R) & (contracted > 0), 0, where)
    onto_r = (contracted > 0) & (where == 3 + contracted)
    points.near_a.copy_(torch.where(onto_r, to_r, to_q))
    points.near_b.copy_(to_r)
    where[steps.at_z] = GONE
    where[steps.at_y[zones.kind == 1]] = GONE
    position = torch.arange(m, device=where.device)
    candidates = torch.where(where == COULD_BE_R, position, m)
    first_r = torch.full_like(zones.start, m).scatter_reduce_(0, zone, candidates, "amin")
    return where.to(torch.uint8), first_r


def _bin(
    x: Tensor, y: Tensor, z: Tensor, xy: Tensor, xz: Tensor, yz: Tensor, tol: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return bin, distance to the node it names and distance to r: `_sort_point` of the CPU, for all points."""
    torch = require("torch", "embed")
    a = 0.5 * (x + y - xy)  # (x, y)_w
    b = 0.5 * (y + z - yz)  # (y, z)_w
    c = 0.5 * (z + x - xz)  # (z, x)_w
    ab = (a - b).abs() < tol
    bc = (b - c).abs() < tol
    ac = (a - c).abs() < tol
    equal = ab & bc & ac
    mean = (a + b + c) / 3.0
    is_r = (a < tol) & (b < tol) & (c < tol)
    at_z = torch.where(((z - b).abs() < tol) & ((z - c).abs() < tol), 3, 6)
    at_x = torch.where(((x - a).abs() < tol) & ((x - c).abs() < tol), 1, 4)
    at_y = torch.where(((y - a).abs() < tol) & ((y - b).abs() < tol), 2, 5)
    to_z = (a >= b) & (a >= c)
    to_x = b >= c
    where = torch.where(to_z, at_z, torch.where(to_x, at_x, at_y))
    to_q = torch.where(to_z, z, torch.where(to_x, x, y))
    to_r = torch.where(to_z, a, torch.where(to_x, b, c))
    where = torch.where(equal, torch.where(is_r, COULD_BE_R, 0), where)
    return where, torch.where(equal, mean, to_q), torch.where(equal, mean, to_r)


def count_points(codes: Tensor, points: "Points", zones: "Zones") -> tuple[Tensor, Ranks]:
    """Return how many points each bin of each zone holds, (Z, 9), and the rank of each point in its bin."""
    torch = require("torch", "embed")
    n_cells = len(zones.kind) * BINS
    bins = torch.where(codes == COULD_BE_R, 0, codes.long())
    cell = torch.where(codes == GONE, n_cells, points.zone.long() * BINS + bins)
    counts = torch.bincount(cell, minlength=n_cells + 1)
    starts = counts.cumsum(0) - counts
    ordered, order = torch.sort(cell, stable=True)
    rank = torch.empty_like(cell)
    rank[order] = torch.arange(len(cell), device=cell.device) - starts[ordered]
    return counts[:-1].reshape(-1, BINS), Ranks(cell, rank)


def move_points(
    codes: Tensor, ranks: Ranks, points: "Points", target: Tensor, number: Tensor, total: int
) -> "Points":
    """Move the points of each bin to where they begin (`target`), in order, and give them the number of their zone."""
    torch = require("torch", "embed")
    stay = torch.nonzero(codes != GONE)[:, 0]
    cell = ranks.cell[stay]
    to = target[cell] + ranks.rank[stay]
    columns = (points.slots[stay], points.near_a[stay], points.near_b[stay], number[cell])
    moved = [column.new_empty(total).index_copy_(0, to, column) for column in columns]
    return type(points)(*moved)
