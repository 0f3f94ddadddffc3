"""Low-stretch spanning trees by AKPW.

Alon, Karp, Peleg and West (SIAM Journal on Computing 24, 1995).

A spanning tree stretches the edge (u, v) by d_T(u, v) / length(u, v). AKPW keeps the mean stretch
over all edges low. In every round, it cuts the graph into balls of small radius with few edges
between them, takes the shortest-path tree of each ball, and contracts the balls. This
implementation follows the variant popularized by Spielman's Laplacians.jl:

1. Edges have conductances, 1/length. Edges above x times the largest conductance are active,
   with x = 1 / (2 ln vertices left). The other edges wait. In an unweighted graph, all edges are
   active.
2. From vertices in random order, balls grow along shortest paths until the boundary is at most
   x times the volume.
3. The balls become vertices. The shortest of parallel edges is kept.

Each round leaves about a fraction x of its edges, so there are few rounds.
"""

from math import inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..._core.parallel import run
from ..._core.progress import progress_bar
from ...metric.base import Metric
from ...scores._streaming import row_slices, triangle_slices
from ...tree.tree import Tree
from .._distances import checked_block
from .._finished_tree import finished_tree
from ._graphs import sparse_graph
from ._low_stretch_kernels import (
    SHORTEST,
    Clusters,
    ShortestLinks,
    add_to_ball,
    grow_balls,
    shorten_links,
)

Ends = NDArray[np.int64]  # (edges, 2)
Lengths = NDArray[np.float64]


def low_stretch(
    metric: Metric,
    *,
    rng: np.random.Generator,
    graph: str | None = None,
    k: int | None = None,
    n_jobs: int | None = None,
) -> Tree:
    """Return a spanning tree of low mean stretch, by the method AKPW.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.minimum_spanning_tree : The shortest spanning tree.

    Notes
    -----
    Exact on graphs that are trees. A graph takes O(edges log n) time. The complete graph takes
    O(n) memory: each round reads every distance at most once, and there are about log(longest /
    shortest distance) rounds.

    The published experiments with this method (column LS of the TreeRep paper) passed distances
    instead of conductances, so long edges were preferred. This mistake does not matter for
    unweighted graphs, but explains the high numbers for Zeisel, CBMC and random points.

    Alon, Karp, Peleg and West, SIAM J. Comput. 24, 1995.
    """
    rows = sparse_graph(metric, graph, k, n_jobs)
    if rows is None:
        ends, lengths = _tree_of_pairs(metric, rng, n_jobs)
    else:
        ends, lengths = _tree_of_graph(rows, rng)
    return finished_tree(metric, ends, lengths)


def _active(shortest: float, count: int) -> tuple[float, float]:
    """Return the x of a round on `count` vertices, and the length below which edges are active.

    Edges of length 0 have a separate round, in which balls grow while such an edge is left.
    """
    if shortest == 0:
        return 0.0, float(np.nextafter(0, 1))
    x = 1 / (2 * log(count))
    return x, max(shortest / x, float(np.nextafter(shortest, inf)))


def _tree_of_graph(graph: csr_array, rng: np.random.Generator) -> tuple[Ends, Lengths]:
    n = graph.shape[0]
    u = np.repeat(np.arange(n), np.diff(graph.indptr))
    v = graph.indices.astype(np.int64)
    upper = np.flatnonzero(u < v)
    upper = upper[np.argsort(graph.data[upper], kind="stable")]
    ends = np.column_stack([u[upper], v[upper]])
    lengths = graph.data[upper]
    # The contracted vertex of every vertex, and the number of contracted vertices.
    label = np.arange(n)
    count = n
    tree: list[tuple[Ends, Lengths]] = []
    while count > 1:
        label = rng.permutation(count)[label]
        between = np.flatnonzero(label[ends[:, 0]] != label[ends[:, 1]])
        ends = ends[between]
        lengths = lengths[between]
        shortest = float(lengths[0])
        x, limit = _active(shortest, count)
        active = int(np.searchsorted(lengths, limit))
        scaled = lengths[:active] / shortest if shortest > 0 else np.ones(active)
        starts, neighbors, edges = _contracted(label[ends[:active]], count)
        ball, chosen = grow_balls(starts, neighbors, edges, scaled[edges], x)
        tree.append((ends[chosen], lengths[chosen]))
        label = ball[label]
        count = count - len(chosen)
    return _joined(tree)


