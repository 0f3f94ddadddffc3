"""Kernels of TreeRep: sort the points of a zone into seven bins, and finish small zones.

A *zone* is a set of points that attach to the same part of the tree built so far. The points of
a zone of kind 1 attach to a node a, and those of kind 2 to the inside of an edge (a, b). That
edge is not part of the tree until the zone turns out to be empty. A zone of kind 0 contains
duplicates of a, which become leaves of a. Memory is O(n) for every metric.

One *step* takes three pivots x, y, z from a zone. For kind 1, x = a, and y and z are two
points; for kind 2, x = a, y = b, and z is a point. The step builds their universal tree with
the node r in the middle, and sorts every other point w by the Gromov products

    A = (x, y)_w    B = (y, z)_w    C = (z, x)_w
    where (u, v)_w = (d(w, u) + d(w, v) - d(u, v)) / 2

into bins: Z1[r], Z1[x], Z1[y], Z1[z] (attach to a node) and Z2[x], Z2[y], Z2[z] (attach to the
edge to r).
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import borrower, helper, kernel
from ...metric.oracle.distance_kernels import distance, prefetch

# Bins of a step, in the order of their memory afterwards. For q = 1, 2, 3, Z1[q] is q, and Z2[q]
# is 3 + q.
Z1_R = 0
Z1_X = 1
Z1_Y = 2
Z1_Z = 3
Z2_X = 4
Z2_Y = 5
Z2_Z = 6
# Duplicates: points at distance 0 from the fresh pivot y or z.
TWIN_Y = 7
TWIN_Z = 8
BINS = 9
COULD_BE_R = 9  # at the position of r: one such point becomes r, the others join Z1[r]
GONE = 10  # a pivot, or the point that became r
CODES = 11

_VECTOR = 8  # numbers in the longest vector of a CPU
LANES = 64  # points that are sorted together
AHEAD = 8  # distance between the point being sorted and the point being prefetched

# Rules for z in a kind-2 zone.
CLOSEST = 0
RANDOM = 1
NEAR = 2

# Priority and position of a point in one number: see `_two_lowest`.
_POSITION = (1 << 32) - 1
_LAST_KEY = (1 << 63) - 1

# Columns of the table of zones.
KIND = 0
LO = 1
HI = 2
NODE_A = 3
NODE_B = 4

# Entries of the state of `finish`.
N_ZONES = 0  # zones left in the table
N_EDGES = 1  # edges written
N_PLACED = 2  # points placed
N_SORTED = 3  # points sorted into a zone, counted every time
BUDGET = 4  # points to sort in one call
STATES = 5


class Points(NamedTuple):
    """The points still to be placed. A zone is a slice lo:hi of the first four arrays.

    The arrays have two halves. A step reads a zone in one half and writes its sub-zones to the same
    positions in the other half.
    """

    slots: Any  # index of the point in the oracle
    near_a: Any  # distance to the zone's node a
    near_b: Any  # distance to b, for kind 2
    bins: Any  # bin of the point in the current step
    priority: Any  # by slot; the point of lowest priority is chosen


class Lanes(NamedTuple):
    """Scratch memory for the points that are sorted together."""

    near_a: Any
    near_b: Any  # for kind 1, the distance to y
    to_z: Any
    bins: Any


class Pivots(NamedTuple):
    """The three pivots of a step. x is the zone's node a."""

    kind: Any  # kind of the zone: 1 if y is a fresh point, 2 if y is the zone's node b
    y: Any  # slot of y, for kind 1
    z: Any  # slot of z
    at_y: Any  # positions of the fresh points in the slice; -1 for kind 2
    at_z: Any
    xy: Any  # distances between the pivots
    xz: Any
    yz: Any


class Arms(NamedTuple):
    """The universal tree on the pivots: lengths of the edges to r."""

    x: Any
    y: Any
    z: Any
    contracted: Any  # 1, 2, 3 if r is the pivot x, y, z; 0 if r is another node


class Growth(NamedTuple):
    """Output of steps: zones to sort further (a table used as a stack), and edges."""

    zones: Any  # (., 5) int64: KIND, LO, HI, NODE_A, NODE_B
    lengths: Any  # lengths of the edges (a, b), for kind 2
    edges: Any  # (., 2) node ids
    weights: Any


