"""Relaxed neighbor joining, which joins any two clusters that are nearest to each other.

Evans, Sheneman and Foster (2006).
"""

import numpy as np

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._clusters import join_all, without_negatives
from ._joining_kernels import Clusters, join_mutual


def relaxed_neighbor_joining(metric: Metric, *, rng: np.random.Generator, n_jobs: int | None = None) -> Tree:
    """Fit a tree by relaxed neighbor joining.

    From a random cluster, a walk moves to the nearest cluster by the criterion of
    `neighbor_joining`, until two clusters are nearest to each other. These two clusters are joined.
    After more than 32 steps, the closest pair of all is joined instead.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.neighbor_joining : Neighbor joining by the closest pair of all.

    Notes
    -----
    Tree metrics are recovered exactly. Two clusters inside a tree can be nearest to each other
    without being siblings. While the data may be a tree metric, the method skips such a pair
    and joins the closest pair of all.

    Near n^2 time, and one matrix of memory, O(n^2). Evans, Sheneman and Foster, J. Mol. Evol.
    62, 2006.
    """

    def step(clusters: Clusters, joins: int) -> None:
        join_mutual(clusters, rng.random(joins))

    edges, lengths = join_all(metric, "relaxed_neighbor_joining", step, n_jobs=n_jobs)
    return finished_tree(metric, edges, without_negatives(lengths))
