"""Placement of points around a backbone in Triton, for GPUs.

The kernels give the same bits as placement/_placement_kernels.py. Each program processes 128 points
and walks over the nodes of the tree. It adds terms in the same order as the CPU. Fused multiply-add
is disabled, because it rounds once where the CPU rounds twice.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from ...._core.typing import Tensor, TorchDevice
from ..metric import DeviceMetric
from ._triton_distances import measuring, two_distances

if TYPE_CHECKING:
    from ....placement._least_squares_places import Scale
    from ....tree.structure.rooted import Preorder

_BLOCK = 128  # points per program
_COLUMNS = 64  # other points per program
_SCRATCH = 12 << 30  # maximum bytes of scratch memory ...
_SHARE = 0.4  # ... and maximum fraction of the free memory
_SCRATCH_ON_HOST = 1 << 28
_BELOW = 3  # numbers per point and node: sums over the points below ...
_TOTAL = 2  # ... and over all points
_LARGEST_STEP = 1 << 18  # points placed together

# Triton compiles these functions, so a type checker cannot know their arguments.


@triton.jit
def _distances(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    points,
    others,
    out,
    m,
    count,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Measure distances from points to other points, two at a time: out[other, point]."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < m
    w = tl.load(points + at, mask=mask, other=0).to(tl.int64)
    begin = tl.program_id(1) * COLUMNS
    for c in range(begin, min(begin + COLUMNS, count), 2):
        column = 0 * at + c
        both = mask & (column + 1 < count)
        y = tl.load(others + tl.minimum(column + 1, count - 1)).to(tl.int64)
        z = tl.load(others + column).to(tl.int64)
        to_y, to_z = two_distances(
            table, radii, sinh_radii, unit, width, w, y, z, mask, both, K, KIND, FLOAT, BLOCK
        )
        row = out + column * m + at
        tl.store(row, to_z, mask=mask)
        tl.store(row + m, to_y, mask=both)


@triton.jit
def _weight(d, smallest, POWER: tl.constexpr):
    """Return 1 / d^power, like `weigh` in _edge_fit_kernels.py."""
    near = tl.maximum(d, smallest)
    if POWER == 0:
        return near * 0.0 + 1.0
    if POWER == 1:
        return 1.0 / near
    square = near * near
    if POWER == 2:
        return 1.0 / square
    return 1.0 / (square * near) if POWER == 3 else 1.0 / (square * square)


@triton.jit
def _own_sums(distances, y, m, at, mask, smallest, POWER: tl.constexpr):
    """Return W, S, Q of the sample point y at a node, or zeros if there is none (y < 0)."""
    d = tl.load(distances + y * m + at, mask=mask & (y >= 0), other=0.0)
    w = tl.where(y >= 0, _weight(d, smallest, POWER), 0.0)
    return w, w * d, w * d * d


@triton.jit
def _sums(distances, below, k, y, is_leaf, m, stride, at, mask, smallest, POWER: tl.constexpr):
    """Return W, S, Q of the points below a node. The sums of a leaf are not stored."""
    w, f, q = _own_sums(distances, tl.where(is_leaf, y, -1), m, at, mask, smallest, POWER)
    stored = mask & ~is_leaf
    here = below + (0 * at + k) * m + at
    w = tl.where(is_leaf, w, tl.load(here, mask=stored, other=0.0))
    f = tl.where(is_leaf, f, tl.load(here + stride, mask=stored, other=0.0))
    q = tl.where(is_leaf, q, tl.load(here + 2 * stride, mask=stored, other=0.0))
    return w, f, q


@triton.jit
def _cost(w, f, q, distance):
    """Return the squared error Q - 2 D S + D^2 W of points at distance D."""
    return q - 2.0 * distance * f + distance * distance * w


@triton.jit
def _at_end(w, f, q, v, a, r, length, end, best, x, y):
    """Evaluate one end of an edge."""
    up = tl.maximum((f - end * w + a - (length - end) * v) / (w + v), 0.0)
    cost = _cost(w, f, q, end + up) + _cost(v, a, r, length - end + up)
    better = cost < best
    return tl.where(better, cost, best), tl.where(better, end, x), tl.where(better, up, y)


@triton.jit
def _best_on_edge(w, f, q, v, a, r, length):
    """Return the result of `best_on_edge` in _edge_fit_kernels.py."""
    i = f / w
    j = a / v
    x = (length + i - j) / 2
    y = (i + j - length) / 2
    inside = (x >= 0.0) & (x <= length) & (y >= 0.0)
    cost = _cost(w, f, q, i) + _cost(v, a, r, j)
    along = tl.minimum(tl.maximum((f - a + length * v) / (w + v), 0.0), length)
    best = _cost(w, f, q, along) + _cost(v, a, r, length - along)
    best, along, up = _at_end(w, f, q, v, a, r, length, length * 0.0, best, along, along * 0.0)
    best, along, up = _at_end(w, f, q, v, a, r, length, length, best, along, up)
    return tl.where(inside, cost, best), tl.where(inside, x, along), tl.where(inside, y, up)


@triton.jit
def _sum_subtrees(
    distances,
    up,
    lengths,
    sample,
    leaf,
    last,
    below,
    m,
    nodes,
    at,
    mask,
    smallest,
    POWER: tl.constexpr,
):
    """Sum W, S, Q over the points below each node, from the last node to the root.

    Returns the first sample point at distance 0 from each point, or `nodes`.
    """
    stride = nodes.to(tl.int64) * m
    same = 0 * at + nodes
    for step in range(nodes):
        k = nodes - 1 - step
        y = 0 * at + tl.load(sample + k)
        d = tl.load(distances + y * m + at, mask=mask & (y >= 0), other=1.0)
        same = tl.where((d == 0.0) & (y < same), y, same)
        if step < nodes - 1:
            g = 0 * at + tl.load(up + k)
            length = tl.load(lengths + k)
            is_leaf = 0 * at + tl.load(leaf + k) > 0
            begins = 0 * at + tl.load(last + k) > 0
            w, f, q = _sums(distances, below, k, y, is_leaf, m, stride, at, mask, smallest, POWER)
            # Moving away by the length L replaces S by S - L W and Q by Q - L (S + (S - L W)).
            shifted = f - length * w
            more = q - length * (f + shifted)
            # The sum at the parent starts with its sample point.
            parent_y = tl.where(begins, 0 * at + tl.load(sample + g), -1)
            own_w, own_f, own_q = _own_sums(distances, parent_y, m, at, mask, smallest, POWER)
            there = below + g * m + at
            known = mask & ~begins
            own_w = tl.where(begins, own_w, tl.load(there, mask=known, other=0.0))
            own_f = tl.where(begins, own_f, tl.load(there + stride, mask=known, other=0.0))
            own_q = tl.where(begins, own_q, tl.load(there + 2 * stride, mask=known, other=0.0))
            tl.store(there, own_w + w, mask=mask)
            tl.store(there + stride, own_f + shifted, mask=mask)
            tl.store(there + 2 * stride, own_q + more, mask=mask)
    return same


@triton.jit
def _choose_edge(
    distances,
    up,
    lengths,
    sample,
    leaf,
    below,
    total,
    m,
    nodes,
    at,
    mask,
    smallest,
    POWER: tl.constexpr,
):
    """Find the edge above a node k, and the position on it, with the least squared error.

    Returns k, the distance along the edge and the height above it.
    """
    stride = nodes.to(tl.int64) * m
    zero = tl.load(distances + at, mask=mask, other=1.0) * 0.0
    root = below + at
    all_weights = tl.load(root, mask=mask, other=0.0)
    tl.store(total + at, tl.load(root + stride, mask=mask, other=0.0), mask=mask)
    tl.store(total + stride + at, tl.load(root + 2 * stride, mask=mask, other=0.0), mask=mask)
    best = zero + float("inf")
    along = zero
    high = zero
    edge = zero.to(tl.int32) + 1
    for k in range(1, nodes):
        g = 0 * at + tl.load(up + k)
        length = tl.load(lengths + k)
        y = 0 * at + tl.load(sample + k)
        is_leaf = 0 * at + tl.load(leaf + k) > 0
        w, f, q = _sums(distances, below, k, y, is_leaf, m, stride, at, mask, smallest, POWER)
        shifted = f - length * w
        more = q - length * (f + shifted)
        # V, A, R of the points above: all points minus those below.
        over = total + g * m + at
        v = all_weights - w
        a = tl.load(over, mask=mask, other=0.0) - shifted
        r = tl.load(over + stride, mask=mask, other=0.0) - more
        here = total + (0 * at + k) * m + at
        tl.store(here, f + a - length * v, mask=mask & ~is_leaf)
        tl.store(here + stride, q + r - length * (2.0 * a - length * v), mask=mask & ~is_leaf)
        promising = (w > 0.0) & (v > 0.0) & ((q + r - best) * w * v < f * f * v + a * a * w)
        cost, x, rise = _best_on_edge(
            tl.where(promising, w, 1.0), f, q, tl.where(promising, v, 1.0), a, r, length + zero
        )
        better = promising & (cost < best)
        best = tl.where(better, cost, best)
        along = tl.where(better, x, along)
        high = tl.where(better, rise, high)
        edge = tl.where(better, k, edge)
    return edge, along, high


@triton.jit
def _place(
    distances,
    up,
    lengths,
    names,
    sample,
    leaf,
    last,
    first_of,
    below,
    total,
    numbers,
    node,
    above,
    height,
    m,
    nodes,
    POWER: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute `find_best_places` of _placement_kernels.py.

    `sample` is the sample point at each node, or -1. `leaf` states that a node has no children.
    `last` states that a node is the last child of its parent, which is added first.
    """
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < m
    smallest = tl.load(numbers)
    short = tl.load(numbers + 1)
    same = _sum_subtrees(
        distances,
        up,
        lengths,
        sample,
        leaf,
        last,
        below,
        m,
        nodes,
        at,
        mask,
        smallest,
        POWER,
    )
    edge, along, high = _choose_edge(
        distances,
        up,
        lengths,
        sample,
        leaf,
        below,
        total,
        m,
        nodes,
        at,
        mask,
        smallest,
        POWER,
    )
    low_end = along <= short
    high_end = along >= tl.load(lengths + edge) - short
    name = tl.load(names + tl.where(high_end & ~low_end, tl.load(up + edge), edge))
    is_duplicate = same < nodes
    name = tl.where(is_duplicate, tl.load(first_of + tl.where(is_duplicate, same, 0)), name)
    tl.store(node + at, name, mask=mask)
    tl.store(above + at, tl.where(is_duplicate | low_end | high_end, 0.0, along), mask=mask)
    tl.store(height + at, tl.where(is_duplicate, 0.0, high), mask=mask)


