"""Consensus trees: the splits on which several trees agree (Margush and McMorris 1981).

A split that more than half of the trees contain is compatible with every other such split, so the
majority-rule splits form a tree. The greedy consensus adds further splits in the order of falling
support, each if it is compatible with the earlier splits.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import check_choice
from ...metric._matching import matched
from ..tree import Tree
from .splits import Keys, divisions

METHODS = ("greedy", "majority", "strict")


class TreeSplits(NamedTuple):
    """The splits of one tree, and the lengths above its points. Smaller than the tree."""

    keys: Keys  # distinct
    lengths: NDArray[np.float64]
    starts: NDArray[np.int64]  # where the points of a split begin in `order`
    sizes: NDArray[np.int32]
    order: NDArray[np.int32]  # the nodes of the tree in preorder
    pendant: NDArray[np.float64]  # the length above each single point


class _Splits(NamedTuple):
    """The distinct splits of several trees, the most frequent splits first."""

    counts: NDArray[np.int64]  # trees that have the split
    lengths: NDArray[np.float64]  # mean over these trees
    starts: NDArray[np.int64]  # where its points begin in `orders`
    sizes: NDArray[np.int64]
    orders: NDArray[np.int32]  # the nodes of all trees in preorder


def consensus(trees: Iterable[Tree], *, method: str = "greedy", zero_edges: bool = False) -> Tree:
    """Return the tree of the splits on which several trees agree.

    Parameters
    ----------
    trees : one or more trees on the same points
        For example the trees of several seeds, or bootstrap replicates. Points are matched by
        label if the trees have labels, otherwise by position.
    method : {"greedy", "majority", "strict"}
        "majority" keeps the splits of more than half of the trees. "strict" keeps the splits of
        all trees. "greedy" keeps the majority splits, then adds the other splits in the order
        of falling support if they are compatible. Ties are broken by the order of the trees.
    zero_edges : bool
        Whether edges of length 0 make splits. By default, a tree with such an edge does not count
        as a tree that contains the split. If True, all points are leaves of the consensus, and it
        may have edges of length 0.

    Returns
    -------
    Tree
        The consensus tree, with the points of the first tree. The support of an edge is the share
        of trees that contain its split. The length of the edge is the mean over these trees. The
        edge of a single point has the mean length over all trees.

    See Also
    --------
    Tree.with_support : Compute the share of trees that contain each split of a tree.
    formats.read_trees : Read all trees of a file.
    Tree.difference : Compare two trees.

    Notes
    -----
    O(k N log N) time for k trees of N nodes, plus the sizes of all distinct splits. Exact:
    trees that agree give the same tree again.

    References
    ----------
    T. Margush and F. R. McMorris, Consensus n-trees, Bulletin of Mathematical Biology 43 (1981)

    Examples
    --------
    >>> texts = ["((a:1,b:1):1,(c:1,d:1):1);"] * 2 + ["((a:1,c:1):1,(b:1,d:1):1);"]
    >>> consensus([Tree.from_newick(text) for text in texts]).newick(digits=3)
    '(a:1,b:1,(c:1,d:1)0.6667:2);'
    """
    check_choice("method", method, METHODS)
    given = list(trees)
    if not given:
        raise ValueError("a consensus needs at least one tree: give a list of trees")
    first = given[0]
    same = [matched(tree, first, (f"trees[{k}]", "trees[0]")) for k, tree in enumerate(given)]
    splits = [tree_splits(tree, zero_edges) for tree in same]
    return consensus_of_splits(first, splits, method, zero_edges)


def tree_splits(tree: Tree, zero_edges: bool = False) -> TreeSplits:
    """Return the splits of a tree, for `consensus_of_splits`."""
    n, view = tree.n_points, tree._view
    every = divisions(tree)
    single = every.counts == 1
    pendant = np.zeros(n)
    pendant[view.order[every.positions[single]]] = every.lengths[single]
    if n > 2:  # the edge of point 0 is at the root; of two points, it is the edge of point 1
        pendant[0] = every.lengths[every.counts == n - 1].sum()
    keys, lengths, _, positions = every.inner(n, zero_edges)
    return TreeSplits(keys, lengths, positions, view.size[positions], view.order, pendant)


def consensus_of_splits(first: Tree, trees: list[TreeSplits], method: str, zero_edges: bool = False) -> Tree:
    """Return the consensus of trees that are given by their splits. `first` is one of the trees."""
    from .consensus_kernels import add_clusters

    n = first.n_points
    splits = _distinct(trees)
    least = {"greedy": 1, "majority": len(trees) // 2 + 1, "strict": len(trees)}[method]
    kept = int(np.searchsorted(-splits.counts, -least, side="right"))
    parent = np.empty(2 * n, np.int32)
    accepted = np.empty(kept, np.int64)
    chosen = splits.starts[:kept], splits.sizes[:kept]
    n_nodes = add_clusters(splits.orders, *chosen, n, parent, np.empty(2 * n, np.int32), accepted)
    lengths = np.zeros(n_nodes)
    support = np.full(n_nodes, np.nan)
    lengths[:n] = np.mean([tree.pendant for tree in trees], axis=0)
    clusters = accepted >= 0
    lengths[accepted[clusters]] = splits.lengths[:kept][clusters]
    support[accepted[clusters]] = splits.counts[:kept][clusters] / len(trees)
    below = np.delete(np.arange(n_nodes), n)  # all nodes except the node next to point 0
    edges = np.column_stack([below, parent[below]])
    tree = Tree(n, edges, lengths[below], first.labels, support=support[below])
    tree = tree._replace(order_known=first.order_known)
    # Fewer than three points have no splits, and node n would be superfluous.
    return tree.canonical() if zero_edges and n > 2 else tree.contracted()


def _distinct(trees: list[TreeSplits]) -> _Splits:
    """Merge equal splits of different trees, and sort them by falling count."""
    orders = np.concatenate([tree.order for tree in trees])
    keys = np.concatenate([tree.keys for tree in trees])
    if not len(keys):
        none = np.empty(0, np.int64)
        return _Splits(none, np.empty(0), none, none, orders)
    nodes = np.array([len(tree.order) for tree in trees])
    begins = np.cumsum(nodes) - nodes
    starts = np.concatenate([begin + tree.starts for begin, tree in zip(begins, trees, strict=True)])
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    counts = np.bincount(place.ravel())
    lengths = np.concatenate([tree.lengths for tree in trees])
    falling = np.lexsort((first, -counts))
    sizes = np.concatenate([tree.sizes for tree in trees])
    return _Splits(
        counts[falling],
        (np.bincount(place.ravel(), lengths) / counts)[falling],
        starts[first[falling]],
        sizes[first[falling]].astype(np.int64),
        orders,
    )
