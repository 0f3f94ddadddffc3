"""The final step of every method: a tree from its edges."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metric.base import Metric, MetricError, check_labels
from ..tree.structure.canonical import canonical_edges
from ..tree.tree import Tree


def finished_tree(
    metric: Metric,
    edges: ArrayLike,
    weights: NDArray[np.float64],
    nodes: NDArray[np.int32] | None = None,
) -> Tree:
    """Return the canonical tree on the points of a metric.

    Edges, lengths and `nodes` are those of `canonical_edges`. Some methods give negative
    lengths on metrics that are not tree metrics. These edges are kept, with length 0, so that
    the tree stays connected.
    """
    lengths = np.maximum(weights, 0.0)
    if not np.isfinite(lengths.sum()):
        raise MetricError("the distances are so large that their sums overflow: rescale them")
    n = len(metric)
    numbered = canonical_edges(n, edges, lengths, nodes)
    labels = check_labels(metric.labels, n)
    return Tree._trusted(n, *numbered, labels, None, metric.order_known)
