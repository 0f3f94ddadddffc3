"""Estimators for scikit-learn: `from treerep.sklearn import TreeRep, NeighborJoining, HyperbolicEmbedding`."""

from .common.extras import require

require("sklearn", "sklearn")

from .adapters.sklearn.hyperbolic import HyperbolicEmbedding  # noqa: E402
from .adapters.sklearn.trees import NeighborJoining, TreeRep  # noqa: E402

__all__ = ["HyperbolicEmbedding", "NeighborJoining", "TreeRep"]
