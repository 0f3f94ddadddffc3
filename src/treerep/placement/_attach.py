"""Grow a tree by points whose places in it are known. Path lengths between its own nodes do not change by a bit."""

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import Workers
from ..fitting.treerep import _zone_kernels as kernels
from ..fitting.treerep._settings import PIVOT_RULES
from ..fitting.treerep._zone_kernels import Growth
from ..fitting.treerep.algorithm import with_room
from ..metric.base import Metric
from ..metric.oracle.classes import BY_ROW, gathered
from ..tree.structure.rooted import Rooted, preorder
from ..tree.tree import Tree
from ._locate import Indices, Numbers, Places

# Points of zones that are finished in one task, and how many are sorted between two looks at the keyboard.
_BATCH = 1 << 15
_BUDGET = 4_000_000

Edges = tuple[NDArray[np.int64], Numbers]


def attach(tree: Tree, places: Places, mutual: Metric | None, tol: float, workers: Workers) -> Edges:
    """Return edges and weights of the tree with the new points, data points first, Steiner nodes without gaps.

    With distances among the new points, those at the same node or edge form a zone of TreeRep, which finishes it.
    Without, each hangs by an edge of its own.
    """
    n, m, rooted = tree.n_points, len(places.node), tree.rooted()
    # Old points keep their numbers. Then come new points, old Steiner nodes, and new ones called after new points.
    names = np.arange(tree.n_nodes) + np.where(np.arange(tree.n_nodes) < n, 0, m)
    left = _become_steiner_nodes(places, names, n, tol)
    split = np.unique(places.node[places.above > 0])
    order = left[np.lexsort([places.above[left], places.node[left], places.above[left] > 0])]
    if mutual is None:
        edges, weights = _hang(rooted, names, n, places, order, tol)
    else:
        edges, weights = _finish_zones(rooted, names, n, places, order, mutual, tol, workers)
    whole = np.delete(np.arange(tree.n_nodes), [*split, rooted.root])
    edges = np.concatenate([edges, np.column_stack([names[whole], names[rooted.parent[whole]]])])
    weights = np.concatenate([weights, rooted.length[whole]])
    used, numbers = np.unique(edges, return_inverse=True)
    lower, upper = (np.searchsorted(used, names[ends]) for ends in (split, rooted.parent[split]))
    return _with_old_lengths(numbers.reshape(-1, 2), np.maximum(weights, 0), lower, upper, rooted.length[split])


def _become_steiner_nodes(places: Places, names: Indices, n: int, tol: float) -> Indices:
    """Let the first new point that lies on a Steiner node be that node (in `names`); return the other points."""
    on_it = np.flatnonzero((places.node >= n) & (places.above == 0) & (places.height < tol))
    nodes, first = np.unique(places.node[on_it], return_index=True)
    names[nodes] = n + on_it[first]
    return np.delete(np.arange(len(places.node)), on_it[first])


def _hang(rooted: Rooted, names: Indices, n: int, places: Places, order: Indices, tol: float) -> Edges:
    """Hang each point off its place; points on an edge at the same place share a node there."""
    node, above, height = (values[order] for values in places)
    inside = above > 0
    far = (np.diff(node, prepend=-1) != 0) | (np.diff(above, prepend=-np.inf) >= tol)
    group = np.cumsum(inside & far) - 1  # of the points inside edges
    firsts = np.flatnonzero(inside & far)
    # A point that lies on the edge is the node there; otherwise there is a Steiner node.
    joint = len(names) + len(places.node) + order[firsts]
    on_it = np.flatnonzero(inside & (height < tol))[::-1]
    joint[group[on_it]] = n + order[on_it]
    base = np.where(inside, joint[group] if len(joint) else 0, names[node])
    hanging = base != n + order
    edges, weights = [np.column_stack([base, n + order])[hanging]], [height[hanging]]
    # Along each edge: the child, the joints from below, the parent.
    child, at = node[firsts], above[firsts]
    lowest = np.diff(child, prepend=-1) != 0
    highest = np.diff(child, append=-1) != 0
    edges.append(np.column_stack([joint, np.where(lowest, names[child], np.roll(joint, 1))]))
    weights.append(np.where(lowest, at, at - np.roll(at, 1)))
    edges.append(np.column_stack([joint, names[rooted.parent[child]]])[highest])
    weights.append((rooted.length[child] - at)[highest])
    return np.concatenate(edges), np.concatenate(weights)


