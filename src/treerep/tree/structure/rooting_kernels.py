"""Compiled passes that root a list of edges.

All passes are iterative, so deep trees cannot overflow the stack.

The callers allocate the arrays. NumPy requests huge pages from the system, which makes
scattered access to millions of nodes up to twice as fast; compiled allocations do not. The data
of one node is contiguous, so that a visit costs one cache miss.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel
from ...metric.oracle.lane_kernels import prefetch_row

# Columns of the table of nodes, and of the output rows in preorder.
_DEGREE, _LINK, _EDGE, _SIZE = range(4)
NODE, UP, VIA, SPARE = range(4)

_AHEAD = 16  # distance between the node being visited and the node being prefetched


@helper
def prune(edges: Any, root: Any, table: Any) -> Any:
    """Remove leaves until only `root` is left; return whether the edges form a tree with the root.

    Each node stores the exclusive or of its neighbors and of its edges. When one neighbor is left,
    the stored numbers are the parent and the edge to the parent, so no adjacency lists are needed.
    Afterwards, LINK is the parent, EDGE is the edge to the parent, and SIZE is the number of nodes
    in the subtree. Ids that do not occur in `edges` are allowed, and get DEGREE -1.
    """
    for v in range(len(table)):
        table[v, _DEGREE] = 0
        table[v, _LINK] = 0
        table[v, _EDGE] = 0
        table[v, _SIZE] = 1
    for e in range(len(edges)):
        u = edges[e, 0]
        v = edges[e, 1]
        table[u, _DEGREE] += 1
        table[u, _LINK] ^= v
        table[u, _EDGE] ^= e
        table[v, _DEGREE] += 1
        table[v, _LINK] ^= u
        table[v, _EDGE] ^= e
    occurring = 0
    for v in range(len(table)):
        if table[v, _DEGREE] > 0 or v == root:
            occurring += 1
        else:
            table[v, _DEGREE] = -1
    removed = 0
    for start in range(len(table)):
        v = start
        while v != root and table[v, _DEGREE] == 1:
            parent = table[v, _LINK]
            table[v, _DEGREE] = 0
            table[parent, _DEGREE] -= 1
            table[parent, _LINK] ^= v
            table[parent, _EDGE] ^= table[v, _EDGE]
            table[parent, _SIZE] += table[v, _SIZE]
            removed += 1
            if parent > start:  # the parent is processed later
                break
            v = parent
    # If no edge is left, there is no cycle. If there is one node more than edges, there is one
    # tree. The tree contains the root, which is never removed.
    return removed == len(edges) and occurring == len(edges) + 1


@kernel
def is_tree(edges: Any, table: Any) -> Any:
    """Tell whether edges (E, 2) form one tree that contains node 0.

    `table` is (ids, 4) int32 scratch. O(ids).
    """
    return prune(edges, 0, table)


@kernel
def root_edges(edges: Any, root: Any, visit: Any, table: Any, rows: Any) -> Any:
    """Put the nodes in preorder from `root`, children in the order of `visit`. O(ids).

    Parameters
    ----------
    edges : (E, 2) int64, ids below `len(table)`; ids may be missing
    visit : node ids, including every leaf except the root
    table : (ids, 4) int32, scratch
    rows : (E+1, 4) int32, written
        The NODE at each preorder position, the position UP of its parent and the index VIA of
        the edge to the parent (both -1 at position 0).

    Returns whether the edges form one tree that contains the root. If not, the content of
    `rows` is undefined.
    """
    if not prune(edges, root, table):
        return False
    # For each visited m in turn, climb from m to the first node already placed. Among the nodes
    # below the nodes passed, m is visited first. The nodes passed are therefore consecutive in
    # preorder, after everything already placed below that first node. DEGREE and SIZE are no longer
    # needed. These columns now store -1 - position of a placed node, and the next free position
    # below it.
    rows[0, NODE] = root
    rows[0, UP] = -1
    rows[0, VIA] = -1
    table[root, _DEGREE] = -1
    table[root, _SIZE] = 1
    for i in range(len(visit)):
        if i + _AHEAD < len(visit):
            prefetch_row(table, visit[i + _AHEAD])
        m = visit[i]
        if table[m, _DEGREE] < 0:
            continue
        first = m
        steps = 1
        while table[table[first, _LINK], _DEGREE] >= 0:
            first = table[first, _LINK]
            steps += 1
        above = table[first, _LINK]
        start = table[above, _SIZE]
        table[above, _SIZE] += table[first, _SIZE]
        v = m
        free = start + steps
        for k in range(start + steps - 1, start - 1, -1):
            rows[k, NODE] = v
            rows[k, UP] = k - 1
            rows[k, VIA] = table[v, _EDGE]
            size = table[v, _SIZE]
            table[v, _DEGREE] = -1 - k
            table[v, _SIZE] = free
            free = k + size  # the parent is at k - 1, and the subtree of v follows it
            v = table[v, _LINK]
        rows[start, UP] = -1 - table[above, _DEGREE]
    return True


@kernel
def find_fault(edges: Any, n_ids: Any, n_required: Any) -> Any:
    """Return the first edge that closes a cycle, and the first node not connected to node 0, or -1.

    Nodes are the ids below n_required and the ids in `edges`.
    """
    leader = np.arange(n_ids)
    occurs = np.arange(n_ids) < n_required
    cycle = -1
    for e in range(len(edges)):
        u = edges[e, 0]
        v = edges[e, 1]
        occurs[u] = occurs[v] = True
        u = _leader(leader, u)
        v = _leader(leader, v)
        if u == v and cycle < 0:
            cycle = e
        leader[max(u, v)] = min(u, v)  # node 0 is the leader of its component
    for v in range(n_ids):
        if occurs[v] and _leader(leader, v) != 0:
            return cycle, v
    return cycle, -1


@helper
def _leader(leader: Any, v: Any) -> Any:
    while leader[v] != v:
        leader[v] = leader[leader[v]]
        v = leader[v]
    return v


@helper
def add_exactly(high: Any, low: Any, term: Any) -> Any:
    """Add a float64 to the unevaluated sum high + low, with about 106 bits.

    Dekker, Numer. Math. 18 (1971).
    """
    total = high + term
    part = total - high
    low += (high - (total - part)) + (term - part)
    high = total + low
    return high, low - (high - total)


@kernel
def sum_depths(up: Any, length: Any, depth: Any, rest: Any) -> None:
    """Write the distance to the root at every position: a float64, and its rounding error."""
    depth[0] = rest[0] = 0.0
    for k in range(1, len(up)):
        depth[k], rest[k] = add_exactly(depth[up[k]], rest[up[k]], length[k])
