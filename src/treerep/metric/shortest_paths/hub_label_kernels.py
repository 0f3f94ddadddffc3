"""Hub labels: exact shortest-path distances between any two vertices, without a matrix.

Every vertex has a short list of hubs and of its distances to these hubs. Any two vertices share a
hub on a shortest path between them. The lists come from pruned landmark labeling (Akiba, Iwata and
Yoshida, SIGMOD 2013): one search from every vertex, in order of importance. A search is pruned
wherever earlier hubs already give the distance.

The order is crucial. With the usual order by degree, lists on a path graph would be as long as
the path. Here the next hub is the vertex on the most uncovered shortest paths. The number of
paths is estimated from a sample of shortest-path trees (after Delling, Goldberg, Pajor and
Werneck, "Robust distance queries on massive networks", ESA 2014): the score of a vertex is the
number of its descendants in the sample.

A new hub covers the subtrees below it, which are removed from the sample. When half of the
sample is gone, new trees are grown from random vertices and pruned where hubs cover them. On a
tree this order finds centroids, on a path the middle of every gap, and on a social network the
celebrities.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.kernel import helper, kernel
from .search_kernels import (
    Labels,
    Scratch,
    append_labels,
    missing_chunks,
    pop,
    pruned_search,
    sift_down,
)

TREES = 8  # the sample has as many nodes as this many spanning trees
# Number of counters. Each tree adds to one counter, and the score of a vertex ignores its largest
# counter.
COUNTERS = 8
# steps of work, about 0.1 s, before a kernel returns so that interrupts are handled
_SLICE = 20_000_000


class Forest(NamedTuple):
    """The sampled shortest-path trees, node by node; parents precede children."""

    vertex: NDArray[np.int32]
    parent: NDArray[np.int32]  # parent node, or -1 at a root
    size: NDArray[np.int32]  # number of descendants including itself; 0 after removal
    tree: NDArray[np.uint8]  # counter to which the tree adds
    same: NDArray[np.int32]  # next node of the same vertex, or -1
    child: NDArray[np.int32]  # first child, or -1
    sibling: NDArray[np.int32]  # next child of the same parent, or -1
    stack: NDArray[np.int32]
    nodes: NDArray[np.int32]  # vertex -> first of its nodes, or -1
    counters: NDArray[np.int32]  # (vertex, counter) -> descendants
    roots: NDArray[np.int32]  # vertices in random order


class Candidates(NamedTuple):
    """The vertices that are not hubs yet, as a heap. Keys may be outdated, hence too small."""

    heap: NDArray[np.int32]
    place: NDArray[np.int32]
    key: NDArray[np.int64]


class State(NamedTuple):
    """All arrays of a construction."""

    labels: Labels
    scratch: Scratch
    forest: Forest
    candidates: Candidates


@helper
def _key(forest: Any, starts: Any, vertex: int) -> int:
    # The root of a sampled tree has the whole tree below it, and so do the vertices next to it.
    # Large counts near the root say nothing about importance, so the largest counter is ignored.
    # Ties go to the higher degree. Keys are negative because the top of the heap is the smallest
    # key.
    total = np.int64(0)
    largest = np.int64(0)
    for counter in range(COUNTERS):
        value = np.int64(forest.counters[vertex, counter])
        total += value
        largest = max(largest, value)
    return -((total - largest) << 20) - min(starts[vertex + 1] - starts[vertex], (1 << 20) - 1)


@kernel
def drop_cut_nodes(forest: Any, used: int) -> int:
    """Move the remaining nodes to the front; return their number."""
    kept = 0
    for node in range(used):
        if forest.size[node] > 0:
            parent = forest.parent[node]
            forest.stack[node] = kept  # new position, for the children, which follow
            forest.parent[kept] = forest.stack[parent] if parent >= 0 else -1
            forest.vertex[kept] = forest.vertex[node]
            forest.size[kept] = forest.size[node]
            forest.tree[kept] = forest.tree[node]
            kept += 1
    return kept


@kernel
def link_nodes(forest: Any, used: int, candidates: Any, is_hub: Any, starts: Any) -> None:
    """Link children and the nodes of each vertex, count descendants, and order the candidates."""
    forest.nodes.fill(-1)
    forest.counters.fill(0)
    for node in range(used):
        forest.child[node] = -1
        vertex = forest.vertex[node]
        parent = forest.parent[node]
        forest.same[node] = forest.nodes[vertex]
        forest.nodes[vertex] = node
        forest.counters[vertex, forest.tree[node]] += forest.size[node]
        if parent >= 0:
            forest.sibling[node] = forest.child[parent]
            forest.child[parent] = node
    size = 0
    for candidate in range(len(is_hub)):
        if not is_hub[candidate]:
            candidates.key[candidate] = _key(forest, starts, candidate)
            candidates.heap[size] = candidate
            size += 1
    for position in range(size // 2 - 1, -1, -1):
        sift_down(candidates.heap, candidates.place, candidates.key, position, size)


@helper
def _plant_tree(forest: Any, scratch: Any, reached: int, used: int, tree: int) -> None:
    # Append the tree found by a pruned search.
    for index in range(reached):
        vertex = scratch.reached[index]
        node = used + index
        forest.vertex[node] = vertex
        forest.parent[node] = used + scratch.position[scratch.parent[vertex]] if index > 0 else -1
        forest.size[node] = 1
        forest.tree[node] = tree % COUNTERS
    for node in range(used + reached - 1, used, -1):
        forest.size[forest.parent[node]] += forest.size[node]


@helper
def _cut(forest: Any, node: int) -> int:
    # Remove the subtree of `node` from the sample; return its size.
    size = forest.size[node]
    above = forest.parent[node]
    while above >= 0:
        forest.size[above] -= size
        forest.counters[forest.vertex[above], forest.tree[above]] -= size
        above = forest.parent[above]
    forest.stack[0] = node
    waiting = 1
    while waiting > 0:
        waiting -= 1
        below = forest.stack[waiting]
        forest.counters[forest.vertex[below], forest.tree[below]] -= forest.size[below]
        forest.size[below] = 0
        child = forest.child[below]
        while child >= 0:
            if forest.size[child] > 0:
                forest.stack[waiting] = child
                waiting += 1
            child = forest.sibling[child]
    return size


@helper
def _best_candidate(candidates: Any, forest: Any, starts: Any, size: int) -> int:
    # Scores only decrease between refills. A candidate whose up-to-date key is still on top is
    # the best.
    while True:
        best = candidates.heap[0]
        key = _key(forest, starts, best)
        if key == candidates.key[best]:
            return best
        candidates.key[best] = key
        sift_down(candidates.heap, candidates.place, candidates.key, 0, size)


@kernel
def grow_trees(
    starts: Any,
    neighbors: Any,
    lengths: Any,
    stretch: float,
    labels: Any,
    scratch: Any,
    forest: Any,
    used: int,
    turn: int,
    last_turn: int,
) -> Any:
    """Grow trees until the sample is full, every vertex had its turn, or a slice of work is done.

    Returns (nodes in the sample, turn, trees grown, steps of work).
    """
    n = len(starts) - 1
    trees = 0
    work = 0
    while used < TREES * n and turn < last_turn and work < _SLICE:
        root = forest.roots[turn % n]
        turn += 1
        if labels.is_hub[root]:
            continue
        seen, reached, steps = pruned_search(starts, neighbors, lengths, labels, scratch, root, stretch)
        for index in range(seen):
            scratch.distance[scratch.seen[index]] = -1
        _plant_tree(forest, scratch, reached, used, turn)
        used += reached
        trees += 1
        work += steps
    return used, turn, trees, work


@kernel
def label_hubs(
    starts: Any,
    neighbors: Any,
    lengths: Any,
    stretch: float,
    state: Any,
    counts: Any,
    enough: int,
    budget: int,
) -> Any:
    """Create hubs while more than `enough` nodes of the sample are left and the budget lasts.

    `counts` is (hubs done, chunks in use, nodes left). Returns the new counts, the steps of
    work, and the number of missing chunks. If chunks are missing, enlarge the storage and call
    again.
    """
    labels, scratch, forest, candidates = state
    done, chunks, alive = counts
    n = len(starts) - 1
    work = 0
    missing = 0
    while done < n and alive > enough and work < budget and missing <= 0:
        hub = _best_candidate(candidates, forest, starts, n - done)
        seen, reached, steps = pruned_search(starts, neighbors, lengths, labels, scratch, hub, stretch)
        missing = missing_chunks(labels, scratch, reached, chunks)
        if missing <= 0:
            chunks = append_labels(labels, scratch, reached, done, chunks)
            node = forest.nodes[hub]
            while node >= 0:
                if forest.size[node] > 0:
                    alive -= _cut(forest, node)
                node = forest.same[node]
            pop(candidates.heap, candidates.place, candidates.key, n - done)
            labels.is_hub[hub] = True
            done += 1
        for index in range(seen):
            scratch.distance[scratch.seen[index]] = -1
        work += steps
    return (done, chunks, alive), work, missing
