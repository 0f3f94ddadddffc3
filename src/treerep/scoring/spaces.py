"""What the search for hyperbolicity works on: all distances of a part of the metric, as small as they can be kept.

A graph falls into its biconnected components. A shortest path between two vertices of a component stays in it, and the
hyperbolicity of the graph is the largest of its components' (weighted or not: where four vertices lie in several
components, a cut vertex can take the place of one without a loss). Leaves and trees that hang off the graph vanish.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common.memory import check_memory
from ..metric.base import Metric, MetricError
from ..metric.graph import GraphMetric
from ..metric.oracles import BY_ROW, HubOracle
from .pace import Pace
from .streaming import read_block, triangle_slices

Graph = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]

_REMEDY = "use method='sample', which needs no matrix"


class Space(NamedTuple):
    """Some points of a metric with all their distances."""

    points: NDArray[np.int64]  # their numbers in the metric
    distances: NDArray[Any]  # uint8 or uint16 for whole numbers that fit, or float64
    graph: Graph | None  # starts, neighbours, lengths (None: all 1) if the distances are those of a graph

    @property
    def whole(self) -> bool:
        """True when distances are kept as integers."""
        return self.distances.dtype.kind == "u"


def obeys_triangles(metric: Metric) -> bool:
    """Tell whether the triangle inequality is known to hold: not for matrices and metrics of the user's own."""
    return isinstance(metric, GraphMetric) or isinstance(metric.oracle, (*BY_ROW, HubOracle))


def whole_type(largest: float) -> np.dtype[Any] | None:
    """Return the smallest of uint8 and uint16 that holds a whole number, or None."""
    for dtype in (np.uint8, np.uint16):
        if largest <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return None


def read_space(metric: Metric, pace: Pace) -> Space:
    """Read all distances of a metric that is not a graph: the pairs i < j, and their mirror images."""
    n = len(metric)
    dtype = np.dtype(np.float64)
    if metric.integral:
        dtype = whole_type(max((_read(metric, part).max() for part in triangle_slices(n)), default=0.0)) or dtype
    check_memory(n * n * dtype.itemsize, f"hyperbolicity of {n:,} points", _REMEDY)
    out = np.zeros((n, n), dtype)

    def work(part: slice) -> None:
        block = _read(metric, part)
        out[part, part.start :] = block
        out[part.start :, part] = block.T

    for _ in pace.map(work, triangle_slices(n)):
        pass
    return as_graph(Space(np.arange(n), out, None))


def _read(metric: Metric, part: slice) -> NDArray[np.float64]:
    rows, columns = np.arange(part.start, part.stop), np.arange(part.start, len(metric))
    block = read_block(metric, rows, columns)
    own = block[:, : len(rows)]
    own[:] = np.triu(own, 1) + np.triu(own, 1).T  # matrices may be a little asymmetric: the upper half counts
    bad = ~(np.isfinite(block) & (block >= 0))
    if bad.any():
        a, b = np.argwhere(bad)[0]
        raise MetricError(f"d({rows[a]}, {columns[b]}) = {block[a, b]}: hyperbolicity needs finite distances >= 0")
    return block


def as_graph(space: Space) -> Space:
    """Give a space the graph of its pairs at distance 1 if all its distances are shortest paths along them."""
    d = space.distances
    if not space.whole or np.count_nonzero(d) < len(d) * (len(d) - 1):  # duplicates are no vertices
        return space
    i, j = np.nonzero(d == 1)
    starts = np.searchsorted(i, np.arange(len(d) + 1))
    found = np.zeros_like(d)  # what is out of reach stays 0
    if float(d.max(initial=0)) < len(d):  # levels fit the type
        _all_steps((starts, j.astype(np.int32), None), found)
    if not np.array_equal(found, d):
        return space
    return Space(space.points, d, (starts, j.astype(np.int32), None))


def _all_steps(graph: Graph, out: NDArray[Any]) -> None:
    from .block_kernels import SOURCES, search_many

    for first in range(0, len(out), SOURCES):
        search_many(graph[0], graph[1], first, out)


def components(graph: Graph) -> list[NDArray[np.int64]]:
    """Return the vertices of the biconnected components with four vertices or more, ascending, the largest first."""
    from .block_kernels import biconnected_components

    begins, vertices = biconnected_components(graph[0], graph[1])
    sizes = np.diff(begins)
    order = np.argsort(-sizes, kind="stable")
    return [np.sort(vertices[begins[k] : begins[k + 1]]) for k in order[: np.count_nonzero(sizes > 3)]]


def restrict(space: Space, vertices: NDArray[np.int64], place: NDArray[np.int64]) -> Space:
    """Return one biconnected component of a space that is a graph."""
    assert space.graph is not None
    d = np.ascontiguousarray(space.distances[np.ix_(vertices, vertices)])
    return Space(space.points[vertices], d, _part(space.graph, vertices, place))


def _part(graph: Graph, vertices: NDArray[np.int64], place: NDArray[np.int64]) -> Graph:
    from .block_kernels import induced_subgraph

    starts, neighbors, lengths = graph
    given = np.ones(len(neighbors)) if lengths is None else lengths
    begins, inside, own = induced_subgraph(starts, neighbors, given, vertices, place)
    return begins, inside, None if lengths is None else own


def search_component(metric: GraphMetric, vertices: NDArray[np.int64], place: NDArray[np.int64], pace: Pace) -> Space:
    """Return one biconnected component of a graph, by a search from every vertex of it."""
    from ..metric.search_kernels import search_block
    from .block_kernels import SOURCES, search_many

    rows = metric.adjacency
    graph = _part((rows.indptr, rows.indices, rows.data if metric.weighted else None), vertices, place)
    size = len(vertices)
    everyone = np.arange(size)
    row = np.empty((1, size))
    search_block(*graph, everyone[:1], everyone, row)
    dtype = (whole_type(2 * float(row.max())) if metric.integral else None) or np.dtype(np.float64)
    check_memory(2 * size * size * dtype.itemsize, f"hyperbolicity of a component of {size:,} vertices", _REMEDY)
    out = np.empty((size, size), dtype)

    def work(first: int) -> None:
        if graph[2] is None:
            search_many(graph[0], graph[1], first, out)
        else:
            band = slice(first, first + SOURCES)
            search_block(*graph, everyone[band], everyone, out[band])

    for _ in pace.map(work, range(0, size, SOURCES)):
        pass
    if out.dtype.kind == "f":
        out = np.minimum(out, out.T)  # two sums along one path, from either end, differ in the last digit
    return Space(vertices, out, graph)


def rounding(metric: Metric, largest: float) -> float:
    """Return what rounding may make of 0: sums of distances along paths of up to n steps are off by sqrt(n) units."""
    return 0.0 if metric.integral else 4 * math.sqrt(len(metric)) * metric.eps * largest
