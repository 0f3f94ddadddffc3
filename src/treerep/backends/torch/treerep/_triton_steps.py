"""The passes of TreeRep over zones as Triton kernels: pivots, new zones and edges.

The reference implementation is _torch_waves.py. Columns with one row per pivot are (3, Z) tensors;
a kernel finds a row by its number, because a pointer to a row is not always aligned, and Triton
would compile the kernel again.
"""

import triton
import triton.language as tl

from . import _bins as bins
from ._triton_sorting import two_distances

ZONES = 128  # zones per program
#: Rows of the tallies of zones: new zones that need a step and their points, the same for other new
#: zones, and edges.
TALLIES = 5

_DUPLICATES = tl.constexpr(bins.DUPLICATES)
_ON_NODE = tl.constexpr(bins.ON_NODE)
_ON_EDGE = tl.constexpr(bins.ON_EDGE)
_RANDOM = tl.constexpr(bins.RANDOM)
_NEAR = tl.constexpr(bins.NEAR)
_GONE = tl.constexpr(bins.GONE)
_BINS = tl.constexpr(bins.BINS)
_Z2_X = tl.constexpr(bins.Z2_X)
_Z2_Z = tl.constexpr(bins.Z2_Z)
_TWIN_Y = tl.constexpr(bins.TWIN_Y)
_PACKED = tl.constexpr(3)
_BITS = tl.constexpr(10)
_COUNT_MASK = tl.constexpr((1 << 10) - 1)

# Triton compiles these functions, so a type checker cannot know their arguments.


@triton.jit
def nearest_of_four(near_b, start, size, mask):
    """Return the position of the point nearest to b among the first four points of a zone."""
    choice = start
    least = tl.load(near_b + start, mask=mask, other=0.0)
    for k in tl.static_range(1, 4):
        position = start + tl.minimum(size - 1, k)
        found = tl.load(near_b + position, mask=mask, other=0.0)
        choice = tl.where(found < least, position, choice)
        least = tl.minimum(found, least)
    return choice


@triton.jit
def universal_tree(xy, xz, yz, tol):
    """Return the lengths from x, y and z to r, and which of them is r (1, 2, 3 or 0)."""
    # Lemma 1: d(x, r) = (y, z)_x, d(y, r) = (x, z)_y, d(z, r) = (x, y)_z
    from_x = 0.5 * (xy + xz - yz)
    from_y = 0.5 * (xy + yz - xz)
    from_z = 0.5 * (xz + yz - xy)
    # A pivot that seems to be beyond r is r. If there are several such pivots, the first is r.
    which = tl.where(from_z < tol, 3, 0)
    which = tl.where(from_y < tol, 2, which)
    which = tl.where(from_x < tol, 1, which)
    zero = tl.zeros_like(xy)
    from_x = tl.where(which == 1, zero, tl.where(which == 2, xy, tl.where(which == 3, xz, from_x)))
    from_y = tl.where(which == 2, zero, tl.where(which == 1, xy, tl.where(which == 3, yz, from_y)))
    from_z = tl.where(which == 3, zero, tl.where(which == 1, xz, tl.where(which == 2, yz, from_z)))
    return from_x, from_y, from_z, which


