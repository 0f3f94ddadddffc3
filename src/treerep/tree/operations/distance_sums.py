"""Sums of distances from every node of a tree to weighted nodes, in O(N).

A subtree is a range of preorder positions, so sums over subtrees and over paths from the root
are differences of cumulative sums. All arrays are indexed by preorder position.
"""

import numpy as np
from numpy.typing import NDArray

from ..structure.rooted import Preorder

FloatArray = NDArray[np.float64]


def subtree_sums(view: Preorder, values: FloatArray) -> FloatArray:
    """Return the sum of the values in the subtree of each position.

    >>> from ..structure.rooted import preorder
    >>> path = preorder(np.array([[0, 1], [1, 2]]), np.array([3.0, 4.0]), 0)
    >>> subtree_sums(path, np.array([1.0, 10.0, 100.0]))
    array([111., 110., 100.])
    """
    n = len(values)
    before = np.zeros(n + 1)
    np.cumsum(values, out=before[1:])
    first = np.arange(n)
    last = first + view.size
    return before[last] - before[first]


def path_sums(view: Preorder, values: FloatArray) -> FloatArray:
    """Return the sum of the values on the path from the root to each position, both included.

    >>> from ..structure.rooted import preorder
    >>> path = preorder(np.array([[0, 1], [1, 2]]), np.array([3.0, 4.0]), 0)
    >>> path_sums(path, path.length)
    array([0., 3., 7.])
    """
    n = len(values)
    # A value counts from its position on, until its subtree ends.
    last = np.arange(n) + view.size
    ended = np.bincount(
        last,
        weights=values,
        minlength=n + 1,
    )
    return np.cumsum(values - ended[:n])


def distance_sums(view: Preorder, weights: FloatArray) -> FloatArray:
    """Return S(v) = sum of w(i) d(v, i) over all nodes i, for every node v.

    >>> from ..structure.rooted import preorder
    >>> path = preorder(np.array([[0, 1], [1, 2]]), np.array([3.0, 4.0]), 0)
    >>> distance_sums(path, np.array([1.0, 0.0, 1.0]))
    array([7., 7., 7.])
    """
    depth = path_sums(view, view.length)
    below = subtree_sums(view, weights)
    # Across an edge of length l, the nodes below come nearer by l, and the others move away by l:
    # S(child) = S(parent) + l (w(all) - 2 w(below))
    others = weights.sum() - below
    step = view.length * (others - below)
    at_root = weights @ depth
    return at_root + path_sums(view, step)


def squared_distance_sums(view: Preorder, weights: FloatArray) -> FloatArray:
    """Return Q(v) = sum of w(i) d(v, i)^2 over all nodes i, for every node v.

    >>> from ..structure.rooted import preorder
    >>> path = preorder(np.array([[0, 1], [1, 2]]), np.array([3.0, 4.0]), 0)
    >>> squared_distance_sums(path, np.array([1.0, 0.0, 1.0]))
    array([49., 25., 49.])
    """
    depth = path_sums(view, view.length)
    below = subtree_sums(view, weights)
    sums = distance_sums(view, weights)
    length = view.length
    # The sum of w(i) d(parent, i) over the nodes below the child
    near = subtree_sums(view, weights * depth)
    near -= (depth - length) * below
    # Q(child) = Q(parent) + l^2 w(all) + 2 l (S(parent) - 2 near)
    step = sums[view.up] - 2 * near
    step *= 2 * length
    step += length**2 * weights.sum()
    step[0] = 0.0
    at_root = weights @ depth**2
    return at_root + path_sums(view, step)
