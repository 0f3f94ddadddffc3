"""Reading and writing of files, with one module per format.

Importing this package does not import the modules of the formats.
"""

from typing import TYPE_CHECKING

from .._core.lazy import attach

# The module of each public name. No module has the name of a function, because it would hide
# the function.
_HOMES = {
    "DATA_FORMATS": "reading",
    "TREE_FORMATS": "tree_files",
    "read": "reading",
    "read_placements": "placement_files",
    "read_tree": "tree_files",
    "read_trees": "tree_files",
    "write_distances": "writing",
    "write_placements": "placement_files",
    "write_tree": "tree_files",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from .placement_files import read_placements as read_placements
    from .placement_files import write_placements as write_placements
    from .reading import DATA_FORMATS as DATA_FORMATS
    from .reading import read as read
    from .tree_files import TREE_FORMATS as TREE_FORMATS
    from .tree_files import read_tree as read_tree
    from .tree_files import read_trees as read_trees
    from .tree_files import write_tree as write_tree
    from .writing import write_distances as write_distances
else:
    __getattr__, __dir__ = attach(__name__, _HOMES)
