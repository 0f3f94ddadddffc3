"""BIONJ (Gascuel 1997): neighbor joining with variances of the clusters."""

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._clusters import join_all, without_negatives
from ._joining_kernels import join_closest


def bionj(metric: Metric, *, n_jobs: int | None = None) -> Tree:
    """Fit a tree by BIONJ, neighbor joining with variances.

    Pairs are joined as in `neighbor_joining`, but the longer branch counts less in the new
    distances. The variance of a distance is assumed to equal the distance.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.neighbor_joining : Neighbor joining without variances.

    Notes
    -----
    Exact on tree metrics. About O(n^2) time in practice, and twice the memory of
    `neighbor_joining`. Negative lengths are treated as in `neighbor_joining`. Gascuel, Mol. Biol.
    Evol. 14, 1997.
    """
    edges, lengths = join_all(metric, "bionj", join_closest, variances=True, n_jobs=n_jobs)
    return finished_tree(metric, edges, without_negatives(lengths))
