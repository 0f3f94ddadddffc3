"""Reader and writer for trees in Newick: see `Tree.newick` and `Tree.from_newick`."""

from ..._core.memory import check_memory
from ...tree.tree import Tree
from .._source import Source

_NODE_BYTES = 300  # of memory, per node of the text


def read(
    source: Source, *, default_length: float | None = None, inner_labels: bool = True
) -> Tree:
    """Read the single tree of a Newick file."""
    return Tree.from_newick(
        tree_text(source), default_length=default_length, inner_labels=inner_labels
    )


def tree_text(source: Source) -> str:
    """Return the text of a file, if its nodes fit into memory."""
    text = source.exact_text()
    nodes = text.count("(") + text.count(",") + 1
    check_memory(_NODE_BYTES * nodes, f"a tree of up to {nodes:,} nodes", "use a smaller tree")
    return text


def write(tree: Tree, *, root: int | str | None = None) -> str:
    """Return the text of a Newick file."""
    return tree.newick(root) + "\n"
