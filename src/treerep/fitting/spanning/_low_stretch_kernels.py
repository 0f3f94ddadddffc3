"""One round of AKPW, in a graph or among all pairs.

Balls stop growing as soon as they are cheap to cut off.

Seeds are used in the order of their numbers. The vertex closest to the seed joins next; ties go
to the lowest number. Lengths are scaled so that the shortest edge of the round has length 1.
The conductance of an edge is 1/length.

    boundary = conductance of the edges from the ball to vertices in no ball yet

    volume = sum over the ball's vertices of the conductance of their edges, except for edges to
    earlier balls

Both kernels do the same arithmetic in the same order, so they find the same balls in a complete
graph.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel


@helper
def _sift_up(heap: Any, place: Any, key: Any, position: int) -> None:
    item = heap[position]
    while position > 0:
        above = heap[(position - 1) >> 1]
        if key[above] < key[item] or (key[above] == key[item] and above < item):
            break
        heap[position] = above
        place[above] = position
        position = (position - 1) >> 1
    heap[position] = item
    place[item] = position


@helper
def _pop(heap: Any, place: Any, key: Any, size: int) -> Any:
    # Move the smaller child up, all the way down, and put the last item into the final hole.
    top = heap[0]
    hole = 0
    child = 1
    while child < size - 1:
        left = heap[child]
        right = heap[child + 1]
        if key[right] < key[left] or (key[right] == key[left] and right < left):
            child += 1
        heap[hole] = heap[child]
        place[heap[hole]] = hole
        hole = child
        child = 2 * child + 1
    heap[hole] = heap[size - 1]
    _sift_up(heap, place, key, hole)
    return top


@kernel
def grow_balls(starts: Any, neighbors: Any, edges: Any, lengths: Any, x: float) -> Any:
    """Return the ball of every vertex, and the edges that connect each ball.

    The graph is in compressed rows.
    """
    count = len(starts) - 1
    ball = np.full(count, -1, np.int64)
    via = np.empty(count, np.int64)
    chosen = np.empty(count, np.int64)
    # pull: conductance of the edges from a vertex to the ball
    distance = np.full(count, np.inf)
    pull = np.zeros(count)
    heap = np.empty(count, np.int64)
    place = np.empty(count, np.int64)
    balls = used = 0
    for seed in range(count):
        if ball[seed] >= 0:
            continue
        distance[seed] = boundary = volume = 0.0
        heap[0] = seed
        size = 1
        while size > 0 and (volume == 0.0 or boundary > x * volume):
            vertex = _pop(heap, place, distance, size)
            size -= 1
            ball[vertex] = balls
            if vertex != seed:
                chosen[used] = via[vertex]
                used += 1
            outside = 0.0
            for slot in range(starts[vertex], starts[vertex + 1]):
                other = neighbors[slot]
                if ball[other] >= 0:
                    continue
                outside += 1.0 / lengths[slot]
                pull[other] += 1.0 / lengths[slot]
                if distance[vertex] + lengths[slot] < distance[other]:
                    if distance[other] == np.inf:
                        heap[size] = other
                        place[other] = size
                        size += 1
                    distance[other] = distance[vertex] + lengths[slot]
                    via[other] = edges[slot]
                    _sift_up(heap, place, distance, place[other])
            boundary += outside - pull[vertex]
            volume += outside + pull[vertex]
        for position in range(size):
            distance[heap[position]] = np.inf
            pull[heap[position]] = 0.0
        balls += 1
    return ball, chosen[:used]


# Entries of the totals of a round.
BOUNDARY = 0
VOLUME = 1
SHORTEST = 2


class ShortestLinks(NamedTuple):
    """The shortest link to every cluster."""

    lengths: Any
    ends: Any  # (clusters, 2): two points


class Clusters(NamedTuple):
    """The clusters. For each cluster in no ball yet, the links to the growing ball."""

    ball: Any  # number of the ball of the cluster, or -1
    distance: Any  # distance from the seed
    pull: Any  # conductance of the active links to the ball
    links: ShortestLinks  # last link of the path with this distance
    gap: Any  # length of the shortest link to the ball, active or not


@kernel
def shorten_links(block: Any, rows: Any, cols: Any, label: Any, links: ShortestLinks) -> None:
    """Update the links with the distances of a block. Ties go to the lowest points."""
    for r in range(len(rows)):
        for c in range(len(cols)):
            to = label[cols[c]]
            if block[r, c] > links.lengths[to]:
                continue
            low = min(rows[r], cols[c])
            high = max(rows[r], cols[c])
            if (
                block[r, c] < links.lengths[to]
                or low < links.ends[to, 0]
                or (low == links.ends[to, 0] and high < links.ends[to, 1])
            ):
                links.lengths[to] = block[r, c]
                links.ends[to, 0] = low
                links.ends[to, 1] = high


@kernel
def add_to_ball(
    cluster: int,
    row: ShortestLinks,
    clusters: Clusters,
    totals: Any,
    shortest: float,
    limit: float,
    x: float,
) -> int:
    """Add a cluster with these links to the ball; return the next, or -1 if the ball is complete.

    Links shorter than `limit` are active. `totals` has the BOUNDARY and VOLUME of the ball,
    which are reset to 0 when it is complete, and the length of the SHORTEST link between
    different balls.
    """
    ball, distance, pull, links, gap = clusters
    nearest = -1
    conductance = 0.0
    for other in range(len(ball)):
        if ball[other] >= 0:
            continue
        gap[other] = min(gap[other], row.lengths[other])
        if row.lengths[other] < limit:
            length = row.lengths[other] / shortest if shortest > 0.0 else 1.0
            conductance += 1.0 / length
            pull[other] += 1.0 / length
            if distance[cluster] + length < distance[other]:
                distance[other] = distance[cluster] + length
                links.lengths[other] = row.lengths[other]
                links.ends[other, 0] = row.ends[other, 0]
                links.ends[other, 1] = row.ends[other, 1]
        if distance[other] < (np.inf if nearest < 0 else distance[nearest]):
            nearest = other
        row.lengths[other] = np.inf
    totals[BOUNDARY] += conductance - pull[cluster]
    totals[VOLUME] += conductance + pull[cluster]
    if nearest >= 0 and totals[BOUNDARY] > x * totals[VOLUME]:
        return nearest
    totals[BOUNDARY] = totals[VOLUME] = 0.0
    for other in range(len(ball)):
        if ball[other] < 0:
            totals[SHORTEST] = min(totals[SHORTEST], gap[other])
            gap[other] = distance[other] = np.inf
            pull[other] = 0.0
    return -1
