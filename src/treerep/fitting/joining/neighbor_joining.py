"""Neighbor joining, exact, with a pruned search.

Saitou and Nei (1987); Studier and Keppler (1988).
"""

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._clusters import join_all, without_negatives
from ._joining_kernels import join_closest


def neighbor_joining(metric: Metric, *, n_jobs: int | None = None) -> Tree:
    """Fit a tree by neighbor joining.

    Each step joins the pair of clusters with the least (m - 2) d_ij - s_i - s_j, where m is the
    number of clusters and s_i is the sum of the distances from cluster i. The tree is binary,
    with n - 2 Steiner nodes and every point a leaf. An edge of length 0 means that a point lies
    on the path between other points, or that the order of the joins was arbitrary.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.bionj : Neighbor joining with variances.
    methods.relaxed_neighbor_joining : A faster variant.

    Notes
    -----
    Exact on tree metrics. The tree is the same as that of the textbook's O(n^3) search. A row
    of the matrix is searched only if bounds allow it to contain the minimum, about 4 to 12 rows
    per step on the data measured. The time is therefore near n^2. The same input gives the same
    tree, bit for bit, even if several pairs are equally close.

    The memory is one working matrix beyond the data. It is float32 if the distances are float32: a
    float32 matrix, or float32 points. Sums of distances are float64. Distances between points, or
    in a matrix on disk, are read once, straight into the working matrix: 64,000 float32 points
    take 16.4 GB in total.

    If the distances are not those of a tree, a length can be negative. A negative length is set to
    0, and the sibling gets the whole distance of the pair. The published code only sets the length
    to 0, which moves the two siblings apart.

    Saitou and Nei, Mol. Biol. Evol. 4, 1987; Studier and Keppler, Mol. Biol. Evol. 5, 1988.
    """
    edges, lengths = join_all(metric, "neighbor_joining", join_closest, n_jobs=n_jobs)
    return finished_tree(metric, edges, without_negatives(lengths))
