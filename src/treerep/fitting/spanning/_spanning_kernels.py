"""Nearest neighbors, Prim's algorithm and shortest-path trees.

Kernels for graphs in compressed rows, or for all pairs. Graphs are as in `search_kernels.py`,
but lengths may be 0.
"""

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.kernel import helper, kernel
from ...metric.oracle.distance_kernels import distance


@helper
def _sink(indices: Any, lengths: Any, position: int) -> None:
    # Restore a heap whose top is the farthest point; ties go to the largest index.
    size = len(indices)
    index = indices[position]
    length = lengths[position]
    child = 2 * position + 1
    while child < size:
        other = child + 1
        if other < size and (lengths[other], indices[other]) > (lengths[child], indices[child]):
            child = other
        if (length, index) >= (lengths[child], indices[child]):
            break
        indices[position] = indices[child]
        lengths[position] = lengths[child]
        position = child
        child = 2 * position + 1
    indices[position] = index
    lengths[position] = length


@kernel
def nearest_in_rows(block: Any, first: int, indices: Any, lengths: Any) -> None:
    """Write the nearest points of first, first + 1, ...

    The rows of `block` are the distances from these points to all points. `indices` and
    `lengths` have one column for each requested neighbor, in no particular order. Ties go to
    the smallest index.
    """
    k = indices.shape[1]
    for a in range(len(block)):
        near = indices[a]
        far = lengths[a]
        found = 0
        for j in range(block.shape[1]):
            if j == first + a:
                continue
            if found < k:
                near[found] = j
                far[found] = block[a, j]
                found += 1
                if found == k:
                    for position in range(k // 2 - 1, -1, -1):
                        _sink(near, far, position)
            elif block[a, j] < far[0]:
                near[0] = j
                far[0] = block[a, j]
                _sink(near, far, 0)


class Frontier(NamedTuple):
    """State of Prim's algorithm, by point.

    The distance to the tree, the nearest point of the tree, and the time at which that point
    joined.
    """

    gap: NDArray[np.float64]
    parent: NDArray[np.int32]
    order: NDArray[np.int32]


@helper
def _joins_before(frontier: Any, a: int, b: int) -> bool:
    # The closer point, then the one whose neighbor joined earlier, then the one with the
    # smaller index.
    if frontier.gap[a] != frontier.gap[b]:
        return frontier.gap[a] < frontier.gap[b]
    first = frontier.order[frontier.parent[a]]
    second = frontier.order[frontier.parent[b]]
    return first < second or (first == second and a < b)


@kernel
def join_points(oracle: Any, single_row: bool, frontier: Any, left: Any, joined: int, steps: int) -> Any:
    """Add `steps` points to a tree that spans all pairs; return the last point.

    `joined` is the point that was added last. `left` are the points not in the tree yet. Every step
    removes one of these points, and moves the last point to its position. The oracle contains all
    points, or with `single_row` only the distances from `joined`, as row 0.
    """
    n = len(frontier.gap)
    for count in range(len(left), len(left) - steps, -1):
        row = 0 if single_row else joined
        best = 0
        for position in range(count):
            point = left[position]
            length = distance(oracle, row, point)
            if length < frontier.gap[point]:
                frontier.gap[point] = length
                frontier.parent[point] = joined
            if _joins_before(frontier, point, left[best]):
                best = position
        joined = left[best]
        left[best] = left[count - 1]
        frontier.order[joined] = n - count
    return joined


@kernel
def grow_tree(starts: Any, neighbors: Any, lengths: Any, start: int, from_start: bool) -> Any:
    """Return, for every vertex, the edge by which it joins the tree.

    An edge is an index into `neighbors`, or -1 for `start`. The next edge is the shortest one that
    leaves the tree (Prim), or with `from_start` the one whose end is closest to the start
    (Dijkstra). Without `from_start`, ties go to the edge whose end in the tree joined first. After
    that, the vertex with the smallest index joins, by its neighbor with the smallest index.
    """
    n = len(starts) - 1
    via = np.full(n, -1, np.int64)
    order = np.full(n, -1, np.int64)
    order[start] = 0
    joined = 1
    reached = 0.0
    vertex = np.int64(start)
    via_edge = np.int64(-1)
    heap = [(reached, np.int64(0), vertex, via_edge)]
    while joined < n:
        for edge in range(starts[vertex], starts[vertex + 1]):
            neighbor = np.int64(neighbors[edge])
            if order[neighbor] < 0:
                if from_start:
                    heappush(heap, (reached + lengths[edge], np.int64(0), neighbor, np.int64(edge)))
                else:
                    heappush(heap, (lengths[edge], order[vertex], neighbor, np.int64(edge)))
        while order[vertex] >= 0:
            reached, _, vertex, via_edge = heappop(heap)
        via[vertex] = via_edge
        order[vertex] = joined
        joined += 1
    return via
