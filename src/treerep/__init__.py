"""Fit trees to distances, exactly if the distances come from a tree.

>>> import treerep as tr
>>> tree = tr.fit(tr.datasets.sarich(), trials=20)
>>> len(tree)
8

Names are imported on first use (SPEC 1), so `import treerep` is fast.
"""

from typing import TYPE_CHECKING

from ._core.lazy import attach

__version__ = "0.1.0"

# The module of each public name. The imports below repeat the table for type checkers; a test
# compares the two.
_HOMES = {
    "Embedding": "embedding.embedding",
    "GraphMetric": "metric.graph",
    "Hyperbolicity": "treelikeness.result",
    "LowerBound": "scores.lower_bounds.result",
    "MatrixMetric": "metric.matrix",
    "Metric": "metric.base",
    "MetricError": "metric.base",
    "Page": "drawing.page.write",
    "Placements": "placement.placements",
    "PointMetric": "metric.points",
    "ProductEmbedding": "embedding.product",
    "CharacterMetric": "metric.characters",
    "RefinedTree": "refinement.report",
    "Refinement": "refinement.report",
    "Score": "scores.score",
    "SequenceMetric": "metric.sequences.metric",
    "Tree": "tree.tree",
    "TreeEmbedding": "embedding.tree_embedding",
    "TreeSum": "tree.tree_sum",
    "as_metric": "metric.as_metric",
    "average_distortion": "scores.distortion",
    "bootstrap_trees": "fitting.bootstrap",
    "consensus": "tree.comparison.consensus",
    "distance_error": "scores.distortion",
    "draw": "drawing.draw",
    "embed": "embedding.embed",
    "fit": "fitting.fit",
    "hyperbolicity": "treelikeness.hyperbolicity",
    "lower_bound": "scores.lower_bound",
    "mean_average_precision": "scores.mean_average_precision",
    "page": "drawing.page.write",
    "place": "placement.place",
    "placements": "placement.placements",
    "refine": "refinement.refine",
    "worst_distortion": "scores.distortion",
}

_MODULES = ("citations", "datasets", "formats", "methods", "pl", "scores", "sklearn", "tl")

__all__ = [*_HOMES, *_MODULES, "__version__"]

if TYPE_CHECKING:
    from . import citations as citations
    from . import datasets as datasets
    from . import formats as formats
    from . import methods as methods
    from . import pl as pl
    from . import scores as scores
    from . import sklearn as sklearn
    from . import tl as tl
    from .drawing.draw import draw as draw
    from .drawing.page.write import Page as Page
    from .drawing.page.write import page as page
    from .embedding.embed import embed as embed
    from .embedding.embedding import Embedding as Embedding
    from .embedding.product import ProductEmbedding as ProductEmbedding
    from .embedding.tree_embedding import TreeEmbedding as TreeEmbedding
    from .fitting.bootstrap import bootstrap_trees as bootstrap_trees
    from .fitting.fit import fit as fit
    from .metric.as_metric import as_metric as as_metric
    from .metric.base import Metric as Metric
    from .metric.base import MetricError as MetricError
    from .metric.characters import CharacterMetric as CharacterMetric
    from .metric.graph import GraphMetric as GraphMetric
    from .metric.matrix import MatrixMetric as MatrixMetric
    from .metric.points import PointMetric as PointMetric
    from .metric.sequences.metric import SequenceMetric as SequenceMetric
    from .placement.place import place as place
    from .placement.placements import Placements as Placements
    from .placement.placements import placements as placements
    from .refinement.refine import refine as refine
    from .refinement.report import RefinedTree as RefinedTree
    from .refinement.report import Refinement as Refinement
    from .scores.distortion import average_distortion as average_distortion
    from .scores.distortion import distance_error as distance_error
    from .scores.distortion import worst_distortion as worst_distortion
    from .scores.lower_bound import lower_bound as lower_bound
    from .scores.lower_bounds.result import LowerBound as LowerBound
    from .scores.mean_average_precision import mean_average_precision as mean_average_precision
    from .scores.score import Score as Score
    from .tree.comparison.consensus import consensus as consensus
    from .tree.tree import Tree as Tree
    from .tree.tree_sum import TreeSum as TreeSum
    from .treelikeness.hyperbolicity import hyperbolicity as hyperbolicity
    from .treelikeness.result import Hyperbolicity as Hyperbolicity
else:  # hidden from type checkers, which would otherwise accept every name
    __getattr__, __dir__ = attach(__name__, _HOMES, _MODULES)
