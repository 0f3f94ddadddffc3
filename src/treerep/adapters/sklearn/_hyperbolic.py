"""`HyperbolicEmbedding`: embed samples in hyperbolic space."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..._core.checks import check_choice
from ..._core.typing import DeviceLike
from ...embedding.embed import embed
from ...embedding.embedding import Embedding
from ...fitting.fit import fit
from ...fitting.methods import TRIALS
from ...metric.base import Metric
from ...refinement.refine import refine
from ...tree.tree import Tree
from ._shared import MetricEstimator, RandomState

METHODS = ("sarkar", "hmds", "pt")
MODELS = ("poincare", "klein", "lorentz")
# Default radius of the tree in hyperbolic space. float64 coordinates still separate points
# there.
_RADIUS = 10.0


class HyperbolicEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MetricEstimator):
    """Embed samples in hyperbolic space, by a tree or directly.

    Parameters
    ----------
    dim : int
        Dimension of the hyperbolic space.
    method : "sarkar", "hmds" or "pt"
        "sarkar" fits a tree and embeds the tree. "hmds" and "pt" embed the distances; "pt"
        needs torch. See `treerep.embed`.
    model : "poincare", "klein" or "lorentz"
        Coordinates of `embedding_`: in the Poincaré ball, in the Klein ball, or on the
        hyperboloid (dim + 1 coordinates).
    metric : str
        "euclidean", "manhattan", "cosine", ... (see `PointMetric`), or "precomputed" for
        distances.
    scale : float or None
        Hyperbolic length of one unit of the data. If None, "sarkar" sets the radius of the tree
        to 10, "hmds" finds the best scale, and "pt" learns it.
    trials, refine
        (`method="sarkar"` only) As in `TreeRep`.
    device : str, torch.device or None
        (`method="pt"` only) The torch device. None is the CPU; "cuda" is a GPU.
    random_state : int, RandomState or None
        Seed of the random choices.
    n_jobs : int or None
        Number of threads that fit the tree, as in scikit-learn: None is 1, and -1 uses all
        cores.

    Attributes
    ----------
    embedding_ : (n, n_coordinates) array
        Coordinates of the samples.
    hyperbolic_ : Embedding
        The embedding as a metric. With "sarkar", it has all nodes of the tree.
    tree_ : Tree
        (`method="sarkar"` only) The fitted tree.
    distortion_ : float
        Average distortion of the embedding, from 256 sampled rows above 2,000 samples.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    treerep.embed : Embed a tree or a metric, with more options.
    Embedding : The embedding as a metric.
    sklearn.TreeRep : Cluster by a tree.

    Notes
    -----
    Like scikit-learn's MDS and TSNE, the estimator has no method `transform`. Place new points
    in `tree_` by `treerep.place` and embed the result.

    Examples
    --------
    >>> HyperbolicEmbedding(dim=2, random_state=0).fit_transform([[0.0], [1.0], [10.0], [11.0]]).shape
    (4, 2)
    """

    def __init__(
        self,
        dim: int = 2,
        *,
        method: str = "sarkar",
        model: str = "poincare",
        metric: str = "euclidean",
        scale: float | None = None,
        trials: int = TRIALS,
        refine: bool = False,
        device: DeviceLike = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.dim = dim
        self.method = method
        self.model = model
        self.metric = metric
        self.scale = scale
        self.trials = trials
        self.refine = refine
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Embed X.

        Parameters
        ----------
        X : (n, k) array of points, or (n, n) array of distances if metric="precomputed"
            The samples.
        y : ignored
            Present for compatibility with scikit-learn.
        """
        check_choice("method", self.method, METHODS)
        check_choice("model", self.model, MODELS)
        metric = self._as_metric(X)
        seed = self._seed()
        if self.method == "sarkar":
            self.hyperbolic_: Embedding = self._embedded_tree(metric, seed)
        else:
            self.__dict__.pop("tree_", None)  # from an earlier fit with another method
            self.hyperbolic_ = embed(
                metric,
                method=self.method,
                dim=self.dim,
                scale=self.scale,
                device=self.device,
                rng=seed,
            )
        places = self.hyperbolic_.coordinates(self.model)
        self.embedding_: NDArray[np.float64] = places[: len(metric)]
        self._n_features_out = self.embedding_.shape[1]
        self.distortion_ = self._distortion(self.hyperbolic_, metric)
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> NDArray[np.float64]:
        """Embed X and return the coordinates of the samples."""
        return self.fit(X, y).embedding_

    def _embedded_tree(self, metric: Metric, seed: int) -> Embedding:
        tree = fit(metric, trials=self.trials, rng=seed, n_jobs=self._jobs())
        if self.refine and len(tree) > 1:
            tree = refine(tree, metric, rng=seed, n_jobs=self._jobs())
        self.tree_: Tree = tree
        scale = _default_scale(tree) if self.scale is None else self.scale
        return embed(tree, dim=self.dim, scale=scale, device=self.device)


def _default_scale(tree: Tree) -> float:
    """Return the scale at which half of the longest path of the tree has length _RADIUS."""
    end = int(np.argmax(tree.rooted().depth))
    longest = float(tree.rooted(end).depth.max())
    return 2 * _RADIUS / longest if longest > 0 else 1.0
