"""The tree with the least largest error among the trees that keep all distances from a root.

Among these trees, fitting a tree is fitting an ultrametric (Farris 1970). Gromov's tree with single
linkage has the smallest products that are nowhere smaller than those of the data. Its distances are
therefore never too large. They are too small by at most twice the root error of
`scores.largest_error`. If all products are reduced by half the root error, the largest errors in
both directions are equal to the root error. No other change does better (Farach, Kannan and Warnow
1995).
"""

import numpy as np
from numpy.typing import NDArray

from ...metric.base import Metric
from ...tree.tree import Tree
from .gromov import single_merges, tree_of_merges


def root_restricted_tree(metric: Metric, matrix: NDArray[np.float64], root: int, error: float) -> Tree:
    """Return the best tree that keeps the distances from a root. O(n^2).

    `matrix` holds the distances of the metric, and `error` is the root error.
    """
    depth = matrix[root]
    first, second, product = single_merges(matrix.__getitem__, depth)
    # Reduced products stay in order. Products of 0 remain the least possible ones. The data has no
    # negative product, so the error of a product that is set to 0 is smaller than `error`.
    reduced = np.maximum(product - error / 2, 0.0)
    return tree_of_merges(metric, root, depth, (first, second, reduced))
