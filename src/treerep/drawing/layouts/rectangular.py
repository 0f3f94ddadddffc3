"""The rectangular layout of a rooted tree: distance from the root to the right, one row per leaf."""

import numpy as np
from numpy.typing import NDArray

from ...tree.tree import Tree
from ._passes import last_below, path_sums, rooted_view


def rectangular(tree: Tree, *, root: int | str | None = None) -> NDArray[np.float64]:
    """Positions (N, 2) of all nodes: x is the distance from the root, y the row, 0 at the top and falling by 1.

    An inner node is half-way between its first and its last leaf. The root is the center of the
    tree by default, which is about the midpoint root of phylogeneticists. Children come in the
    order of their smallest id.

    >>> rectangular(Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]), root=2).tolist()
    [[1.0, 0.0], [2.0, -1.0], [0.0, -0.5]]
    """
    view = rooted_view(tree, root)
    last = last_below(view)
    leaf = (last == np.arange(len(last))).astype(np.int64)
    upto = np.cumsum(leaf)
    row = 0.5 * ((upto - leaf) + (upto[last] - 1))
    return np.column_stack([path_sums(view.up, view.length), 0.0 - row])[view.position]
