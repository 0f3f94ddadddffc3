"""Estimators that fit a tree, cut it into clusters and place new points in it."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._core.checks import positive_number
from ...fitting.fit import fit
from ...fitting.methods import TRIALS
from ...metric.base import Metric
from ...placement._locate import Places, distances_from
from ...placement.place import find_places
from ...refinement.refine import refine
from ...tree.operations.clusters import cluster_centers, cut_clusters
from ...tree.tree import Tree
from ._shared import MetricEstimator, RandomState


class TreeEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, MetricEstimator):
    """Base class: fit a tree to the samples and cut it into clusters."""

    n_clusters: int
    refine: bool

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Fit a tree to X and cut it into clusters.

        Parameters
        ----------
        X : (n, k) array of points, or (n, n) array of distances if metric="precomputed"
            The samples.
        y : ignored
            Present for compatibility with scikit-learn.
        """
        clusters = positive_number(self.n_clusters, "n_clusters")
        metric = self._as_metric(X)
        if len(metric) < clusters:
            raise ValueError(f"n_samples={len(metric)} should be >= n_clusters={clusters}")
        seed = self._seed()
        tree = self._fitted_tree(metric, seed)
        if self.refine and len(tree) > 1:
            tree = refine(tree, metric, rng=seed, n_jobs=self._jobs())
        self.tree_: Tree = tree
        self.distortion_ = self._distortion(self.tree_, metric)
        # Distances from new points to these points are computed, unless they are precomputed.
        self._points = None if self.metric == "precomputed" else metric
        self._node_labels = cut_clusters(self.tree_._view, len(self.tree_), clusters)
        self.labels_: NDArray[np.int64] = self._node_labels[: len(self.tree_)]
        self.center_nodes_: NDArray[np.int64] = cluster_centers(
            self.tree_._view, len(self.tree_), self._node_labels
        )
        self._n_features_out = clusters
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Place new points in the tree and return their clusters.

        Parameters
        ----------
        X : (m, k) array of points, or (m, n) array of distances if metric="precomputed"
            The new points, or their distances to the samples of `fit`.
        """
        places = self._places(X)
        rooted = self.tree_.rooted()
        # A position is on the edge above a node and may be closer to the other end.
        nearer_parent = places.above > rooted.length[places.node] / 2
        nearest = np.where(nearer_parent, rooted.parent[places.node], places.node)
        return self._node_labels[nearest]

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the tree distances from points to the center of each cluster.

        The center is the node with the smallest sum of distances to the points of the cluster.

        Parameters
        ----------
        X : (m, k) array of points, or (m, n) array of distances if metric="precomputed"
            The points, or their distances to the samples of `fit`.
        """
        return distances_from(self.tree_, self._places(X), self.center_nodes_)

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002
        """Return minus the mean tree distance from points to the nearest cluster center."""
        return -float(self.transform(X).min(axis=1).mean())

    def _places(self, X: ArrayLike) -> Places:
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        return find_places(self.tree_, rows, data=self._points, tol=self._tolerance(), n_jobs=self._jobs())

    def _tolerance(self) -> float | str:
        return "auto"

    def _fitted_tree(self, metric: Metric, seed: int) -> Tree:
        raise NotImplementedError


