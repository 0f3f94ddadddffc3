"""Compiled passes that root a list of edges.

All passes are iterative, so deep trees cannot overflow the stack.

The callers allocate the arrays. NumPy requests huge pages from the system, which makes
scattered access to millions of nodes up to twice as fast; compiled allocations do not. The data
of one node is contiguous, so that a visit costs one cache miss.
"""

from typing import Any

import numpy as np

from ..._core.kernel import borrower, helper, kernel

# Columns of the table of nodes, and of the output rows in preorder.
_DEGREE, _LINK, _EDGE, _SIZE = range(4)
NODE, UP, VIA, SPARE = range(4)
# Columns of the table, after nodes are removed and after they have a position.
_CHILD, _NEXT, _POSITION = _DEGREE, _LINK, _SIZE

_FEW = 64  # children that are sorted by insertion
_BYTE = 256  # values of a byte


@borrower
def prune(edges: Any, root: Any, table: Any, removed: Any) -> Any:
    """Remove leaves until only `root` is left; return whether the edges form a tree with the root.

    Each node stores the exclusive or of its neighbors and of its edges. When one neighbor is left,
    the stored numbers are the parent and the edge to the parent, so no adjacency lists are needed.
    Afterwards, LINK is the parent, EDGE is the edge to the parent, SIZE is the number of nodes in
    the subtree, and DEGREE is -1, except for the root. Ids that do not occur in `edges` are allowed.
    `removed` lists the nodes in the order of their removal, so children come before their parents,
    and the root comes last.
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
    count = 0
    for start in range(len(table)):
        v = start
        while v != root and table[v, _DEGREE] == 1:
            parent = table[v, _LINK]
            table[v, _DEGREE] = -1
            table[parent, _DEGREE] -= 1
            table[parent, _LINK] ^= v
            table[parent, _EDGE] ^= table[v, _EDGE]
            table[parent, _SIZE] += table[v, _SIZE]
            removed[count] = v
            count += 1
            if parent > start:  # the parent is processed later
                break
            v = parent
    removed[count] = root
    # If no edge is left, there is no cycle. If there is one node more than edges, there is one
    # tree. The tree contains the root, which is never removed.
    return count == len(edges) and occurring == len(edges) + 1


@kernel
def root_edges(edges: Any, root: Any, lowest: Any, table: Any, removed: Any, rows: Any) -> Any:
    """Put the nodes in preorder from `root`. O(ids).

    Children are sorted by the lowest rank in their subtree. If `rows` is empty, only tell whether
    the edges form one tree that contains the root, so that no second kernel must be compiled.

    Parameters
    ----------
    edges : (E, 2) int32, ids below `len(table)`; ids may be missing
    lowest : (ids,) int32, the rank of each node: a permutation, overwritten. Not read if `rows` is empty
    table : (ids, 4) int32 and removed : (E+1,) int32, scratch
    rows : (E+1, 4) int32, written
        The NODE at each preorder position, the position UP of its parent and the index VIA of
        the edge to the parent (both -1 at position 0).

    Returns whether the edges form one tree that contains the root. If not, the content of
    `rows` is undefined.
    """
    if not prune(edges, root, table, removed):
        return False
    if len(rows) == 0:
        return True
    # All passes follow the order of removal or its reverse. Nodes with close ids then stay in the
    # cache, however the ranks are scattered.
    n_edges = len(edges)
    table[root, _CHILD] = -1
    for k in range(n_edges):
        v = removed[k]
        parent = table[v, _LINK]
        lowest[parent] = min(lowest[parent], lowest[v])
        table[v, _NEXT] = table[parent, _CHILD]
        table[parent, _CHILD] = v
    rows[0, NODE] = root
    rows[0, UP] = -1
    rows[0, VIA] = -1
    table[root, _POSITION] = 0
    ends = np.empty((_BYTE, 2), np.int32)  # first and last child of each byte
    for k in range(n_edges, -1, -1):
        _place_children(table, lowest, removed[k], ends, rows)
    return True


@borrower
def _place_children(table: Any, lowest: Any, parent: Any, ends: Any, rows: Any) -> None:
    """Write the rows of all children of a node whose position is known."""
    first = table[parent, _CHILD]
    if first < 0:
        return
    position = table[parent, _POSITION]
    free = position + 1
    v = _sorted_children(table, lowest, first, ends)
    while v >= 0:
        rows[free, NODE] = v
        rows[free, UP] = position
        rows[free, VIA] = table[v, _EDGE]
        size = table[v, _SIZE]
        table[v, _POSITION] = free
        free += size
        v = table[v, _NEXT]


@borrower
def _sorted_children(table: Any, lowest: Any, first: Any, ends: Any) -> Any:
    """Sort a linked list of children by their lowest ranks, and return its new first node."""
    v = table[first, _NEXT]
    table[first, _NEXT] = -1
    count = 1
    while v >= 0:
        if count == _FEW:
            return _sorted_by_bytes(table, lowest, first, v, ends)
        following = table[v, _NEXT]
        rank = lowest[v]
        if rank < lowest[first]:
            table[v, _NEXT] = first
            first = v
        else:
            before = first
            while table[before, _NEXT] >= 0 and lowest[table[before, _NEXT]] < rank:
                before = table[before, _NEXT]
            table[v, _NEXT] = table[before, _NEXT]
            table[before, _NEXT] = v
        v = following
        count += 1
    return first


@borrower
def _sorted_by_bytes(table: Any, lowest: Any, first: Any, rest: Any, ends: Any) -> Any:
    """Sort two linked lists together, one byte of the ranks after the other. Linear time."""
    last = first
    while table[last, _NEXT] >= 0:
        last = table[last, _NEXT]
    table[last, _NEXT] = rest
    for shift in range(0, 32, 8):
        for byte in range(_BYTE):
            ends[byte, 0] = -1
        v = first
        while v >= 0:
            byte = (lowest[v] >> shift) & (_BYTE - 1)
            if ends[byte, 0] < 0:
                ends[byte, 0] = v
            else:
                table[ends[byte, 1], _NEXT] = v
            ends[byte, 1] = v
            v = table[v, _NEXT]
        first = -1
        for byte in range(_BYTE - 1, -1, -1):
            if ends[byte, 0] >= 0:
                table[ends[byte, 1], _NEXT] = first
                first = ends[byte, 0]
    return first


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
