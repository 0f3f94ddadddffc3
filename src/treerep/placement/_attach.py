"""Attachment of points to a tree at known places.

Path lengths between the nodes of the tree do not change, bit for bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import Workers
from ..fitting.treerep import _zone_kernels as kernels
from ..fitting.treerep._settings import PIVOT_RULES
from ..fitting.treerep._zone_kernels import HI, LO, N_EDGES, N_ZONES
from ..fitting.treerep.algorithm import double_buffered, empty_growth, finish_state
from ..metric.base import Metric
from ..metric.oracle.classes import POINT_ORACLES, select_points
from ..tree.structure.rooted import Preorder, Rooted, edges_of, preorder
from ..tree.tree import Tree
from ._locate import Indices, Numbers, Places

# Number of points in the zones that one task finishes.
_BATCH = 1 << 15
# Number of points sorted between two checks for interrupts.
_BUDGET = 4_000_000

Edges = tuple[NDArray[np.int64], Numbers]


class _Attachment(NamedTuple):
    """A tree and the new points to attach."""

    rooted: Rooted
    n: int  # number of old points
    names: Indices  # new number of each old node: see `attach`
    places: Places  # places of all new points
    # new points that need an edge: first those at nodes, then edge by edge from below
    order: Indices
    tol: float

    def numbers(self) -> Indices:
        """Return the numbers of the points in `order`."""
        return self.n + self.order

    def first_steiner(self) -> int:
        """Return the number of the Steiner node named after new point 0. The other nodes follow."""
        return len(self.names) + len(self.places.node)


def attach(
    tree: Tree,
    places: Places,
    mutual: Metric | None,
    tol: float,
    workers: Workers,
) -> Edges:
    """Return edges and weights of the tree with the new points. Points have the first numbers.

    If distances among the new points are given, the points at the same node or edge form a
    zone, which TreeRep finishes. Otherwise, each point gets a separate edge.
    """
    n = tree.n_points
    m = len(places.node)
    rooted = tree.rooted()
    # Old points keep their numbers. New points, old Steiner nodes and new Steiner nodes follow.
    # New Steiner nodes are named after new points.
    names = np.arange(tree.n_nodes)
    names[n:] += m
    left = _become_steiner_nodes(places, names, n, tol)
    above = places.above[left]
    order = left[np.lexsort([above, places.node[left], above > 0])]
    task = _Attachment(rooted, n, names, places, order, tol)
    if mutual is None:
        edges, weights = _attach_each(task)
    else:
        edges, weights = _finish_zones(task, mutual, workers)
    # Edges without new points inside are kept. The other edges were split.
    split = np.unique(places.node[places.above > 0])
    whole = np.delete(np.arange(tree.n_nodes), [*split, rooted.root])
    old_edges = np.column_stack([names[whole], names[rooted.parent[whole]]])
    edges = np.concatenate([edges, old_edges])
    weights = np.concatenate([weights, rooted.length[whole]])
    used, numbers = np.unique(edges, return_inverse=True)
    lower = np.searchsorted(used, names[split])
    upper = np.searchsorted(used, names[rooted.parent[split]])
    grown = preorder(numbers.reshape(-1, 2), np.maximum(weights, 0), 0)
    return _with_old_lengths(grown, lower, upper, rooted.length[split])


def _become_steiner_nodes(places: Places, names: Indices, n: int, tol: float) -> Indices:
    """Identify the first new point on a Steiner node with that node in `names`; return the others."""
    on_it = np.flatnonzero((places.node >= n) & (places.above == 0) & (places.height < tol))
    nodes, first = np.unique(places.node[on_it], return_index=True)
    names[nodes] = n + on_it[first]
    return np.delete(np.arange(len(places.node)), on_it[first])


class _Joints(NamedTuple):
    """Nodes that split edges, edge by edge from below."""

    number: Indices
    child: Indices  # lower end of the edge, an old node
    above: Numbers  # distance from the lower end
    group: Indices  # joint of each point in `order`, if the point is inside an edge


def _attach_each(task: _Attachment) -> Edges:
    """Attach each point at its place. Points at the same place on an edge share a node."""
    joints = _find_joints(task)
    node = task.places.node[task.order]
    base = task.names[node]
    inside = task.places.above[task.order] > 0
    base[inside] = joints.number[joints.group[inside]]
    # A point that is itself a joint needs no edge.
    hanging = base != task.numbers()
    points = task.order[hanging]
    pendant = np.column_stack([base[hanging], task.n + points])
    height = task.places.height[points]
    edges, weights = _split_edges(task, joints)
    return np.concatenate([pendant, edges]), np.concatenate([height, weights])


def _find_joints(task: _Attachment) -> _Joints:
    """Put joints on edges where points attach, one joint for points less than `tol` apart."""
    node = task.places.node[task.order]
    above = task.places.above[task.order]
    height = task.places.height[task.order]
    inside = above > 0
    # A joint begins at the first point inside an edge, and at each point that is at least `tol`
    # above the previous point.
    other_edge = np.diff(node, prepend=-1) != 0
    apart = np.diff(above, prepend=-np.inf) >= task.tol
    begins = inside & (other_edge | apart)
    firsts = np.flatnonzero(begins)
    group = np.cumsum(begins) - 1
    # If a point lies on the edge, it is the joint (the first of several, which is assigned last).
    # Otherwise, a Steiner node is the joint.
    number = task.first_steiner() + task.order[firsts]
    on_it = np.flatnonzero(inside & (height < task.tol))[::-1]
    number[group[on_it]] = task.numbers()[on_it]
    return _Joints(number, node[firsts], above[firsts], group)


def _split_edges(task: _Attachment, joints: _Joints) -> Edges:
    """Return the parts of split edges: child to joint, joint to joint, joint to parent.

    The joints of an edge are listed from below. The node below a joint is therefore the
    previous joint, or the child for the lowest joint.
    """
    number, child, above, _ = joints
    lowest = np.diff(child, prepend=-1) != 0
    highest = np.diff(child, append=-1) != 0
    next_below = np.where(lowest, task.names[child], np.roll(number, 1))
    lower_part = np.where(lowest, above, above - np.roll(above, 1))
    parent = task.names[task.rooted.parent[child[highest]]]
    upper_part = task.rooted.length[child[highest]] - above[highest]
    to_lower = np.column_stack([number, next_below])
    to_parent = np.column_stack([number[highest], parent])
    return np.concatenate([to_lower, to_parent]), np.concatenate([lower_part, upper_part])


class _Zones(NamedTuple):
    """Zones of TreeRep: points order[lo:hi] at a node a, or on the edge to its parent b."""

    table: Indices  # (zones, 5): kind (1 at a node, 2 on an edge), lo, hi, numbers of a and b
    length: Numbers  # length of the edge


def _finish_zones(task: _Attachment, mutual: Metric, workers: Workers) -> Edges:
    """Finish the zones of points at the same node or on the same edge with TreeRep."""
    zones = _find_zones(task)
    priority = np.random.default_rng(0).permutation(len(task.places.node)).astype(np.int32)

    def finish(batch: NDArray[np.bool_]) -> Edges:
        mine = _Zones(zones.table[batch], zones.length[batch])
        return _finish_batch(task, mine, mutual.oracle, priority, workers)

    batches = zones.table[:, LO] // _BATCH
    edges = [np.empty((0, 2), np.int64)]
    weights = [np.empty(0)]
    in_batch = [batches == k for k in np.unique(batches)]
    for part_edges, part_weights in workers.map(finish, in_batch):
        edges.append(part_edges)
        weights.append(part_weights)
    workers.check()  # after an interrupt, zones are unfinished
    return np.concatenate(edges), np.concatenate(weights)


def _find_zones(task: _Attachment) -> _Zones:
    """Split `order` into zones, at changes of the node and at the end of points at nodes."""
    rooted = task.rooted
    names = task.names
    node = task.places.node[task.order]
    inside = task.places.above[task.order] > 0
    other_node = np.diff(node, prepend=-1) != 0
    nodes_end = np.diff(inside.astype(int), prepend=0) != 0
    lo = np.flatnonzero(other_node | nodes_end)
    hi = np.append(lo, len(node))[1:]
    kind = 1 + inside[lo]
    a = node[lo]
    b = rooted.parent[a]
    table = np.column_stack([kind, lo, hi, names[a], names[b]])
    return _Zones(table, rooted.length[a])


def _finish_batch(
    task: _Attachment,
    zones: _Zones,
    oracle: object,
    priority: NDArray[np.int32],
    workers: Workers,
) -> Edges:
    """Finish consecutive zones."""
    count = len(zones.table)
    low = int(zones.table[0, LO])
    high = int(zones.table[-1, HI])
    batch = task.order[low:high]
    # The kernel uses the list of zones as a stack.
    grown = empty_growth(len(batch), count)
    grown.zones[:count] = zones.table
    grown.lengths[:count] = zones.length
    grown.zones[:count, [LO, HI]] -= low
    local, slots, numbers, order = _local_oracle(task, oracle, batch, priority)
    near_lower, near_upper = _distances_to_ends(task, batch)
    points = double_buffered(slots, near_lower, near_upper, order)
    # Adding this to the number of a point gives the Steiner node named after the point.
    steiner = task.first_steiner() - task.n
    state = finish_state(count, _BUDGET)
    rule = PIVOT_RULES.index("random")
    while state[N_ZONES] and not workers.stopped.is_set():
        kernels.finish(local, numbers, points, grown, state, steiner, task.tol, rule)
    n_edges = state[N_EDGES]
    return grown.edges[:n_edges].astype(np.int64), grown.weights[:n_edges]


def _distances_to_ends(task: _Attachment, batch: Indices) -> tuple[Numbers, Numbers]:
    """Return the distances from points to the lower and the upper end of their edge."""
    above = task.places.above[batch]
    height = task.places.height[batch]
    length = task.rooted.length[task.places.node[batch]]
    return above + height, length - above + height


def _local_oracle(
    task: _Attachment, oracle: object, batch: Indices, priority: NDArray[np.int32]
) -> tuple[object, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return an oracle, the slots of points in it, and numbers and priorities by slot.

    If the oracle has a row for each point, the result has only the rows of the batch.
    """
    local = oracle
    if isinstance(oracle, POINT_ORACLES):
        local = select_points(oracle, batch)
        slots = np.arange(len(batch))
        numbers = task.n + batch
        order = priority[batch]
    else:
        slots = batch
        numbers = task.n + np.arange(len(priority))
        order = priority
    return local, slots.astype(np.int32), numbers.astype(np.int32), order


