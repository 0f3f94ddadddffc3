"""The compiled heart of TreeRep: sort the points of a zone into seven, and finish small zones depth-first.

A *zone* is a set of data points that hang off the tree built so far. Kind 1 hangs off a node a; kind 2 off the inside
of an edge (a, b), which is not part of the tree until the zone turns out to be empty. A zone of kind 0 holds duplicates
of a, which become its leaves. The points of a zone are a slice lo:hi of three aligned arrays: `slots` (which point),
`near_a` and `near_b` (its distances to a and, for kind 2, to b). Memory is O(n), whatever the metric.

One *step* takes three pivots x, y, z from a zone (x = a; y, z two points for kind 1; y = b and one point z for
kind 2), builds their universal tree with the node r in the middle, and sorts every other point w by the Gromov products

    A = (x, y)_w    B = (y, z)_w    C = (z, x)_w        (u, v)_w = (d(w, u) + d(w, v) - d(u, v)) / 2

into bins: Z1[r], Z1[x], Z1[y], Z1[z] (hang off a node) and Z2[x], Z2[y], Z2[z] (hang off the edge to r).
"""

from typing import Any

import numpy as np

from ..common.kernel import helper, kernel
from ..metric.kernels import distance

# Bins of a step, in the order in which they lie in memory afterwards. Z1[q] is q, Z2[q] is 3 + q for q = 1, 2, 3.
Z1_R = 0
Z1_X, Z1_Y, Z1_Z = 1, 2, 3
Z2_X, Z2_Y, Z2_Z = 4, 5, 6
TWIN_Y, TWIN_Z = 7, 8  # at distance 0 from the fresh pivot y or z
BINS = 9
COULD_BE_R = 9  # lies where r lies: one such point becomes r, the others go to Z1[r]
GONE = 10  # a pivot, or the point that became r

CLOSEST, RANDOM, NEAR = 0, 1, 2  # which point of a kind-2 zone becomes z

# Columns of the table of zones; the length of the edge (a, b) stands in a second, float array.
KIND, LO, HI, NODE_A, NODE_B = 0, 1, 2, 3, 4


@helper
def _lowest(slots: Any, priority: Any, lo: int, hi: int, best: Any) -> int:
    """Positions of the (up to) four points of lowest priority into best, lowest first; return how many there are."""
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
        bar = priority[slots[best[count - 1]]]
    return count


@helper
def _pick(kind: int, slots: Any, near_b: Any, priority: Any, lo: int, hi: int, rule: int, best: Any) -> None:
    """Positions of the fresh pivots: best[0], best[1] = y, z for kind 1; best[0] = z for kind 2."""
    count = _lowest(slots, priority, lo, hi, best)
    if kind == 1 or rule == RANDOM:
        return
    choice = best[0]
    if rule == NEAR:
        for k in range(1, count):  # best is ordered by priority, so ties go to the lowest
            if near_b[best[k]] < near_b[choice]:
                choice = best[k]
    else:
        for i in range(lo, hi):
            closer = near_b[i] < near_b[choice]
            tied = near_b[i] == near_b[choice] and priority[slots[i]] < priority[slots[choice]]
            if closer or tied:
                choice = i
    best[0] = choice


@kernel
def pick_pivots(
    kind: int, slots: Any, near_b: Any, priority: Any, lo: int, hi: int, rule: int, best: Any
) -> None:
    """`_pick` for the driver of the split phase."""
    _pick(kind, slots, near_b, priority, lo, hi, rule, best)


@helper
def _universal_tree(xy: float, xz: float, yz: float, tol: float) -> Any:
    """Lengths of the edges from x, y, z to r, and which pivot r is contracted into (1, 2, 3 for x, y, z; 0: none)."""
    # Lemma 1: d(x, r) = (y, z)_x, d(y, r) = (x, z)_y, d(z, r) = (x, y)_z
    to_x = 0.5 * (xy + xz - yz)
    to_y = 0.5 * (xy + yz - xz)
    to_z = 0.5 * (xz + yz - xy)
    if abs(to_x) < tol:
        return 0.0, xy, xz, 1
    if abs(to_y) < tol:
        return xy, 0.0, yz, 2
    if abs(to_z) < tol:
        return xz, yz, 0.0, 3
    return to_x, to_y, to_z, 0


@kernel
def universal_tree(xy: float, xz: float, yz: float, tol: float) -> Any:
    """`_universal_tree` for the driver of the split phase."""
    return _universal_tree(xy, xz, yz, tol)


