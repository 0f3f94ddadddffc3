"""The passes of TreeRep over points as Triton kernels.

What they do is said, and tested, in torch_sorting.py.

Each pass reads and writes every point's few numbers once. Bins are counted within tiles of
points, three bins to an integer; sums over the tiles before, and over the points of a zone's
first tile before its start, give every point its place, as a stable sort would, in one pass.

Fused multiplication and addition is switched off: it rounds once where the CPU rounds twice.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from ..metric import DeviceMetric, Tensor
from ._torch_sorting import BINS

if TYPE_CHECKING:
    from .zones import Points, Steps, Zones

_KINDS = {
    "euclidean": 0,
    "manhattan": 1,
    "chebyshev": 2,
    "angle": 3,
    "hyperbolic": 4,
    "matrix": 5,
}
_BLOCK = 128  # points of a program that measures distances
_TILE = 512  # points counted together: at most 2^10 - 1, the room of a bin in a packed integer


class Ranks(NamedTuple):
    """How many points of a bin come before each point: in its tile, in the tiles before; and before each zone."""

    local: Tensor  # (m,) int16
    before: Tensor  # (tiles, 9) int32
    passed: Tensor  # (Z, 9) int32


# Triton compiles these; a type checker cannot know their arguments.


@triton.jit
def _pairwise(lanes, BLOCK: tl.constexpr, KIND: tl.constexpr):
    """Put eight lanes together, pair by pair."""
    four = tl.reshape(lanes, (BLOCK, 4, 2))
    if KIND == 2:
        two = tl.reshape(tl.max(four, axis=2), (BLOCK, 2, 2))
        return tl.max(tl.max(two, axis=2), axis=1)
    two = tl.reshape(tl.sum(four, axis=2), (BLOCK, 2, 2))
    return tl.sum(tl.sum(two, axis=2), axis=1)


@triton.jit
def _term(x, y, KIND: tl.constexpr):
    d = x - y
    return tl.abs(d) if KIND == 1 or KIND == 2 else d * d


@triton.jit
def _combine(a, b, KIND: tl.constexpr):
    return tl.maximum(a, b) if KIND == 2 else a + b


@triton.jit
def _add_terms(lanes, x, pivot, SIGN: tl.constexpr, KIND: tl.constexpr):
    return _combine(lanes, _term(x, pivot * SIGN, KIND), KIND)


@triton.jit
def _two_sums(
    table,
    w,
    y,
    z,
    mask,
    mask_y,
    SIGN: tl.constexpr,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Terms of the coordinates of w with those of y and of z, in eight lanes, as in metric/oracle/lane_kernels.py.

    Rows are given as int64, and SIGN = -1 is for sums of coordinates instead of differences.
    """
    eight = tl.arange(0, 8)[None, :]
    rows_w = table + w * K
    rows_y = table + y * K
    rows_z = table + z * K
    at_w = rows_w[:, None] + eight
    at_y = rows_y[:, None] + eight
    at_z = rows_z[:, None] + eight
    lanes_y = tl.zeros((BLOCK, 8), FLOAT)
    lanes_z = tl.zeros((BLOCK, 8), FLOAT)
    wide = mask[:, None]
    wide_y = mask_y[:, None]
    if K <= 128:  # written out, so that all rows are asked for at once
        for k in tl.static_range(0, K // 8):
            x = tl.load(at_w + 8 * k, mask=wide, other=0.0).to(FLOAT)
            lanes_z = _add_terms(
                lanes_z, x, tl.load(at_z + 8 * k, mask=wide, other=0.0).to(FLOAT), SIGN, KIND
            )
            lanes_y = _add_terms(
                lanes_y, x, tl.load(at_y + 8 * k, mask=wide_y, other=0.0).to(FLOAT), SIGN, KIND
            )
    else:
        for k in range(K // 8):
            x = tl.load(at_w + 8 * k, mask=wide, other=0.0).to(FLOAT)
            lanes_z = _add_terms(
                lanes_z, x, tl.load(at_z + 8 * k, mask=wide, other=0.0).to(FLOAT), SIGN, KIND
            )
            lanes_y = _add_terms(
                lanes_y, x, tl.load(at_y + 8 * k, mask=wide_y, other=0.0).to(FLOAT), SIGN, KIND
            )
    sum_y = _pairwise(lanes_y, BLOCK, KIND)
    sum_z = _pairwise(lanes_z, BLOCK, KIND)
    for k in tl.static_range(K // 8 * 8, K):
        x = tl.load(rows_w + k, mask=mask, other=0.0).to(FLOAT)
        sum_z = _add_terms(
            sum_z, x, tl.load(rows_z + k, mask=mask, other=0.0).to(FLOAT), SIGN, KIND
        )
        sum_y = _add_terms(
            sum_y, x, tl.load(rows_y + k, mask=mask_y, other=0.0).to(FLOAT), SIGN, KIND
        )
    return sum_y.to(tl.float64), sum_z.to(tl.float64)


@triton.jit
def _hyperbolic(radii, sinh_radii, unit, i, j, mask, across):
    r = tl.load(radii + i, mask=mask, other=0.0)
    s = tl.load(radii + j, mask=mask, other=0.0)
    radial = libdevice.sinh(0.5 * (r - s))
    turn = tl.load(sinh_radii + i, mask=mask, other=0.0) * tl.load(
        sinh_radii + j, mask=mask, other=0.0
    )
    return tl.load(unit) * (
        2.0 * libdevice.asinh(tl.sqrt(radial * radial + turn * (0.25 * across)))
    )


@triton.jit
def _two_distances(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    w,
    y,
    z,
    mask,
    mask_y,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Distances d(w, y), where mask_y holds, and d(w, z) in float64."""
    if KIND == 5:
        to_y = tl.load(table + y * width + w, mask=mask_y, other=0).to(tl.float64)
        to_z = tl.load(table + z * width + w, mask=mask, other=0).to(tl.float64)
    else:
        to_y, to_z = _two_sums(table, w, y, z, mask, mask_y, 1, K, KIND, FLOAT, BLOCK)
        if KIND == 0:
            to_y = tl.sqrt(to_y)
            to_z = tl.sqrt(to_z)
        elif KIND == 3:
            along_y, along_z = _two_sums(
                table, w, y, z, mask, mask_y, -1, K, KIND, FLOAT, BLOCK
            )
            to_y = 2.0 * libdevice.atan2(tl.sqrt(to_y), tl.sqrt(along_y))
            to_z = 2.0 * libdevice.atan2(tl.sqrt(to_z), tl.sqrt(along_z))
        elif KIND == 4:
            to_y = _hyperbolic(radii, sinh_radii, unit, y, w, mask_y, to_y)
            to_z = _hyperbolic(radii, sinh_radii, unit, z, w, mask, to_z)
    return to_y, to_z


@triton.jit
def _between(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    i,
    j,
    out,
    m,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < m
    w = tl.load(j + at, mask=mask, other=0).to(tl.int64)
    z = tl.load(i + at, mask=mask, other=0).to(tl.int64)
    _, d = _two_distances(
        table, radii, sinh_radii, unit, width, w, z, z, mask, at < 0, K, KIND, FLOAT, BLOCK
    )
    tl.store(out + at, d, mask=mask)


@triton.jit
def _sort(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    slots,
    near_a,
    near_b,
    zones,
    kinds,
    at_y,
    at_z,
    slot_y,
    slot_z,
    xy_of,
    xz_of,
    yz_of,
    contracted_of,
    codes,
    first_r,
    tolerance,
    m,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """`sort_points`: see _sort and _sort_point in fitting/treerep/_zone_kernels.py."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < m
    zone = tl.load(zones + at, mask=mask, other=0)
    w = tl.load(slots + at, mask=mask, other=0).to(tl.int64)
    fresh_y = mask & (tl.load(kinds + zone, mask=mask, other=0) == 1)
    pivot_z = tl.load(slot_z + zone, mask=mask, other=0).to(tl.int64)
    pivot_y = tl.load(slot_y + zone, mask=fresh_y, other=0).to(tl.int64)
    y, z = _two_distances(
        table,
        radii,
        sinh_radii,
        unit,
        width,
        w,
        pivot_y,
        pivot_z,
        mask,
        fresh_y,
        K,
        KIND,
        FLOAT,
        BLOCK,
    )
    x = tl.load(near_a + at, mask=mask, other=0.0)
    y = tl.where(fresh_y, y, tl.load(near_b + at, mask=mask, other=0.0))
    contracted = tl.load(contracted_of + zone, mask=mask, other=0).to(tl.int32)
    a = 0.5 * (x + y - tl.load(xy_of + zone, mask=mask, other=0.0))  # (x, y)_w
    b = 0.5 * (y + z - tl.load(yz_of + zone, mask=mask, other=0.0))  # (y, z)_w
    c = 0.5 * (z + x - tl.load(xz_of + zone, mask=mask, other=0.0))  # (z, x)_w
    tol = tl.load(tolerance)
    in_z = tl.where((tl.abs(z - b) < tol) & (tl.abs(z - c) < tol), 3, 6)
    in_x = tl.where((tl.abs(x - a) < tol) & (tl.abs(x - c) < tol), 1, 4)
    in_y = tl.where((tl.abs(y - a) < tol) & (tl.abs(y - b) < tol), 2, 5)
    to_z = (a >= b) & (a >= c)
    to_x = b >= c
    where = tl.where(to_z, in_z, tl.where(to_x, in_x, in_y))
    to_q = tl.where(to_z, z, tl.where(to_x, x, y))
    to_r = tl.where(to_z, a, tl.where(to_x, b, c))
    equal = (tl.abs(a - b) < tol) & (tl.abs(b - c) < tol) & (tl.abs(a - c) < tol)
    is_r = (a < tol) & (b < tol) & (c < tol) & (contracted == 0)
    mean = (a + b + c) / 3.0
    where = tl.where(equal, tl.where(is_r, 9, 0), where)
    to_q = tl.where(equal, mean, to_q)
    to_r = tl.where(equal, mean, to_r)
    twin_y = fresh_y & (y < tol)
    twin_z = z < tol
    where = tl.where(twin_z, 8, tl.where(twin_y, 7, where))
    to_q = tl.where(twin_z, z, tl.where(twin_y, y, to_q))
    to_r = tl.where(twin_y | twin_z, 0.0, to_r)
    onto_r = (contracted > 0) & (where == 3 + contracted)
    is_y = fresh_y & (at == tl.load(at_y + zone, mask=mask, other=0))
    where = tl.where(is_y | (at == tl.load(at_z + zone, mask=mask, other=0)), 10, where)
    tl.store(near_a + at, tl.where(onto_r, to_r, to_q), mask=mask)
    tl.store(near_b + at, to_r, mask=mask)
    tl.store(codes + at, where.to(tl.uint8), mask=mask)
    tl.atomic_min(first_r + zone, at, mask=mask & (where == 9))


@triton.jit
def _count(codes, zones, local, tiles, before_start, m, TILE: tl.constexpr):
    """Ranks within a tile; how many of each bin the tile holds; and how many come before the start of a zone."""
    tile = tl.program_id(0).to(tl.int64)
    at = tile * TILE + tl.arange(0, TILE)
    mask = at < m
    code = tl.load(codes + at, mask=mask, other=10).to(tl.int32)
    code = tl.where(code == 9, 0, code)
    zone = tl.load(zones + at, mask=mask, other=0).to(tl.int64)
    previous = tl.load(zones + at - 1, mask=mask & (at > 0), other=-1).to(tl.int64)
    starts = mask & (zone != previous)
    group = code // 3
    shift = (code % 3) * 10
    rank = tl.zeros((TILE,), tl.int32)
    for g in tl.static_range(3):
        mine = tl.where((group == g) & (code < 9), 1 << shift, 0)
        up_to = tl.cumsum(mine, 0)
        before = up_to - mine
        rank = tl.where(group == g, (before >> shift) & 1023, rank)
        tl.store(before_start + zone * 3 + g, before, mask=starts)
        tl.store(tiles + tile * 3 + g, tl.sum(mine, 0))
    tl.store(local + at, rank.to(tl.int16), mask=mask)


@triton.jit
def _move(
    codes,
    local,
    before,
    slots,
    near_a,
    near_b,
    zones,
    target,
    number,
    new_slots,
    new_a,
    new_b,
    new_zones,
    m,
    TILE: tl.constexpr,
):
    """`move_points`; `target` is where a bin would begin if its points were counted from the first of all."""
    tile = tl.program_id(0).to(tl.int64)
    at = tile * TILE + tl.arange(0, TILE)
    code = tl.load(codes + at, mask=at < m, other=10).to(tl.int32)
    code = tl.where(code == 9, 0, code)
    mask = code < 9
    cell = tl.load(zones + at, mask=mask, other=0).to(tl.int64) * 9 + code
    rank = tl.load(before + tile * 9 + code, mask=mask, other=0) + tl.load(
        local + at, mask=mask, other=0
    )
    to = tl.load(target + cell, mask=mask, other=0) + rank
    tl.store(new_slots + to, tl.load(slots + at, mask=mask, other=0), mask=mask)
    tl.store(new_a + to, tl.load(near_a + at, mask=mask, other=0.0), mask=mask)
    tl.store(new_b + to, tl.load(near_b + at, mask=mask, other=0.0), mask=mask)
    tl.store(new_zones + to, tl.load(number + cell, mask=mask, other=0), mask=mask)


def _measuring(metric: DeviceMetric) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments about a metric, for kernels that measure distances."""
    table = metric.table
    # What a kind does not have is never read.
    radii, sinh_radii = (
        table if column is None else column for column in (metric.radii, metric.sinh_radii)
    )
    width = table.shape[1]
    given = (table, radii, sinh_radii, _in_memory(metric.unit, table.device), width)
    constants = {
        # The kernels are compiled for a number of coordinates, but not for every size of a
        # matrix.
        "K": 0 if metric.kind == "matrix" else width,
        "KIND": _KINDS[metric.kind],
        "BLOCK": _BLOCK,
        "enable_fp_fusion": False,
        "FLOAT": tl.float32 if table.dtype == torch.float32 else tl.float64,
    }
    return given, constants


def _in_memory(number: float, device: Any) -> Tensor:
    """A float64 where a kernel can read it: given as it is, Triton would round it to float32."""
    return torch.tensor([number], dtype=torch.float64, device=device)


def between(metric: DeviceMetric, i: Tensor, j: Tensor) -> Tensor:
    """Distances of pairs in float64."""
    out = torch.empty(len(j), dtype=torch.float64, device=j.device)
    given, constants = _measuring(metric)
    if len(out):
        _between[(triton.cdiv(len(out), _BLOCK),)](
            *given, i.contiguous(), j, out, len(out), **constants
        )
    return out


def sort_points(
    metric: DeviceMetric, points: "Points", zones: "Zones", steps: "Steps", tol: float
) -> tuple[Tensor, Tensor]:
    """Return the bin of each point, and the first of each zone that could be r (or the number of points)."""
    m = len(points.slots)
    codes = torch.empty(m, dtype=torch.uint8, device=points.slots.device)
    first_r = torch.full_like(zones.start, m)
    given, constants = _measuring(metric)
    _sort[(triton.cdiv(m, _BLOCK),)](
        *given,
        *points,
        zones.kind,
        steps.at_y,
        steps.at_z,
        *steps.slots,
        steps.xy,
        steps.xz,
        steps.yz,
        steps.contracted,
        codes,
        first_r,
        _in_memory(tol, codes.device),
        m,
        **constants,
    )
    return codes, first_r


def count_points(codes: Tensor, points: "Points", zones: "Zones") -> tuple[Tensor, Ranks]:
    """Return how many points each bin of each zone holds, (Z, 9), and the rank of each point in its bin."""
    m = len(codes)
    n_zones = len(zones.kind)
    device = codes.device
    n_tiles = triton.cdiv(m, _TILE)
    local = torch.empty(m, dtype=torch.int16, device=device)
    tiles = torch.empty((n_tiles, 3), dtype=torch.int32, device=device)
    before_start = torch.empty((n_zones, 3), dtype=torch.int32, device=device)
    _count[(n_tiles,)](codes, points.zone, local, tiles, before_start, m, TILE=_TILE)
    # Scanned along rows, which is many times faster than along columns.
    up_to = _unpacked(tiles).T.contiguous().cumsum(1, dtype=torch.int32).T.contiguous()
    before = up_to - _unpacked(tiles)
    # How many points of each bin come before the start of each zone, and before the end of the
    # last one.
    passed = before[zones.start // _TILE] + _unpacked(before_start)
    counts = torch.cat([passed[1:], up_to[-1:]]) - passed
    return counts, Ranks(local, before, passed)


def _unpacked(packed: Tensor) -> Tensor:
    """Three counts of ten bits in each integer: (r, 3) to (r, 9)."""
    return torch.stack([(packed >> shift) & 1023 for shift in (0, 10, 20)], dim=2).reshape(
        -1, BINS
    )


def move_points(
    codes: Tensor, ranks: Ranks, points: "Points", target: Tensor, number: Tensor, total: int
) -> "Points":
    """Move the points of each bin to where they begin (`target`), in order, and give them the number of their zone."""
    m = len(codes)
    moved = type(points)(
        *(torch.empty(total, dtype=column.dtype, device=column.device) for column in points)
    )
    # The ranks count from the start of all points, not of the zone.
    origin = target.view(-1, BINS) - ranks.passed
    _move[(triton.cdiv(m, _TILE),)](
        codes, ranks.local, ranks.before, *points, origin, number, *moved, m, TILE=_TILE
    )
    return moved
