"""The equal-angle layout of an unrooted tree: every leaf has the same angle of the plane, every edge its length."""

import numpy as np
from numpy.typing import NDArray

from ...tree.structure.rooted import Preorder
from ...tree.tree import Tree
from ._passes import as_points, laid_flat, last_below, path_sums, rooted_view


def radial(tree: Tree, *, root: int | str | None = None) -> NDArray[np.float64]:
    """Positions (N, 2) of all nodes: branches share the circle by their numbers of leaves, so no edges cross.

    Edges have their exact lengths. `root`, the center of the tree by default, is the origin;
    which branch comes after which depends on it, their angles do not. The picture is turned to
    be wider than high. J. Felsenstein, Inferring Phylogenies (2004).

    >>> radial(Tree(2, [[0, 2], [2, 1]], [1.0, 1.0])).round(9).tolist()
    [[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]
    """
    view = rooted_view(tree, root)
    return as_points(laid_flat(equal_angles(view))[view.position])


def equal_angles(view: Preorder) -> NDArray[np.complex128]:
    """Positions by preorder, as complex numbers."""
    up = view.up
    length = view.length
    last = last_below(view)
    leaf = (last == np.arange(len(up))).astype(np.int64)
    if (
        len(up) > 1 and last[1] == last[0]
    ):  # a root with one neighbor is a leaf of the unrooted tree
        leaf[0] = 1
    upto = np.cumsum(leaf)
    angle = 2 * np.pi * (upto - leaf + upto[last]) / (2 * upto[-1])
    return path_sums(up, length * np.exp(1j * angle))