@helper
def _sort_point(x: float, y: float, z: float, xy: float, yz: float, xz: float, tol: float) -> Any:
    """Bin of a point at distances x, y, z from the pivots, and its distance to r."""
    a = 0.5 * (x + y - xy)  # (x, y)_w
    b = 0.5 * (y + z - yz)  # (y, z)_w
    c = 0.5 * (z + x - xz)  # (z, x)_w
    if abs(a - b) < tol and abs(b - c) < tol and abs(a - c) < tol:
        # Three equal products: w hangs off r, at their common value; or is r, if that is 0.
        return COULD_BE_R if a < tol and b < tol and c < tol else Z1_R, (a + b + c) / 3.0
    # Otherwise d(w, r) is the largest product, and w belongs to the pivot q that this product leaves out: to q itself
    # where both other products equal d(w, q), as the paper's definition of Zone_1 says, else to its edge. The paper's
    # text and pseudo-code ask for one of the two only; then its proposition (an error of at most delta on four points)
    # fails, by a factor of up to 2, and the trees are worse on all six of its graphs. Ties: A, then B, then C.
    if a >= b and a >= c:
        return (Z1_Z if abs(z - b) < tol and abs(z - c) < tol else Z2_Z), a
    if b >= c:
        return (Z1_X if abs(x - a) < tol and abs(x - c) < tol else Z2_X), b
    return (Z1_Y if abs(y - a) < tol and abs(y - b) < tol else Z2_Y), c


@helper
def _sort(
    oracle: Any, y: int, z: int, kind: int, slots: Any, near_a: Any, near_b: Any, bins: Any, lo: int, hi: int,
    xy: float, xz: float, yz: float, tol: float, contracted: int, pivot_y: int, pivot_z: int, priority: Any,
    counts: Any,
) -> int:
    """Sort the points lo:hi into bins; near_a and near_b become what the new zones carry. Return who could become r.

    `y` and `z` are the fresh pivots as the oracle knows them (y is not used for kind 2), `pivot_y` and `pivot_z` their
    positions in the slice. The point that could become r is the one of lowest priority, or -1.
    """  # fmt: skip
    chosen = -1
    for i in range(lo, hi):
        if i == pivot_y or i == pivot_z:
            bins[i] = GONE
            continue
        to_x = near_a[i]
        to_z = distance(oracle, z, slots[i])
        to_y = distance(oracle, y, slots[i]) if kind == 1 else near_b[i]
        if to_z < tol:
            where, to_r = TWIN_Z, 0.0
        elif kind == 1 and to_y < tol:
            where, to_r = TWIN_Y, 0.0
        else:
            where, to_r = _sort_point(to_x, to_y, to_z, xy, yz, xz, tol)
        if where == COULD_BE_R:
            if contracted:
                where = Z1_R
            elif chosen < 0 or priority[slots[i]] < priority[slots[chosen]]:
                chosen = i
        # What the new zone carries: the distance to its node, and for kind 2 also the distance to r. Once r is
        # contracted into a pivot, that pivot's edge zone hangs off r itself and carries the product.
        if where == Z1_Y or where == Z2_Y or where == TWIN_Y:
            near_a[i] = to_y
        elif where == Z1_Z or where == Z2_Z or where == TWIN_Z:
            near_a[i] = to_z
        if where == Z1_R or where == COULD_BE_R or (contracted and where == 3 + contracted):
            near_a[i] = to_r
        near_b[i] = to_r
        bins[i] = where
        counts[where] += 1
    return chosen


@kernel
def sort_chunk(
    oracle: Any, y: int, z: int, kind: int, slots: Any, near_a: Any, near_b: Any, bins: Any, lo: int, hi: int,
    xy: float, xz: float, yz: float, tol: float, contracted: int, pivot_y: int, pivot_z: int, priority: Any,
    counts: Any,
) -> int:
    """`_sort` for the driver of the split phase."""  # fmt: skip
    return _sort(
        oracle, y, z, kind, slots, near_a, near_b, bins, lo, hi,
        xy, xz, yz, tol, contracted, pivot_y, pivot_z, priority, counts,
    )  # fmt: skip


@helper
def _scatter(
    slots: Any, near_a: Any, near_b: Any, bins: Any, lo: int, hi: int, chosen: int, places: Any,
    to_slots: Any, to_near_a: Any, to_near_b: Any,
) -> None:
    """Write the points lo:hi to the places of their bins, in order; `places` moves on as they fill."""  # fmt: skip
    for i in range(lo, hi):
        where = bins[i]
        if where == GONE or i == chosen:
            continue
        if where == COULD_BE_R:
            where = Z1_R
        k = places[where]
        places[where] = k + 1
        to_slots[k] = slots[i]
        to_near_a[k] = near_a[i]
        to_near_b[k] = near_b[i]


@kernel
def scatter_chunk(
    slots: Any, near_a: Any, near_b: Any, bins: Any, lo: int, hi: int, chosen: int, places: Any,
    to_slots: Any, to_near_a: Any, to_near_b: Any,
) -> None:
    """`_scatter` for the driver of the split phase."""  # fmt: skip
    _scatter(slots, near_a, near_b, bins, lo, hi, chosen, places, to_slots, to_near_a, to_near_b)