def _with_old_lengths(view: Preorder, lower: Indices, upper: Indices, old: Numbers) -> Edges:
    """Restore the exact old lengths of the paths into which edges (lower, upper) were split.

    These lengths change by rounding, and by TreeRep on data that is not a tree. Every part becomes
    a multiple of the last digit of the old length, so that no sum of parts is rounded.
    """
    path, reach, counts = _climb(view, view.position[lower], view.position[upper])
    marks = _marks(reach, counts, old)
    # The first part of a path extends from its lower end to the first mark, and the other parts
    # from mark to mark.
    begins = np.zeros(len(path), np.bool_)
    begins[np.cumsum(counts) - counts] = True
    length = view.length.copy()
    length[path] = np.where(begins, marks, marks - np.roll(marks, 1))
    return edges_of(view._replace(length=length))


def _climb(
    view: Preorder,
    lower: NDArray[np.int32],
    upper: NDArray[np.int32],
) -> tuple[Indices, Numbers, Indices]:
    """Walk from each lower position to its upper position, which is an ancestor.

    Returns the positions passed, one path after another; for each position, the length of the path
    up to and including the edge above it; and the number of edges of each path.
    """
    up = view.up.tolist()
    length = view.length.tolist()
    path: list[int] = []
    reach: list[float] = []
    ends = [0]
    for k, top in zip(lower.tolist(), upper.tolist(), strict=True):
        below = 0.0
        while k != top:
            below += length[k]
            path.append(k)
            reach.append(below)
            k = up[k]
        ends.append(len(path))
    return np.array(path, np.int64), np.array(reach), np.diff(ends)


def _marks(reach: Numbers, counts: Indices, old: Numbers) -> Numbers:
    """Scale the reach of parts to the old lengths, in multiples of their last digits."""
    last = np.cumsum(counts) - 1
    total = np.repeat(reach[last], counts)
    whole = np.repeat(old, counts)
    share = np.divide(reach, total, out=np.ones(len(reach)), where=total > 0)
    digit = np.spacing(whole)
    marks = np.minimum(np.round(share * whole / digit) * digit, whole)
    marks[last] = old
    return marks
