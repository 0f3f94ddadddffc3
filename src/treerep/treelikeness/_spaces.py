"""All distances of a part of a metric, in a small dtype, for the search for hyperbolicity.

A graph is divided into its biconnected components. A shortest path between two vertices of a
component stays in the component. The hyperbolicity of a graph, weighted or not, is the largest
hyperbolicity of its components: if four vertices lie in several components, one of these vertices
can be replaced by a cut vertex without loss. Leaves and attached trees do not matter.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.memory import check_memory
from ..metric.base import Metric, read_only
from ..metric.graph import GraphMetric
from ..metric.oracle.classes import COORDINATE_ORACLES, HubOracle
from ..scores._streaming import read_block, triangle_slices
from ._pace import LimitReached, Pace
from ._quadruples import check_distances

Graph = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]

# Number of rows and columns of a matrix that are transposed together.
_ROWS = 64
_TILE = 1024
_BAND = 2e7  # nanoseconds of searching between two checks of the time

_REMEDY = "use method='sample', which needs no matrix"


class Space(NamedTuple):
    """Some points of a metric with all distances between them."""

    points: NDArray[np.int64]  # numbers of the points in the metric
    # uint8 or uint16 if the distances are whole numbers that fit, otherwise float64
    distances: NDArray[Any]
    # starts, neighbors, lengths (None: all 1), if the distances come from a graph
    graph: Graph | None

    @property
    def whole(self) -> bool:
        """Whether distances are stored as integers."""
        return self.distances.dtype.kind == "u"


def triangle_inequality_holds(metric: Metric) -> bool:
    """Tell whether the triangle inequality is guaranteed.

    It is not guaranteed for matrices, sequences and custom metrics.
    """
    return isinstance(metric, GraphMetric) or isinstance(metric.oracle, (*COORDINATE_ORACLES, HubOracle))


def whole_type(largest: float) -> np.dtype[Any] | None:
    """Return the smaller of uint8 and uint16 that can represent a whole number, or None."""
    for dtype in (np.uint8, np.uint16):
        if largest <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return None


def read_space(metric: Metric, pace: Pace) -> Space:
    """Read all distances of a metric that is not a graph. The pairs i < j are mirrored."""
    n = len(metric)
    dtype = (whole_type(largest_distance(metric, pace)) if metric.integral else None) or np.dtype(np.float64)
    copies = 2 if dtype.kind == "u" else 1  # as_graph makes another copy
    check_memory(copies * n * n * dtype.itemsize, f"hyperbolicity of {n:,} points", _REMEDY)
    out = np.zeros((n, n), dtype)

    def work(part: slice) -> None:
        out[part, part.start :] = _read(metric, part)

    # Fill row by row, so that memory is mapped gradually. Filling a column would map all of the
    # memory at once, which takes seconds.
    pace.run(work, triangle_slices(n))
    _mirror(out, pace)
    return as_graph(Space(np.arange(n), out, None), pace)


def _mirror(out: NDArray[Any], pace: Pace) -> None:
    """Copy the upper half of a matrix to the lower half."""

    def work(rows: slice) -> None:
        own = np.triu(out[rows, rows], 1)
        out[rows, rows] = own + own.T
        for start in range(0, rows.start, _TILE):
            columns = slice(start, min(start + _TILE, rows.start))
            out[rows, columns] = out[columns, rows].T

    pace.run(work, _row_bands(len(out)))


def _take_smaller(out: NDArray[np.float64], pace: Pace) -> None:
    """Replace d(i, j) and d(j, i) by the smaller of the two."""

    def work(rows: slice) -> None:
        smaller = np.minimum(out[rows, rows.start :], out[rows.start :, rows].T)
        out[rows, rows.start :] = smaller
        out[rows.start :, rows] = smaller.T

    pace.run(work, _row_bands(len(out)))


def _row_bands(n: int) -> list[slice]:
    return [slice(k, min(k + _ROWS, n)) for k in range(0, n, _ROWS)]


def largest_distance(metric: Metric, pace: Pace) -> float:
    """Return the largest distance. Each pair is read once."""
    return max(
        pace.map(lambda part: float(_read(metric, part).max()), triangle_slices(len(metric))),
        default=0.0,
    )


def _read(metric: Metric, part: slice) -> NDArray[np.float64]:
    rows = np.arange(part.start, part.stop)
    columns = np.arange(part.start, len(metric))
    block = read_block(metric, rows, columns)
    own = block[:, : len(rows)]
    # Matrices may be slightly asymmetric. The upper half is used.
    own[:] = np.triu(own, 1) + np.triu(own, 1).T
    check_distances(block, rows[:, None], columns)
    return block


def as_graph(space: Space, pace: Pace) -> Space:
    """Add the graph of the pairs at distance 1, if all distances are its shortest paths."""
    from .exact._biconnected_kernels import SOURCES, search_many

    d = space.distances
    n = len(space.distances)
    if not space.whole or np.count_nonzero(d) < n * (n - 1):  # duplicate points
        return space
    if float(d.max(initial=0)) >= n:  # levels might not fit into the dtype
        return space
    found = np.zeros_like(d)  # unreachable vertices stay 0
    try:
        starts, neighbors, _ = graph = _pairs_at_distance_one(d, pace)
        pace.run(lambda first: search_many(starts, neighbors, first, found), range(0, n, SOURCES))
    except LimitReached:
        return space
    return Space(space.points, d, graph) if np.array_equal(found, d) else space


def _pairs_at_distance_one(d: NDArray[Any], pace: Pace) -> Graph:
    near: list[NDArray[np.int32]] = []
    for rows in _row_bands(len(d)):
        pace.check()
        near += [np.flatnonzero(row == 1).astype(np.int32) for row in d[rows]]
    starts = np.cumsum([0, *map(len, near)])
    # The dtypes of a GraphMetric, so that kernels are compiled once.
    return (
        read_only(starts.astype(np.int32 if starts[-1] < 2**31 else np.int64)),
        read_only(np.concatenate(near)),
        None,
    )


def adjacency_arrays(graph: GraphMetric) -> Graph:
    """Return the arrays of a graph for compiled searches."""
    rows = graph.adjacency
    return rows.indptr, rows.indices, rows.data if graph.weighted else None


def components(graph: Graph) -> list[NDArray[np.int64]]:
    """Return the biconnected components of at least four vertices, the largest first."""
    from .exact._biconnected_kernels import biconnected_components

    begins, vertices = biconnected_components(graph[0], graph[1])
    sizes = np.diff(begins)
    order = np.argsort(-sizes, kind="stable")
    return [np.sort(vertices[begins[k] : begins[k + 1]]) for k in order[: np.count_nonzero(sizes > 3)]]


def restrict(space: Space, vertices: NDArray[np.int64], scratch: NDArray[np.int64]) -> Space:
    """Return one biconnected component of a space that is a graph."""
    assert space.graph is not None
    if len(vertices) == len(space.points):
        return space
    d = np.ascontiguousarray(space.distances[np.ix_(vertices, vertices)])
    return Space(space.points[vertices], d, _part(space.graph, vertices, scratch))


def _part(graph: Graph, vertices: NDArray[np.int64], scratch: NDArray[np.int64]) -> Graph:
    from .exact._biconnected_kernels import induced_subgraph

    starts, neighbors, lengths = graph
    given = read_only(np.ones(len(neighbors))) if lengths is None else lengths
    begins, inside, own = map(read_only, induced_subgraph(starts, neighbors, given, vertices, scratch))
    return begins, inside, None if lengths is None else own


def search_component(
    metric: GraphMetric, vertices: NDArray[np.int64], scratch: NDArray[np.int64], pace: Pace
) -> Space:
    """Return one biconnected component of a graph, with a search from each of its vertices."""
    from ..metric.shortest_paths.search_kernels import search_block
    from .exact._biconnected_kernels import SOURCES, search_many

    graph = _part(adjacency_arrays(metric), vertices, scratch)
    size = len(vertices)
    points = read_only(np.arange(size))

    def distances(sources: slice) -> NDArray[np.float64]:
        found = np.empty((len(points[sources]), size))
        search_block(*graph, points[sources], points, found)
        return found

    farthest = float(distances(slice(0, 1)).max())
    dtype = (whole_type(2 * farthest) if metric.integral else None) or np.dtype(np.float64)
    check_memory(
        2 * size * size * dtype.itemsize,
        f"hyperbolicity of a component of {size:,} vertices",
        _REMEDY,
    )
    out = np.empty((size, size), dtype)

    # Search from SOURCES vertices at once, or one after the other.
    step = SOURCES
    if graph[2] is not None:
        step = max(1, min(SOURCES, int(_BAND / metric.search_cost())))

    def work(first: int) -> None:
        if graph[2] is None:
            search_many(graph[0], graph[1], first, out)
        else:
            out[first : first + step] = distances(slice(first, first + step))

    pace.run(work, range(0, size, step))
    if out.dtype.kind == "f":
        # sums along the same path from the two ends differ in the last digit
        _take_smaller(out, pace)
    return Space(vertices, out, graph)


def search_row(metric: GraphMetric, source: int, vertices: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distances from one vertex by a search, without building hub labels."""
    from ..metric.shortest_paths.search_kernels import search_block

    graph = adjacency_arrays(metric)
    out = np.empty((1, len(vertices)))
    search_block(*graph, read_only(np.array([source])), read_only(vertices), out)
    return out[0]


def read_row(metric: Metric, point: int) -> NDArray[np.float64]:
    """Return the distances from one point to all others, in a graph by a search."""
    points = np.arange(len(metric))
    if isinstance(metric, GraphMetric):
        return search_row(metric, point, points)
    return read_block(metric, np.array([point]), points)[0]


def rounding(metric: Metric, largest: float) -> float:
    """Return how far rounding may move a value away from 0."""
    # Sums of distances along paths of up to n steps are off by about sqrt(n) units.
    return 0.0 if metric.integral else 4 * math.sqrt(len(metric)) * metric.eps * largest
