"""The passes of a wave over its points."""

from typing import TYPE_CHECKING, NamedTuple

from ...._core.extras import require
from ...._core.typing import Tensor
from ..metric import DeviceMetric
from ._bins import (
    BINS,
    COULD_BE_R,
    GONE,
    ON_NODE,
    TWIN_Y,
    TWIN_Z,
    Z1_R,
    Z1_X,
    Z1_Y,
    Z1_Z,
    Z2_X,
    Z2_Y,
    Z2_Z,
)

if TYPE_CHECKING:
    from ._waves import Pending, Steps, Zones


class Ranks(NamedTuple):
    """The cell of each point (zone * BINS + bin), and the number of earlier points in the cell."""

    cell: Tensor
    rank: Tensor


class _Sorted(NamedTuple):
    """The bin of each point, and its distances to the node q of the bin and to r."""

    code: Tensor
    to_q: Tensor
    to_r: Tensor


def sort_points(
    metric: DeviceMetric, pending: "Pending", zones: "Zones", steps: "Steps", tol: float
) -> tuple[Tensor, Tensor]:
    """Return the bin of each point, and for each zone the first point that could be r.

    If there is no such point, the number of points is returned instead. near_a and near_b become
    the distances for the next zones. See `_sort` in fitting/treerep/_zone_kernels.py.
    """
    torch = require("torch", "embed")
    zone = pending.zone.long()
    points = pending.points
    m = len(points)
    on_node = (zones.kind == ON_NODE)[zone]
    point_y, point_z = steps.points
    x = pending.near_a
    z = metric.pairs(point_z[zone], points)
    y = torch.where(on_node, 0.0, pending.near_b)
    which = torch.nonzero(on_node)[:, 0]
    y[which] = metric.pairs(point_y[zone[which]], points[which])
    found = _bin(x, y, z, steps.xy[zone], steps.xz[zone], steps.yz[zone], tol)
    twin_y = on_node & (y < tol)
    found = _with_twins(found, y, z, twin_y, z < tol)
    # If r is a pivot q, a point cannot become r, and Z2[q] is attached to r.
    contracted = steps.contracted[zone]
    is_pivot = contracted > 0
    code = torch.where((found.code == COULD_BE_R) & is_pivot, Z1_R, found.code)
    onto_r = is_pivot & (code == Z2_X - 1 + contracted)
    pending.near_a.copy_(torch.where(onto_r, found.to_r, found.to_q))
    pending.near_b.copy_(found.to_r)
    code[steps.at_z] = GONE
    code[steps.at_y[zones.kind == ON_NODE]] = GONE
    position = torch.arange(m, device=code.device)
    candidates = torch.where(code == COULD_BE_R, position, m)
    first_r = torch.full_like(zones.start, m).scatter_reduce_(0, zone, candidates, "amin")
    return code.to(torch.uint8), first_r


def _bin(x: Tensor, y: Tensor, z: Tensor, xy: Tensor, xz: Tensor, yz: Tensor, tol: float) -> _Sorted:
    """Sort points by their Gromov products: `_sort_lanes` of the CPU, for all points."""
    torch = require("torch", "embed")
    a = 0.5 * (x + y - xy)  # (x, y)_w
    b = 0.5 * (y + z - yz)  # (y, z)_w
    c = 0.5 * (z + x - xz)  # (z, x)_w
    # The largest product determines the opposite pivot. If the distance of a point equals both
    # other products, the point is attached to the pivot itself, and otherwise to the edge to r.
    ends_at_x = ((x - a).abs() < tol) & ((x - c).abs() < tol)
    ends_at_y = ((y - a).abs() < tol) & ((y - b).abs() < tol)
    ends_at_z = ((z - b).abs() < tol) & ((z - c).abs() < tol)
    at_x = torch.where(ends_at_x, Z1_X, Z2_X)
    at_y = torch.where(ends_at_y, Z1_Y, Z2_Y)
    at_z = torch.where(ends_at_z, Z1_Z, Z2_Z)
    to_z = (a >= b) & (a >= c)
    to_x = b >= c
    code = torch.where(to_z, at_z, torch.where(to_x, at_x, at_y))
    to_q = torch.where(to_z, z, torch.where(to_x, x, y))
    to_r = torch.where(to_z, a, torch.where(to_x, b, c))
    # If all three products are equal, the point is attached to r, or coincides with r if they
    # are 0.
    ab = (a - b).abs() < tol
    bc = (b - c).abs() < tol
    ac = (a - c).abs() < tol
    equal = ab & bc & ac
    is_r = (a < tol) & (b < tol) & (c < tol)
    mean = (a + b + c) / 3.0
    code = torch.where(equal, torch.where(is_r, COULD_BE_R, Z1_R), code)
    to_q = torch.where(equal, mean, to_q)
    to_r = torch.where(equal, mean, to_r)
    return _Sorted(code, to_q, to_r)


def _with_twins(found: _Sorted, y: Tensor, z: Tensor, twin_y: Tensor, twin_z: Tensor) -> _Sorted:
    """Move the points that coincide with z, or else with y, to their bins."""
    torch = require("torch", "embed")
    code = torch.where(twin_y, TWIN_Y, found.code)
    code = torch.where(twin_z, TWIN_Z, code)
    to_q = torch.where(twin_y, y, found.to_q)
    to_q = torch.where(twin_z, z, to_q)
    to_r = torch.where(twin_y | twin_z, 0.0, found.to_r)
    return _Sorted(code, to_q, to_r)


def nearest_to_b(pending: "Pending", zones: "Zones") -> Tensor:
    """Return the position of the point of each zone that is nearest to b, the first if tied."""
    torch = require("torch", "embed")
    near_b = pending.near_b
    zone = pending.zone.long()
    m = len(pending.points)
    least = near_b.new_full((len(zones.kind),), torch.inf)
    least.scatter_reduce_(0, zone, near_b, "amin")
    positions = torch.arange(m, device=near_b.device)
    positions = torch.where(near_b == least[zone], positions, m)
    return torch.full_like(zones.start, m).scatter_reduce_(0, zone, positions, "amin")


def count_points(codes: Tensor, pending: "Pending", zones: "Zones") -> tuple[Tensor, Ranks]:
    """Return the number of points in each bin, (Z, BINS), and the rank of each point in its bin."""
    torch = require("torch", "embed")
    n_cells = len(zones.kind) * BINS
    bins = torch.where(codes == COULD_BE_R, Z1_R, codes.long())
    cell = pending.zone.long() * BINS + bins
    cell = torch.where(codes == GONE, n_cells, cell)
    counts = torch.bincount(cell, minlength=n_cells + 1)
    starts = counts.cumsum(0) - counts
    ordered, order = torch.sort(cell, stable=True)
    rank = torch.empty_like(cell)
    rank[order] = torch.arange(len(cell), device=cell.device) - starts[ordered]
    return counts[:-1].reshape(-1, BINS), Ranks(cell, rank)


def move_points(
    codes: Tensor,
    ranks: Ranks,
    pending: "Pending",
    target: Tensor,
    number: Tensor,
    total: int,
) -> "Pending":
    """Move the points of each bin, in order, to `target`. `number` is the zone of a bin."""
    torch = require("torch", "embed")
    stay = torch.nonzero(codes != GONE)[:, 0]
    cell = ranks.cell[stay]
    to = target[cell] + ranks.rank[stay]
    columns = (
        pending.points[stay],
        pending.near_a[stay],
        pending.near_b[stay],
        number[cell],
    )
    moved = [column.new_empty(total).index_copy_(0, to, column) for column in columns]
    return type(pending)(*moved)
