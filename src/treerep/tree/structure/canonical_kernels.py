"""Compiled renumbering and sorting of the edges of a tree."""

from typing import Any

from ..._core.kernel import helper, kernel
from .rooting_kernels import NODE, SPARE, UP, VIA


@helper
def _place(k: Any, rows: Any, weights: Any, starts: Any, edges: Any, out: Any) -> None:
    """Write the edge above preorder position k into the next free slot of its lower end."""
    lower = rows[k, NODE]
    upper = rows[k, SPARE]
    if lower > upper:
        lower, upper = upper, lower
    slot = starts[lower]
    starts[lower] += 1
    edges[slot, 0] = lower
    edges[slot, 1] = upper
    out[slot] = weights[rows[k, VIA]]


@kernel
def sort_edges(
    n_points: Any,
    names: Any,
    rows: Any,
    weights: Any,
    starts: Any,
    by_upper: Any,
    edges: Any,
    out: Any,
) -> Any:
    """Number Steiner nodes in preorder and sort the edges (u, v), u < v, by counting. O(N).

    Parameters
    ----------
    names : data point of each node id; larger ids are Steiner nodes
    rows : (N, 4) int32, from `root_edges` at the node of point 0; overwritten
    starts : (2, N+1) int32 and by_upper : (N-1,) int32, scratch
    edges : (N-1, 2) int64 and out : (N-1,) float64, written

    Returns False if a data point is missing.
    """
    n = len(rows)
    starts[:] = 0
    lower_start = starts[0]
    upper_start = starts[1]
    steiner = n_points
    n_between = 0  # edges between two data points
    for k in range(n):
        if rows[k, NODE] < len(names):
            rows[k, NODE] = names[rows[k, NODE]]
        else:
            if steiner == n:
                return False
            rows[k, NODE] = steiner
            steiner += 1
        if k > 0:
            a = rows[k, NODE]
            b = rows[rows[k, UP], NODE]
            rows[k, SPARE] = b
            lower_start[min(a, b) + 1] += 1
            if max(a, b) < n_points:
                upper_start[max(a, b) + 1] += 1
                n_between += 1
    for v in range(n):
        lower_start[v + 1] += lower_start[v]
    # Among edges with the same lower end, edges to data points come first. These edges need a sort
    # by the upper end.
    if n_between > 0:
        for v in range(n_points):
            upper_start[v + 1] += upper_start[v]
        for k in range(1, n):
            upper = max(rows[k, NODE], rows[k, SPARE])
            if upper < n_points:
                by_upper[upper_start[upper]] = k
                upper_start[upper] += 1
        for i in range(n_between):
            _place(by_upper[i], rows, weights, lower_start, edges, out)
    # Edges to Steiner nodes are already in order: in preorder, the edges of a node lead to
    # increasing Steiner numbers.
    for k in range(1, n):
        if max(rows[k, NODE], rows[k, SPARE]) >= n_points:
            _place(k, rows, weights, lower_start, edges, out)
    return True
