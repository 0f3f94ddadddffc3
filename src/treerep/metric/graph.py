"""Shortest-path metrics of graphs."""

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from .._core.parallel import run
from .._core.typing import GraphLike, SparseMatrix
from .._core.used import note
from ._compiled import CompiledMetric
from ._registry import find_graph_reader
from .base import MetricError, check_indices, check_labels, read_only
from .oracle.classes import HubOracle, MatrixOracle

if TYPE_CHECKING:
    from .shortest_paths.hub_labels import Watch

# Rough costs in nanoseconds, to choose between searching the graph and querying hub labels.
_SEARCH_STEP = 5.0
_HEAP_STEP = 80.0
_QUERY_COST = 300.0
_ENTRY_COST = 2.0
_BAND = 2e7  # large requests are answered in bands of about this many nanoseconds, on all cores
_SEARCHES_BEFORE_LABELS = 1000  # after this many searches, labels are built
# Labels use one core, and searches use all cores.
_LABEL_SHARE = 0.5
_ROWS_TOGETHER = 256
# Number of searches that run together without lengths, and their cost in single searches. They take a pass
# over the graph for each edge of the longest path, and 192 bytes per vertex, so both are limited.
_TOGETHER = 512
_COST_TOGETHER = 16
_MOST_LEVELS = 32  # of one search; twice this for any two vertices
_MOST_TOGETHER = 1 << 21