@helper
def _new_lanes() -> Any:
    return Lanes(
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(LANES, np.int64),
    )


@borrower
def _lowest(points: Any, lo: int, hi: int, best: Any) -> int:
    """Write the positions of the four points of lowest priority to best; return their number.

    The lowest comes first. A small zone has fewer than four points.
    """
    slots = points.slots
    priority = points.priority
    count = 0
    bar = np.int64(0)
    for i in range(lo, hi):
        rank = priority[slots[i]]
        if count == 4 and rank > bar:
            continue
        k = min(count, 3)
        while k > 0 and priority[slots[best[k - 1]]] > rank:
            best[k] = best[k - 1]
            k -= 1
        best[k] = i
        count = min(count + 1, 4)
        bar = np.int64(priority[slots[best[count - 1]]])
    return count


@borrower
def _two_lowest(points: Any, lo: int, hi: int, best: Any) -> None:
    """Write the positions of the two points of lowest priority to best, the lowest first.

    The loop has no branches, because the processor could not predict them.
    """
    first: Any = _LAST_KEY
    second: Any = _LAST_KEY
    for i in range(lo, hi):
        key = (np.int64(points.priority[points.slots[i]]) << 32) | i
        second = min(second, max(first, key))
        first = min(first, key)
    best[0] = first & _POSITION
    best[1] = second & _POSITION


@borrower
def _pick(kind: int, points: Any, lo: int, hi: int, rule: int, best: Any) -> None:
    """Write the positions of the fresh pivots to best.

    Kind 1: y to best[0] and z to best[1]. Kind 2: z to best[0].
    """
    near_b = points.near_b
    if kind == 1 or rule == RANDOM:
        _two_lowest(points, lo, hi, best)
    elif rule == NEAR:
        count = _lowest(points, lo, hi, best)
        choice = best[0]
        for k in range(1, count):  # best is sorted by priority, so ties go to the lowest
            if near_b[best[k]] < near_b[choice]:
                choice = best[k]
        best[0] = choice
    else:
        choice = lo
        for i in range(lo + 1, hi):
            earlier = points.priority[points.slots[i]] < points.priority[points.slots[choice]]
            if near_b[i] < near_b[choice] or (near_b[i] == near_b[choice] and earlier):
                choice = i
        best[0] = choice


@borrower
def _choose(
    oracle: Any, points: Any, kind: int, lo: int, hi: int, length: float, rule: int, best: Any
) -> Any:
    """Return the pivots of a zone's next step."""
    _pick(kind, points, lo, hi, rule, best)
    at_y = best[0] if kind == 1 else np.int64(-1)
    at_z = best[1] if kind == 1 else best[0]
    z = np.int64(points.slots[at_z])
    y = z
    xy = length
    xz = points.near_a[at_z]
    if kind == 1:
        y = np.int64(points.slots[at_y])
        xy = points.near_a[at_y]
        yz = distance(oracle, y, z)
    else:
        yz = points.near_b[at_z]
    return Pivots(kind, y, z, at_y, at_z, xy, xz, yz)


@borrower
def _universal_tree(pivots: Any, tol: float) -> Any:
    # Lemma 1: d(x, r) = (y, z)_x, d(y, r) = (x, z)_y, d(z, r) = (x, y)_z
    xy = pivots.xy
    xz = pivots.xz
    yz = pivots.yz
    to_x = 0.5 * (xy + xz - yz)
    to_y = 0.5 * (xy + yz - xz)
    to_z = 0.5 * (xz + yz - xy)
    # A pivot that seems to lie beyond r becomes r. If its arm stayed negative and were set to 0 at
    # the end, the path between the other two pivots would be too long.
    if to_x < tol:
        return Arms(0.0, xy, xz, 1)
    if to_y < tol:
        return Arms(xy, 0.0, yz, 2)
    if to_z < tol:
        return Arms(xz, yz, 0.0, 3)
    return Arms(to_x, to_y, to_z, 0)


