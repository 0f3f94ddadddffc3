"""Kernels of backbone trees in Triton, for GPUs.

Each gives the bits of a compiled kernel of the CPU.

Placement follows placement/_placement_kernels.py: a program has 128 points, and walks over the
nodes of the tree. Zones follow `link` of fitting/rooted/_gromov_kernels.py and
refinement/backbone/_branch_kernels.py: a program has one zone. Both add in the order of the
CPU. Fused multiplication and addition is switched off: it rounds once where the CPU rounds
twice.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from ...._core.typing import Tensor, TorchDevice
from ..metric import DeviceMetric
from ..treerep._triton_sorting import in_memory, measuring, two_distances
from ._branches import Joins, Zones

if TYPE_CHECKING:
    from ....placement._least_squares_places import Scale
    from ....tree.structure.rooted import Preorder

_BLOCK = 128  # points of a program
_COLUMNS = 64  # other points to which a program measures distances
_SCRATCH = 12 << 30  # largest number of bytes for scratch memory ...
_SHARE = 0.4  # ... and largest share of the free memory
_SCRATCH_ON_HOST = 1 << 28
_BELOW = 3  # numbers of a point that are kept at every node: sums of the points below ...
_TOTAL = 2  # ... and of all points
_LARGEST_STEP = 1 << 18  # points that are placed together
_NARROWEST = 16  # points of the smallest zones that are joined together

# Triton compiles these; a type checker cannot know their arguments.


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
    """Measure distances of points to others: out[other, point]. Takes two others at a time."""
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
    """Return 1 / d^power, as `weigh` of move_kernels.py."""
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
    """Return W, S, Q of the point y of the sample at a node; zeros if there is none (y < 0)."""
    d = tl.load(distances + y * m + at, mask=mask & (y >= 0), other=0.0)
    w = tl.where(y >= 0, _weight(d, smallest, POWER), 0.0)
    return w, w * d, w * d * d


@triton.jit
def _sums(distances, below, k, y, is_leaf, m, stride, at, mask, smallest, POWER: tl.constexpr):
    """Return W, S, Q of the points below a node. Those of a leaf are not stored."""
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
    """Try one end of an edge."""
    up = tl.maximum((f - end * w + a - (length - end) * v) / (w + v), 0.0)
    cost = _cost(w, f, q, end + up) + _cost(v, a, r, length - end + up)
    better = cost < best
    return tl.where(better, cost, best), tl.where(better, end, x), tl.where(better, up, y)


@triton.jit
def _best_on_edge(w, f, q, v, a, r, length):
    """`best_on_edge` of move_kernels.py."""
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
    """Add up W, S, Q of the points below each node, from the last node to the root.

    Returns the first point of the sample at distance 0 from each point, or `nodes`.
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
            w, f, q = _sums(
                distances, below, k, y, is_leaf, m, stride, at, mask, smallest, POWER
            )
            # Measured `length` farther away: S - L W and Q - L (S + (S - L W)).
            shifted = f - length * w
            more = q - length * (f + shifted)
            # The parent begins with its point of the sample.
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
    """Find the edge above a node k, and the place on it, of least squared error.

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
        # V, A, R of the points above: all points less those below.
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
    """`find_best_places` of placement_kernels.py.

    `sample` is the point of the sample at each node, or -1. `leaf` says that nothing is below a
    node. `last` says that a node is the last child of its parent: it is added first.
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
    """Find the nearest center of each point, the first of equals.

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
    """Compute minus the shared heights of points, as `negate_products`; the diagonal is inf."""
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
    """values[which], for a vector in registers."""
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
    """Join a zone by average linkage (`link`), and make its branches (`join_branches`).

    A branch depends only on its parts, not on the order of joins: it is made when its cluster
    is. A cluster shares no more than its parts. If a join shares too little, so do all above.
    """
    begin = tl.load(zone_at + tl.program_id(0))
    stop = tl.load(zone_stop + tl.program_id(0))
    matrix = matrices + tl.load(zone_matrix + tl.program_id(0))
    short = tl.load(short_of)
    size = (stop - begin).to(tl.int32)
    here = tl.arange(0, W)
    exists = here < size
    # One point stands for each cluster. All others have a count of 0.
    count = tl.where(exists, 1.0, 0.0).to(tl.float64)
    height = tl.load(heights + begin + here, mask=exists, other=0.0)
    above = tl.load(aboves + begin + here, mask=exists, other=0.0)
    leader = here  # the point by which `join_branches` numbers the cluster
    node = begin + here  # of the tree: points by position, joins n_points after
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
        # Of equally near clusters take the previous one, or chains would go in circles.
        back = (length > 1) & (tl.min(tl.where(here == before, of_x, float("inf")), 0) == least)
        y = tl.where(back, before, y)
        if back:
            x_count = _pick(count, here, x)
            y_count = _pick(count, here, y)
            share = x_count / (x_count + y_count)
            left = others & (here != y)
            row_y = matrix + y.to(tl.int64) * size + here
            of_y = tl.load(row_y, mask=left, other=0.0)
            low = tl.minimum(of_x, of_y)
            high = tl.maximum(of_x, of_y)
            value = tl.maximum(low, tl.minimum(share * of_x + (1.0 - share) * of_y, high))
            tl.debug_barrier()  # all have read
            tl.store(row_y, value, mask=left)
            tl.store(matrix + here.to(tl.int64) * size + y, value, mask=left)
            tl.debug_barrier()  # all have written
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
            new = here == y
            count = tl.where(here == x, 0.0, tl.where(new, both, count))
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


def _scratch_bytes(device: TorchDevice) -> int:
    """Return how many bytes of scratch memory may be allocated."""
    if device.type != "cuda":
        return _SCRATCH_ON_HOST
    return min(_SCRATCH, int(_SHARE * torch.cuda.mem_get_info(device)[0]))


class Placement:
    """Places points in one tree, at most `step` at a time, in memory that is allocated once."""

    def __init__(
        self, space: DeviceMetric, tree: "Preorder", sample: Tensor, scale: "Scale"
    ) -> None:
        device = space.table.device
        nodes = len(tree.up)
        arrays = _tree_arrays(tree, len(sample))
        self.tree = [torch.from_numpy(np.array(array)).to(device) for array in arrays]
        self.space = space
        self.sample = sample
        self.scale = scale
        self.nodes = nodes
        # float64 numbers of each point.
        self.per_point = (_BELOW + _TOTAL) * nodes + len(sample)
        fitting = _scratch_bytes(device) // (8 * self.per_point)
        self.step = max(_BLOCK, min(_LARGEST_STEP, fitting))
        self.numbers = torch.tensor(
            [scale.smallest, scale.short], dtype=torch.float64, device=device
        )
        self.scratch: Tensor | None = None

    def __call__(self, points: Tensor, node: Tensor, above: Tensor, height: Tensor) -> None:
        """Write the places of at most `step` points."""
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
        arguments, constants = measuring(self.space)
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
    """Return the arguments of `_place` about a tree: from `up` to `first_of`."""
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


def nearest_centers(space: DeviceMetric, points: Tensor, zones: Zones, step: int) -> Tensor:
    """Return the nearest center of each point. Every step-th point of a zone is a center."""
    out = torch.zeros(len(points), dtype=torch.int32, device=points.device)
    at, stop, zone = _tiles(zones, points.device)
    arguments, constants = measuring(space)
    _nearest[(len(at),)](*arguments, points, at, stop, zone, step, out, **constants)
    return out


def _tiles(zones: Zones, device: TorchDevice) -> tuple[Tensor, Tensor, Tensor]:
    """Cut zones into runs of at most a block of points: first, end, and zone of each."""
    sizes = zones[:, 1] - zones[:, 0]
    counts = -(-sizes // _BLOCK)
    zone = np.repeat(zones, counts, axis=0)
    within = np.arange(len(zone)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = zone[:, 0] + _BLOCK * within
    stop = np.minimum(at + _BLOCK, zone[:, 1])
    return tuple(
        torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in (at, stop, zone)
    )


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
    for batch, width, entries in _batches(zones, _scratch_bytes(device) // 8):
        sizes = batch[:, 1] - batch[:, 0]
        if matrices is None or len(matrices) < entries:
            matrices = torch.empty(entries, dtype=torch.float64, device=device)
        offset = np.cumsum(sizes**2) - sizes**2
        tile_at, _, tile_zone = _tiles(batch, device)
        tile_matrix = torch.from_numpy(np.repeat(offset, -(-sizes // _BLOCK))).to(device)
        arguments, constants = measuring(space)
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
    """Return how many warps work on a zone of this width."""
    if width <= 128:
        return 1
    return 4 if width <= 512 else 8


def _batches(zones: Zones, entries: int) -> Iterator[tuple[Zones, int, int]]:
    """Yield zones of about one size together, their width, and the entries of their matrices.

    The width is a power of two. The largest zones come first.
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
