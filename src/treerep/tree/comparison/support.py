"""Support: the fraction of several trees that contain the split of each edge of a tree.

Felsenstein (Evolution 39, 1985) introduced it for the bootstrap.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...metric._matching import matched
from ...metric.base import read_only
from ..structure.rooted import Preorder, lower_ends
from .splits import Keys, inner_splits, look_up, point_keys, split_keys

if TYPE_CHECKING:
    from ..tree import Tree


def split_support(tree: "Tree", others: Iterable["Tree"], zero_edges: bool = False) -> NDArray[np.float64]:
    """Return the fraction of other trees that contain the split of each edge of `tree`.

    Parameters
    ----------
    tree : Tree
    others : one or more trees on the same points
        Points are matched by label if the trees have labels, otherwise by position. `tree` is not
        counted unless it is one of these trees.
    zero_edges : bool
        Whether edges of length 0 make splits, in `tree` and in the others.

    Returns
    -------
    (N-1,) numbers from 0 to 1, in the order of `tree.edges`
        NaN for edges that make no split: those with fewer than two data points on one side, and
        those of length 0. O(N log N) per tree.

    >>> from treerep import Tree
    >>> paired = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5)
    >>> crossed = Tree(4, [[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]], [1.0] * 5)
    >>> split_support(paired, [paired, paired, paired, crossed])
    array([ nan,  nan, 0.75,  nan,  nan])
    """
    found = [
        inner_splits(matched(other, tree, (f"others[{k}]", "the tree")), zero_edges).keys
        for k, other in enumerate(others)
    ]
    if not found:
        raise ValueError("there are no other trees to compare with: give at least one")
    return share_of_splits(tree, found, zero_edges)


def share_of_splits(tree: "Tree", others: list[Keys], zero_edges: bool = False) -> NDArray[np.float64]:
    """Return `split_support` for trees given by the keys of their `inner_splits`."""
    own = inner_splits(tree, zero_edges).keys
    count = np.zeros(len(own), np.int64)
    for other in others:
        count += look_up(own, other)[1]
    place, found = look_up(_keys_of_edges(tree), own)
    support = np.full(len(tree.edges), np.nan)
    support[found] = count[place[found]] / len(others)
    return support


def carried_support(tree: "Tree", smaller: "Tree", points: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Return the support of a tree that was made from `tree` by removing edges.

    Point i of `smaller` is points[i] of `tree`. Each edge gets the support of the edges with
    the same split, or the largest support if these edges differ.
    """
    if tree.support is None:
        return None
    keys = _keys_of_edges(tree)
    view = smaller._view_from(int(points.argmin()))  # rooted at point 0 of `tree`
    of_points = read_only(point_keys(tree.n_points)[points])
    wanted = split_keys(view, of_points)[lower_ends(smaller.edges, view)]
    order = np.lexsort((-tree.support, keys[:, 0]))  # NaN last
    place, found = look_up(wanted, keys[order])
    return np.where(found, tree.support[order[place]], np.nan)


def edges_of_split(tree: "Tree", points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the edges that separate the given points from the others: no edge, one, or a chain."""
    # The side without point 0.
    side = np.isin(np.arange(tree.n_points), points, invert=bool((points == 0).any()))
    wanted = np.bitwise_xor.reduce(point_keys(tree.n_points)[side], axis=0)
    found: NDArray[np.int64] = np.flatnonzero((_keys_of_edges(tree) == wanted).all(axis=1))
    return found


def check_support(support: ArrayLike | None, n_edges: int) -> NDArray[np.float64] | None:
    """Validate support: one float64 per edge, between 0 and 1 or NaN."""
    if support is None:
        return None
    given = np.asarray(support)
    if given.size and given.dtype.kind not in "iuf":
        raise TypeError(f"support must be real numbers, not {given.dtype}")
    array = given.astype(np.float64, copy=False)
    if array.shape != (n_edges,):
        raise ValueError(f"got support of shape {array.shape} for {n_edges} edges: give one number per edge")
    outside = (array < 0) | (array > 1)
    if outside.any():
        e = int(outside.argmax())
        raise ValueError(
            f"edge {e} has support {array[e]}: support must be between 0 and 1, or NaN if unknown"
        )
    return array


def support_above(
    view: Preorder, edges: NDArray[np.int64], support: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the support of the edge above each position; NaN at the root."""
    above = np.full(len(view.order), np.nan)
    above[lower_ends(edges, view)] = support
    return above


def _keys_of_edges(tree: "Tree") -> Keys:
    """Return the key of each edge, in the order of `tree.edges`."""
    view = tree._view
    return split_keys(view, point_keys(tree.n_points))[lower_ends(tree.edges, view)]
