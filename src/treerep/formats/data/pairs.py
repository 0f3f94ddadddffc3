"""Reader for distances with a pair of points per line, as in the column files of mothur."""

import numpy as np

from ..._core.io.edge_list import read_edge_list
from ..._core.memory import check_memory
from ...metric.base import Metric
from .._request import Request
from .._source import Source


def read_pairs(source: Source, request: Request) -> Metric:
    """Read lines `name name distance`, in any order, with or without the second direction.

    A pair without a line is a missing distance.
    """
    if request.kind is None:
        raise ValueError(
            "each row has two names and a number: for the distances of all pairs pass "
            "kind='distances', for the edges of a graph pass kind='graph'"
        )
    rows = read_edge_list(source.blocks)
    # The first row has two names and a number.
    assert rows.names is not None
    assert rows.lengths is not None
    i, j = rows.ends.T
    n = len(rows.names)
    check_memory(8 * n * n, f"a matrix of {n:,} points", "use a part of the points")
    square = np.full((n, n), np.nan)
    np.fill_diagonal(square, 0)
    square[j, i] = rows.lengths
    square[i, j] = rows.lengths
    for row in np.flatnonzero(square[i, j] != rows.lengths)[:1]:
        first, second = rows.names[i[row]], rows.names[j[row]]
        raise ValueError(
            f"the pair {first!r}, {second!r} has the distances {rows.lengths[row]} and "
            f"{square[i[row], j[row]]}: keep one"
        )
    if not request.missing:
        for a, b in np.argwhere(np.isnan(square))[:1]:
            raise ValueError(
                f"no row has the distance of {rows.names[a]!r} and {rows.names[b]!r}: add the "
                "row, or, if this distance was not measured, pass missing=True"
            )
    return request.distances(square, rows.names)
