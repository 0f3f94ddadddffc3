"""Draw small trees as lines of text on a terminal."""

import numpy as np
from rich.text import Text
from rich.tree import Tree as Lines

from .._core.io.printing import printable
from ..tree.tree import Tree


def text_tree(tree: Tree, root: int) -> Lines:
    """Draw the tree below `root`, each node with the length of the edge above it.

    For trees of a few dozen points. O(N) time.
    """
    view = tree.rooted(root)
    lines = {root: Lines(_label(tree, root), guide_style="dim")}
    for node in view.order[1:].tolist():
        label = _label(tree, node)
        label.append(f"  {view.length[node]:.4g}", style="cyan")
        lines[node] = lines[int(view.parent[node])].add(label)
    return lines[root]


def middle_node(tree: Tree) -> int:
    """Return the node nearest to the middle of the longest path, as a root.

    O(N) time: the point farthest from any point is an end of a longest path.
    """
    points = np.arange(len(tree))
    end = int(tree.block([0], points)[0].argmax())
    from_end = tree.block([end], points)[0]
    path = np.asarray(tree.path(end, int(from_end.argmax())))
    along = tree.block([end], path)[0]
    return int(path[np.abs(along - from_end.max() / 2).argmin()])


def _label(tree: Tree, node: int) -> Text:
    if node >= len(tree):
        return Text("o", style="dim")
    return Text(printable(tree.labels[node]) if tree.labels else str(node), style="bold")
