"""Relaxed neighbor joining, which joins any two clusters that are nearest to each other.

Evans, Sheneman and Foster (2006).
"""

import numpy as np

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._clusters import join_all, without_negatives
from ._joining_kernels import Clusters, join_mutual


def relaxed_neighbor_joining(metric: Metric, *, rng: np.random.Generator) -> Tree:
    """Fit a tree by relaxed neighbor joining; see `fit`.

    Starting from a random cluster, walk to the nearest cluster, by the criterion of
    `neighbor_joining`, until two clusters are nearest to each other. These are joined. After 32
    steps, the closest pair overall is joined instead. The time is close to n^2.

    Two clusters in the interior of a tree can be nearest to each other without being siblings.
    While the metric may be a tree metric, such a pair is skipped in favor of the closest pair
    overall. Tree metrics are therefore recovered exactly.

    Needs memory for one matrix, O(n^2). Evans, Sheneman and Foster, J. Mol. Evol. 62, 2006.
    """

    def step(clusters: Clusters, joins: int) -> None:
        join_mutual(clusters, rng.random(joins))

    edges, lengths = join_all(metric, "relaxed_neighbor_joining", step)
    return finished_tree(metric, edges, without_negatives(lengths))
