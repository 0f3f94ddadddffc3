"""The splits of a tree, as `difference`, support and consensus count them.

An edge divides the data points in two. The division is a split if the edge has a positive length
and at least two points are on each side: a leaf never makes a split. Edges in a line (for example
at a root with two branches) make one split, and its length is their sum. Programs for phylogenies
make every tree binary with edges of length 0, which do not show a group. They count only with
`zero_edges=True`.

The key of a division is the exclusive or of random 128-bit keys of the points on the side without
point 0. The keys take O(N) time per tree and 16 bytes per split. Keys are sorted and looked up by
their first half, and the second half must agree. Two different splits have the same key with
probability 2^-128. A split hides another split with probability 2^-64 per pair.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metric.base import read_only
from ..structure.rooted import Preorder, points_below

if TYPE_CHECKING:
    from ..tree import Tree

Keys = NDArray[np.uint64]  # (number of splits, 2)


class Splits(NamedTuple):
    """Distinct divisions of the points of a tree, sorted by key. The tree is rooted at point 0."""

    keys: Keys
    lengths: NDArray[np.float64]  # total length of the edges that make the division
    counts: NDArray[np.int64]  # number of points on the side without point 0
    positions: NDArray[np.int64]  # of the lower end of the lowest edge, in preorder

    def inner(self, n_points: int, zero_edges: bool) -> "Splits":
        """Return the divisions that are splits."""
        kept = (self.counts >= 2) & (self.counts <= n_points - 2)
        if not zero_edges:
            kept &= self.lengths > 0
        return Splits(self.keys[kept], self.lengths[kept], self.counts[kept], self.positions[kept])


def inner_splits(tree: "Tree", zero_edges: bool = False) -> Splits:
    """Return the splits of a tree. With `zero_edges`, also those of length 0. O(N log N)."""
    return divisions(tree).inner(tree.n_points, zero_edges)


def divisions(tree: "Tree") -> Splits:
    """Return all divisions by edges, also those of length 0 and those of one point. O(N log N)."""
    view, n = tree._view, tree.n_points
    count = points_below(view, n)
    edges = np.flatnonzero((count >= 1) & (count <= n - 1))
    keys = split_keys(view, point_keys(n))[edges]
    order = np.argsort(keys[:, 0])
    ordered = keys[order]
    first = np.ones(len(keys), bool)
    first[1:] = ordered[1:, 0] != ordered[:-1, 0]
    which = np.empty(len(keys), np.int64)  # edges in a line make the same division
    which[order] = np.cumsum(first) - 1
    distinct = ordered[first]
    position = np.zeros(len(distinct), np.int64)
    np.maximum.at(position, which, edges)
    lengths = np.zeros(len(distinct))
    np.add.at(lengths, which, view.length[edges])
    return Splits(distinct, lengths, count[position].astype(np.int64), position)


def point_keys(n_points: int) -> Keys:
    """Return the random key of each point."""
    # A fixed seed: results are reproducible, and keys of trees with the same number of points
    # can be compared.
    return read_only(np.random.default_rng(0).integers(0, 2**64, size=(n_points, 2), dtype=np.uint64))


def split_keys(view: Preorder, of_points: Keys) -> Keys:
    """Return the key of the edge above each position. All trees must have the same point as root."""
    from .split_kernels import add_keys

    keys = np.zeros((len(view.order), 2), np.uint64)
    add_keys(view.order, view.up, of_points, keys)
    return keys


def look_up(wanted: Keys, ordered: Keys) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the place of each key among sorted keys, and whether the key is present."""
    if len(ordered) == 0:
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    # Searching contiguous columns is several times faster.
    first, second = np.ascontiguousarray(ordered.T)
    place = np.minimum(np.searchsorted(first, np.ascontiguousarray(wanted[:, 0])), len(ordered) - 1)
    return place, (first[place] == wanted[:, 0]) & (second[place] == wanted[:, 1])
