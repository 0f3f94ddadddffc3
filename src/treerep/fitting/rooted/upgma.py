"""UPGMA (Sokal and Michener 1958): average linkage.

The tree is rooted, and all points have the same depth.
"""

import numpy as np

from ...metric.base import Metric
from ...tree.tree import Tree
from .._finished_tree import finished_tree
from ._gromov_kernels import dendrogram
from ._linkage import link, read_pairs


def upgma(metric: Metric, *, n_jobs: int | None = None) -> Tree:
    """Fit an ultrametric tree by average linkage (UPGMA).

    Two clusters at mean distance h meet in a node at height h / 2. The tree distances are
    therefore the cophenetic distances of average linkage. The tree is binary, as a dendrogram
    is. If more than two clusters meet at one height, edges of length 0 join them.

    See Also
    --------
    fit : Fit a tree by any method.
    Tree.to_linkage : Convert the tree to SciPy's linkage matrix.
    Tree.contracted : Remove unnecessary nodes.

    Notes
    -----
    Exact on ultrametrics. O(n^2) time, and n^2 numbers in memory. A `Tree` has no root, but the root
    of the dendrogram is the only Steiner node with two neighbors. Pass this node to `Tree.newick`.
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
    first, second, height = link(read_pairs(metric, "upgma", n_jobs))
    up = dendrogram(first, second)[:-1]
    above_points = np.concatenate([np.zeros(n), 0.5 * height])
    return finished_tree(
        metric, np.column_stack([np.arange(len(up)), up]), above_points[up] - above_points[:-1]
    )
