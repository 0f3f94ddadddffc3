"""Vectorized passes over a tree in preorder. O(N log N) for any depth."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...embedding.sarkar.construction import center
from ...tree.structure.rooted import Preorder, merged
from ...tree.tree import Tree
from .._arrays import ComplexArray, FloatArray, IntArray

Number = TypeVar("Number", np.float64, np.complex128)


def rooted_view(tree: Tree, root: int | str | None, *, merge: bool = False) -> Preorder:
    """Root a tree at a node or at its center. `merge` joins nodes at distance 0."""
    view = tree._view_from(center(tree) if root is None else tree._node(root))
    return merged(view) if merge else view


def parents(view: Preorder) -> IntArray:
    """Return the parent of each node, -1 at the root."""
    above = view.order[view.up]
    above = np.where(view.up < 0, -1, above)
    return above[view.position].astype(np.int64)


def path_sums(up: NDArray[np.integer], values: NDArray[Number]) -> NDArray[Number]:
    """Sum the values on the path from the root (excluded) to each position.

    >>> path_sums(np.array([-1, 0, 1, 2, 1]), np.array([9.0, 1.0, 2.0, 3.0, 4.0]))
    array([0., 1., 3., 6., 5.])
    """
    total = values.copy()
    jump = np.maximum(up, 0)  # the root jumps to itself
    total[0] = 0
    while jump.any():  # each round doubles the length of the summed path
        total += total[jump]
        jump = jump[jump]
    return total


def last_below(view: Preorder) -> IntArray:
    """Return the last position of the subtree of each position."""
    return np.arange(len(view.size)) + view.size - 1


def sibling_ranks(up: NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return the rank of each position among its siblings, and its number of children.

    >>> sibling_ranks(np.array([-1, 0, 1, 2, 1, 0]))
    (array([0, 0, 0, 0, 1, 1]), array([2, 2, 1, 0, 0, 0]))
    """
    children = np.bincount(up[1:], minlength=len(up))
    by_parent = np.argsort(up[1:], kind="stable") + 1
    first = np.cumsum(children) - children
    rank = np.zeros(len(up), np.int64)
    rank[by_parent] = np.arange(len(up) - 1) - first[up[by_parent]]
    return rank, children


def as_points(positions: ComplexArray) -> FloatArray:
    """Return complex numbers as rows (x, y)."""
    return np.column_stack([positions.real, positions.imag])


def unit_vectors(angles: FloatArray) -> FloatArray:
    """Return vectors of length 1 in some directions, along a new last axis.

    >>> unit_vectors(np.array([0.0, np.pi])).shape
    (2, 2)
    """
    x = np.cos(angles)
    y = np.sin(angles)
    return np.stack([x, y], axis=-1)


def turn_flat(positions: ComplexArray) -> ComplexArray:
    """Rotate a picture about the origin until it is wider than high.

    The node farthest from the middle is placed on the right. A picture that is equally wide in
    all directions is not rotated.
    """
    apart = positions - positions.mean()
    moment = (apart * apart).sum()
    spread = (np.abs(apart) ** 2).sum()
    if np.abs(moment) <= 1e-9 * spread:
        return positions
    turn = np.exp(-0.5j * np.angle(moment))
    flat = apart * turn
    return positions * (turn if flat[np.argmax(np.abs(flat))].real > 0 else -turn)
