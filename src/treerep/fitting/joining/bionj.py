"""BIONJ (Gascuel 1997): neighbor joining with variances of the clusters."""

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._clusters import join_all, without_negatives
from ._joining_kernels import join_closest


def bionj(metric: Metric) -> Tree:
    """Fit a tree by BIONJ; see `fit`.

    Joins are as in `neighbor_joining`, but the longer branch gets less weight in the new
    distances. The variance of a distance is assumed to be the distance. Negative lengths are
    treated as in `neighbor_joining`. BIONJ needs twice the memory.

    Exact on tree metrics. About O(n^2) time in practice. Gascuel, Mol. Biol. Evol. 14, 1997.
    """
    edges, lengths = join_all(metric, "bionj", join_closest, variances=True)
    return finished_tree(metric, edges, without_negatives(lengths))
