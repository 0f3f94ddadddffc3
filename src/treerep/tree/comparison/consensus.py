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
from ..structure.rooted import points_below
from ..tree import Tree
from .support import Keys, points_of_keys, split_keys

METHODS = ("greedy", "majority", "strict")


class TreeSplits(NamedTuple):
    """The splits of one tree with at least two points on both sides. Smaller than the tree."""

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


def consensus(trees: Iterable[Tree], *, method: str = "greedy") -> Tree:
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
    return consensus_of_splits(first, [tree_splits(tree) for tree in same], method)


def tree_splits(tree: Tree) -> TreeSplits:
    """Return the splits of a tree, for `consensus_of_splits`."""
    n = tree.n_points
    view = tree._view
    count = points_below(view, n)
    above = split_keys(view, n)
    single = count == 1
    pendant = np.zeros(n)
    np.add.at(pendant, points_of_keys(above[single], n), view.length[single])
    pendant[0] += view.length[count == n - 1].sum()  # the split of point 0, at the root
    inner = np.flatnonzero((count >= 2) & (count <= n - 2))
    # Edges in a line make the same split: add their lengths, and keep the lowest position.
    keys, place = np.unique(above[inner], axis=0, return_inverse=True)
    lowest = np.zeros(len(keys), np.int64)
    np.maximum.at(lowest, place.ravel(), inner)
    lengths = np.zeros(len(keys))
    np.add.at(lengths, place.ravel(), view.length[inner])
    return TreeSplits(keys, lengths, lowest, view.size[lowest], view.order, pendant)


def consensus_of_splits(first: Tree, trees: list[TreeSplits], method: str) -> Tree:
    """Return the consensus of trees that are given by their splits. `first` is one of the trees."""
    from .consensus_kernels import add_clusters

    n = first.n_points
    if n < 3:
        return first
    splits = _distinct(trees)
    least = {"greedy": 1, "majority": len(trees) // 2 + 1, "strict": len(trees)}[method]
    kept = int(np.searchsorted(-splits.counts, -least, side="right"))
    parent = np.empty(2 * n, np.int32)
    accepted = np.empty(kept, np.int64)
    chosen = splits.starts[:kept], splits.sizes[:kept]
    n_nodes = add_clusters(
        splits.orders, *chosen, n, parent, np.empty(2 * n, np.int32), accepted
    )
    lengths = np.zeros(n_nodes)
    support = np.full(n_nodes, np.nan)
    lengths[:n] = np.mean([tree.pendant for tree in trees], axis=0)
    clusters = accepted >= 0
    lengths[accepted[clusters]] = splits.lengths[:kept][clusters]
    support[accepted[clusters]] = splits.counts[:kept][clusters] / len(trees)
    below = np.delete(np.arange(n_nodes), n)  # all nodes except the node next to point 0
    edges = np.column_stack([below, parent[below]])
    tree = Tree(n, edges, lengths[below], first.labels, support=support[below])
    return tree._replace(order_known=first.order_known).contracted()


def _distinct(trees: list[TreeSplits]) -> _Splits:
    """Merge equal splits of different trees, and sort them by falling count."""
    orders = np.concatenate([tree.order for tree in trees])
    keys = np.concatenate([tree.keys for tree in trees])
    if not len(keys):
        none = np.empty(0, np.int64)
        return _Splits(none, np.empty(0), none, none, orders)
    nodes = np.array([len(tree.order) for tree in trees])
    begins = np.cumsum(nodes) - nodes
    starts = np.concatenate(
        [begin + tree.starts for begin, tree in zip(begins, trees, strict=True)]
    )
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
