"""UPGMA (Sokal and Michener 1958): average linkage.

The tree is rooted, and all points have the same depth.
"""

import numpy as np

from ...metric.base import Metric
from ...tree.tree import Tree
from .._distances import dense_matrix
from .._finished_tree import finished_tree
from ._gromov_kernels import dendrogram, link


def upgma(metric: Metric) -> Tree:
    """Fit an ultrametric tree by average linkage; see `fit`.

    Two clusters at mean distance h meet in a node h / 2 above their points, so the distances in
    the tree are the cophenetic distances of average linkage. Exact on ultrametrics. O(n^2)
    time, and memory for one matrix.

    The tree is binary, like a dendrogram: if more than two clusters meet at one height, edges
    of length 0 join them. Its root is the only Steiner node with two neighbors. A `Tree` has no
    root, but you can pass this node to `tree.newick(root=...)`. `tree.contracted()` removes
    nodes that are not needed.

    Sokal and Michener, Univ. Kansas Sci. Bull. 38, 1958.

    Examples
    --------
    >>> import treerep
    >>> tree = treerep.fit([[0, 2, 6], [2, 0, 6], [6, 6, 0]], method="upgma")
    >>> root = int(np.flatnonzero(tree.degrees == 2)[0])
    >>> tree.newick(root=root)
    '((0:1.0,1:1.0):2.0,2:3.0);'
    """
    n = len(metric)
    first, second, height = link(dense_matrix(metric, "upgma"), False)
    order = np.argsort(height, kind="stable")
    up = dendrogram(first[order], second[order])[:-1]
    above_points = np.concatenate([np.zeros(n), 0.5 * height[order]])
    return finished_tree(
        metric, np.column_stack([np.arange(len(up)), up]), above_points[up] - above_points[:-1]
    )