class TreeClustering(TreeEstimator):
    """Cluster samples by cutting the tree of `treerep.fit`, with the default method.

    It has the methods of `TreeRep`.

    Parameters
    ----------
    n_clusters : int
        Number of clusters. The tree is cut by Ward's criterion (see `Tree.cut`).
    metric : str
        "euclidean", "manhattan", "cosine", ... (see `PointMetric`), or "precomputed" for
        distances.
    balance : float from 0 to 1, optional
        Weight of near distances, as in `treerep.fit`.
    refine : bool
        Whether to improve the tree by `treerep.refine`, which takes more time.
    random_state : int, RandomState or None
        Seed of the random choices.
    n_jobs : int or None
        Number of threads, as in scikit-learn: None is 1, and -1 uses all cores.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree.
    labels_ : (n,) array
        Cluster of each sample, numbered by first appearance.
    center_nodes_ : (n_clusters,) array
        Tree node with the smallest sum of distances to the samples of each cluster.
    distortion_ : float
        Average distortion of the tree, from 256 sampled rows above 2,000 samples.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    sklearn.TreeRep : Cluster by the tree of TreeRep.
    sklearn.NeighborJoining : Cluster by the tree of neighbor joining.
    Tree.cut : Cut a tree into clusters.

    Examples
    --------
    >>> TreeClustering(n_clusters=2, random_state=0).fit_predict([[0.0], [10.0], [1.0], [11.0]])
    array([0, 1, 0, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        metric: str = "euclidean",
        balance: float | None = None,
        refine: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.balance = balance
        self.refine = refine
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fitted_tree(self, metric: Metric, seed: int) -> Tree:
        return fit(metric, balance=self.balance, rng=seed, n_jobs=self._jobs())


class TreeRep(TreeEstimator):
    """Cluster samples by cutting the tree of TreeRep (Sonthalia and Gilbert 2020).

    It also has scikit-learn's ``fit_predict`` and ``fit_transform``.

    Parameters
    ----------
    n_clusters : int
        Number of clusters. The tree is cut by Ward's criterion (see `Tree.cut`).
    metric : str
        "euclidean", "manhattan", "cosine", ... (see `PointMetric`), or "precomputed" for
        distances.
    trials : int
        Number of trees to fit. The best is kept.
    refine : bool
        Whether to improve the tree by `treerep.refine`, which takes more time.
    tol, pivot
        As in `treerep.fit`.
    random_state : int, RandomState or None
        Seed of the random choices.
    n_jobs : int or None
        Number of threads, as in scikit-learn: None is 1, and -1 uses all cores.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree.
    labels_ : (n,) array
        Cluster of each sample, numbered by first appearance.
    center_nodes_ : (n_clusters,) array
        Tree node with the smallest sum of distances to the samples of each cluster.
    distortion_ : float
        Average distortion of the tree, from 256 sampled rows above 2,000 samples.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    sklearn.TreeClustering : Cluster by the tree of the default method.
    sklearn.NeighborJoining : Cluster by the tree of neighbor joining.
    treerep.fit : Fit a tree.
    Tree.cut : Cut a tree into clusters.

    Examples
    --------
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> model = TreeRep(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.predict([[2.0], [9.5]])
    array([0, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        metric: str = "euclidean",
        trials: int = TRIALS,
        refine: bool = False,
        tol: float | str = "auto",
        pivot: str = "random",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.trials = trials
        self.refine = refine
        self.tol = tol
        self.pivot = pivot
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _tolerance(self) -> float | str:
        return self.tol

    def _fitted_tree(self, metric: Metric, seed: int) -> Tree:
        options: Any = {"tol": self.tol, "pivot": self.pivot, "trials": self.trials}
        return fit(metric, method="treerep", rng=seed, n_jobs=self._jobs(), **options)


class NeighborJoining(TreeEstimator):
    """Cluster samples by cutting the tree of neighbor joining (Saitou and Nei 1987).

    It needs O(n^2) memory. It has the methods of `TreeRep`.

    Parameters
    ----------
    n_clusters : int
        Number of clusters. The tree is cut by Ward's criterion (see `Tree.cut`).
    metric : str
        "euclidean", "manhattan", "cosine", ... (see `PointMetric`), or "precomputed" for
        distances.
    refine : bool
        Whether to improve the tree by `treerep.refine`, which takes more time.
    n_jobs : int or None
        Number of threads, as in scikit-learn: None is 1, and -1 uses all cores.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree.
    labels_ : (n,) array
        Cluster of each sample, numbered by first appearance.
    center_nodes_ : (n_clusters,) array
        Tree node with the smallest sum of distances to the samples of each cluster.
    distortion_ : float
        Average distortion of the tree, from 256 sampled rows above 2,000 samples.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    sklearn.TreeClustering : Cluster by the tree of the default method.
    sklearn.TreeRep : Cluster by the tree of TreeRep.
    treerep.fit : Fit a tree.

    Examples
    --------
    >>> NeighborJoining(n_clusters=2).fit_predict([[0.0], [10.0], [1.0], [11.0]])
    array([0, 1, 0, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        metric: str = "euclidean",
        refine: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.refine = refine
        self.n_jobs = n_jobs

    def _seed(self) -> int:
        return 0  # neighbor joining is deterministic, and refinement always gets the same seed

    def _fitted_tree(self, metric: Metric, seed: int) -> Tree:  # noqa: ARG002
        return fit(metric, method="neighbor_joining", n_jobs=self._jobs())
