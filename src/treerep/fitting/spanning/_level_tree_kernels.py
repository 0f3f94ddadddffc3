"""The layers of a graph, and the parents in its level tree."""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel
from ...metric.shortest_paths.search_kernels import search_breadth_first


@helper
def _find(top: Any, vertex: int) -> int:
    # Find the representative of a vertex's group, and halve the path to it on the way.
    while top[vertex] != vertex:
        top[vertex] = top[top[vertex]]
        vertex = top[vertex]
    return vertex


@helper
def _gather(starts: Any, neighbors: Any, layer: Any, top: Any, vertex: int) -> None:
    # Join a vertex to its neighbors in the same layer and below. These vertices are connected
    # without coming closer to the root.
    for edge in range(starts[vertex], starts[vertex + 1]):
        neighbor = neighbors[edge]
        if layer[neighbor] >= layer[vertex]:
            one = _find(top, vertex)
            other = _find(top, neighbor)
            top[max(one, other)] = min(one, other)


@kernel
def layer_parents(starts: Any, neighbors: Any, root: int) -> Any:
    """Return the parent of each vertex.

    The parent is the smallest vertex in the layer above that is adjacent to the cluster of the
    vertex.
    """
    n = len(starts) - 1
    layer = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    search_breadth_first(starts, neighbors, root, layer, queue)
    top = np.arange(n).astype(np.int32)
    above = np.full(n, n, np.int32)
    parent = np.full(n, -1, np.int32)
    end = n
    while end > 1:
        begin = end - 1
        while layer[queue[begin - 1]] == layer[queue[end - 1]]:
            begin -= 1
        members = queue[begin:end]
        for vertex in members:
            _gather(starts, neighbors, layer, top, vertex)
        for vertex in members:
            above[_find(top, vertex)] = n
        for vertex in members:
            group = _find(top, vertex)
            for edge in range(starts[vertex], starts[vertex + 1]):
                if layer[neighbors[edge]] < layer[vertex]:
                    above[group] = min(above[group], neighbors[edge])
        for vertex in members:
            parent[vertex] = above[_find(top, vertex)]
        end = begin
    return parent