@triton.jit(do_not_specialize=["width", "n", "n_zones"])
def choose(
    table,
    radii,
    sinh_radii,
    unit,
    width,
    points,
    near_a,
    near_b,
    kinds,
    starts,
    sizes,
    nodes_a,
    nodes_b,
    lengths,
    first_nodes,
    nodes,
    positions,
    pivot_points,
    pivots,
    sides,
    arms,
    contracted_of,
    r_of,
    tolerance,
    n,
    n_zones,
    RULE: tl.constexpr,
    K: tl.constexpr,
    KIND: tl.constexpr,
    FLOAT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Choose the pivots of every zone, place them, and build their universal trees.

    positions : (2, Z) of y and z; with the rule CLOSEST, those of z are given
    pivot_points : (2, Z), pivots : (3, Z) nodes, sides : (3, Z) distances xy, xz and yz
    """
    zone = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = zone < n_zones
    kind = tl.load(kinds + zone, mask=mask, other=0)
    size = tl.load(sizes + zone, mask=mask, other=0)
    on_node = mask & (kind == _ON_NODE)
    start = tl.load(starts + zone, mask=mask, other=0)
    # On a node, the first two points are y and z. On an edge y = b, and z is chosen.
    at_z = start + on_node.to(tl.int64)
    if RULE == _NEAR:
        at_z = tl.where(on_node, at_z, nearest_of_four(near_b, start, size, mask))
    elif RULE != _RANDOM:
        given = tl.load(positions + n_zones + zone, mask=mask, other=0)
        at_z = tl.where(on_node, at_z, given)
    y = tl.load(points + start, mask=mask, other=0)
    z = tl.load(points + at_z, mask=mask, other=0)
    node_x = tl.load(nodes_a + zone, mask=mask, other=0)
    first_node = tl.load(first_nodes + zone, mask=mask, other=0)
    node_y = tl.where(on_node, first_node, tl.load(nodes_b + zone, mask=mask, other=0))
    node_z = first_node + on_node.to(tl.int32)
    xy = tl.load(near_a + start, mask=mask, other=0.0)
    xy = tl.where(on_node, xy, tl.load(lengths + zone, mask=mask, other=0.0))
    xz = tl.load(near_a + at_z, mask=mask, other=0.0)
    yz = tl.load(near_b + at_z, mask=mask, other=0.0)
    _, measured = two_distances(
        table,
        radii,
        sinh_radii,
        unit,
        width,
        z.to(tl.int64),
        y.to(tl.int64),
        y.to(tl.int64),
        on_node,
        zone < 0,
        K,
        KIND,
        FLOAT,
        BLOCK,
    )
    yz = tl.where(on_node, measured, yz)
    tl.store(nodes + y, node_y, mask=on_node)
    tl.store(nodes + z, node_z, mask=mask)
    tl.store(positions + zone, tl.where(on_node, start, -1), mask=mask)
    tl.store(positions + n_zones + zone, at_z, mask=mask)
    tl.store(pivot_points + zone, y, mask=mask)
    tl.store(pivot_points + n_zones + zone, z, mask=mask)
    tl.store(pivots + zone, node_x, mask=mask)
    tl.store(pivots + n_zones + zone, node_y, mask=mask)
    tl.store(pivots + 2 * n_zones + zone, node_z, mask=mask)
    tl.store(sides + zone, xy, mask=mask)
    tl.store(sides + n_zones + zone, xz, mask=mask)
    tl.store(sides + 2 * n_zones + zone, yz, mask=mask)
    tol = tl.load(tolerance)
    from_x, from_y, from_z, which = universal_tree(xy, xz, yz, tol)
    tl.store(arms + zone, from_x, mask=mask)
    tl.store(arms + n_zones + zone, from_y, mask=mask)
    tl.store(arms + 2 * n_zones + zone, from_z, mask=mask)
    tl.store(contracted_of + zone, which.to(tl.int8), mask=mask)
    r = node_z + n  # the Steiner node of a step is n + the node z
    r = tl.where(which == 1, node_x, tl.where(which == 2, node_y, tl.where(which == 3, node_z, r)))
    tl.store(r_of + zone, r, mask=mask)


@triton.jit(do_not_specialize=["m", "n_zones"])
def place_r(
    codes,
    points,
    kinds,
    first_nodes,
    first_r,
    nodes,
    r_of,
    next_of,
    m,
    n_zones,
    BLOCK: tl.constexpr,
):
    """Let the first point of a zone at the position of r become r. Store the next free node."""
    zone = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = zone < n_zones
    at = tl.load(first_r + zone, mask=mask, other=m)
    found = mask & (at < m)
    # At this point, a zone on a node has placed y and z, and a zone on an edge only z.
    kind = tl.load(kinds + zone, mask=mask, other=0).to(tl.int32)
    node = tl.load(first_nodes + zone, mask=mask, other=0) + 3 - kind
    tl.store(codes + at, tl.full((BLOCK,), _GONE, tl.uint8), mask=found)
    tl.store(nodes + tl.load(points + at, mask=found, other=0), node, mask=found)
    tl.store(r_of + zone, node, mask=found)
    tl.store(next_of + zone, node + found.to(tl.int32), mask=mask)


@triton.jit
def _passed_points(
    up_to,
    tiles,
    before_start,
    starts,
    zone,
    mask,
    n_tiles,
    BIN: tl.constexpr,
    TILE: tl.constexpr,
):
    """Return the number of points of a bin before the start of each zone."""
    tile = tl.load(starts + zone, mask=mask, other=0) // TILE
    row = BIN * n_tiles + tile
    before = tl.load(up_to + row, mask=mask, other=0) - tl.load(tiles + row, mask=mask, other=0)
    # Three counts of ten bits are packed into an integer.
    packed = tl.load(before_start + zone * _PACKED + BIN // 3, mask=mask, other=0)
    return before + ((packed >> (BIN % 3 * _BITS)) & _COUNT_MASK)


@triton.jit
def _is_open(count, on_edge, SMALL: tl.constexpr):
    """Return which new zones are left to the next wave. Others are finished by one program.

    Zones without points beyond the pivots of their next step are always finished.
    """
    return (count > SMALL) & tl.where(on_edge, count > 1, count > 2)


@triton.jit(do_not_specialize=["n_zones", "n_tiles"])
def tally(
    up_to,
    tiles,
    before_start,
    starts,
    pivots,
    r_of,
    passed,
    tallies,
    n_zones,
    n_tiles,
    SMALL: tl.constexpr,
    TILE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Count what each zone becomes: see TALLIES.

    passed : (Z + 1, BINS), the number of points of a bin before each zone, and in total
    """
    zone = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = zone < n_zones
    follows = zone + 1 < n_zones
    is_last = zone + 1 == n_zones
    r = tl.load(r_of + zone, mask=mask, other=0)
    open_zones = tl.zeros((BLOCK,), tl.int32)
    open_points = tl.zeros((BLOCK,), tl.int32)
    closed_zones = tl.zeros((BLOCK,), tl.int32)
    closed_points = tl.zeros((BLOCK,), tl.int32)
    edges = tl.zeros((BLOCK,), tl.int32)
    for b in tl.static_range(_BINS):
        begin = _passed_points(up_to, tiles, before_start, starts, zone, mask, n_tiles, b, TILE)
        end = _passed_points(up_to, tiles, before_start, starts, zone + 1, follows, n_tiles, b, TILE)
        everything = tl.load(up_to + b * n_tiles + n_tiles - 1)
        end = tl.where(is_last, everything, end)
        tl.store(passed + zone * _BINS + b, begin, mask=mask)
        tl.store(passed + (zone + 1) * _BINS + b, end, mask=is_last)
        count = tl.where(mask, end - begin, 0)
        is_open = _is_open(count, False, SMALL)
        if b >= _Z2_X and b <= _Z2_Z:
            row = (b - _Z2_X) * n_zones + zone
            at_r = tl.load(pivots + row, mask=mask, other=0) == r
            is_open = _is_open(count, ~at_r, SMALL)
            edges += (mask & (count == 0) & ~at_r).to(tl.int32)
        if b >= _TWIN_Y:
            is_open = count < 0
        is_closed = (count > 0) & ~is_open
        open_zones += is_open.to(tl.int32)
        open_points += tl.where(is_open, count, 0)
        closed_zones += is_closed.to(tl.int32)
        closed_points += tl.where(is_closed, count, 0)
    tl.store(tallies + zone, open_zones, mask=mask)
    tl.store(tallies + n_zones + zone, open_points, mask=mask)
    tl.store(tallies + 2 * n_zones + zone, closed_zones, mask=mask)
    tl.store(tallies + 3 * n_zones + zone, closed_points, mask=mask)
    tl.store(tallies + 4 * n_zones + zone, edges, mask=mask)


@triton.jit
def _store_edge(edges, weights, at, u, v, weight, mask):
    tl.store(edges + 2 * at, u, mask=mask)
    tl.store(edges + 2 * at + 1, v, mask=mask)
    tl.store(weights + at, weight, mask=mask)


@triton.jit
def _load_before(sums, tallies, row, zone, mask, n_zones):
    """Return the tallies of all earlier zones, as int64. Running sums continue from row to row."""
    at = row * n_zones + zone
    before = tl.load(sums + at, mask=mask, other=0) - tl.load(tallies + at, mask=mask, other=0)
    first = row * n_zones
    before -= tl.load(sums + first - 1, mask=first > 0, other=0)
    return before.to(tl.int64)


@triton.jit(do_not_specialize=["n_zones", "n_open", "n_left"])
def divide(
    passed,
    tallies,
    sums,
    pivots,
    arms,
    r_of,
    next_of,
    new_kinds,
    new_starts,
    new_sizes,
    new_a,
    new_b,
    new_lengths,
    new_first,
    origin,
    number,
    edges,
    weights,
    n_edges,
    n_zones,
    n_open,
    n_left,
    SMALL: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Create zones from the bins that contain points, and the edges without points.

    origin : (Z, BINS), what to add to the rank of a point among all points of its bin
    number : (Z, BINS), the new zone of each bin
    """
    zone = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = zone < n_zones
    r = tl.load(r_of + zone, mask=mask, other=0)
    node = tl.load(next_of + zone, mask=mask, other=0)
    open_zone = _load_before(sums, tallies, 0, zone, mask, n_zones)
    open_point = _load_before(sums, tallies, 1, zone, mask, n_zones)
    closed_zone = _load_before(sums, tallies, 2, zone, mask, n_zones) + n_open
    closed_point = _load_before(sums, tallies, 3, zone, mask, n_zones) + n_left
    edge = _load_before(sums, tallies, 4, zone, mask, n_zones) + tl.load(n_edges)
    for b in tl.static_range(_BINS):
        cell = zone * _BINS + b
        begin = tl.load(passed + cell, mask=mask, other=0)
        count = tl.load(passed + cell + _BINS, mask=mask, other=0) - begin
        exists = mask & (count > 0)
        pivot = (b + 2) % 3 if b < _TWIN_Y else b - 6
        at_node = r if b == 0 else tl.load(pivots + pivot * n_zones + zone, mask=mask, other=0)
        length = tl.load(arms + pivot * n_zones + zone, mask=mask, other=0.0)
        kind = tl.full((BLOCK,), _ON_NODE, tl.int8)
        is_open = _is_open(count, False, SMALL)
        if b >= _Z2_X and b <= _Z2_Z:
            # If a pivot coincides with r, there is no edge between them, and the points of that
            # edge are attached to r.
            on_edge = at_node != r
            kind = tl.where(on_edge, _ON_EDGE, _ON_NODE).to(tl.int8)
            is_open = _is_open(count, on_edge, SMALL)
            is_final = mask & (count == 0) & on_edge
            _store_edge(edges, weights, edge, at_node, r, length, is_final)
            edge += is_final.to(tl.int64)
        if b >= _TWIN_Y:
            kind = tl.full((BLOCK,), _DUPLICATES, tl.int8)
            is_open = count < 0
        is_open = is_open & exists
        new = tl.where(is_open, open_zone, closed_zone)
        start = tl.where(is_open, open_point, closed_point)
        tl.store(new_kinds + new, kind, mask=exists)
        tl.store(new_starts + new, start, mask=exists)
        tl.store(new_sizes + new, count.to(tl.int64), mask=exists)
        tl.store(new_a + new, at_node, mask=exists)
        tl.store(new_b + new, r, mask=exists)
        tl.store(new_lengths + new, length, mask=exists)
        tl.store(new_first + new, node, mask=exists)
        tl.store(origin + cell, (start - begin).to(tl.int32), mask=exists)
        tl.store(number + cell, new.to(tl.int32), mask=exists)
        node += count
        open_zone += is_open.to(tl.int64)
        open_point += tl.where(is_open, count, 0)
        is_closed = exists & ~is_open
        closed_zone += is_closed.to(tl.int64)
        closed_point += tl.where(is_closed, count, 0)