@borrower
def _sort_lanes(lanes: Any, count: int, pivots: Any, contracted: int, tol: float) -> None:
    """Find the bins of `count` points w from their distances to the pivots, and the new distances.

    The values of all cases are computed and then selected. A loop without branches is compiled to
    vector instructions, and no branch is mispredicted.
    """
    xy = pivots.xy
    yz = pivots.yz
    xz = pivots.xz
    # A point at distance 0 from a fresh pivot is its duplicate.
    tol_y = tol if pivots.kind == 1 else -np.inf
    could_be_r = Z1_R if contracted else COULD_BE_R
    # If r is contracted into a pivot, the edge zone of that pivot attaches to r itself and stores
    # the product.
    merged = 3 + contracted if contracted else CODES
    near_a = lanes.near_a
    near_b = lanes.near_b
    bins = lanes.bins
    # Whole vectors: lanes beyond `count` hold numbers of earlier points, and are not read.
    for k in range((count + _VECTOR - 1) & -_VECTOR):
        x = near_a[k]
        y = near_b[k]
        z = lanes.to_z[k]
        a = 0.5 * (x + y - xy)  # (x, y)_w
        b = 0.5 * (y + z - yz)  # (y, z)_w
        c = 0.5 * (z + x - xz)  # (z, x)_w
        # d(w, r) is the largest product, and w belongs to the pivot q that this product omits. If
        # both other products equal d(w, q), w belongs to q itself, as in the paper's definition of
        # Zone_1; otherwise w belongs to the edge of q. The paper's text and pseudocode require only
        # one of these two equalities. The paper's proposition (an error of at most delta on four
        # points) then fails by a factor of up to 2, and results on C. elegans and Grid-worm are
        # worse (docs/developers/treerep.md). Ties: A, B, then C.
        larger_b = b >= c
        q = 1 if larger_b else 2
        to_q = x if larger_b else y
        to_r = b if larger_b else c
        other = c if larger_b else b
        largest_a = (a >= b) & (a >= c)
        q = 3 if largest_a else q
        to_q = z if largest_a else to_q
        to_r = a if largest_a else to_r
        last = b if largest_a else a
        other = c if largest_a else other
        at_node = (abs(to_q - last) < tol) & (abs(to_q - other) < tol)
        where = q if at_node else q + 3
        # Three equal products: w attaches to r at their common value, or is r if that value is 0.
        equal = (abs(a - b) < tol) & (abs(b - c) < tol) & (abs(a - c) < tol)
        zero = (a < tol) & (b < tol) & (c < tol)
        mean = (a + b + c) / 3.0
        at_r = could_be_r if zero else Z1_R
        where = at_r if equal else where
        to_q = mean if equal else to_q
        to_r = mean if equal else to_r
        twin_y = y < tol_y
        where = TWIN_Y if twin_y else where
        to_q = y if twin_y else to_q
        twin_z = z < tol
        where = TWIN_Z if twin_z else where
        to_q = z if twin_z else to_q
        to_r = 0.0 if twin_y | twin_z else to_r
        # Distances for the new zone: to its node, and for kind 2 also to r.
        near_a[k] = to_r if where == merged else to_q
        near_b[k] = to_r
        bins[k] = where


@borrower
def _read_lanes(
    oracle: Any,
    points: Any,
    pivots: Any,
    start: int,
    count: int,
    hi: int,
    lanes: Any,
) -> None:
    """Read the distances of `count` points from `start` on to the pivots."""
    slots = points.slots
    fresh_y = pivots.kind == 1
    for k in range(count):
        i = start + k
        if i + AHEAD < hi:
            prefetch(oracle, pivots.z, slots[i + AHEAD])
            if fresh_y:
                prefetch(oracle, pivots.y, slots[i + AHEAD])
        lanes.near_a[k] = points.near_a[i]
        lanes.near_b[k] = distance(oracle, pivots.y, slots[i]) if fresh_y else points.near_b[i]
        lanes.to_z[k] = distance(oracle, pivots.z, slots[i])


