"""Newick: see `Tree.newick` and `Tree.from_newick`."""

from ..tree.tree import Tree
from .source import Source


def read(source: Source, *, default_length: float | None = None, inner_labels: bool = True) -> Tree:
    """Read the one tree of a Newick file."""
    return Tree.from_newick(source.exact_text(), default_length=default_length, inner_labels=inner_labels)


def write(tree: Tree, *, root: int | str | None = None) -> str:
    """Return the text of a Newick file."""
    return tree.newick(root) + "\n"
