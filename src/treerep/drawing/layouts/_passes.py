"""Passes over a tree in preorder, by whole arrays: O(N log N) for any depth."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...embedding.sarkar.construction import center
from ...tree.structure.rooted import Preorder, merged
from ...tree.tree import Tree

Number = TypeVar("Number", np.float64, np.complex128)


def rooted_view(tree: Tree, root: int | str | None, *, merge: bool = False) -> Preorder:
    """Root a tree at a node, by default its center; with `merge`, nodes at distance 0 are one."""
    view = tree._view_from(center(tree) if root is None else tree._node(root))
    return merged(view) if merge else view


def path_sums(up: NDArray[np.integer], values: NDArray[Number]) -> NDArray[Number]:
    """Sum of the values on the way from the root, without the root's own, to each position.

    >>> path_sums(np.array([-1, 0, 1, 2, 1]), np.array([9.0, 1.0, 2.0, 3.0, 4.0]))
    array([0., 1., 3., 6., 5.])
    """
    total = values.copy()
    jump = np.maximum(up, 0)  # from the root, stay there
    total[0] = 0
    while jump.any():  # each round doubles the way that is summed up
        total += total[jump]
        jump = jump[jump]
    return total


def last_below(view: Preorder) -> NDArray[np.int64]:
    """Last position of the subtree of each position: subtrees are in one piece."""
    return np.arange(len(view.size)) + view.size - 1


def sibling_ranks(up: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which child of its parent each position is, from 0, and how many children each position has.

    >>> sibling_ranks(np.array([-1, 0, 1, 2, 1, 0]))
    (array([0, 0, 0, 0, 1, 1]), array([2, 2, 1, 0, 0, 0]))
    """
    children = np.bincount(up[1:], minlength=len(up))
    in_families = np.argsort(up[1:], kind="stable") + 1
    first = np.cumsum(children) - children
    rank = np.zeros(len(up), np.int64)
    rank[in_families] = np.arange(len(up) - 1) - first[up[in_families]]
    return rank, children


def as_points(positions: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Complex numbers as rows (x, y)."""
    return np.column_stack([positions.real, positions.imag])


def laid_flat(positions: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Turn a picture about the origin so that it is wider than high, the node farthest from its middle on the right.

    A picture that is as wide in all directions stays as it is.
    """
    apart = positions - positions.mean()
    moment = (apart * apart).sum()
    spread = (np.abs(apart) ** 2).sum()
    if np.abs(moment) <= 1e-9 * spread:
        return positions
    turn = np.exp(-0.5j * np.angle(moment))
    flat = apart * turn
    return positions * (turn if flat[np.argmax(np.abs(flat))].real > 0 else -turn)
