"""Distances in Triton, for the kernels of backbone trees. They have the bits of `DeviceMetric.pairs`."""

from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from ...._core.typing import Tensor, TorchDevice
from ..metric import DeviceMetric

_WARP = 32  # points per warp

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


def measuring(metric: DeviceMetric, block: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of kernels that measure distances. A program has `block` points."""
    table = metric.table
    # Metrics of other kinds never read these tensors.
    radii, sinh_radii = (table if column is None else column for column in (metric.radii, metric.sinh_radii))
    width = table.shape[1]
    arguments = (table, radii, sinh_radii, in_memory(metric.unit, table.device), width)
    constants = {
        # The kernels are compiled for a number of coordinates, but not for every size of a
        # matrix.
        "K": 0 if metric.kind == "matrix" else width,
        "KIND": _FORMULAS[metric.kind],
        "BLOCK": block,
        "num_warps": block // _WARP,
        # Fused multiply-add rounds once where the CPU rounds twice.
        "enable_fp_fusion": False,
        "FLOAT": tl.float32 if table.dtype == torch.float32 else tl.float64,
    }
    return arguments, constants


def in_memory(number: float, device: TorchDevice) -> Tensor:
    """Return a float64 in memory, because Triton would round a plain number to float32."""
    return torch.tensor([number], dtype=torch.float64, device=device)
