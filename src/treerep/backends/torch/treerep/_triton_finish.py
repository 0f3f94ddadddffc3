"""The end of TreeRep as one Triton kernel: all steps of zones that contain few points.

A program takes the zones that start in a window of positions, and takes all their steps in its
own scratch memory, wave by wave. The steps need no launches, and the coordinates of the points stay
in the cache. The formulas are those of _triton_sorting.py and _triton_steps.py.

In scratch memory, the number of a zone is the position of its first point. A point reads the
distances of its zone's pivots and builds the tree on them itself, so that zones need no pass.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from ...._core.typing import Tensor, TorchDevice
from . import _bins as bins
from ._triton_sorting import points_per_bin, sorted_points, two_distances
from ._triton_steps import nearest_of_four, universal_tree

# Zones of at most this many points are finished by one program, which takes the zones of a window of
# as many positions. If there are few points, the time is spent on launches, and larger zones need
# fewer waves. If there are many, the points of all programs should fit into the cache.
SMALL = 64
LARGE = 128
_FEW_POINTS = 1 << 22
_POINTS = 32  # points processed together, on one warp
_PROGRAMS = 16  # per multiprocessor

_DUPLICATES = tl.constexpr(bins.DUPLICATES)
_ON_NODE = tl.constexpr(bins.ON_NODE)
_ON_EDGE = tl.constexpr(bins.ON_EDGE)
_NEAR = tl.constexpr(bins.NEAR)
_Z1_R = tl.constexpr(bins.Z1_R)
_Z2_X = tl.constexpr(bins.Z2_X)
_Z2_Z = tl.constexpr(bins.Z2_Z)
_TWIN_Y = tl.constexpr(bins.TWIN_Y)
_BINS = tl.constexpr(bins.BINS)
_COULD_BE_R = tl.constexpr(bins.COULD_BE_R)
_GONE = tl.constexpr(bins.GONE)
_BITS = tl.constexpr(10)
_COUNT_MASK = tl.constexpr((1 << 10) - 1)
_NONE = tl.constexpr(1 << 20)  # a position beyond all others

# Rows of the scratch memory. The first rows exist twice, for this wave and for the next.
_POINT = tl.constexpr(0)
_START = tl.constexpr(2)  # of the zone of a point, or -1 if the point is placed
_SIZE = tl.constexpr(4)  # 4 * size + kind, by zone, as the following rows
_A = tl.constexpr(6)
_B = tl.constexpr(8)
_FIRST = tl.constexpr(10)  # number of the first node
_FIRST_R = tl.constexpr(12)  # the first point at the position of r
_CODE = tl.constexpr(14)
_BEFORE = tl.constexpr(15)  # earlier points of each bin, three bins to an integer
_INTEGERS = tl.constexpr(18)
_NEAR_A = tl.constexpr(0)
_NEAR_B = tl.constexpr(2)
_LENGTH = tl.constexpr(4)
_TO_Z = tl.constexpr(6)
_WEIGHTS = tl.constexpr(7)  # of new edges, of which a point brings at most three
_FLOATS = tl.constexpr(10)
_EDGES = tl.constexpr(3)


class Scratch(NamedTuple):
    """Memory of the programs."""

    integers: Tensor  # int32
    floats: Tensor  # float64
    edges: Tensor  # int64: pairs of int32


def largest_zone(n: int) -> int:
    """Return the number of points up to which a zone is finished by one program."""
    return LARGE if n <= _FEW_POINTS else SMALL


def scratch(device: TorchDevice, window: int) -> Scratch:
    """Allocate the memory of all programs that run at the same time."""
    places = programs(device) * (2 * window + 1)
    return Scratch(
        torch.empty(_INTEGERS.value * places, dtype=torch.int32, device=device),
        torch.empty(_FLOATS.value * places, dtype=torch.float64, device=device),
        torch.empty(_EDGES.value * places, dtype=torch.int64, device=device),
    )


def programs(device: TorchDevice) -> int:
    """Return the number of programs."""
    if device.type != "cuda":
        return 2
    return _PROGRAMS * torch.cuda.get_device_properties(device).multi_processor_count


def constants(rule: int, window: int, measuring: dict[str, Any]) -> dict[str, Any]:
    """Return the constants of the kernel. Without pipelining, loads stay behind barriers."""
    own = {"RULE": rule, "WINDOW": window, "TILE": 2 * window}
    return {**measuring, **own, "BLOCK": _POINTS, "num_warps": 1, "num_stages": 1}


# Triton compiles these functions, so a type checker cannot know their arguments.


@triton.jit
def _store_zone(integers, floats, at, mask, buffer, size, kind, a, b, length, first, ROW):
    """Store a zone whose first point is at this position."""
    tl.store(integers + (_SIZE + buffer) * ROW + at, 4 * size + kind, mask=mask)
    tl.store(integers + (_A + buffer) * ROW + at, a, mask=mask)
    tl.store(integers + (_B + buffer) * ROW + at, b, mask=mask)
    tl.store(integers + (_FIRST + buffer) * ROW + at, first, mask=mask)
    tl.store(integers + (_FIRST_R + buffer) * ROW + at, tl.zeros_like(at) + _NONE, mask=mask)
    tl.store(floats + (_LENGTH + buffer) * ROW + at, length, mask=mask)


@triton.jit
def _store_edge(new_edges, weights, at, u, v, weight, mask):
    tl.store(new_edges + at, u.to(tl.int64) | (v.to(tl.int64) << 32), mask=mask)
    tl.store(weights + at, weight, mask=mask)


@triton.jit
def _load_zones(
    points,
    near_a,
    near_b,
    zones,
    kinds,
    starts,
    sizes,
    nodes_a,
    nodes_b,
    lengths,
    first_nodes,
    nodes,
    integers,
    floats,
    new_edges,
    begin,
    m,
    WINDOW: tl.constexpr,
    TILE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Copy the zones that start in a window to scratch memory. Place leaves and duplicates.

    Returns the number of positions, of points that are left, and of edges.
    """
    ROW: tl.constexpr = TILE + 1
    stop = begin + WINDOW
    # A zone that started in the window before belongs to that window.
    open_zone = tl.load(zones + begin).to(tl.int64)
    opened = tl.load(starts + open_zone).to(tl.int32)
    split = (opened < begin) & (tl.load(kinds + open_zone) != _DUPLICATES)
    begin = tl.where(split, opened + tl.load(sizes + open_zone).to(tl.int32), begin)
    here = 0
    left = 0
    n_edges = 0
    for lo in range(0, TILE, BLOCK):
        at = lo + tl.arange(0, BLOCK)
        position = begin + at
        mask = (position < m) & (at < TILE)
        zone = tl.load(zones + position, mask=mask, other=0).to(tl.int64)
        kind = tl.load(kinds + zone, mask=mask, other=0).to(tl.int32)
        size = tl.load(sizes + zone, mask=mask, other=0).to(tl.int32)
        start = (tl.load(starts + zone, mask=mask, other=0) - begin).to(tl.int32)
        # There may be more duplicates than fit into scratch memory.
        twin = kind == _DUPLICATES
        mask = mask & (tl.where(twin, position, begin + start) < stop)
        leaf = mask & (twin | ((kind == _ON_NODE) & (size == 1)))
        stays = mask & ~leaf
        w = tl.load(points + position, mask=mask, other=0)
        to_a = tl.load(near_a + position, mask=mask, other=0.0)
        to_b = tl.load(near_b + position, mask=stays, other=0.0)
        a = tl.load(nodes_a + zone, mask=mask, other=0)
        first = tl.load(first_nodes + zone, mask=mask, other=0)
        node = first + at - start
        tl.store(nodes + w, node, mask=leaf)
        found = leaf.to(tl.int32)
        edge = n_edges + tl.cumsum(found, 0) - found
        _store_edge(new_edges, floats + _WEIGHTS * ROW, edge, a, node, to_a, leaf)
        n_edges += tl.sum(found, 0)
        tl.store(integers + _START * ROW + at, tl.where(stays, start, -1), mask=at < TILE)
        tl.store(integers + _POINT * ROW + at, w, mask=stays)
        tl.store(floats + _NEAR_A * ROW + at, to_a, mask=stays)
        tl.store(floats + _NEAR_B * ROW + at, to_b, mask=stays)
        is_first = stays & (at == start)
        b = tl.load(nodes_b + zone, mask=is_first, other=0)
        length = tl.load(lengths + zone, mask=is_first, other=0.0)
        _store_zone(integers, floats, at, is_first, 0, size, kind, a, b, length, first, ROW)
        here = tl.maximum(here, tl.max(tl.where(stays, at + 1, 0), 0))
        left += tl.sum(stays.to(tl.int32), 0)
    return here, left, n_edges


