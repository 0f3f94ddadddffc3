"""Graph searches in compressed rows: breadth-first, and by Dijkstra's algorithm with a binary heap.

The plain searches compute blocks of distances. The pruned searches turn back where hub labels
already give the distance. The pruned searches are used to build the labels (see
`hub_label_kernels.py`).

A graph is three arrays: the neighbors of v are `neighbors[starts[v]:starts[v + 1]]`, and
`lengths` aligns with `neighbors`, or is None if every edge has length 1. Numba drops the branch
that a None excludes before it compiles, so for each kind of graph only the required search is
compiled.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.kernel import helper, kernel

CHUNK = 16  # labels per unit of storage; a power of 2
# farther than any two vertices of an unweighted graph; twice this is still an int32
FAR = 1 << 29


class Labels(NamedTuple):
    """Lists that grow without being moved.

    The storage is divided into chunks of 16 labels. Each vertex starts with the chunk of the
    same number. Whenever its count reaches 16, 32, 64, ..., its storage is doubled by one
    contiguous piece, so long lists are read in long runs.
    """

    # vertices whose search is done: the labels give all distances from them
    is_hub: NDArray[np.bool_]
    counts: NDArray[np.int32]  # labels of each vertex
    free: NDArray[np.int64]  # position of the next label of each vertex
    # first chunk of a piece -> first chunk of the vertex's next piece
    following: NDArray[np.int32]
    hubs: NDArray[np.int32]  # the hub's rank in the order of processing
    distances: NDArray[np.generic]


class Scratch(NamedTuple):
    """Scratch space of a pruned search. Between searches, `distance` is -1 and `to_hub` is far."""

    distance: NDArray[np.generic]
    # rank -> distance from the root of the search, for the hubs of the root
    to_hub: NDArray[np.generic]
    parent: NDArray[np.int32]  # vertex -> vertex from which it was found
    seen: NDArray[np.int32]  # vertices in the order in which they were found
    reached: NDArray[np.int32]  # vertices that no earlier hub covers, in order of distance
    position: NDArray[np.int32]  # vertex -> its index in `reached`
    heap: NDArray[np.int32]
    place: NDArray[np.int32]


@helper
def sift_up(heap: Any, place: Any, key: Any, position: int) -> None:
    """Move heap[position] towards the root until its parent's key is not larger."""
    item = heap[position]
    while position > 0:
        parent = (position - 1) >> 1
        if key[heap[parent]] <= key[item]:
            break
        heap[position] = heap[parent]
        place[heap[position]] = position
        position = parent
    heap[position] = item
    place[item] = position


@helper
def sift_down(heap: Any, place: Any, key: Any, position: int, size: int) -> None:
    """Move heap[position] away from the root until no child's key is smaller."""
    item = heap[position]
    child = 2 * position + 1
    while child < size:
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[item] <= key[heap[child]]:
            break
        heap[position] = heap[child]
        place[heap[position]] = position
        position = child
        child = 2 * position + 1
    heap[position] = item
    place[item] = position


@helper
def pop(heap: Any, place: Any, key: Any, size: int) -> int:
    """Remove the item with the smallest key from a heap of `size` items."""
    top = heap[0]
    heap[0] = heap[size - 1]
    place[heap[0]] = 0
    sift_down(heap, place, key, 0, size - 1)
    return top


@helper
def search_breadth_first(starts: Any, neighbors: Any, source: int, distance: Any, queue: Any) -> None:
    """Write the number of edges from `source` to every vertex of a connected graph into `distance`."""
    distance.fill(-1)
    distance[source] = 0
    queue[0] = source
    found = 1
    head = 0
    while found < len(queue):
        vertex = queue[head]
        head += 1
        for edge in range(starts[vertex], starts[vertex + 1]):
            neighbor = neighbors[edge]
            if distance[neighbor] < 0:
                distance[neighbor] = distance[vertex] + 1
                queue[found] = neighbor
                found += 1