def _finish_zones(
    rooted: Rooted,
    names: Indices,
    n: int,
    places: Places,
    order: Indices,
    mutual: Metric,
    tol: float,
    workers: Workers,
) -> Edges:
    """Let TreeRep finish the zones of points at the same node (kind 1) or on the same edge (kind 2)."""
    node, inside = places.node[order], places.above[order] > 0
    starts = np.flatnonzero((np.diff(node, prepend=-1) != 0) | (np.diff(inside.astype(int), prepend=0) != 0))
    ends = np.append(starts, len(order))[1:]
    a = node[starts]
    table = np.column_stack([1 + inside[starts], starts, ends, names[a], names[rooted.parent[a]]])
    priority = np.random.default_rng(0).permutation(len(places.node)).astype(np.int32)
    steiner = len(names) + len(places.node) - n  # what turns the number of a point into that of a Steiner node

    def finish(batch: NDArray[np.bool_]) -> Edges:
        mine = table[batch].copy()
        lo, hi = int(mine[0, 1]), int(mine[-1, 2])
        mine[:, 1:3] -= lo
        who = order[lo:hi]
        above, length = places.above[who], rooted.length[places.node[who]]
        near_a, near_b = above + places.height[who], length - above + places.height[who]
        local = isinstance(mutual.oracle, BY_ROW)
        oracle = gathered(mutual.oracle, who) if local else mutual.oracle
        slots = (np.arange(len(who)) if local else who).astype(np.int32)
        numbers = (n + (who if local else np.arange(len(priority)))).astype(np.int32)
        points = with_room(slots, near_a, near_b, priority[who] if local else priority)
        zones, lengths = np.empty((len(who) + 1, 5), np.int64), np.empty(len(who) + 1)
        zones[: len(mine)], lengths[: len(mine)] = mine, rooted.length[a[batch]]
        room = 2 * len(who) + len(mine)  # a point brings at most one Steiner node, a zone on an edge one edge more
        growth = Growth(zones, lengths, np.empty((room, 2), np.int32), np.empty(room))
        state = np.array([len(mine), 0, 0, 0, _BUDGET])
        while state[0] and not workers.stopped.is_set():
            kernels.finish(oracle, numbers, points, growth, state, steiner, tol, PIVOT_RULES.index("random"))
        return growth.edges[: state[1]].astype(np.int64), growth.weights[: state[1]]

    batches = starts // _BATCH
    parts = list(workers.map(finish, [batches == k for k in np.unique(batches)]))
    workers.check()  # zones left unfinished are no tree
    parts.append((np.empty((0, 2), np.int64), np.empty(0)))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _with_old_lengths(
    edges: NDArray[np.int64], weights: Numbers, lower: Indices, upper: Indices, old: Numbers
) -> Edges:
    """Give the paths into which edges (lower, upper) were split their old lengths, exactly.

    TreeRep on data that is no tree, and rounding, change them. Every part becomes a multiple of the last digit of the
    old length, so that no sum of parts is rounded.
    """
    view = preorder(edges, weights, 0)
    up, length = view.up.tolist(), view.length.tolist()
    path: list[int] = []
    reach: list[float] = []  # from the lower end to the upper end of each part
    last: list[int] = []
    for k, top in zip(view.position[lower].tolist(), view.position[upper].tolist(), strict=True):
        below = 0.0
        while k != top:
            below += length[k]
            path.append(k)
            reach.append(below)
            k = up[k]
        last.append(len(path) - 1)
    ends = np.array(last, np.int64)
    counts = np.diff(ends, prepend=-1)
    total, whole = np.repeat(np.array(reach)[ends], counts), np.repeat(old, counts)
    share = np.divide(reach, total, out=np.ones(len(path)), where=total > 0)
    digit = np.spacing(whole)
    marks = np.minimum(np.round(share * whole / digit) * digit, whole)
    marks[ends] = old
    starts = np.zeros(len(path), np.bool_)
    starts[ends + 1 - counts] = True
    lengths = view.length.copy()
    lengths[np.array(path, np.int64)] = np.where(starts, marks, marks - np.roll(marks, 1))
    order = view.order.astype(np.int64)
    return np.column_stack([order[1:], order[view.up[1:]]]), lengths[1:]
