"""The rectangular layout of a rooted tree: one row per leaf."""

import numpy as np

from ...tree.tree import Tree
from .._arrays import FloatArray
from ._passes import last_below, path_sums, rooted_view


def rectangular(tree: Tree, *, root: int | str | None = None) -> FloatArray:
    """Return positions (N, 2): x is the distance from the root, and -y is the row.

    An internal node is halfway between its first and its last leaf. The default root is the
    center of the tree, which is near the midpoint root used in phylogenetics. Children are
    ordered by their smallest id.

    >>> rectangular(Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]), root=2).tolist()
    [[1.0, 0.0], [2.0, -1.0], [0.0, -0.5]]
    """
    view = rooted_view(tree, tree.root if root is None else root)
    last = last_below(view)
    leaf = (last == np.arange(len(last))).astype(np.int64)
    leaves_until = np.cumsum(leaf)
    first_row = leaves_until - leaf
    last_row = leaves_until[last] - 1
    row = 0.5 * (first_row + last_row)
    return np.column_stack([path_sums(view.up, view.length), 0.0 - row])[view.position]
