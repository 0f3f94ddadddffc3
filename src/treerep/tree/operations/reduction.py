"""Smaller trees: the part spanned by some points, and the tree without short edges."""

import numpy as np
from numpy.typing import NDArray

from ...metric.base import read_only
from ..structure.canonical import canonical_edges
from ..structure.rooted import Preorder

Arrays = tuple[NDArray[np.int64], NDArray[np.float64]]


def restricted_edges(view: Preorder, points: NDArray[np.int64]) -> Arrays:
    """Return the subtree spanned by `points`, numbered in the given order. O(N).

    `view` is rooted at points[0]. Distances among the points do not change. Steiner nodes that
    are leaves, or have only two neighbors, are removed.
    """
    number = np.full(len(view.order), -1, np.int32)
    number[view.position[points]] = np.arange(len(points), dtype=np.int32)
    return _spanned(view.up, view.length, number, len(points))


def contracted_edges(view: Preorder, n_points: int, tol: float) -> Arrays:
    """Return edges and weights after merging the ends of edges no longer than `tol`. O(N).

    `view` is rooted at point 0.
    """
    from .reduction_kernels import contract

    up, length, number = contract(view.order, view.up, view.length, n_points, tol)
    return _spanned(up, length, number, n_points)


def _spanned(
    up: NDArray[np.int32], length: NDArray[np.float64], number: NDArray[np.int32], n_points: int
) -> Arrays:
    from .reduction_kernels import span

    edges, weights = span(read_only(up), read_only(length), number, n_points)
    return canonical_edges(n_points, edges, weights)