def _contracted(ends: Ends, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return a graph as compressed rows with the number of every edge.

    The first of parallel edges is kept.
    """
    low = ends.min(axis=1)
    high = ends.max(axis=1)
    pairs, first = np.unique(low * count + high, return_index=True)
    low, high = np.divmod(pairs, count)
    keys = np.concatenate([pairs, high * count + low])
    order = np.argsort(keys)
    rows, neighbors = np.divmod(keys[order], count)
    starts = np.searchsorted(rows, np.arange(count + 1))
    return starts, neighbors, np.tile(first, 2)[order]


def _tree_of_pairs(metric: Metric, rng: np.random.Generator, n_jobs: int | None) -> tuple[Ends, Lengths]:
    label = np.arange(len(metric))
    count = len(metric)
    shortest = _shortest_distance(metric, n_jobs)
    tree: list[tuple[Ends, Lengths]] = []
    with progress_bar(len(metric) - 1, "low-stretch tree", "edges") as bar:
        while count > 1:
            label = rng.permutation(count)[label]
            ball, ends, lengths, shortest = _balls_of_pairs(metric, label, count, shortest)
            tree.append((ends, lengths))
            label = ball[label]
            count = count - len(ends)
            bar.update(len(ends))
    return _joined(tree)


def _shortest_distance(metric: Metric, n_jobs: int | None) -> float:
    points = np.arange(len(metric))

    def shortest_of(rows: slice) -> float:
        block = checked_block(metric, points[rows], points[rows.start :])
        return float(block[~np.tri(*block.shape, dtype=np.bool_)].min())

    return min(run(shortest_of, triangle_slices(len(metric)), n_jobs))


def _balls_of_pairs(
    metric: Metric, label: NDArray[np.int64], count: int, shortest: float
) -> tuple[NDArray[np.int64], Ends, Lengths, float]:
    """Return the ball of every cluster, and links within and between balls.

    Links within a ball connect its clusters. Two balls are linked by the shortest link between
    them. A cluster that joins reads its links to the clusters that are still outside, so no link is
    read twice.
    """
    x, limit = _active(shortest, count)
    by_label = np.argsort(label, kind="stable")
    members = np.split(by_label, np.cumsum(np.bincount(label))[:-1])
    row = _no_links(count)
    links = _no_links(count)
    clusters = Clusters(
        ball=np.full(count, -1),
        distance=np.full(count, inf),
        pull=np.zeros(count),
        links=links,
        gap=np.full(count, inf),
    )
    totals = np.zeros(3)
    totals[SHORTEST] = inf
    balls = 0
    seeds = np.zeros(count, np.bool_)
    points = np.arange(len(label))
    for seed in range(count):
        if clusters.ball[seed] >= 0:
            continue
        seeds[seed] = True
        clusters.distance[seed] = 0.0
        cluster = seed
        while cluster >= 0:
            clusters.ball[cluster] = balls
            points = points[label[points] != cluster]
            for part in row_slices(len(members[cluster]), len(points)):
                rows = members[cluster][part]
                shorten_links(checked_block(metric, rows, points), rows, points, label, row)
            cluster = add_to_ball(cluster, row, clusters, totals, shortest, limit, x)
        balls += 1
    return clusters.ball, links.ends[~seeds], links.lengths[~seeds], float(totals[SHORTEST])


def _no_links(count: int) -> ShortestLinks:
    return ShortestLinks(np.full(count, inf), np.empty((count, 2), np.int64))


def _joined(tree: list[tuple[Ends, Lengths]]) -> tuple[Ends, Lengths]:
    """Return the edges of all rounds."""
    ends = np.concatenate([ends for ends, _ in tree])
    lengths = np.concatenate([lengths for _, lengths in tree])
    return ends, lengths
