"""The equal-angle layout: every leaf gets the same angle."""

import numpy as np

from ...tree.structure.rooted import Preorder
from ...tree.tree import Tree
from .._arrays import ComplexArray, FloatArray
from ._passes import as_points, last_below, path_sums, rooted_view, turn_flat


def radial(tree: Tree, *, root: int | str | None = None) -> FloatArray:
    """Return positions (N, 2). Each branch gets an angle proportional to its number of leaves.

    Edges have their exact lengths and do not cross. `root` is at the origin; the default root is
    the center of the tree. The root affects the order of branches but not their angles. The picture
    is rotated to be wider than high. J. Felsenstein, Inferring Phylogenies (2004).

    >>> radial(Tree(2, [[0, 2], [2, 1]], [1.0, 1.0])).round(9).tolist()
    [[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]
    """
    view = rooted_view(tree, root)
    return as_points(turn_flat(equal_angles(view))[view.position])


def equal_angles(view: Preorder) -> ComplexArray:
    """Return positions in preorder, as complex numbers."""
    last = last_below(view)
    leaf = (last == np.arange(len(last))).astype(np.int64)
    # A root with one neighbor is a leaf of the unrooted tree.
    if len(last) > 1 and last[1] == last[0]:
        leaf[0] = 1
    # The angle of a branch is the middle of the angles of its leaves.
    leaves_until = np.cumsum(leaf)
    first_leaf = leaves_until - leaf
    end_leaf = leaves_until[last]
    angle = 2 * np.pi * (first_leaf + end_leaf) / (2 * leaves_until[-1])
    return path_sums(view.up, view.length * np.exp(1j * angle))