@borrower
def _sort(
    oracle: Any,
    points: Any,
    lo: int,
    hi: int,
    pivots: Any,
    contracted: int,
    tol: float,
    counts: Any,
    lanes: Any,
) -> int:
    """Sort the points lo:hi into bins, and update near_a and near_b for the new zones.

    Returns the position of the point that becomes r, the candidate of lowest priority, or -1.
    """
    slots = points.slots
    priority = points.priority
    new_r = -1
    for i in range(lo, min(lo + AHEAD, hi)):
        prefetch(oracle, pivots.z, slots[i])
    for start in range(lo, hi, LANES):
        count = min(LANES, hi - start)
        _read_lanes(oracle, points, pivots, start, count, hi, lanes)
        _sort_lanes(lanes, count, pivots, contracted, tol)
        if start <= pivots.at_y < start + count:
            lanes.bins[pivots.at_y - start] = GONE
        if start <= pivots.at_z < start + count:
            lanes.bins[pivots.at_z - start] = GONE
        for k in range(count):
            i = start + k
            where = lanes.bins[k]
            points.near_a[i] = lanes.near_a[k]
            points.near_b[i] = lanes.near_b[k]
            points.bins[i] = where
            counts[where] += 1
            if where == COULD_BE_R and (new_r < 0 or priority[slots[i]] < priority[slots[new_r]]):
                new_r = i
    return new_r


@borrower
def _scatter(points: Any, lo: int, hi: int, new_r: int, places: Any) -> None:
    """Copy the points lo:hi to the places of their bins, in order, and advance `places`."""
    for i in range(lo, hi):
        where = points.bins[i]
        if where == GONE or i == new_r:
            continue
        if where == COULD_BE_R:
            where = Z1_R
        k = places[where]
        places[where] = k + 1
        points.slots[k] = points.slots[i]
        points.near_a[k] = points.near_a[i]
        points.near_b[k] = points.near_b[i]


@borrower
def _grow(
    x: int,
    y: int,
    z: int,
    r: int,
    arms: Any,
    starts: Any,
    growth: Any,
    n_zones: int,
    n_edges: int,
) -> Any:
    """Turn bins into zones, and pivots without an edge zone into edges of the tree.

    Bin k is starts[k]:starts[k + 1].
    """
    zones = growth.zones
    edges = growth.edges
    for k in range(BINS):
        lo = starts[k]
        hi = starts[k + 1]
        q = (k - 1) % 3  # 0, 1, 2 for x, y, z
        pivot = x if q == 0 else (y if q == 1 else z)
        length = arms.x if q == 0 else (arms.y if q == 1 else arms.z)
        is_edge = Z2_X <= k <= Z2_Z and pivot != r
        if is_edge and lo == hi:
            edges[n_edges, 0] = pivot
            edges[n_edges, 1] = r
            growth.weights[n_edges] = length
            n_edges += 1
        if lo < hi:
            kind = 2 if is_edge else 1
            if k == Z1_R:
                pivot = r
            elif k >= TWIN_Y:
                kind = 0
                pivot = y if k == TWIN_Y else z
            zones[n_zones, KIND] = kind
            zones[n_zones, LO] = lo
            zones[n_zones, HI] = hi
            zones[n_zones, NODE_A] = pivot
            zones[n_zones, NODE_B] = r
            growth.lengths[n_zones] = length
            n_zones += 1
    return n_zones, n_edges


# The same functions one by one, for the driver of the split phase.


@kernel
def universal_tree(pivots: Any, tol: float) -> Any:
    """Return the universal tree of the pivots."""
    return _universal_tree(pivots, tol)


@kernel
def pick(kind: int, points: Any, lo: int, hi: int, rule: int, best: Any) -> None:
    """Write the positions of the fresh pivots to best."""
    _pick(kind, points, lo, hi, rule, best)


@kernel
def lowest(points: Any, lo: int, hi: int, best: Any) -> int:
    """Write the positions of the four points of lowest priority to best; return their number."""
    return _lowest(points, lo, hi, best)


@kernel
def sort_chunk(
    oracle: Any,
    points: Any,
    lo: int,
    hi: int,
    pivots: Any,
    contracted: int,
    tol: float,
    counts: Any,
) -> int:
    """Sort the points lo:hi of a zone into bins and count them; return the point that becomes r, or -1."""
    return _sort(oracle, points, lo, hi, pivots, contracted, tol, counts, _new_lanes())


