"""Room `datasets`: real data sets and generators."""

from .cells import Cells, branching_cells
from .folder import DataSet, load
from .hyperbolic import hyperbolic_points
from .shipped import sarich
from .trees import random_tree, random_tree_metric

__all__ = [
    "Cells",
    "DataSet",
    "branching_cells",
    "hyperbolic_points",
    "load",
    "random_tree",
    "random_tree_metric",
    "sarich",
]
