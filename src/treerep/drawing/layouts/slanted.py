"""The slanted layout: the rows of the rectangular layout, with straight edges."""

from ...tree.tree import Tree
from .._arrays import FloatArray
from .rectangular import rectangular


def slanted(tree: Tree, *, root: int | str | None = None) -> FloatArray:
    """Return positions (N, 2), which are those of `rectangular`.

    >>> slanted(Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]), root=2).tolist()
    [[1.0, 0.0], [2.0, -1.0], [0.0, -0.5]]
    """
    return rectangular(tree, root=root)