@triton.jit
def _zone_of(integers, floats, at, m, now, ROW, RULE: tl.constexpr):
    """Return the zone of each point: its start, size and kind, and the position of its pivot z."""
    start = tl.load(integers + (_START + now) * ROW + at, mask=at < m, other=-1)
    mask = start >= 0
    packed = tl.load(integers + (_SIZE + now) * ROW + start, mask=mask, other=0)
    size = packed >> 2
    on_node = mask & ((packed & 3) == _ON_NODE)
    at_z = start + on_node.to(tl.int32)
    if RULE == _NEAR:
        nearest = nearest_of_four(floats + (_NEAR_B + now) * ROW, start, size, mask)
        at_z = tl.where(on_node, at_z, nearest)
    return start, mask, size, on_node, at_z


@triton.jit
def _measure(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    integers,
    floats,
    m,
    now,
    ROW,
    RULE: tl.constexpr,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Store the distances of each point to the pivots y and z. If y = b, the former is known."""
    points = integers + (_POINT + now) * ROW
    for lo in range(0, m, BLOCK):
        at = lo + tl.arange(0, BLOCK)
        start, mask, _, on_node, at_z = _zone_of(integers, floats, at, m, now, ROW, RULE)
        is_y = on_node & (at == start)
        mask_y = on_node & ~is_y
        mask = mask_y | (mask & ~is_y & (at != at_z))
        if tl.max(mask.to(tl.int32), 0) > 0:
            w = tl.load(points + at, mask=mask, other=0).to(tl.int64)
            y = tl.load(points + start, mask=mask_y, other=0).to(tl.int64)
            z = tl.load(points + at_z, mask=mask, other=0).to(tl.int64)
            to_y, to_z = two_distances(
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
                K,
                KIND,
                FLOAT,
                BLOCK,
            )
            tl.store(floats + (_NEAR_B + now) * ROW + at, to_y, mask=mask_y)
            tl.store(floats + _TO_Z * ROW + at, to_z, mask=mask)


@triton.jit
def _sort(floats, at, start, mask, on_node, at_z, now, tol, ROW):
    """Return the code of each point and its new distances, and the tree on its zone's pivots."""
    near_a = floats + (_NEAR_A + now) * ROW
    near_b = floats + (_NEAR_B + now) * ROW
    x = tl.load(near_a + at, mask=mask, other=0.0)
    y = tl.load(near_b + at, mask=mask, other=0.0)
    z = tl.load(floats + _TO_Z * ROW + at, mask=mask, other=0.0)
    xy = tl.load(near_a + start, mask=on_node, other=0.0)
    on_edge = mask & ~on_node
    length = tl.load(floats + (_LENGTH + now) * ROW + start, mask=on_edge, other=0.0)
    xy = tl.where(on_node, xy, length)
    xz = tl.load(near_a + at_z, mask=mask, other=0.0)
    yz = tl.load(near_b + at_z, mask=mask, other=0.0)
    from_x, from_y, from_z, contracted = universal_tree(xy, xz, yz, tol)
    code, to_a, to_b = sorted_points(x, y, z, xy, xz, yz, on_node, contracted, tol)
    is_pivot = (at == at_z) | (on_node & (at == start))
    code = tl.where(mask & ~is_pivot, code, _GONE)
    return code, to_a, to_b, from_x, from_y, from_z, contracted


@triton.jit
def _store_codes(integers, floats, m, now, tol, ROW, RULE: tl.constexpr, BLOCK: tl.constexpr):
    """Store the code of each point, and for each zone the first point that could be r."""
    for lo in range(0, m, BLOCK):
        at = lo + tl.arange(0, BLOCK)
        start, mask, _, on_node, at_z = _zone_of(integers, floats, at, m, now, ROW, RULE)
        code, _, _, _, _, _, _ = _sort(floats, at, start, mask, on_node, at_z, now, tol, ROW)
        tl.store(integers + _CODE * ROW + at, code, mask=at < m)
        first_r = integers + (_FIRST_R + now) * ROW + start
        tl.atomic_min(first_r, at, mask=code == _COULD_BE_R, sem="relaxed")


@triton.jit
def _count(integers, m, now, ROW, BLOCK: tl.constexpr):
    """Store how many points of each bin are before each point. Returns the totals."""
    total_0 = 0
    total_1 = 0
    total_2 = 0
    for lo in range(0, m, BLOCK):
        at = lo + tl.arange(0, BLOCK)
        mask = at < m
        code = tl.load(integers + _CODE * ROW + at, mask=mask, other=_GONE)
        could = code == _COULD_BE_R
        start = tl.load(integers + (_START + now) * ROW + at, mask=could, other=0)
        first = tl.load(integers + (_FIRST_R + now) * ROW + start, mask=could, other=0)
        code = tl.where(could, tl.where(first == at, _GONE, _Z1_R), code)
        tl.store(integers + _CODE * ROW + at, code, mask=mask)
        before = integers + _BEFORE * ROW + at
        mine = points_per_bin(code, 0)
        tl.store(before, total_0 + tl.cumsum(mine, 0) - mine, mask=mask)
        total_0 += tl.sum(mine, 0)
        mine = points_per_bin(code, 1)
        tl.store(before + ROW, total_1 + tl.cumsum(mine, 0) - mine, mask=mask)
        total_1 += tl.sum(mine, 0)
        mine = points_per_bin(code, 2)
        tl.store(before + 2 * ROW, total_2 + tl.cumsum(mine, 0) - mine, mask=mask)
        total_2 += tl.sum(mine, 0)
    end = integers + _BEFORE * ROW + m
    tl.store(end, total_0)
    tl.store(end + ROW, total_1)
    tl.store(end + 2 * ROW, total_2)
    return total_0, total_1, total_2


@triton.jit
def _unpack(packed, BIN: tl.constexpr):
    return (packed >> (BIN % 3 * _BITS)) & _COUNT_MASK


@triton.jit
def _move(
    nodes,
    integers,
    floats,
    new_edges,
    total_0,
    total_1,
    total_2,
    m,
    now,
    n_edges,
    n,
    tol,
    ROW,
    RULE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Move the points of each bin to their next zone. Place pivots and leaves.

    Returns the number of positions of the next wave, of points that are left, and of edges.
    """
    left = 0
    weights = floats + _WEIGHTS * ROW
    for lo in range(0, m, BLOCK):
        at = lo + tl.arange(0, BLOCK)
        start, mask, size, on_node, at_z = _zone_of(integers, floats, at, m, now, ROW, RULE)
        _, to_a, to_b, from_x, from_y, from_z, contracted = _sort(
            floats, at, start, mask, on_node, at_z, now, tol, ROW
        )
        code = tl.load(integers + _CODE * ROW + at, mask=mask, other=_GONE)
        w = tl.load(integers + (_POINT + now) * ROW + at, mask=mask, other=0)
        x = tl.load(integers + (_A + now) * ROW + start, mask=mask, other=0)
        first = tl.load(integers + (_FIRST + now) * ROW + start, mask=mask, other=0)
        y = tl.load(integers + (_B + now) * ROW + start, mask=mask, other=0)
        y = tl.where(on_node, first, y)
        z = first + on_node.to(tl.int32)
        r = z + n  # the Steiner node of a step is n + the node z
        r = tl.where(contracted == 1, x, r)
        r = tl.where(contracted == 2, y, r)
        r = tl.where(contracted == 3, z, r)
        first_r = tl.load(integers + (_FIRST_R + now) * ROW + start, mask=mask, other=_NONE)
        node = z + 1
        r = tl.where(first_r < _NONE, node, r)
        node += (first_r < _NONE).to(tl.int32)
        is_first = mask & (at == start)
        to = tl.zeros_like(at)
        begin = tl.zeros_like(at)
        count = tl.zeros_like(at)
        new_first = tl.zeros_like(at)
        kind = tl.zeros_like(at) + _ON_NODE
        a = r
        length = tl.zeros_like(from_x)
        edges_here = tl.zeros_like(at)
        edge_x = is_first
        edge_y = is_first
        edge_z = is_first
        next_m = 0
        before = integers + _BEFORE * ROW
        before_point = tl.load(before + at, mask=mask, other=0)
        before_zone = tl.load(before + start, mask=mask, other=0)
        before_end = tl.load(before + start + size, mask=mask, other=0)
        for b in tl.static_range(_BINS):
            if b == 3 or b == 6:
                before += ROW
                before_point = tl.load(before + at, mask=mask, other=0)
                before_zone = tl.load(before + start, mask=mask, other=0)
                before_end = tl.load(before + start + size, mask=mask, other=0)
            mine = _unpack(before_point, b)
            begin_b = _unpack(before_zone, b)
            count_b = _unpack(before_end, b) - begin_b
            here = code == b
            to = tl.where(here, next_m + mine, to)
            begin = tl.where(here, next_m + begin_b, begin)
            count = tl.where(here, count_b, count)
            new_first = tl.where(here, node, new_first)
            pivot = (b + 2) % 3 if b < _TWIN_Y else b - 6
            q = x if pivot == 0 else (y if pivot == 1 else z)
            arm = from_x if pivot == 0 else (from_y if pivot == 1 else from_z)
            if b > 0:  # the first bin is attached to r
                a = tl.where(here, q, a)
                length = tl.where(here, arm, length)
            if b >= _Z2_X and b <= _Z2_Z:
                # If a pivot coincides with r, there is no edge between them, and the points of
                # that edge are attached to r.
                kind = tl.where(here & (q != r), _ON_EDGE, kind)
                is_final = is_first & (count_b == 0) & (q != r)
                edges_here += is_final.to(tl.int32)
                if pivot == 0:
                    edge_x = is_final
                elif pivot == 1:
                    edge_y = is_final
                else:
                    edge_z = is_final
            node += count_b
            total = total_0 if b < 3 else (total_1 if b < 6 else total_2)
            next_m += _unpack(total, b)
        exists = mask & (code < _BINS)
        leaf = exists & ((code >= _TWIN_Y) | ((kind == _ON_NODE) & (count == 1)))
        stays = exists & ~leaf
        own = new_first + to - begin
        edges_here += leaf.to(tl.int32)
        edge = n_edges + tl.cumsum(edges_here, 0) - edges_here
        n_edges += tl.sum(edges_here, 0)
        _store_edge(new_edges, weights, edge, a, own, to_a, leaf)
        edge += leaf.to(tl.int32)
        _store_edge(new_edges, weights, edge, x, r, from_x, edge_x)
        edge += edge_x.to(tl.int32)
        _store_edge(new_edges, weights, edge, y, r, from_y, edge_y)
        edge += edge_y.to(tl.int32)
        _store_edge(new_edges, weights, edge, z, r, from_z, edge_z)
        # A pivot, or the point that became r.
        pivot_node = tl.where(at == at_z, z, tl.where(at == first_r, r, y))
        own = tl.where(leaf, own, pivot_node)
        tl.store(nodes + w, own, mask=mask & ~stays)
        other = 1 - now
        tl.store(integers + (_START + other) * ROW + to, tl.where(leaf, -1, begin), mask=exists)
        tl.store(integers + (_POINT + other) * ROW + to, w, mask=stays)
        tl.store(floats + (_NEAR_A + other) * ROW + to, to_a, mask=stays)
        tl.store(floats + (_NEAR_B + other) * ROW + to, to_b, mask=stays)
        opens = stays & (to == begin)
        _store_zone(integers, floats, to, opens, other, count, kind, a, r, length, new_first, ROW)
        left += tl.sum(stays.to(tl.int32), 0)
    next_m = 0
    for b in tl.static_range(_BINS):
        next_m += _unpack(total_0 if b < 3 else (total_1 if b < 6 else total_2), b)
    return next_m, left, n_edges


@triton.jit
def _store_edges(new_edges, new_weights, count, edges, weights, n_edges, BLOCK: tl.constexpr):
    """Append edges to those of all programs."""
    first = tl.atomic_add(n_edges, count.to(tl.int64), sem="relaxed")
    for lo in range(0, count, BLOCK):
        at = lo + tl.arange(0, BLOCK)
        mask = at < count
        tl.store(edges + first + at, tl.load(new_edges + at, mask=mask, other=0), mask=mask)
        weight = tl.load(new_weights + at, mask=mask, other=0.0)
        tl.store(weights + first + at, weight, mask=mask)


@triton.jit(do_not_specialize=["width", "n", "first", "m", "n_windows"])
def finish(
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
    starts,
    sizes,
    nodes_a,
    nodes_b,
    lengths,
    first_nodes,
    nodes,
    edges,
    weights,
    n_edges,
    next_window,
    integers,
    floats,
    new_edges,
    tolerance,
    n,
    first,
    m,
    n_windows,
    RULE: tl.constexpr,
    WINDOW: tl.constexpr,
    TILE: tl.constexpr,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take all steps of the zones of the points from `first` on.

    edges : pairs of int32, as int64
    next_window : 0
    """
    ROW: tl.constexpr = TILE + 1
    program = tl.program_id(0)
    integers += program * _INTEGERS * ROW
    floats += program * _FLOATS * ROW
    new_edges += program * _EDGES * ROW
    tol = tl.load(tolerance)
    # A program takes the next window when it is done, because windows take different times.
    window = tl.atomic_add(next_window, 1, sem="relaxed")
    while window < n_windows:
        begin = first + window * WINDOW
        here, left, count = _load_zones(
            points,
            near_a,
            near_b,
            zones,
            kinds,
            starts,
            sizes,
            nodes_a,
            nodes_b,
            lengths,
            first_nodes,
            nodes,
            integers,
            floats,
            new_edges,
            begin,
            m,
            WINDOW,
            TILE,
            BLOCK,
        )
        now = 0
        tl.debug_barrier()
        while left > 0:
            _measure(
                table,
                radii,
                sinh_radii,
                unit,
                width,
                integers,
                floats,
                here,
                now,
                ROW,
                RULE,
                K,
                KIND,
                FLOAT,
                BLOCK,
            )
            tl.debug_barrier()
            _store_codes(integers, floats, here, now, tol, ROW, RULE, BLOCK)
            tl.debug_barrier()
            total_0, total_1, total_2 = _count(integers, here, now, ROW, BLOCK)
            tl.debug_barrier()
            here, left, count = _move(
                nodes,
                integers,
                floats,
                new_edges,
                total_0,
                total_1,
                total_2,
                here,
                now,
                count,
                n,
                tol,
                ROW,
                RULE,
                BLOCK,
            )
            now = 1 - now
            tl.debug_barrier()
        _store_edges(new_edges, floats + _WEIGHTS * ROW, count, edges, weights, n_edges, BLOCK)
        window = tl.atomic_add(next_window, 1, sem="relaxed")
        tl.debug_barrier()
