"""The (max, min) product of a symmetric matrix with itself, on a torch device.

The product takes O(n^3) comparisons.

A Triton kernel keeps a tile of the product in registers and reads two short runs of a row in
every step. Without Triton, each step is two torch passes over the whole block.
"""

from functools import cache
from typing import Any

from ..._core.extras import require
from ..._core.typing import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # torch includes Triton for GPUs only
    triton = None

# Size of a tile. With eight warps, a thread holds 32 rows of two columns: 34 numbers are read
# for 64 numbers of the product.
_HEIGHT = 32
_WIDTH = 512
_WARPS = 8


def max_min_rows(matrix: Tensor, first: int, last: int) -> Tensor:
    """Return max over z of min(matrix[x, z], matrix[z, y]), for first <= x < last, first <= y.

    matrix : (n, n) tensor, symmetric, contiguous
    """
    if matrix.device.type == "cuda" and triton is not None:
        return _by_tiles(matrix, first, last)
    return _by_steps(matrix, first, last)


def _by_steps(matrix: Tensor, first: int, last: int) -> Tensor:
    torch = require("torch", "embed")
    widest = torch.minimum(matrix[first:last, :1], matrix[:1, first:])
    reached = torch.empty_like(widest)
    for z in range(1, len(matrix)):
        torch.minimum(matrix[first:last, z : z + 1], matrix[z : z + 1, first:], out=reached)
        torch.maximum(widest, reached, out=widest)
    return widest


def _by_tiles(matrix: Tensor, first: int, last: int) -> Tensor:
    torch = require("torch", "embed")
    n = len(matrix)
    widest = torch.empty((last - first, n - first), dtype=matrix.dtype, device=matrix.device)
    # Tiles extend beyond the last column. Padding is cheaper than a mask for every load.
    padded = torch.nn.functional.pad(matrix, (0, _WIDTH))
    tiles = (-(-(last - first) // _HEIGHT), -(-(n - first) // _WIDTH))
    with torch.cuda.device(matrix.device):
        _compiled()[tiles](padded, widest, n, n + _WIDTH, first, last, _HEIGHT, _WIDTH, num_warps=_WARPS)
    return widest


@cache
def _compiled() -> Any:
    # Compiled here, so that this module can be imported without Triton.
    return triton.jit(max_min_tile)


def max_min_tile(  # type: ignore[no-untyped-def]
    matrix, widest, n, stride, first, last, HEIGHT: "tl.constexpr", WIDTH: "tl.constexpr"
):
    """Fill one tile of `widest` from the n rows of `matrix`, which are `stride` apart."""
    rows = tl.program_id(0) * HEIGHT + tl.arange(0, HEIGHT)
    cols = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    # Use one address for all rows and one for all columns. The other addresses are at constant
    # offsets, which saves registers.
    left = matrix + first + tl.program_id(0) * HEIGHT
    right = matrix + first + tl.program_id(1) * WIDTH
    x = tl.arange(0, HEIGHT)
    y = tl.arange(0, WIDTH)
    best = tl.minimum(tl.load(left + x)[:, None], tl.load(right + y)[None, :])
    for _ in tl.range(1, n, loop_unroll_factor=2):
        # The matrix is symmetric, so column z is row z, which is contiguous.
        left += stride
        right += stride
        reached = tl.minimum(tl.load(left + x)[:, None], tl.load(right + y)[None, :])
        best = tl.maximum(best, reached)
    width = n - first
    places = rows.to(tl.int64)[:, None] * width + cols[None, :]
    tl.store(widest + places, best, mask=(rows < last - first)[:, None] & (cols < width)[None, :])
