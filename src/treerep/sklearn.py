"""Estimators for scikit-learn: `from treerep.sklearn import TreeClustering`.

Importing this module does not import scikit-learn. Using an estimator does.
"""

from typing import TYPE_CHECKING

from ._core.lazy import attach

_HOMES = {
    "HyperbolicEmbedding": "adapters.sklearn._hyperbolic",
    "NeighborJoining": "adapters.sklearn._clustering",
    "TreeClustering": "adapters.sklearn._clustering",
    "TreeRep": "adapters.sklearn._clustering",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from .adapters.sklearn._clustering import NeighborJoining as NeighborJoining
    from .adapters.sklearn._clustering import TreeClustering as TreeClustering
    from .adapters.sklearn._clustering import TreeRep as TreeRep
    from .adapters.sklearn._hyperbolic import HyperbolicEmbedding as HyperbolicEmbedding
else:
    __getattr__, __dir__ = attach(__name__, _HOMES)
