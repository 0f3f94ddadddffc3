"""Room `datasets`: real data sets and generators."""

from .cells import Cells, branching_cells
from .fetching import fetch
from .hyperbolic import hyperbolic_points
from .load import DataSet, load
from .published import paper_points
from .shipped import sarich
from .trees import random_tree, random_tree_metric
from .wordnet import wordnet_nouns

__all__ = [
    "Cells",
    "DataSet",
    "branching_cells",
    "fetch",
    "hyperbolic_points",
    "load",
    "paper_points",
    "random_tree",
    "random_tree_metric",
    "sarich",
    "wordnet_nouns",
]
