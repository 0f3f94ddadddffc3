"""Estimators for scikit-learn: `from treerep.sklearn import TreeClustering, TreeRep, HyperbolicEmbedding`.

Importing this module does not import scikit-learn. The estimators do, when they are first used.
"""

from typing import TYPE_CHECKING

from .common.lazy import attach

_HOMES = {
    "HyperbolicEmbedding": "adapters.sklearn.hyperbolic",
    "NeighborJoining": "adapters.sklearn.trees",
    "TreeClustering": "adapters.sklearn.trees",
    "TreeRep": "adapters.sklearn.trees",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from .adapters.sklearn.hyperbolic import HyperbolicEmbedding as HyperbolicEmbedding
    from .adapters.sklearn.trees import NeighborJoining as NeighborJoining
    from .adapters.sklearn.trees import TreeClustering as TreeClustering
    from .adapters.sklearn.trees import TreeRep as TreeRep
else:
    __getattr__, __dir__ = attach(__name__, _HOMES)
