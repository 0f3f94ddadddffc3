"""Files in and out, one module per format. Importing this package imports none of those modules."""

from typing import TYPE_CHECKING

from ..common.lazy import attach

# The module of each public name. No module has the name of a function, which it would hide.
_HOMES = {
    "DATA_FORMATS": "reading",
    "TREE_FORMATS": "trees",
    "read": "reading",
    "read_tree": "trees",
    "write_distances": "writing",
    "write_tree": "trees",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from .reading import DATA_FORMATS as DATA_FORMATS
    from .reading import read as read
    from .trees import TREE_FORMATS as TREE_FORMATS
    from .trees import read_tree as read_tree
    from .trees import write_tree as write_tree
    from .writing import write_distances as write_distances
else:
    __getattr__, __dir__ = attach(__name__, _HOMES)
