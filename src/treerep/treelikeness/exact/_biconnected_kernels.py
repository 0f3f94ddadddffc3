"""Biconnected components of a graph, and all distances within one component.

Components: Tarjan, Depth-first search and linear graph algorithms (1972), with an explicit stack.
Distances: breadth-first searches from 256 sources at a time, with one bit per source (Then et al.,
The more the merrier, 2014).
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel

WORDS = 4  # 64-bit words per vertex: one vector instruction
SOURCES = 64 * WORDS

# All runs of six bits in this constant are different, so the first six bits of 2^k times the
# constant determine k.
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, np.uint8)
_PLACES[[(int(_DE_BRUIJN) << k & (1 << 64) - 1) >> 58 for k in range(64)]] = range(64)


@kernel
def biconnected_components(starts: Any, neighbors: Any) -> Any:
    """Return (begins, vertices): component k of a connected graph is vertices[begins[k]:begins[k + 1]].

    Each edge is in one component. A cut vertex is in several components. O(vertices + edges).
    """
    n = len(starts) - 1
    found = np.full(n, -1, np.int64)  # order in which the search found a vertex ...
    low = np.empty(n, np.int64)  # ... and the earliest vertex that its subtree reaches
    edge = starts[:n].astype(np.int64)  # next edge to follow
    path = np.empty(n, np.int64)
    waiting = np.empty(n, np.int64)
    begins = np.zeros(n + 1, np.int64)
    vertices = np.empty(2 * n, np.int64)
    path[0] = 0
    waiting[0] = 0
    found[0] = 0
    low[0] = 0
    depth = 1
    pending = 1
    clock = 1
    blocks = 0
    filled = 0
    while depth > 0:
        vertex = path[depth - 1]
        if edge[vertex] < starts[vertex + 1]:
            neighbor = neighbors[edge[vertex]]
            edge[vertex] += 1
            if found[neighbor] < 0:
                found[neighbor] = low[neighbor] = clock
                clock += 1
                path[depth] = waiting[pending] = neighbor
                depth += 1
                pending += 1
            elif depth < 2 or neighbor != path[depth - 2]:
                low[vertex] = min(low[vertex], found[neighbor])
            continue
        depth -= 1
        if depth == 0:
            break
        above = path[depth - 1]
        low[above] = min(low[above], low[vertex])
        # nothing below reaches past `above`, so a component is complete
        if low[vertex] >= found[above]:
            top = -1
            while top != vertex:
                pending -= 1
                top = waiting[pending]
                vertices[filled] = top
                filled += 1
            vertices[filled] = above
            filled += 1
            blocks += 1
            begins[blocks] = filled
    return begins[: blocks + 1].copy(), vertices[:filled].copy()


@kernel
def induced_subgraph(starts: Any, neighbors: Any, lengths: Any, vertices: Any, place: Any) -> Any:
    """Return compressed rows of the induced subgraph; `place` is -1 before and after the call."""
    size = len(vertices)
    for k in range(size):
        place[vertices[k]] = k
    begins = np.zeros(size + 1, starts.dtype)
    for k in range(size):
        count = 0
        for edge in range(starts[vertices[k]], starts[vertices[k] + 1]):
            count += place[neighbors[edge]] >= 0
        begins[k + 1] = begins[k] + count
    inside = np.empty(begins[size], neighbors.dtype)
    long = np.empty(begins[size], np.float64)
    filled = 0
    for k in range(size):
        for edge in range(starts[vertices[k]], starts[vertices[k] + 1]):
            if place[neighbors[edge]] >= 0:
                inside[filled] = place[neighbors[edge]]
                long[filled] = lengths[edge]
                filled += 1
    for k in range(size):
        place[vertices[k]] = -1
    return begins, inside, long


@helper
def _spread(starts: Any, neighbors: Any, fresh: Any, coming: Any) -> None:
    """Pass the bits that are new at a vertex on to its neighbors."""
    for vertex in range(len(starts) - 1):
        one = fresh[vertex, 0]
        two = fresh[vertex, 1]
        three = fresh[vertex, 2]
        four = fresh[vertex, 3]
        if one | two | three | four:
            for edge in range(starts[vertex], starts[vertex + 1]):
                neighbor = neighbors[edge]
                coming[neighbor, 0] |= one
                coming[neighbor, 1] |= two
                coming[neighbor, 2] |= three
                coming[neighbor, 3] |= four


@helper
def _settle(seen: Any, fresh: Any, coming: Any, first: int, level: int, out: Any) -> Any:
    """Write `level` for every bit that is new at a vertex; return whether there was such a bit."""
    any_fresh = False
    for vertex in range(len(seen)):
        for word in range(WORDS):
            bits = coming[vertex, word] & ~seen[vertex, word]
            coming[vertex, word] = 0
            fresh[vertex, word] = bits
            seen[vertex, word] |= bits
            column = first + 64 * word
            any_fresh |= bits != 0
            while bits:
                # Number of zeros below the lowest set bit.
                lowest = bits & (~bits + np.uint64(1))
                out[vertex, column + _position(lowest)] = level
                bits ^= lowest
    return any_fresh


@helper
def _position(power: Any) -> int:
    """Return k for 2^k."""
    return _PLACES[(power * _DE_BRUIJN) >> np.uint64(58)]


@kernel
def search_many(starts: Any, neighbors: Any, first: int, out: Any) -> None:
    """Write hop counts to out[v, s] for SOURCES vertices s from `first` on, in one search."""
    n = len(starts) - 1
    seen = np.zeros((n, WORDS), np.uint64)
    fresh = np.zeros((n, WORDS), np.uint64)
    coming = np.zeros((n, WORDS), np.uint64)
    for source in range(first, min(first + SOURCES, n)):
        bit = source - first
        coming[source, bit // 64] = np.uint64(1) << np.uint64(bit % 64)
    level = 0
    while _settle(seen, fresh, coming, first, level, out):
        _spread(starts, neighbors, fresh, coming)
        level += 1
