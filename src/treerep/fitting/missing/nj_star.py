"""NJ*, neighbor joining on the measured distances (Criscuolo and Gascuel 2008)."""

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ..joining._clusters import without_negatives
from ._nj_star_kernels import Clusters, join_measured, sum_clusters

#: Matrices of n x n numbers in memory: the distances, a copy, sums and counts.
MATRICES = 4
# Number of matrix entries read between two checks for interrupts: a few tenths of a second.
_BUDGET = 100_000_000


def nj_star(metric: Metric, distances: NDArray[np.float64]) -> Tree:
    """Fit a tree by NJ* to distances with NaN for missing pairs.

    The measured pairs must connect all points. With complete distances, this is neighbor joining.
    Negative lengths are treated as in `neighbor_joining`.

    O(n^3) time and four matrices of memory. Criscuolo and Gascuel, BMC Bioinformatics 9, 2008.
    """
    n = len(distances)
    clusters = Clusters(
        matrix=distances.copy(),
        sums=np.zeros((n, n)),
        counts=np.zeros((n, n), np.int32),
        names=np.arange(n),
        edges=np.empty((2 * n - 3, 2), np.int64),
        lengths=np.empty(2 * n - 3),
    )
    left = np.arange(n)
    step = 1 + _BUDGET // (4 * n * n)
    with progress_bar(2 * n, "NJ*", "points") as bar, Workers(1) as workers:
        for first in range(0, n, step):
            sum_clusters(clusters, left, first, min(first + step, n))
            bar.update(min(step, n - first))
            workers.check()
        while len(left) > 2:
            before = len(left)
            left = join_measured(clusters, left, 2 * (n - before), step)
            bar.update(before - len(left))
            workers.check()
    # The last two clusters are the ends of the last edge.
    clusters.edges[-1] = clusters.names[left]
    clusters.lengths[-1] = clusters.matrix[left[0], left[1]]
    # The last three edges share a node, as `without_negatives` expects.
    lengths = without_negatives(clusters.lengths) if n > 2 else clusters.lengths
    return finished_tree(metric, clusters.edges, lengths)
