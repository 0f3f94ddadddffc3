"""Triton kernels for backbone trees on GPUs, which split and join the zones around a backbone.

The kernels give the same bits as SciPy's average linkage and as
refinement/backbone/_branch_kernels.py. Each program processes one zone and adds terms in the same
order as the CPU. Fused multiply-add is disabled, because it rounds once where the CPU rounds twice.
"""

from collections.abc import Iterator

import numpy as np
import torch
import triton
import triton.language as tl

from ...._core.typing import Tensor, TorchDevice
from ..metric import DeviceMetric
from ._branches import Joins, Zones
from ._triton_distances import in_memory, measuring, two_distances
from ._triton_placement import Placement as Placement
from ._triton_placement import scratch_bytes

_BLOCK = 128  # points per program
_NARROWEST = 16  # points of the smallest zones that are joined together

# Triton compiles these functions, so a type checker cannot know their arguments.


@triton.jit
def _nearest(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    points,
    tile_at,
    tile_stop,
    tile_zone,
    step,
    out,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Find the nearest center of each point, the first if tied.

    Every step-th point of a zone is a center.
    """
    tile = tl.program_id(0)
    begin = tl.load(tile_zone + 2 * tile)
    stop = tl.load(tile_zone + 2 * tile + 1)
    at = tl.load(tile_at + tile) + tl.arange(0, BLOCK)
    mask = at < tl.load(tile_stop + tile)
    w = tl.load(points + at, mask=mask, other=0).to(tl.int64)
    centers = (stop - begin + step - 1) // step
    least = tl.zeros((BLOCK,), tl.float64) + float("inf")
    found = tl.zeros((BLOCK,), tl.int64)
    for c in range(0, centers, 2):
        center = 0 * at + c
        both = mask & (center + 1 < centers)
        z = tl.load(points + begin + center * step).to(tl.int64)
        y = tl.load(points + tl.minimum(begin + (center + 1) * step, stop - 1)).to(tl.int64)
        to_y, to_z = two_distances(
            table, radii, sinh_radii, unit, width, w, y, z, mask, both, K, KIND, FLOAT, BLOCK
        )
        found = tl.where(to_z < least, center, found)
        least = tl.minimum(least, to_z)
        nearer = both & (to_y < least)
        found = tl.where(nearer, center + 1, found)
        least = tl.where(nearer, to_y, least)
    tl.store(out + at, found, mask=mask)


@triton.jit
def _products(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    points,
    heights,
    tile_at,
    tile_zone,
    tile_matrix,
    matrices,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute minus the shared heights of points, like `gromov_products`. The diagonal is inf."""
    tile = tl.program_id(0)
    begin = tl.load(tile_zone + 2 * tile)
    stop = tl.load(tile_zone + 2 * tile + 1)
    size = stop - begin
    at = tl.load(tile_at + tile) + tl.arange(0, BLOCK)
    mask = at < stop
    w = tl.load(points + at, mask=mask, other=0).to(tl.int64)
    mine = tl.load(heights + at, mask=mask, other=0.0)
    matrix = matrices + tl.load(tile_matrix + tile) + (at - begin)
    for c in range(0, size, 2):
        column = 0 * at + c
        second = tl.minimum(column + 1, size - 1)
        both = mask & (column + 1 < size)
        z = tl.load(points + begin + column).to(tl.int64)
        y = tl.load(points + begin + second).to(tl.int64)
        to_y, to_z = two_distances(
            table, radii, sinh_radii, unit, width, w, y, z, mask, both, K, KIND, FLOAT, BLOCK
        )
        one = tl.load(heights + begin + column)
        two = tl.load(heights + begin + second)
        of_z = -tl.maximum(0.0, tl.minimum(tl.minimum(0.5 * (mine + one - to_z), mine), one))
        of_y = -tl.maximum(0.0, tl.minimum(tl.minimum(0.5 * (mine + two - to_y), mine), two))
        of_z = tl.where(at - begin == column, float("inf"), of_z)
        of_y = tl.where(at - begin == column + 1, float("inf"), of_y)
        tl.store(matrix + column * size, of_z, mask=mask)
        tl.store(matrix + (column + 1) * size, of_y, mask=both)


@triton.jit
def _pick(values, here, which):
    """Return values[which], for a vector in registers."""
    return tl.sum(tl.where(here == which, values, 0), 0)


@triton.jit
def _link(
    zone_at,
    zone_stop,
    zone_matrix,
    matrices,
    heights,
    aboves,
    short_of,
    join,
    join_length,
    top,
    top_height,
    top_above,
    n_points,
    W: tl.constexpr,
):
    """Join a zone by average linkage, in the order of SciPy, and create its branches (`join_branches`).

    A branch depends only on its parts, not on the order of joins, so it is created together
    with its cluster. A cluster shares at most as much as its parts. If a join shares too
    little, all joins above it also do.
    """
    begin = tl.load(zone_at + tl.program_id(0))
    stop = tl.load(zone_stop + tl.program_id(0))
    matrix = matrices + tl.load(zone_matrix + tl.program_id(0))
    short = tl.load(short_of)
    size = (stop - begin).to(tl.int32)
    here = tl.arange(0, W)
    exists = here < size
    # Each cluster is represented by one point. All other points have a count of 0.
    count = tl.where(exists, 1.0, 0.0).to(tl.float64)
    height = tl.load(heights + begin + here, mask=exists, other=0.0)
    above = tl.load(aboves + begin + here, mask=exists, other=0.0)
    leader = here  # the point that represents the cluster in `join_branches`
    node = begin + here  # tree node: points by position, then joins from n_points on
    closed = here * 0  # 1: shares too little to be joined
    chain = here * 0
    length = 0
    merges = 0
    while merges < size - 1:
        if length == 0:
            start = tl.min(tl.where(count > 0.0, here, W), 0)
            chain = tl.where(here == 0, start, chain)
            length = 1
        x = _pick(chain, here, length - 1)
        before = tl.where(length > 1, _pick(chain, here, length - 2), x)
        others = (count > 0.0) & (here != x)
        row_x = matrix + x.to(tl.int64) * size + here
        of_x = tl.load(row_x, mask=others, other=float("inf"))
        least = tl.min(of_x, 0)
        y = tl.min(tl.where(of_x == least, here, W), 0)
        # Among equally near clusters, take the previous one to prevent cycles in the chain.
        back = (length > 1) & (tl.min(tl.where(here == before, of_x, float("inf")), 0) == least)
        y = tl.where(back, before, y)
        if back:
            x_count = _pick(count, here, x)
            y_count = _pick(count, here, y)
            left = others & (here != y)
            of_y = tl.load(matrix + y.to(tl.int64) * size + here, mask=left, other=0.0)
            value = (x_count * of_x + y_count * of_y) / (x_count + y_count)
            # The new cluster takes the place of the later of the two.
            kept = tl.maximum(x, y)
            tl.debug_barrier()  # all threads have read
            tl.store(matrix + kept.to(tl.int64) * size + here, value, mask=left)
            tl.store(matrix + here.to(tl.int64) * size + kept, value, mask=left)
            tl.debug_barrier()  # all threads have written
            x_height = _pick(height, here, x)
            y_height = _pick(height, here, y)
            x_above = _pick(above, here, x)
            y_above = _pick(above, here, y)
            x_leader = _pick(leader, here, x)
            y_leader = _pick(leader, here, y)
            x_node = _pick(node, here, x)
            y_node = _pick(node, here, y)
            x_closed = _pick(closed, here, x)
            y_closed = _pick(closed, here, y)
            joined = -least > short
            at = begin + merges
            rise = tl.minimum(tl.minimum(-least, x_height), y_height)
            tl.store(join + 2 * at, x_node, mask=joined)
            tl.store(join + 2 * at + 1, y_node, mask=joined)
            tl.store(join_length + 2 * at, x_height - rise, mask=joined)
            tl.store(join_length + 2 * at + 1, y_height - rise, mask=joined)
            x_ends = (joined == 0) & (x_closed == 0)
            y_ends = (joined == 0) & (y_closed == 0)
            tl.store(top + begin + x_leader, x_node, mask=x_ends)
            tl.store(top_height + begin + x_leader, x_height, mask=x_ends)
            tl.store(top_above + begin + x_leader, x_above, mask=x_ends)
            tl.store(top + begin + y_leader, y_node, mask=y_ends)
            tl.store(top_height + begin + y_leader, y_height, mask=y_ends)
            tl.store(top_above + begin + y_leader, y_above, mask=y_ends)
            both = x_count + y_count
            new = here == kept
            count = tl.where((here == x) | (here == y), 0.0, count)
            count = tl.where(new, both, count)
            height = tl.where(new, rise, height)
            above = tl.where(new, (x_count * x_above + y_count * y_above) / both, above)
            leader = tl.where(new, x_leader, leader)
            node = tl.where(new, n_points + at, node)
            closed = tl.where(new & (joined == 0), 1, closed)
            length -= 2
            merges += 1
        else:
            chain = tl.where(here == length, y, chain)
            length += 1
    ends = (count > 0.0) & (closed == 0)
    tl.store(top + begin + leader, node, mask=ends)
    tl.store(top_height + begin + leader, height, mask=ends)
    tl.store(top_above + begin + leader, above, mask=ends)


def nearest_centers(space: DeviceMetric, points: Tensor, zones: Zones, step: int) -> Tensor:
    """Return the nearest center of each point. Every step-th point of a zone is a center."""
    out = torch.zeros(len(points), dtype=torch.int32, device=points.device)
    at, stop, zone = _tiles(zones, points.device)
    arguments, constants = measuring(space, _BLOCK)
    _nearest[(len(at),)](*arguments, points, at, stop, zone, step, out, **constants)
    return out


def _tiles(zones: Zones, device: TorchDevice) -> tuple[Tensor, Tensor, Tensor]:
    """Cut zones into runs of at most one block of points. Return start, end and zone of each."""
    sizes = zones[:, 1] - zones[:, 0]
    counts = -(-sizes // _BLOCK)
    zone = np.repeat(zones, counts, axis=0)
    within = np.arange(len(zone)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = zone[:, 0] + _BLOCK * within
    stop = np.minimum(at + _BLOCK, zone[:, 1])
    return tuple(torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in (at, stop, zone))


def join_zones(
    space: DeviceMetric,
    points: Tensor,
    height: Tensor,
    above: Tensor,
    zones: Zones,
    short: float,
) -> Joins:
    """Join the points of each zone into branches."""
    device = points.device
    n = len(points)
    found = Joins(
        join=torch.full((2 * n,), -1, dtype=torch.int64, device=device),
        join_length=torch.zeros(2 * n, dtype=torch.float64, device=device),
        top=torch.full((n,), -1, dtype=torch.int64, device=device),
        top_height=torch.empty_like(height),
        top_above=torch.empty_like(above),
    )
    limit = in_memory(short, device)
    matrices: Tensor | None = None
    for batch, width, entries in _batches(zones, scratch_bytes(device) // 8):
        sizes = batch[:, 1] - batch[:, 0]
        if matrices is None or len(matrices) < entries:
            matrices = torch.empty(entries, dtype=torch.float64, device=device)
        offset = np.cumsum(sizes**2) - sizes**2
        tile_at, _, tile_zone = _tiles(batch, device)
        tile_matrix = torch.from_numpy(np.repeat(offset, -(-sizes // _BLOCK))).to(device)
        arguments, constants = measuring(space, _BLOCK)
        _products[(len(tile_at),)](
            *arguments, points, height, tile_at, tile_zone, tile_matrix, matrices, **constants
        )
        begins, ends, offsets = (
            torch.from_numpy(np.ascontiguousarray(array)).to(device)
            for array in (batch[:, 0], batch[:, 1], offset)
        )
        _link[(len(batch),)](
            begins,
            ends,
            offsets,
            matrices,
            height,
            above,
            limit,
            *found,
            n,
            W=width,
            enable_fp_fusion=False,
            num_stages=1,
            num_warps=_warps(width),
        )
    return found


def _warps(width: int) -> int:
    """Return the number of warps for a zone of this width."""
    if width <= 128:
        return 1
    return 4 if width <= 512 else 8


def _batches(zones: Zones, entries: int) -> Iterator[tuple[Zones, int, int]]:
    """Yield groups of zones of similar size, their width, and the entries of their matrices.

    The width is a power of two. The largest zones are first.
    """
    sizes = zones[:, 1] - zones[:, 0]
    exponents = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    widths = np.maximum(_NARROWEST, 1 << exponents)
    for width in np.unique(widths)[::-1].tolist():
        own = zones[widths == width]
        own = own[np.argsort(own[:, 0] - own[:, 1], kind="stable")]
        squares = (own[:, 1] - own[:, 0]) ** 2
        part = (np.cumsum(squares) - 1) // max(entries, width * width)
        for k in np.unique(part).tolist():
            is_in_part = part == k
            yield own[is_in_part], width, int(squares[is_in_part].sum())