@helper
def search_nearest_first(
    starts: Any, neighbors: Any, lengths: Any, source: int, distance: Any, heap: Any, place: Any
) -> None:
    """Write the lengths of the shortest paths from `source` into `distance` (Dijkstra)."""
    distance.fill(-1.0)
    distance[source] = 0.0
    heap[0] = source
    place[source] = 0
    size = 1
    while size > 0:
        vertex = pop(heap, place, distance, size)
        size -= 1
        for edge in range(starts[vertex], starts[vertex + 1]):
            neighbor = neighbors[edge]
            length = distance[vertex] + lengths[edge]
            if distance[neighbor] < 0.0:
                distance[neighbor] = length
                heap[size] = neighbor
                sift_up(heap, place, distance, size)
                size += 1
            elif length < distance[neighbor]:
                # Lengths are positive, so no shorter path is found to a vertex that has left
                # the heap.
                distance[neighbor] = length
                sift_up(heap, place, distance, place[neighbor])


@kernel
def search_block(starts: Any, neighbors: Any, lengths: Any, sources: Any, targets: Any, out: Any) -> None:
    """Write out[a, b] = d(sources[a], targets[b]), with one search from every source."""
    n = len(starts) - 1
    heap = np.empty(n, np.int32)
    if lengths is None:
        steps = np.empty(n, np.int32)
        for a in range(len(sources)):
            search_breadth_first(starts, neighbors, sources[a], steps, heap)
            for b in range(len(targets)):
                out[a, b] = steps[targets[b]]
    else:
        distance = np.empty(n, np.float64)
        place = np.empty(n, np.int32)
        for a in range(len(sources)):
            search_nearest_first(starts, neighbors, lengths, sources[a], distance, heap, place)
            for b in range(len(targets)):
                out[a, b] = distance[targets[b]]


@helper
def _covered(labels: Any, to_hub: Any, vertex: int, bound: Any) -> Any:
    # Return whether the hubs so far bring the root within `bound` of `vertex`, and the number
    # of labels read.
    count = labels.counts[vertex]
    piece = vertex
    done = 0
    length = CHUNK
    while done < count:
        begin = np.int64(piece) * CHUNK
        for label in range(begin, begin + min(count - done, length)):
            if to_hub[labels.hubs[label]] + labels.distances[label] <= bound:
                return True, done + label - begin
        done += length
        length = done
        piece = labels.following[piece]
    return False, count


@helper
def _mark_hubs(labels: Any, to_hub: Any, root: int) -> None:
    # Set to_hub[h] = d(root, h) for the hubs of the root.
    count = labels.counts[root]
    piece = root
    done = 0
    length = CHUNK
    while done < count:
        begin = np.int64(piece) * CHUNK
        for label in range(begin, begin + min(count - done, length)):
            to_hub[labels.hubs[label]] = labels.distances[label]
        done += length
        length = done
        piece = labels.following[piece]


@helper
def _unmark_hubs(labels: Any, to_hub: Any, root: int, far: Any) -> None:
    count = labels.counts[root]
    piece = root
    done = 0
    length = CHUNK
    while done < count:
        begin = np.int64(piece) * CHUNK
        for label in range(begin, begin + min(count - done, length)):
            to_hub[labels.hubs[label]] = far
        done += length
        length = done
        piece = labels.following[piece]


@helper
def _pruned_breadth_first(starts: Any, neighbors: Any, labels: Any, scratch: Any, root: int) -> Any:
    distance = scratch.distance
    seen = scratch.seen
    distance[root] = 0
    scratch.parent[root] = root
    seen[0] = root
    found = 1
    head = 0
    reached = 0
    work = 0
    while head < found:
        vertex = seen[head]
        head += 1
        work += 1
        if labels.is_hub[vertex]:
            continue
        # at a smaller distance, only one of the two ends could be the hub
        if distance[vertex] > 1:
            covered, steps = _covered(labels, scratch.to_hub, vertex, distance[vertex])
            work += steps
            if covered:
                continue
        scratch.position[vertex] = reached
        scratch.reached[reached] = vertex
        reached += 1
        if found == len(seen):  # all vertices are found, which saves most edges of dense graphs
            continue
        work += starts[vertex + 1] - starts[vertex]
        for edge in range(starts[vertex], starts[vertex + 1]):
            neighbor = neighbors[edge]
            if distance[neighbor] < 0:
                distance[neighbor] = distance[vertex] + 1
                scratch.parent[neighbor] = vertex
                seen[found] = neighbor
                found += 1
    return found, reached, work


