"""Relaxed neighbour joining (Evans, Sheneman and Foster 2006): join any two that are nearest to each other."""

import numpy as np

from ..metric.base import Metric
from ..tree.tree import Tree
from .joining import join_all, without_negatives
from .joining_kernels import Clusters, join_mutual
from .result import finished_tree


def relaxed_neighbor_joining(metric: Metric, *, rng: np.random.Generator) -> Tree:
    """Learn a tree by relaxed neighbour joining.

    From a random cluster a walk goes to the nearest, by the criterion of `neighbor_joining`, until two clusters are
    nearest to each other; these are joined. Exact on tree metrics, where every such pair is a pair of neighbours. The
    walks are short, so the time is near n^2.
    """

    def step(clusters: Clusters, joins: int) -> None:
        join_mutual(clusters, rng.random(joins))

    edges, lengths = join_all(metric, "relaxed_neighbor_joining", step)
    return finished_tree(metric, edges, without_negatives(lengths))
