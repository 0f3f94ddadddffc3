"""The graph for methods that need a graph: the data itself, or the nearest-neighbor graph."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..._core.checks import check_choice, positive_number
from ..._core.parallel import run
from ..._core.progress import progress_bar
from ...metric.base import Metric, read_only
from ...metric.graph import GraphMetric
from ...scores._streaming import row_slices
from .._distances import checked_block
from ._prim import prim_complete
from ._spanning_kernels import nearest_in_rows

_NEIGHBORS = 10
# Up to this many points, the central point is found among all points; for more points, by sampling.
_EXACT_CENTER = 4096
_SAMPLES = 256
_CANDIDATES = 32


def sparse_graph(
    metric: Metric, graph: str | None, k: int | None, n_jobs: int | None = None
) -> csr_array | None:
    """Return a connected, symmetric graph as rows of lengths; None if it is complete.

    A `GraphMetric` is already a graph, and accepts neither `graph` nor `k`. For any other
    metric, the default is the complete graph. With graph="knn" (or only `k`), each point is
    joined to its `k` nearest points, by default 10. Among equally close points, those with the
    smallest index are used. If the graph is not connected, the shortest edges that connect it
    are added.

    Edges between equal points have length 0 and are stored. Graph routines of scipy would
    overlook them.

    O(n^2) distances, O(n k) memory.
    """
    if isinstance(metric, GraphMetric):
        if graph is not None or k is not None:
            given = "graph" if graph is not None else "k"
            raise ValueError(
                f"{given} applies only to data that is not a graph, and this is a "
                f"GraphMetric: leave out {given}"
            )
        return metric.adjacency
    kind = ("complete" if k is None else "knn") if graph is None else graph
    check_choice("graph", kind, ("complete", "knn"))
    if kind == "complete":
        if k is not None:
            raise ValueError(f"k={k!r} requires graph='knn': the complete graph joins all points")
        return None
    neighbors = _NEIGHBORS if k is None else positive_number(k, "k")
    neighbors = min(neighbors, len(metric) - 1)
    i, j, lengths = _nearest_neighbors(metric, neighbors, n_jobs)
    return _connected(metric, i, j, lengths)


def _nearest_neighbors(
    metric: Metric, k: int, n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the ends and lengths of the edges from every point to its k nearest other points."""
    n = len(metric)
    columns = np.arange(n)
    indices = np.empty((n, k), np.int32)
    lengths = np.empty((n, k))

    def search(rows: slice) -> int:
        block = checked_block(metric, columns[rows], columns)
        nearest_in_rows(block, rows.start, indices[rows], lengths[rows])
        return len(block)

    with progress_bar(n, "nearest neighbors", "points") as bar:
        for done in run(search, row_slices(n, n), n_jobs):
            bar.update(done)
    return np.repeat(columns, k), indices.reshape(-1).astype(np.int64), lengths.reshape(-1)


def _connected(
    metric: Metric, i: NDArray[np.int64], j: NDArray[np.int64], lengths: NDArray[np.float64]
) -> csr_array:
    """Return the graph of these edges, and join its components by the shortest edges."""
    n = len(metric)
    graph = _symmetric(n, i, j, lengths)
    member = _components(graph)
    if member.max() == 0:
        return graph
    # The minimum spanning tree of all pairs contains the shortest edges between components: any
    # other edge is the longest of a cycle.
    parents, gaps = prim_complete(metric, 0)
    others = parents.astype(np.int64)
    crossing = np.flatnonzero((parents >= 0) & (member != member[others]))
    crossing = crossing[np.argsort(gaps[crossing], kind="stable")]
    chosen = crossing[_spanning(member[crossing], member[others[crossing]])]
    return _symmetric(
        n,
        np.concatenate([i, chosen]),
        np.concatenate([j, others[chosen]]),
        np.concatenate([lengths, gaps[chosen]]),
    )