class GraphMetric(CompiledMetric):
    """The shortest-path metric of a connected undirected graph.

    Single distances are exact and take about a microsecond, usually without an n x n matrix.

    Parameters
    ----------
    graph : (n, n) sparse matrix, (m, 2) integer array, or graph of another library
        A symmetric adjacency matrix of scipy.sparse, an array of edges, or a graph of networkx,
        igraph or networkit. The vertices of an edge array are numbered from 0. The values of a
        matrix are edge lengths. If all values are 1, or the matrix is boolean, the graph is
        unweighted. Labels are the nodes of a networkx graph, or the vertex attribute "name" of an
        igraph graph.
    weight : str, optional
        Edge attribute of a networkx or igraph graph that holds the lengths; "weight" for
        networkit's weights. By default all edges have length 1.
    weights : (m,) array, optional
        Positive lengths of the edges of an edge array.
    labels : sequence, optional
        Labels of the vertices.
    largest_component : bool
        Keep the largest connected component of a disconnected graph. By default a disconnected
        graph raises an error. `vertices` lists the vertices that are kept.

    Attributes
    ----------
    adjacency : scipy csr_array
        Symmetric matrix of edge lengths with sorted indices, read-only.
    weighted : bool
        False if every edge has length 1.
    vertices : (n,) array
        Number of each point in the input.

    See Also
    --------
    as_metric : Convert data to a metric.
    mean_average_precision : Measure how well a tree keeps the neighbors of a graph.
    datasets.load : Load a graph by name.

    Notes
    -----
    Single distances come from hub labels, which are built on first use. For WordNet's 74,374
    vertices, the labels take a second and a few megabytes. Large blocks take one search per row or
    column (breadth-first or Dijkstra), in parallel. Without lengths, and if no path has more than
    64 edges, 512 searches run together in the time of about 16.

    Random graphs without structure have no short labels. From 1,000 to 16,384 vertices and with
    whole distances, their distances are stored in a matrix of integers instead, if this is faster.
    So are those of smaller unweighted graphs with paths of at most 32 edges.

    Self-loops are dropped. If an edge is given twice, the shorter length counts. In a sparse
    matrix, entries given twice are added, as in scipy. A number without an edge in an edge array is
    an isolated vertex.

    Sums of lengths that are not whole numbers are rounded. Searches and hub labels then agree on
    d(u, v) up to rounding. The choice between searches and labels depends only on the shape of the
    request, so the same request always gives the same bits.

    Examples
    --------
    >>> square = GraphMetric([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> square.block([0], [0, 1, 2, 3])
    array([[0., 1., 2., 1.]])
    >>> GraphMetric([[0, 1], [1, 2], [2, 0]], weights=[1.0, 2.5, 9.0]).pairs(2, 0)
    array(3.5)
    """

    def __init__(
        self,
        graph: GraphLike,
        *,
        weight: str | None = None,
        weights: ArrayLike | None = None,
        labels: Sequence[object] | None = None,
        largest_component: bool = False,
    ) -> None:
        reader = find_graph_reader(graph)
        if reader is not None:
            graph, own = reader(graph, weight)
            labels = own if labels is None else labels
        elif weight is not None:
            raise MetricError(
                f"weight={weight!r} names an edge attribute, but only networkx, igraph "
                "and networkit graphs have edge attributes"
            )
        if issparse(graph):
            if weights is not None:
                raise MetricError(
                    "weights applies only to an edge array: a sparse matrix stores the lengths as its values"
                )
            adjacency, vertices = _read_matrix(graph)
        elif isinstance(graph, (np.ndarray, list, tuple)):
            adjacency, vertices = _read_edges(np.asarray(graph), weights)
        else:
            kind = type(graph).__name__
            raise TypeError(
                "expected a scipy sparse matrix, an (m, 2) array of edges, or a "
                f"networkx, igraph or networkit graph, not {kind}"
            )
        names = check_labels(labels, int(vertices[-1]) + 1)
        adjacency, vertices = _connected(adjacency, vertices, largest_component)
        lengths = adjacency.data
        n = len(vertices)
        longest = float(lengths.max(initial=0.0)) * (n - 1)
        if not np.isfinite(longest):
            raise MetricError(
                f"sums of edges of length {lengths.max()} exceed the range of floats: rescale the weights"
            )
        self.adjacency = _read_only_rows(adjacency)
        self.vertices = read_only(vertices)
        self.labels = None if names is None else tuple(names[vertex] for vertex in vertices)
        self.weighted = bool((lengths != 1).any())
        # Below this, float64 represents whole numbers exactly, and also their halves and sums
        # in fitting.
        self.integral = longest < 2.0**50 and bool((lengths == np.rint(lengths)).all())
        self._lock = Lock()
        self._searched = 0
        self.label_work = 0

    def __len__(self) -> int:
        return len(self.vertices)

    @property
    def degrees(self) -> NDArray[np.intp]:
        """Number of neighbors of each vertex."""
        return np.diff(self.adjacency.indptr).astype(np.intp)

    def neighbors(self, vertex: int) -> NDArray[np.integer]:
        """Return the neighbors of a vertex in ascending order.

        Examples
        --------
        >>> GraphMetric([[0, 1], [2, 1]]).neighbors(1)
        array([0, 2], dtype=int32)
        """
        point = int(check_indices(vertex, len(self)))
        starts = self.adjacency.indptr
        return self.adjacency.indices[starts[point] : starts[point + 1]]

    @cached_property
    def oracle(self) -> HubOracle | MatrixOracle:
        """Hub labels, or a matrix if searches are faster. Built on first use; other threads wait."""
        return self._built(self._labels_or_matrix)

    @property
    def has_labels(self) -> bool:
        """True once the hub labels or the matrix are built."""
        return "oracle" in self.__dict__

    def build_labels(self, watch: "Watch | None" = None) -> HubOracle | MatrixOracle:
        """Return the hub labels, or the matrix if it exists; build the labels if necessary.

        `watch` is called with the steps of work so far, every few hundredths of a second. If it
        raises an exception, the construction ends and the metric stays as it was.
        """
        return self._built(lambda: self._labels(watch))

    def _built(self, build: Callable[[], HubOracle | MatrixOracle]) -> HubOracle | MatrixOracle:
        """Return the oracle; build it if necessary, on one thread at a time."""
        with self._lock:
            found: HubOracle | MatrixOracle | None = self.__dict__.get("oracle")
            if found is None:
                found = build()
                self.__dict__["oracle"] = found
            return found

    def _labels(self, watch: "Watch | None" = None) -> HubOracle:
        from .shortest_paths.hub_labels import build_hub_labels

        # Rounding makes the sums of lengths along two equally short paths differ, like a random
        # walk of up to n steps.
        stretch = 1.0 if self.integral else 1.0 + 2 * self.eps * len(self) ** 0.5
        labels, self.label_work = build_hub_labels(*self._graph(), stretch, watch)
        note("hub_labels")
        return labels

    def _labels_or_matrix(self) -> HubOracle | MatrixOracle:
        """Return the labels, unless they cost more than searches and a matrix is small enough."""
        from .shortest_paths.all_pairs import (
            LabelsTooLongError,
            all_pairs,
            few_hops,
            matrix_may_pay,
        )
        from .shortest_paths.hub_labels import STEP_NS

        if not self.weighted:
            small = few_hops(self.adjacency.indptr, self.adjacency.indices)
            if small is not None:
                return small
        if not (self.integral and matrix_may_pay(len(self))):
            return self._labels()
        most = _LABEL_SHARE * len(self) * self.search_cost() / STEP_NS[self.weighted]

        def watch(steps: int) -> None:
            if steps > most:
                raise LabelsTooLongError

        try:
            return self._labels(watch)
        except LabelsTooLongError:
            table = all_pairs(len(self), self._search_all, _ROWS_TOGETHER)
        return self._labels() if table is None else table

    def _search_all(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances from some vertices to all vertices."""
        out = np.empty((len(rows), len(self)))
        self._search_rows(rows, read_only(np.arange(len(self))), out)
        return out

    def _graph(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
        # The arguments of compiled searches.
        rows = self.adjacency
        return rows.indptr, rows.indices, rows.data if self.weighted else None

    @cached_property
    def _read_together(self) -> int:  # type: ignore[override]
        """Number of searches that run together at the cost of a few searches."""
        if self.weighted or len(self) > _MOST_TOGETHER:
            return 1
        # No path is longer than twice the longest path from one vertex.
        row = np.empty((1, len(self)))
        first = read_only(np.zeros(1, np.int64))
        self._search_rows_alone(first, read_only(np.arange(len(self))), row)
        return _TOGETHER if row.max() <= _MOST_LEVELS else 1

    def _runs_together(self, sources: int) -> bool:
        return sources > _COST_TOGETHER and self._read_together > 1

    def _count_searches(self, sources: int) -> int:
        """Return the number of single searches that take as long as searches from some vertices."""
        if self._runs_together(sources):
            return min(sources, -(-sources // _TOGETHER) * _COST_TOGETHER)
        return sources

    def _searching_pays(self, searches: int, answers: int) -> bool:
        """Tell whether some searches are cheaper than a label query for each answer."""
        if searches * self.search_cost() <= answers * self._answer_cost():
            return True
        if not self.integral or self.has_labels:
            return False
        # Both ways are exact: do not build labels for a few small requests.
        self._searched += searches
        return self._searched <= _SEARCHES_BEFORE_LABELS

    def _answer_cost(self) -> float:
        """Return the rough cost of a distance from the labels or the matrix in nanoseconds."""
        is_matrix = isinstance(self.__dict__.get("oracle"), MatrixOracle)
        return _ENTRY_COST if is_matrix else _QUERY_COST

    def search_cost(self) -> float:
        """Return the rough cost of a search in nanoseconds, the same on every machine."""
        return (_HEAP_STEP if self.weighted else _SEARCH_STEP) * (len(self) + 0.5 * len(self.adjacency.data))

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances from each row point to each column point, as a float64 array.

        The distances come from one search per row or column, whichever are fewer, or from hub
        labels. The predicted cost decides.
        """
        first, second = (read_only(check_indices(x, len(self)).reshape(-1)) for x in (rows, cols))
        out = np.empty((len(first), len(second)))
        if not self._searching_pays(self._count_searches(min(out.shape)), out.size):
            self._block_from_labels(first, second, out)
        elif len(first) <= len(second):
            self._search_rows(first, second, out)
        else:
            self._search_columns(first, second, out)
        return out

    def _block_from_labels(
        self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        from .oracle.blocks import write_block

        oracle = self.oracle
        _in_bands(
            lambda band: write_block(oracle, rows[band], cols, out[band]),
            len(rows),
            self._answer_cost() * len(cols),
        )

    def _search_rows(
        self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        if not self._runs_together(len(rows)):
            self._search_rows_alone(rows, cols, out)
            return
        from .shortest_paths.many_search_kernels import search_together

        starts, neighbors, _ = self._graph()
        _in_bands(
            lambda band: search_together(starts, neighbors, rows[band], cols, out[band]),
            len(rows),
            _BAND / _TOGETHER,
        )

    def _search_rows_alone(
        self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        from .shortest_paths.search_kernels import search_block

        graph = self._graph()
        _in_bands(
            lambda band: search_block(*graph, rows[band], cols, out[band]),
            len(rows),
            self.search_cost(),
        )

    def _search_columns(
        self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        def search(band: slice) -> None:
            turned = np.empty((len(cols[band]), len(rows)))
            self._search_rows(cols[band], rows, turned)
            out[:, band] = turned.T

        cost = _BAND / _TOGETHER if self._runs_together(len(cols)) else self.search_cost()
        _in_bands(search, len(cols), cost)

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Return the distances of the pairs (i[k], j[k]), as a float64 array of the same shape.

        The distances come from hub labels, or from searches if the pairs have few distinct sources
        or targets.
        """
        first, second = np.broadcast_arrays(*(check_indices(x, len(self)) for x in (i, j)))
        out = np.empty(first.shape)
        sources, targets = (read_only(x.reshape(-1)) for x in (first, second))
        counts = [self._count_distinct(x) for x in (sources, targets)]
        if counts[1] < counts[0]:
            sources, targets = targets, sources
        if self._searching_pays(min(counts), out.size):
            self._search_pairs(sources, targets, out.reshape(-1))
        else:
            self._pairs_from_labels(sources, targets, out.reshape(-1))
        return out

    def _count_distinct(self, points: NDArray[np.int64]) -> int:
        if len(points) < 2:
            return len(points)
        seen = np.zeros(len(self), np.bool_)
        seen[points] = True
        return int(np.count_nonzero(seen))

    def _pairs_from_labels(
        self, i: NDArray[np.int64], j: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        from .oracle.distance_kernels import pair_distances

        oracle = self.oracle
        _in_bands(
            lambda band: pair_distances(oracle, i[band], j[band], out[band]),
            len(out),
            self._answer_cost(),
        )

    def _search_pairs(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        from .shortest_paths.search_kernels import search_block

        graph = self._graph()
        order = np.argsort(sources, kind="stable")
        distinct, begins = np.unique(sources[order], return_index=True)
        groups = np.split(order, begins[1:])

        def search(band: slice) -> None:
            for source, group in zip(distinct[band], groups[band], strict=True):
                found = np.empty((1, len(group)))
                search_block(*graph, read_only(np.array([source])), read_only(targets[group]), found)
                out[group] = found[0]

        _in_bands(search, len(distinct), self.search_cost())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "_lock": Lock(), "adjacency": _read_only_rows(state["adjacency"])})


def _in_bands(work: Callable[[slice], None], count: int, cost: float) -> None:
    """Call work(band) for bands of 0 ... count-1, in parallel; `cost` is the cost of one item."""
    step = max(1, int(_BAND / max(cost, 1.0)))
    for _ in run(work, [slice(begin, begin + step) for begin in range(0, count, step)]):
        pass


def _read_matrix(matrix: SparseMatrix) -> tuple[csr_array, NDArray[np.int64]]:
    """Return the adjacency of a sparse matrix without self-loops, and the vertex numbers."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(map(str, matrix.shape))
        raise MetricError(
            f"expected a square adjacency matrix, got {shape}: for edges pass an (m, 2) integer array"
        )
    if matrix.shape[0] == 0:
        raise MetricError("the graph is empty: give at least one vertex")
    if matrix.dtype.kind not in "biuf":
        raise MetricError(f"edge lengths of dtype {matrix.dtype} are not supported: convert them to float64")
    # Convert to float64 first: csr adds up duplicate entries, and small integers would wrap
    # around.
    rows = csr_array(matrix.astype(np.float64))
    rows.sum_duplicates()
    entries = rows.tocoo()
    i = entries.row
    j = entries.col
    lengths = entries.data
    if matrix.dtype.kind == "b":
        lengths = (lengths != 0).astype(np.float64)
    _check_lengths(i, j, lengths)
    proper = i != j
    rows = csr_array((lengths[proper], (i[proper], j[proper])), shape=rows.shape)
    uneven = (rows != rows.T.tocsr()).tocoo()
    if uneven.nnz:
        first = np.lexsort((uneven.col, uneven.row))[0]
        u = int(uneven.row[first])
        v = int(uneven.col[first])
        raise MetricError(
            f"entry ({u}, {v}) is {rows[u, v]} but ({v}, {u}) is {rows[v, u]}: "
            "the graph must be undirected; A.maximum(A.T) keeps every edge"
        )
    return rows, np.arange(rows.shape[0])


def _read_edges(edges: NDArray[Any], weights: ArrayLike | None) -> tuple[csr_array, NDArray[np.int64]]:
    """Return the adjacency of the vertices that have edges, and the numbers of these vertices."""
    if edges.size == 0:
        raise MetricError("the graph is empty: give at least one edge")
    if edges.ndim != 2 or edges.shape[1] != 2:
        shape = " x ".join(map(str, edges.shape))
        raise MetricError(
            f"expected an (m, 2) array of edges, got {shape}: pass an adjacency matrix as "
            "scipy.sparse.csr_array(A)"
        )
    if edges.dtype.kind not in "iu":
        raise MetricError(
            f"edges of dtype {edges.dtype} cannot name vertices: number the vertices 0, 1, 2, ... as integers"
        )
    outside = np.flatnonzero(((edges < 0) | (edges > np.iinfo(np.int64).max)).any(axis=1))
    if len(outside):
        u, v = edges[outside[0]]
        raise MetricError(
            f"edge {outside[0]} is ({u}, {v}), but vertices must be numbered from 0 to "
            "2^63 - 1: renumber them"
        )
    lengths = _read_weights(weights, edges)
    vertices, ends = _renumbered(edges)
    n = len(vertices)
    low = ends.min(axis=1)
    high = ends.max(axis=1)
    keys = low * n + high
    # Sort equal edges by length and keep the shortest.
    order = np.argsort(keys) if weights is None else np.lexsort((lengths, keys))
    keys = keys[order]
    kept = (low != high)[order]
    kept[1:] &= keys[1:] != keys[:-1]
    chosen = order[kept]
    low = low[chosen]
    high = high[chosen]
    return _symmetric_rows(low, high, lengths[chosen], n), vertices


def _renumbered(edges: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the vertices that occur in edges, in order, and the edges by positions of vertices."""
    largest = int(edges.max())
    if largest < edges.size:  # as a rule, every number occurs, and nothing must be sorted
        occurs = np.zeros(largest + 1, bool)
        occurs[edges] = True
        if occurs.all():
            return np.arange(largest + 1), edges.astype(np.int64)
    vertices, ends = np.unique(edges, return_inverse=True)
    return vertices.astype(np.int64), ends.reshape(edges.shape)


def _symmetric_rows(
    low: NDArray[np.int64], high: NDArray[np.int64], lengths: NDArray[np.float64], n: int
) -> csr_array:
    """Return the adjacency of edges that are sorted and different, with low < high."""
    rows = np.concatenate([low, high])
    # The neighbors of a vertex are in ascending order.
    order = np.argsort(rows * n + np.concatenate([high, low]))
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=starts[1:])
    columns = np.concatenate([high, low])[order]
    return csr_array((np.concatenate([lengths, lengths])[order], columns, starts), shape=(n, n))


def _read_weights(weights: ArrayLike | None, edges: NDArray[Any]) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(len(edges))
    lengths = np.asarray(weights)
    if lengths.shape != (len(edges),):
        raise MetricError(
            f"got weights of shape {lengths.shape} for {len(edges)} edges: give one number per edge"
        )
    if lengths.dtype.kind not in "iuf":
        raise MetricError(f"weights of dtype {lengths.dtype} are not lengths: use real numbers")
    lengths = lengths.astype(np.float64)
    _check_lengths(edges[:, 0], edges[:, 1], lengths)
    return lengths


def _check_lengths(i: NDArray[Any], j: NDArray[Any], lengths: NDArray[np.float64]) -> None:
    """Raise an error for the first edge whose length is not positive. A self-loop may have length 0."""
    bad = np.flatnonzero(~((lengths > 0) & np.isfinite(lengths)) & ~((lengths == 0) & (i == j)))
    if len(bad):
        u = i[bad[0]]
        v = j[bad[0]]
        length = lengths[bad[0]]
        remedy = (
            "merge its ends, or drop it if it does not represent an edge (A.eliminate_zeros())"
            if length == 0
            else "correct or drop it"
        )
        raise MetricError(f"edge ({u}, {v}) has length {length}, but lengths must be positive: {remedy}")


def _connected(
    adjacency: csr_array, vertices: NDArray[np.int64], largest_component: bool
) -> tuple[csr_array, NDArray[np.int64]]:
    """Return the graph if it is connected, or its largest component if requested."""
    from scipy.sparse.csgraph import connected_components

    n = len(vertices)
    n_named = int(vertices[-1]) + 1
    count, member = connected_components(adjacency, directed=False)
    if count == 1 and (n == n_named or largest_component):
        return adjacency, vertices
    sizes = np.bincount(member)
    largest = int(np.argmax(sizes))
    if not largest_component:
        raise MetricError(_describe_components(vertices, member, sizes, largest))
    kept = np.flatnonzero(member == largest)
    return adjacency[kept][:, kept], vertices[kept]


def _describe_components(
    vertices: NDArray[np.int64],
    member: NDArray[np.int32],
    sizes: NDArray[np.int64],
    largest: int,
) -> str:
    n_named = int(vertices[-1]) + 1
    n_isolated = n_named - len(vertices)  # numbers that occur in no edge
    if n_isolated:
        gaps = np.flatnonzero(vertices != np.arange(len(vertices)))
        outside = int(gaps[0])
        why = f" ({n_isolated} of the numbers 0 to {n_named - 1} occur in no edge)"
    else:
        outside = int(vertices[np.flatnonzero(member != largest)[0]])
        why = ""
    biggest = [f"{size:,}" for size in np.sort(sizes)[::-1][:4]] + ["1"] * min(n_isolated, 4)
    count = len(sizes) + n_isolated
    listed = ", ".join(biggest[:4]) + (", ..." if count > 4 else "")
    return (
        f"the graph has {count:,} components of sizes {listed}{why}, "
        f"and vertex {outside} is not in the largest: "
        "join them, or pass largest_component=True to keep the largest"
    )


def _read_only_rows(rows: csr_array) -> csr_array:
    """Return a csr_array with sorted, read-only arrays; indices are int32 if they fit."""
    rows.sort_indices()
    index = np.int32 if rows.nnz < 2**31 else np.int64
    arrays = (
        read_only(rows.data),
        read_only(rows.indices.astype(index)),
        read_only(rows.indptr.astype(index)),
    )
    return csr_array(arrays, shape=rows.shape)
