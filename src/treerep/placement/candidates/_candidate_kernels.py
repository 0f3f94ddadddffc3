"""Places of new points by least squares. The nearest points decide on the edge.

Large distances have large errors, and there are many of them, so they hide the few distances that
tell neighboring edges apart. The edge is therefore chosen by the nearest points and by the points
nearest to that edge. The place on the edge is fitted to all points that were read.

The nearest points are known if all distances are given. Otherwise, walks from separator to
separator read some distances, and the surroundings of the best edge and of the nearest point are
read until they do not change.

Nodes are given by their preorder positions. All lengths are divided by the unit of the rule.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel
from ...metric.oracle.distance_kernels import distances
from .._edge_fit_kernels import best_on_edge
from .._locate_kernels import (
    Readings,
    _find_offsets,
    _fit,
    _meeting,
    _path,
    _walk,
)
from ._edge_search_kernels import (
    COLUMNS,
    BestEdges,
    Q,
    S,
    W,
    find_best_edges,
    put_first,
)

# Number of nodes in the surroundings whose nearest points are read in each round, and that take part
# in the choice of the edge.
_READ = 64
_CHOOSE = 16
# Number of rounds of reading.
_ROUNDS = 4


class Rule(NamedTuple):
    """How places are chosen."""

    power: float  # squared errors are divided by distance ** power
    nearest: int  # number of nearest points that choose the edge
    smallest: float  # smaller distances get the weight of this distance
    unit: float  # about the largest distance
    whole: bool  # whether the distances to all points are given; NaN if one is missing


class _Span(NamedTuple):
    """The tree spanned by some points: their positions and those of their branching nodes."""

    keys: Any
    place: Any
    up: Any
    length: Any
    sums: Any
    chosen: Any  # which readings take part, by number of the reading
    queue: Any  # nodes of the surroundings
    origin: Any  # the child from which a node was reached from below, or -1
    around: Any  # nearest points, as positions


@helper
def _weight(d: float, rule: Rule) -> float:
    """Return d^-power for a distance in units."""
    near = max(d, rule.smallest)
    return 1.0 / (near * near) if rule.power == 2.0 else near**-rule.power


@helper
def _surroundings(tree: Any, near_below: Any, near_above: Any, edge: int, most: int, span: _Span) -> int:
    """List the nearest points of the nodes around an edge in `span.around`; return their number.

    Nodes are visited breadth first. The nearest point of a node lies beyond the node, seen from
    the edge.
    """
    span.queue[0] = edge
    span.origin[0] = -1
    span.queue[1] = tree.up[edge]
    span.origin[1] = edge
    tail = 2
    count = 0
    head = 0
    while head < tail:
        node = span.queue[head]
        origin = span.origin[head]
        point = near_below[node] if origin < 0 else near_above[origin]
        if point >= 0:
            span.around[count] = point
            count += 1
        child = node + 1
        while child < node + tree.size[node] and tail < most:
            if child != origin:
                span.queue[tail] = child
                span.origin[tail] = -1
                tail += 1
            child += tree.size[child]
        if origin >= 0 and tree.up[node] >= 0 and tail < most:
            span.queue[tail] = tree.up[node]
            span.origin[tail] = node
            tail += 1
        head += 1
    return count


@helper
def _read_points(oracle: Any, w: int, tree: Any, span: _Span, around: int, read: Readings, count: int) -> int:
    """Read the distances to the points in `span.around`."""
    for i in range(around):
        place = np.int64(span.around[i])
        read.keys[count + i] = (place << 32) | (count + i)
        span.queue[i] = tree.order[place]
    distances(oracle, w, span.queue, 0, around, read.raw, count)
    return count + around


@helper
def _tidy_readings(separators: Any, read: Readings, count: int) -> int:
    """Sort the readings into preorder without repetitions; return their number."""
    keys = read.keys[:count]
    keys.sort()
    kept = 0
    for i in range(count):
        place = keys[i] >> 32
        if kept > 0 and read.places[kept - 1] == place:
            continue
        read.places[kept] = place
        read.distances[kept] = read.raw[keys[i] & 0xFFFFFFFF]
        kept += 1
    _finish_readings(separators, read, kept)
    for i in range(kept):
        keys[i] = (read.places[i] << 32) | i
        read.raw[i] = read.distances[i]
    return kept


@helper
def _finish_readings(separators: Any, read: Readings, count: int) -> None:
    """Find the lowest common ancestor of each point and the next."""
    for i in range(count - 1):
        read.joints[i] = _meeting(separators, read.places[i], read.places[i + 1])


@helper
def _read_row(
    oracle: Any,
    w: int,
    separators: Any,
    points: Any,
    ordered: Any,
    read: Readings,
) -> int:
    """Read all distances that are not missing; return their number.

    ordered : the points at the positions `points`
    """
    distances(oracle, w, ordered, 0, len(points), read.raw, 0)
    count = 0
    for i in range(len(points)):
        d = read.raw[i]
        if d == d:  # not NaN
            read.places[count] = points[i]
            read.distances[count] = d
            count += 1
    _finish_readings(separators, read, count)
    return count


@helper
def _choose_nearest(read: Readings, count: int, nearest: int, chosen: Any) -> None:
    """Choose the nearest points. The first of points at the same distance are chosen."""
    if count <= nearest:
        chosen[:count] = True
        return
    limit = np.partition(read.distances[:count], nearest - 1)[nearest - 1]
    left = nearest
    for i in range(count):
        chosen[i] = read.distances[i] < limit
        left -= chosen[i]
    for i in range(count):
        if left > 0 and read.distances[i] == limit:
            chosen[i] = True
            left -= 1


@helper
def _choose_around(read: Readings, count: int, span: _Span, around: int) -> None:
    """Also choose the points in `span.around`."""
    for i in range(around):
        k = np.searchsorted(read.places[:count], span.around[i])
        if k < count and read.places[k] == span.around[i]:
            span.chosen[k] = True


@helper
def _fit_chosen(separators: Any, rule: Rule, read: Readings, count: int, span: _Span, best: BestEdges) -> int:
    """Find the best edges of the tree spanned by the chosen points; return their number.

    The lower end of an edge is given by its index in the spanned tree.
    """
    m = 0
    before = np.int64(-1)
    points = 0
    for i in range(count):
        if span.chosen[i]:
            place = read.places[i]
            span.keys[m] = place
            m += 1
            if before >= 0:
                span.keys[m] = _meeting(separators, before, place)
                m += 1
            before = place
            points += 1
    keys = span.keys[:m]
    keys.sort()
    n = 0
    i = 0
    for j in range(m):
        if n > 0 and keys[j] == span.place[n - 1]:
            continue
        span.place[n] = keys[j]
        # The parent is the last node whose subtree contains this node.
        g = n - 1
        while g >= 0 and keys[j] >= span.place[g] + separators.tree.size[span.place[g]]:
            g = span.up[g]
        span.up[n] = g
        span.length[n] = 0.0
        if g >= 0:
            top = span.place[g]
            span.length[n] = _path(separators, keys[j], top, top) / rule.unit
        while i < count and read.places[i] < keys[j]:
            i += 1
        weight = 0.0
        d = 0.0
        if i < count and span.chosen[i] and read.places[i] == keys[j]:
            d = read.distances[i] / rule.unit
            weight = _weight(d, rule)
        span.sums[n, W] = weight
        span.sums[n, S] = weight * d
        span.sums[n, Q] = weight * d * d
        n += 1
    find_best_edges(span.up, span.length, n, span.sums, best)
    return points


@helper
def _to_tree(tree: Any, rule: Rule, span: _Span, best: BestEdges) -> None:
    """Replace the edges of the spanned tree by edges of the tree itself."""
    for i in range(len(best.edge)):
        if best.edge[i] < 0:
            return
        k = span.place[best.edge[i]]
        top = span.place[span.up[best.edge[i]]]
        above = best.above[i]
        while above > tree.length[k] / rule.unit and tree.up[k] != top:
            above -= tree.length[k] / rule.unit
            k = tree.up[k]
        best.edge[i] = k
        best.above[i] = above


@helper
def _fit_to_all(separators: Any, rule: Rule, read: Readings, count: int, best: BestEdges) -> None:
    """Fit the places on the best edges to all readings."""
    tree = separators.tree
    for i in range(len(best.edge)):
        k = best.edge[i]
        if k < 0:
            return
        lo, hi = _find_offsets(separators, k, np.int64(tree.up[k]), read, count)
        w = 0.0
        f = 0.0
        q = 0.0
        v = 0.0
        a = 0.0
        r = 0.0
        for j in range(count):
            weight = _weight(read.distances[j] / rule.unit, rule)
            offset = read.offsets[j] / rule.unit
            if lo <= j < hi:
                w += weight
                f += weight * offset
                q += weight * offset * offset
            else:
                v += weight
                a += weight * offset
                r += weight * offset * offset
        _, best.above[i], best.height[i] = best_on_edge(w, f, q, v, a, r, tree.length[k] / rule.unit)


@helper
def _put_node_first(tree: Any, unit: float, node: int, above: float, height: float, best: BestEdges) -> None:
    """Make a place at or above a node the best place."""
    if node > 0:
        put_first(best, node, above, height)
    else:  # the root has no edge above it
        put_first(best, 1, tree.length[1] / unit, height)


@helper
def _nearest_reading(read: Readings, count: int) -> int:
    nearest = 0
    for i in range(1, count):
        if read.distances[i] < read.distances[nearest]:
            nearest = i
    return nearest


@helper
def _explore(
    oracle: Any,
    w: int,
    separators: Any,
    near_below: Any,
    near_above: Any,
    rule: Rule,
    read: Readings,
    count: int,
    span: _Span,
    best: BestEdges,
) -> int:
    """Read the surroundings of the best edge and of the nearest point until they do not change."""
    tree = separators.tree
    last_edge = np.int64(-1)
    last_nearest = np.int64(-1)
    for _ in range(_ROUNDS):
        _choose_nearest(read, count, rule.nearest, span.chosen)
        _fit_chosen(separators, rule, read, count, span, best)
        _to_tree(tree, rule, span, best)
        edge = max(best.edge[0], np.int64(1))
        nearest = max(read.places[_nearest_reading(read, count)], np.int64(1))
        if edge == last_edge and nearest == last_nearest:
            break
        before = count
        if edge != last_edge:
            around = _surroundings(tree, near_below, near_above, edge, _READ, span)
            count = _read_points(oracle, w, tree, span, around, read, count)
        if nearest not in (last_nearest, edge):
            around = _surroundings(tree, near_below, near_above, nearest, _READ, span)
            count = _read_points(oracle, w, tree, span, around, read, count)
        count = _tidy_readings(separators, read, count)
        last_edge = edge
        last_nearest = nearest
        if count == before:
            break
    return count


@kernel
def find_candidates(
    oracle: Any,
    shift: int,
    separators: Any,
    near_below: Any,
    near_above: Any,
    points: Any,
    scale: Any,
    rule: Rule,
    start: int,
    stop: int,
    exact: Any,
    used: Any,
    edge: Any,
    error: Any,
    above: Any,
    height: Any,
) -> None:
    """Write the best edges of the new points start ... stop-1, as preorder positions.

    `points` are the positions of the old points, in increasing order. New point i is point
    shift + i of the oracle. If all distances that were read are those of a tree, `exact` is
    set, and the first place is the exact place.
    """
    tree = separators.tree
    walks = len(separators.points)
    size = walks * separators.most + 2 * _ROUNDS * _READ + _CHOOSE
    if rule.whole:
        size = max(len(points), separators.most)
    read = Readings(
        keys=np.empty(size, np.int64),
        raw=np.empty(size),
        places=np.empty(size, np.int64),
        distances=np.empty(size),
        joints=np.empty(size, np.int64),
        offsets=np.empty(size),
    )
    span = _Span(
        np.empty(2 * size, np.int64),
        np.empty(2 * size, np.int64),
        np.empty(2 * size, np.int64),
        np.empty(2 * size),
        np.empty((2 * size, COLUMNS)),
        np.empty(size, np.bool_),
        np.empty(_READ, np.int64),
        np.empty(_READ, np.int64),
        np.empty(_READ, np.int64),
    )
    ordered = np.empty(len(points), np.int64)
    for i in range(len(points)):
        ordered[i] = tree.order[points[i]]
    unit = rule.unit
    for i in range(start, stop):
        w = shift + i
        best = BestEdges(edge[i], error[i], above[i], height[i])
        best.edge[:] = -1
        best.error[:] = np.inf
        used[i] = 0
        missing = False
        if rule.whole:
            missing = _read_row(oracle, w, separators, points, ordered, read) < len(points)
        place = (np.int64(0), 0.0, 0.0, False)
        ends = (np.int64(0), np.int64(-1))
        count = 0
        if not missing:
            a, b, count, spread = _walk(oracle, w, separators, 0, 2 * scale.ties, read, 0)
            ends = (a, b)
            if spread < 8 * scale.tol:
                count = _tidy_readings(separators, read, count)
                place = _fit(separators, a, b, read, count, scale.tol)
        if rule.whole:
            count = _read_row(oracle, w, separators, points, ordered, read)
            if place[3]:
                exact[i] = _fit(separators, ends[0], ends[1], read, count, scale.tol)[3]
        else:
            exact[i] = place[3]
        if not (exact[i] and len(best.edge) == 1):
            if not rule.whole:
                for k in range(1, walks):
                    _, _, count, _ = _walk(oracle, w, separators, k, 2 * scale.ties, read, count)
                count = _tidy_readings(separators, read, count)
                count = _explore(oracle, w, separators, near_below, near_above, rule, read, count, span, best)
            _choose_nearest(read, count, rule.nearest, span.chosen)
            used[i] = _fit_chosen(separators, rule, read, count, span, best)
            if used[i] < count:
                _to_tree(tree, rule, span, best)
                center = max(best.edge[0], np.int64(1))
                around = _surroundings(tree, near_below, near_above, center, _CHOOSE, span)
                if not rule.whole:
                    count = _read_points(oracle, w, tree, span, around, read, count)
                    count = _tidy_readings(separators, read, count)
                    _choose_nearest(read, count, rule.nearest, span.chosen)
                _choose_around(read, count, span, around)
                used[i] = _fit_chosen(separators, rule, read, count, span, best)
            _to_tree(tree, rule, span, best)
            _fit_to_all(separators, rule, read, count, best)
            nearest = _nearest_reading(read, count)
            if read.distances[nearest] == 0.0:
                _put_node_first(tree, unit, read.places[nearest], 0.0, 0.0, best)
        if exact[i]:
            _put_node_first(tree, unit, place[0], place[1] / unit, place[2] / unit, best)
