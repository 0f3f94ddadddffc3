"""Random priorities as a Triton kernel: the bijection of fitting/treerep/_priorities.py."""

import torch
import triton
import triton.language as tl

from ...._core.typing import Tensor, TorchDevice
from ....fitting.treerep._priorities import ROUNDS, Bijection

_BLOCK = 1024
_ROUNDS = tl.constexpr(ROUNDS)


# Triton compiles this function, so a type checker cannot know its arguments.


@triton.jit(do_not_specialize=["n", "largest", "shift"])
def _order(keys, out, n, largest, shift, BLOCK: tl.constexpr):
    """Apply the bijection of 0 ... `largest` until the result is below n."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = at.to(tl.int64)
    beyond = at < n
    while tl.max(beyond.to(tl.int32), 0) > 0:
        y = x
        for k in tl.static_range(_ROUNDS):
            factor = tl.load(keys + 2 * k)
            term = tl.load(keys + 2 * k + 1)
            y = (y * factor + term) & largest
            y = y ^ (y >> shift)
        x = tl.where(beyond, y, x)
        beyond = (at < n) & (x >= n)
    tl.store(out + at, x.to(tl.int32), mask=at < n)


def points_by_priority(bijection: Bijection, device: TorchDevice) -> Tensor:
    """Return all points in ascending order of priority."""
    n = bijection.n
    out = torch.empty(n, dtype=torch.int32, device=device)
    keys = torch.tensor(bijection.keys, dtype=torch.int64, device=device)
    _order[(triton.cdiv(n, _BLOCK),)](keys, out, n, bijection.largest, bijection.shift, BLOCK=_BLOCK)
    return out