def _symmetric(
    n: int, i: NDArray[np.integer], j: NDArray[np.integer], lengths: NDArray[np.float64]
) -> csr_array:
    """Return the rows of undirected edges. If an edge is given twice, the shorter one is used."""
    low = np.minimum(i, j)
    high = np.maximum(i, j)
    order = np.lexsort((lengths, high, low))
    low = low[order]
    high = high[order]
    lengths = lengths[order]
    kept = np.ones(len(low), np.bool_)
    kept[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    low = low[kept]
    high = high[kept]
    lengths = lengths[kept]
    ends = (np.concatenate([low, high]), np.concatenate([high, low]))
    rows = csr_array((np.concatenate([lengths, lengths]), ends), shape=(n, n))
    rows.sort_indices()
    # The same layout as the rows of a GraphMetric, so that kernels are compiled once.
    arrays = (
        read_only(rows.data),
        read_only(rows.indices.astype(np.int32)),
        read_only(rows.indptr.astype(np.int32)),
    )
    return csr_array(arrays, shape=(n, n))


def _components(graph: csr_array) -> NDArray[np.int32]:
    """Return the component of every vertex, numbered from 0."""
    from scipy.sparse.csgraph import connected_components

    # Ones in place of lengths, because scipy ignores edges of length 0.
    pattern = csr_array((np.ones(graph.nnz, np.int8), graph.indices, graph.indptr), shape=graph.shape)
    member: NDArray[np.int32] = connected_components(pattern, directed=False)[1]
    return member


def _spanning(i: NDArray[np.int32], j: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the edges that join all vertices, taken in order unless they close a cycle."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    ranks = np.arange(1.0, len(i) + 1)  # never 0, because scipy ignores zeros
    tree = minimum_spanning_tree(_symmetric(int(max(i.max(), j.max())) + 1, i, j, ranks))
    return tree.data.astype(np.int64) - 1


def joining_edges(graph: csr_array, via: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return ends and lengths of the edges of a tree (see `grow_tree`)."""
    joined = np.flatnonzero(via >= 0)
    parents = np.searchsorted(graph.indptr, via[joined], side="right") - 1
    return np.column_stack([parents, joined]), graph.data[via[joined]]


def check_root(root: int | str, n: int, labels: Sequence[str] | None = None) -> int:
    """Return the index of the root, given as a number or a label.

    Raises a ValueError if there is no such point.
    """
    if isinstance(root, str):
        if labels is None or root not in labels:
            fix = (
                "use one of the labels"
                if labels
                else f"the points have no labels, so use a number from 0 to {n - 1}"
            )
            raise ValueError(f"no point has the label {root!r}: {fix}")
        return labels.index(root)
    if isinstance(root, (bool, np.bool_)) or not isinstance(root, (int, np.integer)) or not 0 <= root < n:
        raise ValueError(f"root must be one of the points 0 to {n - 1}, not {root!r}")
    return int(root)


def central_point(metric: Metric, rng: np.random.Generator) -> int:
    """Return the point with the smallest total distance to all others, the 1-median.

    Ties go to the smallest index. Exact up to 4,096 points, in O(n^2). For more points, the
    total distances to 256 random points determine 32 candidates, and the best candidate is
    found exactly.
    """
    n = len(metric)
    everyone = np.arange(n)
    if n <= _EXACT_CENTER:
        return int(np.argmin(_total_distances(metric, everyone)))
    sample = np.sort(rng.choice(n, _SAMPLES, replace=False))
    estimates = np.zeros(n)
    for rows in row_slices(_SAMPLES, n):
        estimates += checked_block(metric, sample[rows], everyone).sum(axis=0)
    candidates = np.sort(np.argsort(estimates, kind="stable")[:_CANDIDATES])
    return int(candidates[np.argmin(_total_distances(metric, candidates))])


def _total_distances(metric: Metric, points: NDArray[np.int64]) -> NDArray[np.float64]:
    n = len(metric)
    blocks = (checked_block(metric, points[rows], np.arange(n)) for rows in row_slices(len(points), n))
    return np.concatenate([block.sum(axis=1) for block in blocks])
