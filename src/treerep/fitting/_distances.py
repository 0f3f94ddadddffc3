"""What methods share: reading the distances they need, handing over a tree, and choosing among several."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.memory import check_memory
from .._core.progress import progress_bar
from ..metric._compiled import CompiledMetric
from ..metric.base import Metric, MetricError, check_labels
from ..scores._streaming import read_block, row_slices
from ..scores.distortion import average_distortion
from ..tree.structure.canonical import canonical_edges
from ..tree.tree import Tree

#: Up to here trees are compared on all pairs, and fitted side by side; above, on sampled rows,
#: one after the other.
EXACT_SCORES = 2000
_SAMPLED_ROWS = 64


def finished_tree(
    metric: Metric,
    edges: ArrayLike,
    weights: NDArray[np.float64],
    nodes: NDArray[np.int32] | None = None,
) -> Tree:
    """Return the canonical tree of a metric's points: edges and lengths as `canonical_edges` takes them.

    Negative lengths, which some methods produce on metrics that are no tree, become 0: dropping
    such an edge would cut the tree in two.
    """
    lengths = np.maximum(weights, 0.0)
    if not np.isfinite(lengths.sum()):
        raise MetricError("the distances are so large that their sums overflow: rescale them")
    n = len(metric)
    numbered = canonical_edges(n, edges, lengths, nodes)
    labels = check_labels(metric.labels, n)
    return Tree._trusted(n, *numbered, labels, None, metric.order_known)


def dense_matrix(
    metric: Metric, method: str, dtype: Any = np.float64, room: float = 1.0
) -> NDArray[Any]:
    """Return all distances as a matrix of one's own, for methods whose mathematics asks for it.

    `room` is how many matrices of this size the method needs in all; a MemoryError says so if
    they do not fit.
    """
    n = len(metric)
    check_memory(
        int(room * n * n * np.dtype(dtype).itemsize),
        f"{method} on {n:,} points",
        "use method='treerep', which needs none",
    )
    matrix = np.empty((n, n), dtype)
    with progress_bar(n, "distances", "points") as bar:
        for rows in row_slices(n, n):
            matrix[rows] = checked_block(metric, np.arange(rows.start, rows.stop), np.arange(n))
            bar.update(rows.stop - rows.start)
    return matrix


def checked_block(
    metric: Metric, rows: NDArray[np.int64], cols: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Distances of a block, looked at where nobody has: those of a metric of the user's own."""
    block = read_block(metric, rows, cols)
    if not isinstance(metric, CompiledMetric) and not ((block >= 0) & (block < np.inf)).all():
        i, j = np.argwhere(~((block >= 0) & (block < np.inf)))[0]
        raise MetricError(
            f"{type(metric).__name__}.block gave d({rows[i]}, {cols[j]}) = {block[i, j]}: "
            "distances are finite and never negative"
        )
    return block


def checked_pairs(
    metric: Metric, i: NDArray[np.int64], j: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Distances of pairs, looked at like those of blocks."""
    if isinstance(metric, CompiledMetric):
        return metric.pairs(i, j)
    return np.array(
        [checked_block(metric, i[k : k + 1], j[k : k + 1])[0, 0] for k in range(len(i))]
    )


def rounding_of(metric: Metric, largest: float) -> float:
    """How much sums of distances that are equal in truth may differ, for distances up to `largest`.

    Two errors add up: the input is rounded once to its dtype, and path lengths that were summed
    along n edges, like the distances that TreeRep carries from step to step, drift by about
    sqrt(n) roundings of float64. (One term for both, 64 sqrt(n) eps(dtype), swallows short
    edges of float32 metrics: see docs/benchmarks.md.)
    """
    drift = 64 * np.sqrt(len(metric)) * np.finfo(np.float64).eps
    return float((8 * max(metric.eps, metric.input_eps) + drift) * largest)


def selection_score(tree: Tree, metric: Metric, n_jobs: int | None) -> float:
    """What the best of several trees has least of: average distortion after optimal scaling."""
    rows: Literal["all"] | int = "all" if len(metric) <= EXACT_SCORES else _SAMPLED_ROWS
    return float(
        average_distortion(tree, metric, scale="optimal", rows=rows, rng=0, n_jobs=n_jobs)
    )