@helper
def _pruned_nearest_first(
    starts: Any,
    neighbors: Any,
    lengths: Any,
    labels: Any,
    scratch: Any,
    root: int,
    stretch: float,
) -> Any:
    distance = scratch.distance
    seen = scratch.seen
    heap = scratch.heap
    place = scratch.place
    distance[root] = 0.0
    scratch.parent[root] = root
    seen[0] = heap[0] = root
    found = 1
    size = 1
    reached = 0
    work = 0
    while size > 0:
        vertex = pop(heap, place, distance, size)
        size -= 1
        work += 10
        if labels.is_hub[vertex]:
            continue
        covered, steps = _covered(labels, scratch.to_hub, vertex, distance[vertex] * stretch)
        work += steps
        if covered:
            continue
        scratch.position[vertex] = reached
        scratch.reached[reached] = vertex
        reached += 1
        work += starts[vertex + 1] - starts[vertex]
        for edge in range(starts[vertex], starts[vertex + 1]):
            neighbor = neighbors[edge]
            length = distance[vertex] + lengths[edge]
            if distance[neighbor] < 0.0:
                place[neighbor] = size
                heap[size] = seen[found] = neighbor
                size += 1
                found += 1
            elif length >= distance[neighbor]:
                continue
            distance[neighbor] = length
            scratch.parent[neighbor] = vertex
            sift_up(heap, place, distance, place[neighbor])
    return found, reached, work


@helper
def pruned_search(
    starts: Any,
    neighbors: Any,
    lengths: Any,
    labels: Any,
    scratch: Any,
    root: int,
    stretch: float,
) -> Any:
    """Find the vertices whose distance from `root` is not yet covered by labels.

    Fills `scratch.reached`, `position`, `parent` and `distance`, and returns (vertices seen,
    vertices reached, steps of work). The caller must reset the distances of the vertices seen
    to -1.
    """
    _mark_hubs(labels, scratch.to_hub, root)
    if lengths is None:
        result = _pruned_breadth_first(starts, neighbors, labels, scratch, root)
        _unmark_hubs(labels, scratch.to_hub, root, FAR)
    else:
        result = _pruned_nearest_first(starts, neighbors, lengths, labels, scratch, root, stretch)
        _unmark_hubs(labels, scratch.to_hub, root, np.inf)
    return result


@helper
def _chunks_to_add(count: int) -> int:
    # A list of 16, 32, 64, ... labels is full, and its storage is doubled.
    return count // CHUNK if count & (count - 1) == 0 else 0


@helper
def missing_chunks(labels: Any, scratch: Any, reached: int, chunks: int) -> int:
    """Return the number of missing chunks for one more label of each vertex reached."""
    for index in range(reached):
        chunks += _chunks_to_add(labels.counts[scratch.reached[index]])
    return chunks - len(labels.following)


@helper
def append_labels(labels: Any, scratch: Any, reached: int, hub: int, chunks: int) -> int:
    """Append the label (hub, distance) to every vertex reached; return the chunks in use."""
    for index in range(reached):
        vertex = scratch.reached[index]
        count = labels.counts[vertex]
        added = _chunks_to_add(count)
        if added > 0:
            # The full piece starts half of its list before the end. The first two pieces are
            # one chunk each.
            begin = labels.free[vertex] // CHUNK - max(1, added // 2)
            labels.following[begin] = chunks
            labels.free[vertex] = chunks * CHUNK
            chunks += added
        slot = labels.free[vertex]
        labels.hubs[slot] = hub
        labels.distances[slot] = scratch.distance[vertex]
        labels.free[vertex] = slot + 1
        labels.counts[vertex] = count + 1
    return chunks


@kernel
def flatten_labels(labels: Any, starts: Any, hubs: Any, distances: Any) -> None:
    """Copy the pieces into one array, ordered by vertex."""
    for vertex in range(len(labels.counts)):
        count = labels.counts[vertex]
        out = starts[vertex]
        piece = np.int64(vertex)
        done = 0
        length = CHUNK
        while done < count:
            begin = piece * CHUNK
            for label in range(begin, begin + min(count - done, length)):
                hubs[out] = labels.hubs[label]
                distances[out] = labels.distances[label]
                out += 1
            done += length
            length = done
            piece = np.int64(labels.following[piece])