@kernel
def scatter_chunk(points: Any, lo: int, hi: int, new_r: int, places: Any) -> None:
    """Copy the points lo:hi of a zone to the places of their bins, in the other half."""
    _scatter(points, lo, hi, new_r, places)


@kernel
def grow(x: int, y: int, z: int, r: int, arms: Any, starts: Any, growth: Any) -> Any:
    """Write zones and edges of one step into empty tables; return the number of each."""
    return _grow(x, y, z, r, arms, starts, growth, 0, 0)


@borrower
def _join(x: int, y: int, z: int, r: int, arms: Any, growth: Any, n_edges: int) -> int:
    """Add the edges of the universal tree, from the pivots to r."""
    for q in range(3):
        pivot = x if q == 0 else (y if q == 1 else z)
        if pivot != r:
            growth.edges[n_edges, 0] = pivot
            growth.edges[n_edges, 1] = r
            growth.weights[n_edges] = arms.x if q == 0 else (arms.y if q == 1 else arms.z)
            n_edges += 1
    return n_edges


@kernel
def finish(
    oracle: Any, names: Any, points: Any, growth: Any, state: Any, n: int, tol: float, rule: int
) -> None:
    """Complete the zones of the table, depth-first, until the budget is used up.

    The table of zones is the stack. Call again while state[N_ZONES] is not 0. A point has a
    slot in the oracle and the name names[slot] in the tree. The Steiner node of a step is n +
    the name of its z.
    """
    n_zones = state[N_ZONES]
    n_edges = state[N_EDGES]
    placed = state[N_PLACED]
    visits = state[N_SORTED]
    budget = state[BUDGET]
    counts = np.zeros(CODES, np.int64)
    places = np.empty(BINS, np.int64)
    starts = np.empty(BINS + 1, np.int64)
    best = np.empty(4, np.int64)
    lanes = _new_lanes()
    half = len(points.slots) // 2
    while n_zones > 0 and budget > 0:
        n_zones -= 1
        kind = growth.zones[n_zones, KIND]
        lo = growth.zones[n_zones, LO]
        hi = growth.zones[n_zones, HI]
        x = growth.zones[n_zones, NODE_A]
        b = growth.zones[n_zones, NODE_B]
        budget -= hi - lo + 8
        if kind == 0 or (kind == 1 and hi - lo == 1):
            for i in range(lo, hi):
                growth.edges[n_edges, 0] = x
                growth.edges[n_edges, 1] = names[points.slots[i]]
                growth.weights[n_edges] = points.near_a[i]
                n_edges += 1
            placed += hi - lo
            continue
        pivots = _choose(oracle, points, kind, lo, hi, growth.lengths[n_zones], rule, best)
        y = np.int64(names[pivots.y]) if kind == 1 else b
        z = np.int64(names[pivots.z])
        arms = _universal_tree(pivots, tol)
        r = n + z
        if arms.contracted:
            r = x if arms.contracted == 1 else (y if arms.contracted == 2 else z)
        if hi - lo == 3 - kind:  # only the pivots, as in about half of all steps
            n_edges = _join(x, y, z, r, arms, growth, n_edges)
            placed += hi - lo
            continue
        for k in range(CODES):
            counts[k] = 0
        visits += hi - lo
        new_r = _sort(oracle, points, lo, hi, pivots, arms.contracted, tol, counts, lanes)
        if new_r >= 0:
            r = np.int64(names[points.slots[new_r]])
            counts[Z1_R] -= 1
        counts[Z1_R] += counts[COULD_BE_R]
        starts[0] = lo + half if lo < half else lo - half
        for k in range(BINS):
            places[k] = starts[k]
            starts[k + 1] = starts[k] + counts[k]
        _scatter(points, lo, hi, new_r, places)
        placed += (hi - lo) - (starts[BINS] - starts[0])
        n_zones, n_edges = _grow(x, y, z, r, arms, starts, growth, n_zones, n_edges)
    state[N_ZONES] = n_zones
    state[N_EDGES] = n_edges
    state[N_PLACED] = placed
    state[N_SORTED] = visits
