"""Neighbor joining, exact, with a pruned search.

Saitou and Nei (1987); Studier and Keppler (1988).
"""

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._clusters import join_all, without_negatives
from ._joining_kernels import join_closest


def neighbor_joining(metric: Metric) -> Tree:
    """Fit a tree by neighbor joining; see `fit`.

    The tree is the same as that of the textbook's O(n^3) search. Every step joins the pair that
    minimizes (m - 2) d_ij - s_i - s_j, where m is the number of remaining clusters and s_i the
    sum of the distances of cluster i. A row of the matrix is searched only if bounds allow it
    to contain the minimum. On the data measured, this is the case for about 4 to 12 rows per
    step, so the time is close to n^2. The same input gives the same tree, bit for bit, even if
    several pairs are equally close.

    The tree is binary, with n - 2 Steiner nodes and every point a leaf. A length of 0 means
    that a point lies on the path between others, or that the order of joins was arbitrary.

    If the distances are not those of a tree, a length can be negative. It is set to 0, and the
    sibling gets the whole distance of the pair. (The published code only sets the length to 0,
    which moves the two apart.)

    Exact on tree metrics. Needs memory for one matrix, O(n^2). Saitou and Nei, Mol. Biol. Evol.
    4, 1987; Studier and Keppler, Mol. Biol. Evol. 5, 1988.
    """
    edges, lengths = join_all(metric, "neighbor_joining", join_closest)
    return finished_tree(metric, edges, without_negatives(lengths))
