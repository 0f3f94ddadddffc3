"""Passes over a tree in preorder, by whole arrays: O(N log N) for any depth, without compiled code."""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...embedding.sarkar.construction import center
from ...tree.structure.rooted import Preorder
from ...tree.tree import Tree

Number = TypeVar("Number", np.float64, np.complex128)


class Hung(NamedTuple):
    """A tree by preorder position, its points of zero distance merged: what the layouts walk over."""

    up: NDArray[np.int64]  # position of the parent; 0 at the root itself
    length: NDArray[np.float64]  # of the edge to the parent, above 0; 0 at the root
    place: NDArray[np.int64]  # position of every node


def hang(tree: Tree, root: int | str | None, *, merge: bool = False) -> Hung:
    """Hang a tree from a node, by default from its centre; with `merge`, nodes joined by edges of length 0 are one."""
    view = tree._view_from(center(tree) if root is None else tree._node(root))
    up = np.maximum(view.up, 0).astype(np.int64)
    return _merged(view, up) if merge else Hung(up, view.length, view.position.astype(np.int64))


def _merged(view: Preorder, up: NDArray[np.int64]) -> Hung:
    head = np.where(view.length > 0, np.arange(len(up)), up)
    while not np.array_equal(above := head[head], head):
        head = above
    kept = head == np.arange(len(up))
    number = np.cumsum(kept) - 1
    return Hung(number[head[up[kept]]], view.length[kept], number[head[view.position]])


def path_sums(up: NDArray[np.int64], values: NDArray[Number]) -> NDArray[Number]:
    """Sum of the values on the way from the root, without the root's own, to each position.

    >>> path_sums(np.array([0, 0, 1, 2, 1]), np.array([9.0, 1.0, 2.0, 3.0, 4.0]))
    array([0., 1., 3., 6., 5.])
    """
    total, jump = values.copy(), up
    total[0] = 0
    while jump.any():  # each round doubles the way that is summed up
        total += total[jump]
        jump = jump[jump]
    return total


def last_below(up: NDArray[np.int64]) -> NDArray[np.int64]:
    """Last position of the subtree of each position: subtrees are in one piece.

    >>> last_below(np.array([0, 0, 1, 2, 1, 0]))
    array([5, 4, 3, 3, 4, 5])
    """
    last = np.arange(len(up))
    last[up[1:]] = np.arange(1, len(up))  # of several children the last one stays
    while not np.array_equal(below := last[last], last):
        last = below
    return last


def sibling_ranks(up: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which child of its parent each position is, from 0, and how many children each position has.

    >>> sibling_ranks(np.array([0, 0, 1, 2, 1, 0]))
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
    moment, spread = (apart * apart).sum(), (np.abs(apart) ** 2).sum()
    if np.abs(moment) <= 1e-9 * spread:
        return positions
    turn = np.exp(-0.5j * np.angle(moment))
    flat = apart * turn
    return positions * (turn if flat[np.argmax(np.abs(flat))].real > 0 else -turn)
