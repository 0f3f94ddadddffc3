"""Sarkar's construction in the Euclidean plane: equal angles around every node."""

import numpy as np

from ...tree.tree import Tree
from .._arrays import FloatArray
from ._passes import as_points, path_sums, rooted_view, sibling_ranks


def euclidean_sarkar(tree: Tree, *, root: int | str | None = None) -> FloatArray:
    """Return positions (N, 2) with equal angles around nodes and exact edge lengths.

    Branches may cross, because the plane has too little space. Nodes joined by edges of length 0
    are one point with one set of angles. The root is at the origin; the default root is the center
    of the tree.

    >>> euclidean_sarkar(Tree(4, [[0, 1], [1, 2], [1, 3]], [1.0, 2.0, 2.0]), root=1).round(6).tolist()
    [[1.0, 0.0], [0.0, 0.0], [-1.0, 1.732051], [-1.0, -1.732051]]
    """
    view = rooted_view(tree, root, merge=True)
    rank, children = sibling_ranks(view.up)
    below_root = view.up <= 0  # also true for the root, whose turn is not used
    # Around the root, child k has the angle 2 pi k / children. Around other nodes, the parent
    # has index 0.
    number = np.where(below_root, rank, rank + 1)
    degree = np.maximum(children[view.up] + ~below_root, 1)
    share = number / degree
    turn = 2 * np.pi * share + np.where(below_root, 0.0, np.pi)
    # Reduced to -pi ... pi, so that sums along deep paths stay small.
    small_turn = np.remainder(turn + np.pi, 2 * np.pi) - np.pi
    heading = path_sums(view.up, small_turn)
    steps = (view.length * np.exp(1j * heading)).astype(np.complex128)
    return as_points(path_sums(view.up, steps)[view.position])
