"""Sarkar's construction carried over to the plane, as in the figures of the paper: equal angles around every node."""

import numpy as np
from numpy.typing import NDArray

from ...tree.tree import Tree
from ._passes import as_points, path_sums, rooted_view, sibling_ranks


def euclidean_sarkar(tree: Tree, *, root: int | str | None = None) -> NDArray[np.float64]:
    """Positions (N, 2) of all nodes: the edges at a node leave it at equal angles, each with its exact length.

    Branches may cross: the plane, unlike the hyperbolic one, has no room for every tree. Nodes
    joined by edges of length 0 are one point with one set of angles. The root, by default the
    center of the tree, is the origin.

    >>> euclidean_sarkar(Tree(4, [[0, 1], [1, 2], [1, 3]], [1.0, 2.0, 2.0]), root=1).round(
    ...     6
    ... ).tolist()
    [[1.0, 0.0], [0.0, 0.0], [-1.0, 1.732051], [-1.0, -1.732051]]
    """
    view = rooted_view(tree, root, merge=True)
    rank, children = sibling_ranks(view.up)
    below_root = view.up <= 0  # and the root, whose turn is not used
    # Around the root, child number k has angle 2 pi k / children. Elsewhere the parent is the
    # zeroth of all.
    share = np.where(below_root, rank, rank + 1) / np.maximum(
        children[view.up] + ~below_root, 1
    )
    turn = 2 * np.pi * share + np.where(below_root, 0.0, np.pi)
    heading = path_sums(view.up, np.remainder(turn + np.pi, 2 * np.pi) - np.pi)
    steps = (view.length * np.exp(1j * heading)).astype(np.complex128)
    return as_points(path_sums(view.up, steps)[view.position])
