"""Edge lengths of a drawing: the original lengths, or others that show the branching."""

import numpy as np

from .._core.checks import check_choice
from ..tree.structure.rooted import Preorder
from ..tree.tree import Tree
from ._arrays import FloatArray

LENGTHS = ("original", "square root", "equal", "cladogram")


def drawn_lengths(tree: Tree, view: Preorder, lengths: str) -> Tree:
    """Return the tree with the lengths that are drawn: see `draw`."""
    check_choice("lengths", lengths, LENGTHS)
    if lengths == "square root":
        return tree.with_weights(np.sqrt(tree.weights))
    if lengths == "equal":
        return tree.with_weights(np.ones(len(tree.weights)))
    if lengths == "cladogram":
        height = _heights(view)
        ends = height[view.position[tree.edges]]
        steps = np.diff(ends, axis=1)
        return tree.with_weights(np.abs(steps).reshape(-1))
    return tree


def _heights(view: Preorder) -> FloatArray:
    """Return the largest number of edges from each position down to a leaf.

    >>> from ..tree.structure.rooted import preorder
    >>> _heights(preorder(np.array([[0, 1], [1, 2], [1, 3]]), np.ones(3), 0))
    array([2., 1., 0., 0.])
    """
    height = np.zeros(len(view.up))
    for position in range(len(view.up) - 1, 0, -1):
        above = view.up[position]
        height[above] = max(height[above], height[position] + 1)
    return height
