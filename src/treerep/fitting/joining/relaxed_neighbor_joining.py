"""Relaxed neighbor joining: join any two clusters that are nearest to each other.

Evans, Sheneman and Foster (2006).
"""

import numpy as np

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._clusters import join_all, without_negatives
from ._joining_kernels import Clusters, join_mutual


def relaxed_neighbor_joining(metric: Metric, *, rng: np.random.Generator) -> Tree:
    """Learn a tree by relaxed neighbor joining.

    From a random cluster a walk goes to the nearest, by the criterion of `neighbor_joining`,
    until two clusters are nearest to each other; these are joined. A walk of more than 32 steps
    ends at the closest pair of all. Near n^2 time.

    Two clusters inside a tree can be nearest to each other without being siblings. As long as
    the metric may be that of a tree, such a pair is passed over for the closest of all. So tree
    metrics are recovered exactly.

    One matrix of memory, O(n^2). Evans, Sheneman and Foster, J. Mol. Evol. 62, 2006.
    """

    def step(clusters: Clusters, joins: int) -> None:
        join_mutual(clusters, rng.random(joins))

    edges, lengths = join_all(metric, "relaxed_neighbor_joining", step)
    return finished_tree(metric, edges, without_negatives(lengths))
