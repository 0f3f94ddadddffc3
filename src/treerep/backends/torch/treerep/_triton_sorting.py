"""The passes of TreeRep over points as Triton kernels.

The reference implementation is _torch_sorting.py.

Each pass reads and writes the few numbers of a point once. Bins are counted within tiles of points,
three bins to an integer. The target position of a point is a sum: the points of its bin earlier in
its tile, plus the points of its bin in earlier tiles. One pass thus replaces a stable sort.

Fused multiply-add is disabled, because it rounds once where the CPU rounds twice.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from ...._core.typing import Tensor, TorchDevice
from ..metric import DeviceMetric
from . import _bins as bins

# Points per warp of a program that measures distances. For rows of 200 bytes, a program of four
# warps takes 1.6 times as long as one of one warp, because it waits for the slowest of its rows. For
# rows of 32 bytes, one warp takes 1.1 times as long as two warps.
BLOCK = 32
_SHORT_ROW = 64  # bytes
TILE = 512  # points counted together, fewer than 2^_BITS

# Triton kernels can read only constants of this class.

# The distance formulas.
_EUCLIDEAN = tl.constexpr(0)
_MANHATTAN = tl.constexpr(1)
_CHEBYSHEV = tl.constexpr(2)
_ANGLE = tl.constexpr(3)
_HYPERBOLIC = tl.constexpr(4)
_MATRIX = tl.constexpr(5)
_FORMULAS = {
    "euclidean": _EUCLIDEAN.value,
    "manhattan": _MANHATTAN.value,
    "chebyshev": _CHEBYSHEV.value,
    "angle": _ANGLE.value,
    "hyperbolic": _HYPERBOLIC.value,
    "matrix": _MATRIX.value,
}
_LANES = tl.constexpr(8)  # of sums over coordinates, as in metric/oracle/lane_kernels.py
_LARGEST_UNROLLED = tl.constexpr(128)  # coordinates

_ON_NODE = tl.constexpr(bins.ON_NODE)
_Z1_R = tl.constexpr(bins.Z1_R)
_Z1_X = tl.constexpr(bins.Z1_X)
_Z1_Y = tl.constexpr(bins.Z1_Y)
_Z1_Z = tl.constexpr(bins.Z1_Z)
_Z2_X = tl.constexpr(bins.Z2_X)
_Z2_Y = tl.constexpr(bins.Z2_Y)
_Z2_Z = tl.constexpr(bins.Z2_Z)
_TWIN_Y = tl.constexpr(bins.TWIN_Y)
_TWIN_Z = tl.constexpr(bins.TWIN_Z)
_BINS = tl.constexpr(bins.BINS)
_COULD_BE_R = tl.constexpr(bins.COULD_BE_R)
_GONE = tl.constexpr(bins.GONE)

# Counts of three bins are packed into an integer.
PACKED = 3
_PACKED = tl.constexpr(PACKED)
_BITS = tl.constexpr(10)  # bits per count
_COUNT_MASK = tl.constexpr((1 << 10) - 1)


# Triton compiles these functions, so a type checker cannot know their arguments.


@triton.jit
def _pairwise(lanes, BLOCK: tl.constexpr, KIND: tl.constexpr):
    """Combine eight lanes pair by pair."""
    four = tl.reshape(lanes, (BLOCK, 4, 2))
    if KIND == _CHEBYSHEV:
        two = tl.reshape(tl.max(four, axis=2), (BLOCK, 2, 2))
        return tl.max(tl.max(two, axis=2), axis=1)
    two = tl.reshape(tl.sum(four, axis=2), (BLOCK, 2, 2))
    return tl.sum(tl.sum(two, axis=2), axis=1)


@triton.jit
def _term(x, y, KIND: tl.constexpr):
    d = x - y
    return tl.abs(d) if KIND == _MANHATTAN or KIND == _CHEBYSHEV else d * d  # noqa: SIM109


@triton.jit
def _combine(a, b, KIND: tl.constexpr):
    return tl.maximum(a, b) if KIND == _CHEBYSHEV else a + b


@triton.jit
def _add_terms(
    sum_y,
    sum_z,
    at_w,
    at_y,
    at_z,
    mask,
    mask_y,
    SIGN: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
):
    """Add the terms for the coordinates of w against those of y and of z.

    The coordinates are loaded from the given addresses.
    """
    w = tl.load(at_w, mask=mask, other=0.0).to(FLOAT)
    z = tl.load(at_z, mask=mask, other=0.0).to(FLOAT)
    y = tl.load(at_y, mask=mask_y, other=0.0).to(FLOAT)
    sum_z = _combine(sum_z, _term(w, z * SIGN, KIND), KIND)
    sum_y = _combine(sum_y, _term(w, y * SIGN, KIND), KIND)
    return sum_y, sum_z


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
    """Combine the coordinates of w with those of y and of z, as in metric/oracle/lane_kernels.py.

    w, y and z are int64. SIGN = -1 uses sums of coordinates instead of differences.
    """
    lane = tl.arange(0, _LANES)[None, :]
    rows_w = table + w * K
    rows_y = table + y * K
    rows_z = table + z * K
    at_w = rows_w[:, None] + lane
    at_y = rows_y[:, None] + lane
    at_z = rows_z[:, None] + lane
    lanes_y = tl.zeros((BLOCK, _LANES), FLOAT)
    lanes_z = tl.zeros((BLOCK, _LANES), FLOAT)
    if K <= _LARGEST_UNROLLED:  # unrolled, so that all rows are requested at once
        for k in tl.static_range(0, K // _LANES):
            lanes_y, lanes_z = _add_terms(
                lanes_y,
                lanes_z,
                at_w + k * _LANES,
                at_y + k * _LANES,
                at_z + k * _LANES,
                mask[:, None],
                mask_y[:, None],
                SIGN,
                KIND,
                FLOAT,
            )
    else:
        for k in range(K // _LANES):
            lanes_y, lanes_z = _add_terms(
                lanes_y,
                lanes_z,
                at_w + k * _LANES,
                at_y + k * _LANES,
                at_z + k * _LANES,
                mask[:, None],
                mask_y[:, None],
                SIGN,
                KIND,
                FLOAT,
            )
    sum_y = _pairwise(lanes_y, BLOCK, KIND)
    sum_z = _pairwise(lanes_z, BLOCK, KIND)
    for k in tl.static_range(K // _LANES * _LANES, K):
        sum_y, sum_z = _add_terms(
            sum_y,
            sum_z,
            rows_w + k,
            rows_y + k,
            rows_z + k,
            mask,
            mask_y,
            SIGN,
            KIND,
            FLOAT,
        )
    return sum_y.to(tl.float64), sum_z.to(tl.float64)


@triton.jit
def _hyperbolic(radii, sinh_radii, unit, i, j, mask, across):
    """Return d from sinh^2(d/2) = sinh^2((r - s)/2) + sinh r sinh s |u - v|^2 / 4, with `across` = |u - v|^2."""
    r = tl.load(radii + i, mask=mask, other=0.0)
    s = tl.load(radii + j, mask=mask, other=0.0)
    radial = libdevice.sinh(0.5 * (r - s))
    sinh_r = tl.load(sinh_radii + i, mask=mask, other=0.0)
    sinh_s = tl.load(sinh_radii + j, mask=mask, other=0.0)
    turn = sinh_r * sinh_s * (0.25 * across)
    half = libdevice.asinh(tl.sqrt(radial * radial + turn))
    return tl.load(unit) * (2.0 * half)


@triton.jit
def two_distances(
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
    """Return d(w, y), for points of mask_y, and d(w, z) in float64."""
    if KIND == _MATRIX:
        to_y = tl.load(table + y * width + w, mask=mask_y, other=0).to(tl.float64)
        to_z = tl.load(table + z * width + w, mask=mask, other=0).to(tl.float64)
    else:
        to_y, to_z = _two_sums(table, w, y, z, mask, mask_y, 1, K, KIND, FLOAT, BLOCK)
        if KIND == _EUCLIDEAN:
            to_y = tl.sqrt(to_y)
            to_z = tl.sqrt(to_z)
        elif KIND == _ANGLE:
            along_y, along_z = _two_sums(table, w, y, z, mask, mask_y, -1, K, KIND, FLOAT, BLOCK)
            to_y = 2.0 * libdevice.atan2(tl.sqrt(to_y), tl.sqrt(along_y))
            to_z = 2.0 * libdevice.atan2(tl.sqrt(to_z), tl.sqrt(along_z))
        elif KIND == _HYPERBOLIC:
            to_y = _hyperbolic(radii, sinh_radii, unit, y, w, mask_y, to_y)
            to_z = _hyperbolic(radii, sinh_radii, unit, z, w, mask, to_z)
    return to_y, to_z


@triton.jit(do_not_specialize=["width", "m"])
def _pairs(
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
    _, d = two_distances(table, radii, sinh_radii, unit, width, w, z, z, mask, at < 0, K, KIND, FLOAT, BLOCK)
    tl.store(out + at, d, mask=mask)


@triton.jit
def _bin(x, y, z, a, b, c, contracted, tol):
    """Return the bin of each point, and its distances to the node of the bin and to r.

    See `_bin` in _torch_sorting.py.
    """
    ends_at_x = (tl.abs(x - a) < tol) & (tl.abs(x - c) < tol)
    ends_at_y = (tl.abs(y - a) < tol) & (tl.abs(y - b) < tol)
    ends_at_z = (tl.abs(z - b) < tol) & (tl.abs(z - c) < tol)
    at_x = tl.where(ends_at_x, _Z1_X, _Z2_X)
    at_y = tl.where(ends_at_y, _Z1_Y, _Z2_Y)
    at_z = tl.where(ends_at_z, _Z1_Z, _Z2_Z)
    to_z = (a >= b) & (a >= c)
    to_x = b >= c
    where = tl.where(to_z, at_z, tl.where(to_x, at_x, at_y))
    to_q = tl.where(to_z, z, tl.where(to_x, x, y))
    to_r = tl.where(to_z, a, tl.where(to_x, b, c))
    equal = (tl.abs(a - b) < tol) & (tl.abs(b - c) < tol) & (tl.abs(a - c) < tol)
    is_r = (a < tol) & (b < tol) & (c < tol) & (contracted == 0)
    mean = (a + b + c) / 3.0
    where = tl.where(equal, tl.where(is_r, _COULD_BE_R, _Z1_R), where)
    to_q = tl.where(equal, mean, to_q)
    to_r = tl.where(equal, mean, to_r)
    return where, to_q, to_r


@triton.jit
def sorted_points(x, y, z, xy, xz, yz, on_node, contracted, tol):
    """Return the bin of each point, and its distances to the nodes a and b of its next zone."""
    a = 0.5 * (x + y - xy)  # (x, y)_w
    b = 0.5 * (y + z - yz)  # (y, z)_w
    c = 0.5 * (z + x - xz)  # (z, x)_w
    where, to_q, to_r = _bin(x, y, z, a, b, c, contracted, tol)
    twin_y = on_node & (y < tol)
    twin_z = z < tol
    where = tl.where(twin_z, _TWIN_Z, tl.where(twin_y, _TWIN_Y, where))
    to_q = tl.where(twin_z, z, tl.where(twin_y, y, to_q))
    to_r = tl.where(twin_y | twin_z, 0.0, to_r)
    onto_r = (contracted > 0) & (where == contracted + (_Z2_X - 1))
    return where, tl.where(onto_r, to_r, to_q), to_r


@triton.jit(do_not_specialize=["width", "m", "n_zones"])
def sort(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    points,
    near_a,
    near_b,
    zones,
    kinds,
    positions,
    pivot_points,
    sides,
    contracted_of,
    codes,
    first_r,
    tolerance,
    m,
    n_zones,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Store the bin of each point, and for each zone the first point that could be r.

    See `sort_points` in _torch_sorting.py, which also explains the distances that change.
    """
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < m
    zone = tl.load(zones + at, mask=mask, other=0).to(tl.int64)
    w = tl.load(points + at, mask=mask, other=0).to(tl.int64)
    on_node = mask & (tl.load(kinds + zone, mask=mask, other=0) == _ON_NODE)
    row_z = n_zones + zone
    pivot_z = tl.load(pivot_points + row_z, mask=mask, other=0).to(tl.int64)
    pivot_y = tl.load(pivot_points + zone, mask=on_node, other=0).to(tl.int64)
    y, z = two_distances(
        table,
        radii,
        sinh_radii,
        unit,
        width,
        w,
        pivot_y,
        pivot_z,
        mask,
        on_node,
        K,
        KIND,
        FLOAT,
        BLOCK,
    )
    x = tl.load(near_a + at, mask=mask, other=0.0)
    y = tl.where(on_node, y, tl.load(near_b + at, mask=mask, other=0.0))
    contracted = tl.load(contracted_of + zone, mask=mask, other=0).to(tl.int32)
    xy = tl.load(sides + zone, mask=mask, other=0.0)
    xz = tl.load(sides + row_z, mask=mask, other=0.0)
    yz = tl.load(sides + 2 * n_zones + zone, mask=mask, other=0.0)
    tol = tl.load(tolerance)
    where, to_a, to_b = sorted_points(x, y, z, xy, xz, yz, on_node, contracted, tol)
    is_y = on_node & (at == tl.load(positions + zone, mask=mask, other=0))
    is_z = at == tl.load(positions + row_z, mask=mask, other=0)
    where = tl.where(is_y | is_z, _GONE, where)
    tl.store(near_a + at, to_a, mask=mask)
    tl.store(near_b + at, to_b, mask=mask)
    tl.store(codes + at, where.to(tl.uint8), mask=mask)
    tl.atomic_min(first_r + zone, at, mask=mask & (where == _COULD_BE_R))