def scratch_bytes(device: TorchDevice) -> int:
    """Return how many bytes of scratch memory may be allocated."""
    if device.type != "cuda":
        return _SCRATCH_ON_HOST
    return min(_SCRATCH, int(_SHARE * torch.cuda.mem_get_info(device)[0]))


class Placement:
    """Places points in one tree, at most `step` at a time, in preallocated memory."""

    def __init__(self, space: DeviceMetric, tree: "Preorder", sample: Tensor, scale: "Scale") -> None:
        device = space.table.device
        nodes = len(tree.up)
        arrays = _tree_arrays(tree, len(sample))
        self.tree = [torch.from_numpy(np.array(array)).to(device) for array in arrays]
        self.space = space
        self.sample = sample
        self.scale = scale
        self.nodes = nodes
        # Number of float64 values per point.
        self.per_point = (_BELOW + _TOTAL) * nodes + len(sample)
        fitting = scratch_bytes(device) // (8 * self.per_point)
        self.step = max(_BLOCK, min(_LARGEST_STEP, fitting))
        self.numbers = torch.tensor([scale.smallest, scale.short], dtype=torch.float64, device=device)
        self.scratch: Tensor | None = None

    def __call__(self, points: Tensor, node: Tensor, above: Tensor, height: Tensor) -> None:
        """Write the positions of at most `step` points."""
        m = len(points)
        device = points.device
        size = m * self.per_point
        if self.scratch is None:
            self.scratch = torch.empty(size, dtype=torch.float64, device=device)
        distances, below, total = self.scratch[:size].split(
            [
                m * len(self.sample),
                _BELOW * m * self.nodes,
                _TOTAL * m * self.nodes,
            ]
        )
        arguments, constants = measuring(self.space, _BLOCK)
        columns = triton.cdiv(len(self.sample), _COLUMNS)
        _distances[(triton.cdiv(m, _BLOCK), columns)](
            *arguments,
            points,
            self.sample,
            distances,
            m,
            len(self.sample),
            **constants,
            COLUMNS=_COLUMNS,
        )
        _place[(triton.cdiv(m, _BLOCK),)](
            distances,
            *self.tree,
            below,
            total,
            self.numbers,
            node,
            above,
            height,
            m,
            self.nodes,
            POWER=int(self.scale.power),
            BLOCK=_BLOCK,
            enable_fp_fusion=False,
            num_stages=1,
        )


def _tree_arrays(tree: "Preorder", n_sample: int) -> tuple[NDArray[np.generic], ...]:
    """Return the arguments of `_place` that describe a tree, from `up` to `first_of`."""
    up = np.asarray(tree.up)
    nodes = len(up)
    position = tree.position[:n_sample]
    sample = np.full(nodes, -1, np.int32)
    sample[position] = np.arange(len(position))
    # The last child has the largest position.
    parents, firsts = np.unique(up[:0:-1], return_index=True)
    last = np.zeros(nodes, np.int32)
    last[nodes - 1 - firsts] = 1
    leaf = np.ones(nodes, np.int32)
    leaf[parents] = 0
    names = np.asarray(tree.order).astype(np.int32)
    return (
        up.astype(np.int32),
        tree.length,
        names,
        sample,
        leaf,
        last,
        names[position],
    )
