"""The tree behind your distances: fast, exact when there is one, as close as possible when there is not.

>>> import treerep as tr
>>> tree = tr.fit(tr.datasets.sarich(), trials=20)
>>> len(tree)
8

Every name below is loaded when it is first used (SPEC 1), so `import treerep` costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import pl as pl
    from . import tl as tl
    from .drawing.draw import draw as draw
    from .drawing.page import page as page
    from .embedding.embed import embed as embed
    from .embedding.embedding import Embedding as Embedding
    from .fitting.fit import fit as fit
    from .fitting.place import place as place
    from .metric.base import Metric as Metric
    from .metric.base import MetricError as MetricError
    from .metric.convert import as_metric as as_metric
    from .metric.graph import GraphMetric as GraphMetric
    from .metric.matrix import MatrixMetric as MatrixMetric
    from .metric.points import PointMetric as PointMetric
    from .refinement.refine import refine as refine
    from .scoring.distortion import average_distortion as average_distortion
    from .scoring.distortion import distance_error as distance_error
    from .scoring.distortion import worst_distortion as worst_distortion
    from .scoring.hyperbolicity import hyperbolicity as hyperbolicity
    from .scoring.precision import mean_average_precision as mean_average_precision
    from .tree.tree import Tree as Tree

__version__ = "0.1.0"

# Where each public name lives. The imports above say the same to type checkers; a test compares the two.
_HOMES = {
    "Embedding": "embedding.embedding",
    "GraphMetric": "metric.graph",
    "MatrixMetric": "metric.matrix",
    "Metric": "metric.base",
    "MetricError": "metric.base",
    "PointMetric": "metric.points",
    "Tree": "tree.tree",
    "as_metric": "metric.convert",
    "average_distortion": "scoring.distortion",
    "distance_error": "scoring.distortion",
    "draw": "drawing.draw",
    "embed": "embedding.embed",
    "fit": "fitting.fit",
    "hyperbolicity": "scoring.hyperbolicity",
    "mean_average_precision": "scoring.precision",
    "page": "drawing.page",
    "place": "fitting.place",
    "refine": "refinement.refine",
    "worst_distortion": "scoring.distortion",
}

# Modules that are public as they are.
_MODULES = {"datasets", "pl", "tl"}

__all__ = [*_HOMES, "__version__", "datasets", "pl", "tl"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Whoever comes in by this door may bring objects of other libraries, or names of files.
    importlib.import_module(".adapters", __name__).register()
    importlib.import_module(".formats", __name__).register()
    importlib.import_module(".scaling", __name__).register()
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
