"""Tools for single cells in scverse's way: `treerep.tl.tree(adata)` and what can be made of the tree."""

from .adapters.scverse._storage import get_tree
from .adapters.scverse.tools import embed, lineages, pseudotime, tree

__all__ = ["embed", "get_tree", "lineages", "pseudotime", "tree"]
