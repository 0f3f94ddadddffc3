"""Reader and writer for trees in Newick: see `Tree.newick` and `Tree.from_newick`."""

from collections.abc import Sequence
from typing import Any

from ..._core.memory import check_memory
from ...tree.exchange.newick_text import split_trees
from ...tree.tree import Tree
from .._source import Source

_NODE_BYTES = 300  # of memory, per node of the text


def read(source: Source, **options: Any) -> Tree:
    """Read the only tree of a Newick file, with the options of `Tree.from_newick`."""
    return Tree.from_newick(tree_text(source), **options)


def read_all(source: Source, **options: Any) -> list[Tree]:
    """Read all trees of a Newick file."""
    return [Tree.from_newick(text, **options) for text in split_trees(tree_text(source))]


def tree_text(source: Source) -> str:
    """Return the text of a file, if its nodes fit in memory."""
    text = source.exact_text()
    nodes = text.count("(") + text.count(",") + 1
    check_memory(_NODE_BYTES * nodes, f"trees of up to {nodes:,} nodes", "use a smaller file")
    return text


def write(tree: Tree, *, root: int | str | None = None) -> str:
    """Return the text of a Newick file."""
    return write_all([tree], root=root)


def write_all(trees: Sequence[Tree], *, root: int | str | None = None) -> str:
    """Return the text of a Newick file, one line per tree."""
    return "".join(f"{tree.newick(root, leaves=False)}\n" for tree in trees)