@triton.jit
def points_per_bin(code, group):
    """Return 1 at the place of each point's bin, if it is one of the three bins of this group."""
    shift = (code % _PACKED) * _BITS
    return tl.where((code // _PACKED == group) & (code < _BINS), 1 << shift, 0)


@triton.jit(do_not_specialize=["m", "n_tiles"])
def count(codes, zones, local, tiles, before_start, m, n_tiles, TILE: tl.constexpr):
    """Count each bin: before each point of a tile, in the tile, and before a zone starts in it."""
    tile = tl.program_id(0).to(tl.int64)
    at = tile * TILE + tl.arange(0, TILE)
    mask = at < m
    code = tl.load(codes + at, mask=mask, other=_GONE).to(tl.int32)
    code = tl.where(code == _COULD_BE_R, _Z1_R, code)
    zone = tl.load(zones + at, mask=mask, other=0).to(tl.int64)
    previous = tl.load(zones + at - 1, mask=mask & (at > 0), other=-1).to(tl.int64)
    starts = mask & (zone != previous)
    group = code // _PACKED
    shift = (code % _PACKED) * _BITS
    rank = tl.zeros((TILE,), tl.int32)
    for g in tl.static_range(_PACKED):
        mine = points_per_bin(code, g)
        up_to = tl.cumsum(mine, 0)
        before = up_to - mine
        rank = tl.where(group == g, (before >> shift) & _COUNT_MASK, rank)
        tl.store(before_start + zone * _PACKED + g, before, mask=starts)
        total = tl.sum(mine, 0)
        for k in tl.static_range(_PACKED):
            found = (total >> (k * _BITS)) & _COUNT_MASK
            tl.store(tiles + (g * _PACKED + k) * n_tiles + tile, found)
    tl.store(local + at, rank.to(tl.int16), mask=mask)


@triton.jit(do_not_specialize=["m", "n_tiles"])
def move(
    codes,
    local,
    up_to,
    tiles,
    points,
    near_a,
    near_b,
    zones,
    origin,
    number,
    new_points,
    new_a,
    new_b,
    new_zones,
    m,
    n_tiles,
    TILE: tl.constexpr,
):
    """Move the points of each bin, in order. Ranks count from the first of all points."""
    tile = tl.program_id(0).to(tl.int64)
    at = tile * TILE + tl.arange(0, TILE)
    code = tl.load(codes + at, mask=at < m, other=_GONE).to(tl.int32)
    code = tl.where(code == _COULD_BE_R, _Z1_R, code)
    mask = code < _BINS
    cell = tl.load(zones + at, mask=mask, other=0).to(tl.int64) * _BINS + code
    column = code * n_tiles + tile
    rank = tl.load(up_to + column, mask=mask, other=0)
    rank -= tl.load(tiles + column, mask=mask, other=0)
    rank += tl.load(local + at, mask=mask, other=0)
    to = tl.load(origin + cell, mask=mask, other=0) + rank
    tl.store(new_points + to, tl.load(points + at, mask=mask, other=0), mask=mask)
    tl.store(new_a + to, tl.load(near_a + at, mask=mask, other=0.0), mask=mask)
    tl.store(new_b + to, tl.load(near_b + at, mask=mask, other=0.0), mask=mask)
    tl.store(new_zones + to, tl.load(number + cell, mask=mask, other=0), mask=mask)


def measuring(metric: DeviceMetric, block: int | None = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of kernels that measure distances.

    `block` is the number of points per program. By default, it depends on the size of a row.
    """
    table = metric.table
    # Metrics of other kinds never read these tensors.
    radii, sinh_radii = (table if column is None else column for column in (metric.radii, metric.sinh_radii))
    width = table.shape[1]
    if block is None:
        block = 2 * BLOCK if width * table.element_size() <= _SHORT_ROW else BLOCK
    arguments = (table, radii, sinh_radii, in_memory(metric.unit, table.device), width)
    constants = {
        # The kernels are compiled for a number of coordinates, but not for every size of a
        # matrix.
        "K": 0 if metric.kind == "matrix" else width,
        "KIND": _FORMULAS[metric.kind],
        "BLOCK": block,
        "num_warps": block // BLOCK,
        "enable_fp_fusion": False,
        "FLOAT": tl.float32 if table.dtype == torch.float32 else tl.float64,
    }
    return arguments, constants


def in_memory(number: float, device: TorchDevice) -> Tensor:
    """Return a float64 in memory, because Triton would round a plain number to float32."""
    return torch.tensor([number], dtype=torch.float64, device=device)


def pairs(metric: DeviceMetric, i: Tensor, j: Tensor) -> Tensor:
    """Return distances of pairs in float64."""
    out = torch.empty(len(j), dtype=torch.float64, device=j.device)
    arguments, constants = measuring(metric)
    if len(out):
        _pairs[(triton.cdiv(len(out), constants["BLOCK"]),)](
            *arguments, i.contiguous(), j, out, len(out), **constants
        )
    return out
