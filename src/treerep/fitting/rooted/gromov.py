"""Gromov's approximating tree (Hyperbolic Groups, 1987).

Choose a root, and cluster the points by the paths from the root that they share.

Tree fitting with a root is ultrametric fitting (Farris 1970). The product (x, y)_r is the length
that the paths from the root r to x and y share. Clusters merge in the order of decreasing products.
The merge of two clusters becomes a node whose distance from r is their product. Point x is below
this node, at distance d(r, x) from r. The root is treated like any other point: its products are 0,
so it merges last.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import check_choice
from ..._core.progress import progress_bar
from ...metric.base import Metric
from ...tree.tree import Tree
from .._distances import checked_block, dense_matrix, rounding_of
from .._finished_tree import finished_tree
from ..spanning._graphs import check_root
from ._gromov_kernels import dendrogram, extend, tree_edges
from ._linkage import link, read_pairs

LINKAGES = ("average", "single")

# Up to this many rows are read at once (128 MB), because a request costs as much as hundreds of
# distances.
_KEPT_ROWS = 4096

#: Two points, one from each cluster, and the product of every merge, by decreasing products.
Merges = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
#: A function that returns the distances from a point to all others.
RowReader = Callable[[int], NDArray[np.float64]]


def gromov(
    metric: Metric,
    *,
    rng: np.random.Generator,
    linkage: str = "average",
    root: int | str | None = None,
) -> Tree:
    """Fit Gromov's tree for a root.

    Distances from the root are kept exactly. The tree joins the clusters with the largest
    Gromov product.

    Parameters
    ----------
    linkage : "average" or "single"
        The product of two clusters: the mean or the largest product of their points.
        "single" is the tree of Gromov (1987), which never overestimates a distance, and
        underestimates it by at most 2 delta log2(n), where delta is the hyperbolicity. It takes
        O(n) memory. "average" takes a matrix and has no guarantee. It is better on all graphs of
        the TreeRep paper, and better than TreeRep on these graphs.
    root : int, optional
        The root, a random point by default. Use `trials` to test several roots.

    See Also
    --------
    fit : Fit a tree by any method.
    hyperbolicity : Compute delta.
    methods.construct_tree : Another method with a guarantee.

    Notes
    -----
    Exact on tree metrics with either linkage. The tree has the fewest possible nodes, because
    edges as short as rounding errors are contracted. O(n^2) time.

    No length is negative: no product of x is larger than d(r, x), so no mean of products is larger
    either. If the triangle inequality is violated, products are first reduced to the values that
    the inequality allows.

    Gromov, Hyperbolic groups (1987).
    """
    check_choice("linkage", linkage, LINKAGES)
    start, depth = hang_from(metric, root, rng)
    if linkage == "single":
        merges = single_merges(row_reader(metric, "gromov"), depth)
    else:
        merges = _average_merges(metric, depth)
    return tree_of_merges(metric, start, depth, merges)


def hang_from(
    metric: Metric, root: int | str | None, rng: np.random.Generator
) -> tuple[int, NDArray[np.float64]]:
    """Return the root, drawn at random if it is None, and the distances from it."""
    n = len(metric)
    start = int(rng.integers(n)) if root is None else check_root(root, n, metric.labels)
    return start, checked_block(metric, np.array([start]), np.arange(n))[0]


def row_reader(metric: Metric, method: str) -> RowReader:
    """Return a function that reads the distances from a point to all others. O(n) memory."""
    if len(metric) <= _KEPT_ROWS:
        return dense_matrix(metric, method).__getitem__
    every = np.arange(len(metric))
    return lambda x: checked_block(metric, every[x : x + 1], every)[0]


def tree_of_merges(metric: Metric, root: int, depth: NDArray[np.float64], merges: Merges) -> Tree:
    """Return the tree whose nodes are the merges.

    The product of a merge is its distance from the root.
    """
    first, second, product = merges
    # Equal products may differ by up to this amount.
    tol = rounding_of(metric, float(depth.max()))
    parent = dendrogram(first, second)
    edges, lengths = tree_edges(parent, np.concatenate([depth, product]), root, tol)
    return finished_tree(metric, edges, lengths)


def single_merges(row_of: RowReader, depth: NDArray[np.float64]) -> Merges:
    """Merge by single linkage, along the spanning tree of largest products.

    Prim's algorithm finds the spanning tree, one row at a time.
    """
    n = len(depth)
    best = np.zeros(n)
    nearest = np.zeros(n, np.int64)
    joined = np.empty(n - 1, np.int64)
    product = np.empty(n - 1)
    x = 0
    with progress_bar(n, "Gromov's tree", "points") as bar:
        for k in range(n - 1):
            x = extend(x, row_of(x), depth, best, nearest)
            joined[k] = x
            product[k] = best[x]
            bar.update()
    order = np.argsort(-product, kind="stable")
    return joined[order], nearest[joined[order]], product[order]


def _average_merges(metric: Metric, depth: NDArray[np.float64]) -> Merges:
    # -(x, y)_r is U(x, y) = max d(r, .) - (x, y)_r of the literature, without the constant, which
    # would only cost digits.
    pairs = read_pairs(
        metric, "gromov", change=lambda row, x, others: -gromov_products(depth[x], depth[others], row)
    )
    first, second, height = link(pairs)
    return first, second, -height


def gromov_products(
    x: NDArray[np.float64] | float, y: NDArray[np.float64], xy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the lengths that the paths from the root to pairs of points share.

    x and y are the depths of the points. Values outside 0 ... min(x, y), from a violated triangle
    inequality or from rounding, are clipped, because they are impossible in a tree.
    """
    # (x, y)_r = (d(r, x) + d(r, y) - d(x, y)) / 2
    return np.maximum(0.0, np.minimum(0.5 * (x + y - xy), np.minimum(x, y)))