@helper
def _grow(
    x: int, y: int, z: int, r: int, to_x: float, to_y: float, to_z: float, starts: Any,
    zones: Any, lengths: Any, n_zones: int, edges: Any, weights: Any, n_edges: int,
) -> Any:
    """Turn the bins starts[k]:starts[k + 1] into zones, and pivots without an edge zone into edges of the tree."""  # fmt: skip
    for k in range(BINS):
        lo, hi = starts[k], starts[k + 1]
        q = (k - 1) % 3  # 0, 1, 2 for x, y, z
        pivot = x if q == 0 else (y if q == 1 else z)
        length = to_x if q == 0 else (to_y if q == 1 else to_z)
        is_edge = Z2_X <= k <= Z2_Z and pivot != r
        if is_edge and lo == hi:
            edges[n_edges, 0], edges[n_edges, 1], weights[n_edges] = pivot, r, length
            n_edges += 1
        if lo < hi:
            kind = 2 if is_edge else 1
            if k == Z1_R:
                pivot = r
            elif k >= TWIN_Y:
                kind, pivot = 0, (y if k == TWIN_Y else z)
            zones[n_zones, KIND], zones[n_zones, LO], zones[n_zones, HI] = kind, lo, hi
            zones[n_zones, NODE_A], zones[n_zones, NODE_B], lengths[n_zones] = pivot, r, length
            n_zones += 1
    return n_zones, n_edges


@kernel
def grow(
    x: int, y: int, z: int, r: int, to_x: float, to_y: float, to_z: float, starts: Any,
    zones: Any, lengths: Any, edges: Any, weights: Any,
) -> Any:
    """`_grow` into empty tables, for the driver of the split phase."""  # fmt: skip
    return _grow(x, y, z, r, to_x, to_y, to_z, starts, zones, lengths, 0, edges, weights, 0)


@kernel
def finish(
    oracle: Any, names: Any, priority: Any, slots: Any, near_a: Any, near_b: Any, bins: Any,
    spare_slots: Any, spare_a: Any, spare_b: Any, zones: Any, lengths: Any, edges: Any, weights: Any, state: Any,
    n: int, tol: float, rule: int, budget: int,
) -> None:
    """Complete all zones of the table, depth-first, or as many steps as the budget allows; call again to go on.

    The table of zones is the stack. state = (number of zones, number of edges, points placed). The oracle
    knows points by their slot, the tree by names[slot]; the Steiner node of a step is n + the name of its pivot z.
    """  # fmt: skip
    n_zones, n_edges, placed = state[0], state[1], state[2]
    counts, places, starts = np.zeros(11, np.int64), np.empty(BINS, np.int64), np.empty(BINS + 1, np.int64)
    best = np.empty(4, np.int64)
    while n_zones > 0 and budget > 0:
        n_zones -= 1
        kind, lo, hi = zones[n_zones, KIND], zones[n_zones, LO], zones[n_zones, HI]
        x, b, xy = zones[n_zones, NODE_A], zones[n_zones, NODE_B], lengths[n_zones]
        budget -= hi - lo + 8
        if kind == 0 or (kind == 1 and hi - lo == 1):
            for i in range(lo, hi):
                edges[n_edges, 0], edges[n_edges, 1], weights[n_edges] = x, names[slots[i]], near_a[i]
                n_edges += 1
            placed += hi - lo
            continue
        _pick(kind, slots, near_b, priority, lo, hi, rule, best)
        if kind == 1:
            pivot_y, pivot_z = best[0], best[1]
            y = np.int64(names[slots[pivot_y]])
            fresh_y, fresh_z = slots[pivot_y], slots[pivot_z]
            xy, xz, yz = near_a[pivot_y], near_a[pivot_z], distance(oracle, fresh_y, fresh_z)
        else:
            pivot_y, pivot_z = -1, best[0]
            y, fresh_z = b, slots[pivot_z]
            fresh_y = fresh_z
            xz, yz = near_a[pivot_z], near_b[pivot_z]
        z = np.int64(names[slots[pivot_z]])
        to_x, to_y, to_z, contracted = _universal_tree(xy, xz, yz, tol)
        counts[:] = 0
        chosen = _sort(
            oracle, fresh_y, fresh_z, kind, slots, near_a, near_b, bins, lo, hi,
            xy, xz, yz, tol, contracted, pivot_y, pivot_z, priority, counts,
        )  # fmt: skip
        r = n + z
        if contracted:
            r = x if contracted == 1 else (y if contracted == 2 else z)
        elif chosen >= 0:
            r = np.int64(names[slots[chosen]])
        counts[Z1_R] += counts[COULD_BE_R] - (chosen >= 0)
        starts[0] = lo
        for k in range(BINS):
            places[k] = starts[k]
            starts[k + 1] = starts[k] + counts[k]
        _scatter(slots, near_a, near_b, bins, lo, hi, chosen, places, spare_slots, spare_a, spare_b)
        for i in range(lo, starts[BINS]):
            slots[i], near_a[i], near_b[i] = spare_slots[i], spare_a[i], spare_b[i]
        placed += hi - starts[BINS]
        n_zones, n_edges = _grow(
            x, y, z, r, to_x, to_y, to_z, starts, zones, lengths, n_zones, edges, weights, n_edges
        )
    state[0], state[1], state[2] = n_zones, n_edges, placed
