"""A tree as lines of text, for small trees on a terminal."""

import numpy as np
from rich.text import Text
from rich.tree import Tree as Lines

from .._core.io.printing import printable
from ..tree.tree import Tree


def text_tree(tree: Tree, root: int) -> Lines:
    """Draw the tree from `root` downwards, each node with the length of the edge above it.

    For trees of a few dozen points; O(N) time.
    """
    view = tree.rooted(root)
    lines = {root: Lines(_name(tree, root), guide_style="dim")}
    for node in view.order[1:].tolist():
        label = _name(tree, node)
        label.append(f"  {view.length[node]:.4g}", style="cyan")
        lines[node] = lines[int(view.parent[node])].add(label)
    return lines[root]


def middle_node(tree: Tree) -> int:
    """Return the node nearest to the middle of the longest path: a sensible root where none is known.

    O(N) time: the point farthest from any point is an end of a longest path.
    """
    points = np.arange(len(tree))
    one = int(tree.block([0], points)[0].argmax())
    from_one = tree.block([one], points)[0]
    path = np.asarray(tree.path(one, int(from_one.argmax())))
    along = tree.block([one], path)[0]
    return int(path[np.abs(along - from_one.max() / 2).argmin()])


def _name(tree: Tree, node: int) -> Text:
    if node >= len(tree):
        return Text("o", style="dim")
    return Text(printable(tree.labels[node]) if tree.labels else str(node), style="bold")
