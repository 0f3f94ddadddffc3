"""Reader for edge lists: `u v` or `u v length` per line, with numbers or names."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.io.edge_list import read_edge_list
from ...metric.base import Metric, MetricError
from .._request import Request
from .._source import Source


def read(source: Source, request: Request) -> Metric:
    """Read an edge list. A third column contains lengths, which weight=False ignores."""
    if request.kind not in (None, "graph"):
        raise request.not_a("an edge list")
    if isinstance(request.weight, str):
        raise ValueError(
            f"weight={request.weight!r} does not apply to an edge list, whose third column "
            "contains the lengths: leave it out"
        )
    edges = read_edge_list(source.blocks)
    lengths = None if request.weight is False else edges.lengths
    ends: NDArray[np.integer] = edges.ends
    names = edges.names
    if names is None:
        ends, names = _number_vertices(edges.ends)
    check_lengths(ends, lengths, names)
    return request.graph(ends, weights=lengths, labels=names)


def _number_vertices(
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.integer], list[str] | None]:
    """Number the vertices from 0. Their original numbers become labels, unless they are 0 ... n-1."""
    low = int(ends.min())
    high = int(ends.max())
    if low >= 0 and high < 4 * ends.size:  # faster than sorting
        seen = np.zeros(high + 1, np.bool_)
        seen[ends] = True
        if seen.all():
            return ends, None
    vertices, positions = np.unique(ends, return_inverse=True)
    return positions.reshape(ends.shape), list(map(str, vertices.tolist()))


def check_lengths(ends: NDArray[Any], lengths: NDArray[np.float64] | None, names: list[str] | None) -> None:
    """Raise an error for the first edge whose length is not positive, with the names of its ends."""
    if lengths is None or names is None:
        return  # GraphMetric names vertices by number, like the file
    loops = ends[:, 0] == ends[:, 1]
    positive = (lengths > 0) & np.isfinite(lengths)
    allowed = positive | ((lengths == 0) & loops)
    bad = np.flatnonzero(~allowed)
    if len(bad):
        u, v = (names[end] for end in ends[bad[0]])
        raise MetricError(
            f"edge ({u!r}, {v!r}) has length {lengths[bad[0]]}, but lengths must be "
            "positive: correct or remove it, or count edges with weight=False"
        )
