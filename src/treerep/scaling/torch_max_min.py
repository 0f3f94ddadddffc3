"""The product of a symmetric matrix with itself over (max, min), on a torch device: O(n^3) comparisons.

A Triton kernel keeps a tile of the product in registers and reads two short runs of a row for it at every step; without
Triton each step is two passes of torch over the whole block.
"""

from functools import cache
from typing import Any

from ..common.extras import require

try:
    import triton
    import triton.language as tl
except ImportError:  # torch brings it for GPUs alone
    triton = None

_TILE = 128
_WARPS = 8


def max_min_rows(matrix: Any, first: int, last: int) -> Any:
    """Return max over z of min(matrix[x, z], matrix[z, y]) for the rows first <= x < last and all columns y >= first.

    matrix : (n, n) tensor, symmetric, contiguous
    """
    if matrix.device.type == "cuda" and triton is not None:
        return _by_tiles(matrix, first, last)
    return _by_steps(matrix, first, last)


def _by_steps(matrix: Any, first: int, last: int) -> Any:
    torch = require("torch", "embed")
    widest = torch.minimum(matrix[first:last, :1], matrix[:1, first:])
    reached = torch.empty_like(widest)
    for z in range(1, len(matrix)):
        torch.minimum(matrix[first:last, z : z + 1], matrix[z : z + 1, first:], out=reached)
        torch.maximum(widest, reached, out=widest)
    return widest


def _by_tiles(matrix: Any, first: int, last: int) -> Any:
    torch = require("torch", "embed")
    n = len(matrix)
    widest = torch.empty((last - first, n - first), dtype=matrix.dtype, device=matrix.device)
    tiles = (-(-(last - first) // _TILE), -(-(n - first) // _TILE))
    with torch.cuda.device(matrix.device):
        _compiled()[tiles](matrix, widest, n, first, last, _TILE, num_warps=_WARPS)
    return widest


@cache
def _compiled() -> Any:
    # Here, so that the module can be imported without Triton. It takes types from the arguments of a call alone.
    return triton.jit(max_min_tile)


def max_min_tile(matrix, widest, n, first, last, TILE: "tl.constexpr"):  # type: ignore[no-untyped-def]
    """Fill one TILE x TILE tile of `widest`. What lies outside is computed for the last row or column, and not kept."""
    rows = first + tl.program_id(0) * TILE + tl.arange(0, TILE)
    cols = first + tl.program_id(1) * TILE + tl.arange(0, TILE)
    x = tl.minimum(rows, n - 1)
    y = tl.minimum(cols, n - 1)
    line = matrix
    best = tl.minimum(tl.load(line + x)[:, None], tl.load(line + y)[None, :])
    for _ in range(1, n):
        # The matrix is symmetric: column z is row z, which lies in one piece.
        line += n
        reached = tl.minimum(tl.load(line + x)[:, None], tl.load(line + y)[None, :])
        best = tl.maximum(best, reached)
    width = n - first
    places = (rows - first).to(tl.int64)[:, None] * width + (cols - first)[None, :]
    tl.store(widest + places, best, mask=(rows < last)[:, None] & (cols < n)[None, :])
