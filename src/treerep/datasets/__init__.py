"""Data sets and generators."""

from ._fetching import fetch
from ._published import paper_points
from ._shipped import sarich
from .cells import Cells, branching_cells
from .hyperbolic_space import hyperbolic_points
from .load import DataSet, load
from .random_trees import random_tree, random_tree_metric
from .sequences import Alignment, random_alignment
from .wordnet import wordnet_nouns

__all__ = [
    "Alignment",
    "Cells",
    "DataSet",
    "branching_cells",
    "fetch",
    "hyperbolic_points",
    "load",
    "paper_points",
    "random_alignment",
    "random_tree",
    "random_tree_metric",
    "sarich",
    "wordnet_nouns",
]
