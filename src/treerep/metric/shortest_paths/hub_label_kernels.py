"""Hub labels: exact shortest-path distances of any two vertices, without a matrix.

Every vertex keeps a short list of hubs with its distances to them, such that any two vertices
share a hub on a shortest path between them. The lists come from pruned landmark labeling
(Akiba, Iwata and Yoshida, SIGMOD 2013): one search from every vertex in the order of
importance, which turns back wherever earlier hubs already give the distance.

The order decides everything. By degree, the usual choice, a path would get lists as long as
itself. Here the next hub is the vertex that most uncovered shortest paths run through,
estimated from a sample of shortest-path trees (after Delling, Goldberg, Pajor and Werneck,
"Robust distance queries on massive networks", ESA 2014): its score is the number of its
descendants in them. What a new hub covers, the subtrees below it, is cut off, and when half the
sample is gone, new trees are grown from random vertices, turning back where hubs cover them. On
a tree this finds centroids, on a path the middle of every gap, on a social network the
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

TREES = 8  # the sample holds as many tree nodes as this many spanning trees
COUNTERS = (
    8  # trees are dealt to this many counters; a vertex's score leaves its largest counter out
)
# steps of work, about a tenth of a second, before a kernel returns to let an interrupt in
_SLICE = 20_000_000


class Forest(NamedTuple):
    """The sampled shortest-path trees, node by node; parents come before children."""

    vertex: NDArray[np.int32]
    parent: NDArray[np.int32]  # node, or -1 at a root
    size: NDArray[np.int32]  # descendants including itself; 0 once cut off
    tree: NDArray[np.uint8]  # the counter its tree is dealt to
    same: NDArray[np.int32]  # next node of the same vertex, or -1
    child: NDArray[np.int32]  # first child, or -1
    sibling: NDArray[np.int32]  # next child of the same parent, or -1
    stack: NDArray[np.int32]
    nodes: NDArray[np.int32]  # vertex -> first of its nodes, or -1
    counters: NDArray[np.int32]  # (vertex, counter) -> descendants
    roots: NDArray[np.int32]  # vertices in random order


class Candidates(NamedTuple):
    """The vertices that are not hubs yet, as a heap. Keys may be outdated and too small."""

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
    # The root of a sampled tree has the whole tree below it, and so have the vertices next to
    # it, which says nothing about them; hence the largest counter does not count. Ties go to
    # the higher degree. Negative: the heap's top is the smallest key.
    total = np.int64(0)
    largest = np.int64(0)
    for counter in range(COUNTERS):
        value = np.int64(forest.counters[vertex, counter])
        total += value
        largest = max(largest, value)
    return -((total - largest) << 20) - min(starts[vertex + 1] - starts[vertex], (1 << 20) - 1)


@kernel
def drop_cut_nodes(forest: Any, used: int) -> int:
    """Move the nodes that are left to the front; return how many there are."""
    kept = 0
    for node in range(used):
        if forest.size[node] > 0:
            parent = forest.parent[node]
            forest.stack[node] = kept  # where it went, for its children, which come later
            forest.parent[kept] = forest.stack[parent] if parent >= 0 else -1
            forest.vertex[kept] = forest.vertex[node]
            forest.size[kept] = forest.size[node]
            forest.tree[kept] = forest.tree[node]
            kept += 1
    return kept


@kernel
def link_nodes(forest: Any, used: int, candidates: Any, is_hub: Any, starts: Any) -> None:
    """Link children and nodes of one vertex, count descendants, and order the candidates."""
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
    # Append the tree that a pruned search has found.
    for index in range(reached):
        vertex = scratch.reached[index]
        node = used + index
        forest.vertex[node] = vertex
        forest.parent[node] = (
            used + scratch.position[scratch.parent[vertex]] if index > 0 else -1
        )
        forest.size[node] = 1
        forest.tree[node] = tree % COUNTERS
    for node in range(used + reached - 1, used, -1):
        forest.size[forest.parent[node]] += forest.size[node]


@helper
def _cut(forest: Any, node: int) -> int:
    # Take the subtree of `node` out of the sample; return its size.
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
    # Scores only fall between refills, so a candidate whose true key is still on top is the
    # best of all.
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
        seen, reached, steps = pruned_search(
            starts, neighbors, lengths, labels, scratch, root, stretch
        )
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
    """Make hubs while more than `enough` nodes of the sample are alive and the budget lasts.

    `counts` is (hubs done, chunks in use, nodes alive). Returns the new counts, the steps of
    work, and how many chunks are missing: if any, enlarge the storage and call again.
    """
    labels, scratch, forest, candidates = state
    done, chunks, alive = counts
    n = len(starts) - 1
    work = 0
    missing = 0
    while done < n and alive > enough and work < budget and missing <= 0:
        hub = _best_candidate(candidates, forest, starts, n - done)
        seen, reached, steps = pruned_search(
            starts, neighbors, lengths, labels, scratch, hub, stretch
        )
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
