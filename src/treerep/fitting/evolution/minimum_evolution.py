"""Minimum evolution: a greedy search for the shortest tree.

Desper and Gascuel (J. Comput. Biol. 2002; Mol. Biol. Evol. 2004).

Data with mean vectors (squared Euclidean points, sequences and characters) needs no matrix: see
`profiles`. For other data:

1. *Join*: the first tree is that of BIONJ.
2. *Regraft*: subtrees move to other edges while this shortens the tree. See `_regraft`. The
   exchanges of neighboring subtrees are among these moves.

The length of a tree is the sum of its edge lengths, which follow from the distances. This is the
*balanced* length of Pauplin (2000): a tree with p(i, j) edges between i and j has the length
sum over pairs of 2^(1 - p(i, j)) d(i, j).
"""

import numpy as np

from ..._core.memory import check_memory
from ..._core.parallel import Workers
from ...metric.base import Metric
from ...tree.tree import Tree
from .._distances import dense_matrix
from .._finished_tree import finished_tree
from ..joining._clusters import join_matrix
from ..joining._joining_kernels import join_closest
from ._profile_spaces import has_profiles
from ._regraft import regraft
from .profiles import shortest_tree

# Matrices of n x n numbers in memory: the distances, and the two matrices of BIONJ.
_MATRICES = 3


def minimum_evolution(metric: Metric, *, n_jobs: int | None = None) -> Tree:
    """Fit a tree by balanced minimum evolution.

    Squared Euclidean points, sequences (except by "logdet") and characters need no distance
    matrix. The first tree is that of neighbor joining, in groups above 2,000 points.
    Subtrees are then exchanged and moved while this makes the tree shorter. The average distance
    between two subtrees follows from their mean vectors.

    For other data, the first tree is that of `bionj`. Subtrees are then moved to other edges while
    this makes the tree shorter (subtree pruning and regrafting, SPR).

    See Also
    --------
    fit : Fit a tree by any method.
    methods.neighbor_joining : Another method of phylogenetics.

    Notes
    -----
    Exact on tree metrics. On other data, negative lengths are set to 0.

    With a matrix, the result is a tree that no move makes shorter. On simulated alignments, it has
    fewer wrong splits than neighbor joining. See benchmarks/results/minimum_evolution.md.

    Without a matrix, a round takes O(n k) time for k coordinates, or sites times states. Memory:
    three float32 numbers for each point and coordinate (float64 for float64 points). The models of
    sequences correct the distances of mean vectors, as in FastTree (Price et al. 2009), so that the
    result is not exactly that of the matrix. On simulated alignments, both have about as many wrong
    splits. See benchmarks/results/profiles.md.

    With a matrix: O(n^2) time for each round, and three matrices in memory. All threads are used,
    and the tree does not depend on their number. Desper and Gascuel, J. Comput. Biol. 9, 2002.
    Gascuel, Mol. Biol. Evol. 14, 1997. Hordijk and Gascuel, Bioinformatics 21, 2005.
    """
    n = len(metric)
    if n > 3 and has_profiles(metric):
        with Workers(n_jobs) as workers:
            return finished_tree(metric, *shortest_tree(metric, workers))
    check_memory(
        _MATRICES * n * n * 8,
        f"minimum_evolution on {n:,} points",
        "use method='treerep', which needs no matrix, or method='neighbor_joining', which needs a third",
    )
    matrix = dense_matrix(metric, "minimum_evolution", n_jobs=n_jobs)
    if n == 2:
        return finished_tree(metric, [[0, 1]], matrix[0, 1:])
    start, _ = join_matrix(matrix.copy(), "minimum evolution: join", join_closest, variances=True)
    with Workers(n_jobs) as workers:
        return finished_tree(metric, *regraft(start.astype(np.int64), matrix, workers))
