"""Scores of trees: neighbors that a tree keeps, and how well it separates classes and clusters.

>>> import treerep as tr
>>> tree = tr.Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0, 1.0, 1.0, 1.0, 1.0])
>>> tr.scores.dendrogram_purity(tree, ["mouse", "mouse", "bird", "bird"])
1 (all 2 pairs in 2 classes)

Scores of distances are functions of `treerep`, such as `treerep.average_distortion`.
"""

from typing import TYPE_CHECKING

from .._core.lazy import attach

# The module of each public name. No module has the name of one of these functions, because it
# would hide the function.
_HOMES = {
    "dasgupta_cost": "dasgupta",
    "dendrogram_purity": "purity",
    "neighbors_kept": "neighbors",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from .dasgupta import dasgupta_cost as dasgupta_cost
    from .neighbors import neighbors_kept as neighbors_kept
    from .purity import dendrogram_purity as dendrogram_purity
else:
    __getattr__, __dir__ = attach(__name__, _HOMES)
