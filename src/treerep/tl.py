"""Tools for single cells that follow the conventions of scverse: `treerep.tl.tree(adata)`."""

from .adapters.scverse._storage import get_tree
from .adapters.scverse.groups import groups
from .adapters.scverse.lineages import lineages
from .adapters.scverse.pseudotime import pseudotime
from .adapters.scverse.tools import embed, set_tree, tree

__all__ = [
    "embed",
    "get_tree",
    "groups",
    "lineages",
    "pseudotime",
    "set_tree",
    "tree",
]
