"""Support: the fraction of several trees that contain the split of each edge of a tree.

An edge divides the data points in two, and trees are compared by these splits (Felsenstein,
Evolution 39, 1985, for the bootstrap). The key of a split is the exclusive or of random 128-bit
keys of the points on the side without point 0. The keys take O(N) time per tree and 16 bytes per
split. Keys are sorted and looked up by their first half, and the second half must agree. Two
different splits have the same key with probability 2^-128. A split hides another split with
probability 2^-64 per pair.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...metric._matching import matched
from ...metric.base import read_only
from ..structure.rooted import Preorder, lower_ends, points_below

if TYPE_CHECKING:
    from ..tree import Tree

Keys = NDArray[np.uint64]  # (number of splits, 2)


class Splits(NamedTuple):
    """The splits of edges, with one key each."""

    keys: Keys
    inner: NDArray[np.bool_]  # at least two points on each side


def split_support(tree: "Tree", others: Iterable["Tree"]) -> NDArray[np.float64]:
    """Return the fraction of other trees that contain the split of each edge of `tree`.

    Parameters
    ----------
    tree : Tree
    others : one or more trees on the same points
        Points are matched by label if the trees have labels, otherwise by position. `tree` is not
        counted unless it is one of these trees.

    Returns
    -------
    (N-1,) numbers from 0 to 1, in the order of `tree.edges`
        NaN for edges with fewer than two data points on one side: all trees have these splits.

    Edges of length 0 are counted; remove them with `Tree.contracted`. O(N log N) per tree.

    >>> from treerep import Tree
    >>> paired = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5)
    >>> crossed = Tree(4, [[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]], [1.0] * 5)
    >>> split_support(paired, [paired, paired, paired, crossed])
    array([ nan,  nan, 0.75,  nan,  nan])
    """
    found = [
        inner_splits(matched(other, tree, (f"others[{k}]", "the tree")))
        for k, other in enumerate(others)
    ]
    if not found:
        raise ValueError("there are no other trees to compare with: give at least one")
    return share_of_splits(tree, found)


def inner_splits(tree: "Tree") -> Keys:
    """Return the splits with at least two points on both sides, for `share_of_splits`."""
    keys, inner = _splits_above(tree._view, _point_keys(tree.n_points))
    return _distinct(keys[inner])[0]


def share_of_splits(tree: "Tree", others: list[Keys]) -> NDArray[np.float64]:
    """Return `split_support` for trees given by their `inner_splits`."""
    keys, inner = _splits_of_edges(tree.edges, tree._view, _point_keys(tree.n_points))
    own, which = _distinct(keys[inner])
    count = np.zeros(len(own), np.int64)
    for other in others:
        place, found = _look_up(other, own)
        # each is counted at most once, because the other splits are distinct
        count[place[found]] += 1
    support = np.full(len(keys), np.nan)
    support[inner] = count[which] / len(others)
    return support


def carried_support(
    tree: "Tree", smaller: "Tree", points: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return the support of a tree that was made from `tree` by removing edges.

    Point i of `smaller` is points[i] of `tree`. Each edge gets the support of the edges with
    the same split, or the largest support if these edges differ.
    """
    if tree.support is None:
        return None
    point_keys = _point_keys(tree.n_points)
    keys = _splits_of_edges(tree.edges, tree._view, point_keys).keys
    view = smaller._view_from(int(points.argmin()))  # rooted at point 0 of `tree`
    wanted = _splits_of_edges(smaller.edges, view, read_only(point_keys[points])).keys
    order = np.lexsort((-tree.support, keys[:, 0]))  # NaN last
    place, found = _look_up(wanted, keys[order])
    return np.where(found, tree.support[order[place]], np.nan)


def edges_of_split(tree: "Tree", points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the edges that separate the given points from the others: no edge, one, or a chain."""
    keys = _point_keys(tree.n_points)
    # The side without point 0.
    side = np.isin(np.arange(tree.n_points), points, invert=bool((points == 0).any()))
    wanted = np.bitwise_xor.reduce(keys[side], axis=0)
    found: NDArray[np.int64] = np.flatnonzero(
        (_splits_of_edges(tree.edges, tree._view, keys).keys == wanted).all(axis=1)
    )
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
        raise ValueError(
            f"got support of shape {array.shape} for {n_edges} edges: give one number per edge"
        )
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


def split_keys(view: Preorder, n_points: int) -> Keys:
    """Return the key of the split above each position of a tree rooted at point 0."""
    return _splits_above(view, _point_keys(n_points)).keys


def points_of_keys(keys: Keys, n_points: int) -> NDArray[np.int64]:
    """Return the point of each key that is the key of a single point."""
    known = _point_keys(n_points)[:, 0]
    order = np.argsort(known)
    return order[np.searchsorted(known[order], keys[:, 0])]


def _point_keys(n_points: int) -> Keys:
    # A fixed seed: results are reproducible, and keys of trees with the same number of points
    # can be compared.
    return read_only(
        np.random.default_rng(0).integers(0, 2**64, size=(n_points, 2), dtype=np.uint64)
    )


def _splits_of_edges(edges: NDArray[np.int64], view: Preorder, point_keys: Keys) -> Splits:
    keys, inner = _splits_above(view, point_keys)
    lower = lower_ends(edges, view)
    return Splits(keys[lower], inner[lower])


def _splits_above(view: Preorder, point_keys: Keys) -> Splits:
    """Return the split above each position. The root must be the same point in all trees."""
    from .support_kernels import add_keys

    keys = np.zeros((len(view.order), 2), np.uint64)
    add_keys(view.order, view.up, point_keys, keys)
    count = points_below(view, len(point_keys))
    return Splits(keys, (count >= 2) & (count <= len(point_keys) - 2))


def _distinct(keys: Keys) -> tuple[Keys, NDArray[np.int64]]:
    """Return the distinct keys, sorted, and the place of each key, because edges may share a split."""
    order = np.argsort(keys[:, 0])
    ordered = keys[order]
    first = np.ones(len(keys), bool)
    first[1:] = ordered[1:, 0] != ordered[:-1, 0]
    which = np.empty(len(keys), np.int64)
    which[order] = np.cumsum(first) - 1
    return ordered[first], which


def _look_up(wanted: Keys, ordered: Keys) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the place of each key among sorted keys, and whether the key is present."""
    if len(ordered) == 0:
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    # Searching contiguous columns is several times faster.
    first, second = np.ascontiguousarray(ordered.T)
    place = np.minimum(
        np.searchsorted(first, np.ascontiguousarray(wanted[:, 0])), len(ordered) - 1
    )
    return place, (first[place] == wanted[:, 0]) & (second[place] == wanted[:, 1])
