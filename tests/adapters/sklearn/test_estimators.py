"""The estimators keep scikit-learn's own rules, and are what `fit`, `cut`, `place` and `embed` make of the data."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import treerep as tr
from tests.tree.strategies import naive_distances, trees
from treerep.sklearn import HyperbolicEmbedding, NeighborJoining, TreeClustering, TreeRep
from treerep.tree.operations.clusters import cluster_centers, cut_clusters

ESTIMATORS = [
    TreeClustering(),
    TreeRep(),
    TreeRep(metric="precomputed"),
    NeighborJoining(),
    HyperbolicEmbedding(),
]


def expected_to_fail(estimator: object) -> dict[str, str]:
    if isinstance(estimator, TreeRep) and estimator.metric == "precomputed":
        return {"check_clustering": "it passes coordinates where distances are asked for"}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_scikit_learns_own_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def blobs(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(n, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 0]], cluster_std=0.5, random_state=seed)


def test_what_is_fitted_is_what_the_functions_make() -> None:
    X, _ = blobs()
    model = TreeRep(3, trials=4, random_state=7, tol=0.01, pivot="near").fit(X)
    seed = int(np.random.RandomState(7).randint(np.iinfo(np.int32).max))
    tree = tr.fit(X, metric="euclidean", trials=4, rng=seed, tol=0.01, pivot="near", method="treerep")
    assert model.tree_ == tree
    assert_array_equal(model.labels_, tree.cut(3))
    assert model.distortion_ == tr.average_distortion(tree, tr.PointMetric(X))
    near = TreeClustering(3, balance=1.0, random_state=7).fit(X)
    assert near.tree_ == tr.fit(X, metric="euclidean", balance=1.0, rng=seed)
    joined = NeighborJoining(3, metric="manhattan").fit(X)
    assert joined.tree_ == tr.fit(X, metric="manhattan", method="neighbor_joining")
    refined = NeighborJoining(3, refine=True).fit(X)
    assert refined.distortion_ < NeighborJoining(3).fit(X).distortion_


@pytest.mark.parametrize(
    "model",
    [TreeClustering(3, random_state=0), TreeRep(3, random_state=0), NeighborJoining(3)],
    ids=lambda model: type(model).__name__,
)
def test_new_points_join_their_clusters(
    model: TreeClustering | TreeRep | NeighborJoining,
) -> None:
    X, y = blobs(240)
    model = clone(model).fit(X[:200])
    assert adjusted_rand_score(model.labels_, y[:200]) == 1.0
    both = np.concatenate([model.labels_, model.predict(X[200:])])
    assert adjusted_rand_score(both, y) == 1.0
    to_centers = model.transform(X[200:])
    assert to_centers.shape == (40, 3)
    assert_array_equal(to_centers.argmin(axis=1), model.predict(X[200:]))
    assert model.score(X[200:]) == pytest.approx(-to_centers.min(axis=1).mean())
    assert len(model.get_feature_names_out()) == 3


def test_precomputed_distances_are_the_same() -> None:
    X, _ = blobs(150)
    d = tr.PointMetric(X).block(range(150), range(150))
    points, distances = (
        TreeRep(4, random_state=3).fit(X[:100]),
        TreeRep(4, metric="precomputed", random_state=3),
    )
    distances.fit(d[:100, :100])
    assert distances.n_features_in_ == 100
    assert_array_equal(points.labels_, distances.labels_)
    assert_array_equal(points.predict(X[100:]), distances.predict(d[100:, :100]))
    assert_allclose(points.transform(X[100:]), distances.transform(d[100:, :100]), rtol=1e-6)
    with pytest.raises(ValueError, match="expecting 100 features"):
        distances.predict(d[100:, :99])
    with pytest.raises(ValueError, match="square"):
        distances.fit(d[:100])


def test_a_tree_metric_is_transformed_exactly() -> None:
    # Points on a line: a tree. Clusters {0, 1, 2} and {10, 11, 12} have their centers at 1 and 11.
    model = TreeRep(2, random_state=0).fit(np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]))
    assert_allclose(model.transform([[1.0], [4.0], [20.0], [-3.5]]), [[0, 10], [3, 7], [19, 9], [4.5, 14.5]])
    assert_array_equal(model.predict([[5.9], [6.1], [30.0]]), [0, 1, 1])


@given(trees(leaves=True), st.integers(1, 4))
@settings(max_examples=60)
def test_centers_have_the_smallest_sum_of_distances(tree: tr.Tree, k: int) -> None:
    k, n = min(k, len(tree)), len(tree)
    clusters = cut_clusters(tree._view, n, k)
    d = naive_distances(tree)
    for c, center in enumerate(cluster_centers(tree._view, n, clusters)):
        sums = d[:, :n][:, clusters[:n] == c].sum(axis=1)
        assert clusters[center] == c
        assert sums[center] == pytest.approx(sums.min())


@pytest.mark.parametrize("estimator", ESTIMATORS[3:], ids=str)
def test_copies_and_pickles(estimator: object) -> None:
    X, _ = blobs(30)
    model = clone(estimator).fit(X)
    again = pickle.loads(pickle.dumps(model))
    if hasattr(model, "predict"):
        assert_array_equal(again.predict(X + 0.1), model.predict(X + 0.1))
    else:
        assert_array_equal(again.embedding_, model.embedding_)


def test_names_of_features_come_and_go() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs(30)[0], columns=["a", "b", "c"])
    model = TreeRep(2, random_state=0).set_output(transform="pandas").fit(frame)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert list(model.transform(frame).columns) == ["treerep0", "treerep1"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["c", "a", "b"]])
    disk = (
        HyperbolicEmbedding(model="lorentz", random_state=0)
        .set_output(transform="pandas")
        .fit_transform(frame)
    )
    assert list(disk.columns) == [f"hyperbolicembedding{k}" for k in range(3)]


def test_what_is_kept_of_the_data() -> None:
    # Points are needed for new ones. Distances are not, and would make pickles of n^2 numbers.
    X, _ = blobs(100)
    model = TreeRep(metric="precomputed").fit(tr.PointMetric(X).block(range(100), range(100)))
    assert len(pickle.dumps(model)) < 100 * 100 * 8 / 2
    embedding = HyperbolicEmbedding(random_state=0).fit(X)
    assert not hasattr(embedding.set_params(method="hmds").fit(X), "tree_")


def test_columns_of_distances_are_the_samples_in_their_order() -> None:
    tree = tr.datasets.random_tree(6, rng=0)
    names = list("abcdef")
    table = pd.DataFrame(tree.distances(), index=names, columns=names)
    model = TreeRep(metric="precomputed", random_state=0).fit(table)
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    with pytest.raises(ValueError, match="same order"):
        model.predict(table[list("fedcba")])
    with pytest.raises(ValueError, match="diagonal|symmetric|point"):
        TreeRep(metric="precomputed").fit(table[list("fedcba")])


def test_random_states_may_be_instances() -> None:
    X, _ = blobs(60)
    first, second = (TreeRep(random_state=np.random.RandomState(5)).fit(X) for _ in range(2))
    assert first.tree_ == second.tree_ == TreeRep(random_state=5).fit(X).tree_


def test_sparse_input_is_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="dense data is required"):
        TreeRep().fit(sparse.csr_matrix(np.eye(4)))


def test_pipelines_and_grids() -> None:
    X, y = blobs(90)
    pipe = make_pipeline(StandardScaler(), TreeRep(random_state=0, trials=3))
    folds = KFold(3, shuffle=True, random_state=0)
    grid = GridSearchCV(
        pipe, {"treerep__n_clusters": [2, 3, 5]}, scoring="adjusted_rand_score", cv=folds
    ).fit(X, y)
    assert grid.best_params_ == {"treerep__n_clusters": 3}
    assert grid.predict(X).shape == (90,)
    own = GridSearchCV(TreeRep(metric="precomputed", random_state=0), {"n_clusters": [1, 3]}, cv=folds)
    own.fit(tr.PointMetric(X).block(range(90), range(90)))  # pairwise: columns are split as well
    assert own.best_params_ == {"n_clusters": 3}


def test_embeddings() -> None:
    X, _ = blobs(60)
    model = HyperbolicEmbedding(dim=3, random_state=0).fit(X)
    assert model.embedding_.shape == (60, 3)
    assert (np.linalg.norm(model.embedding_, axis=1) < 1).all()
    assert model.hyperbolic_.radii.max() == pytest.approx(10, rel=0.2)
    assert model.distortion_ == tr.average_distortion(model.hyperbolic_, tr.PointMetric(X))
    again = tr.Embedding.from_poincare(model.embedding_, scale=model.hyperbolic_.scale)
    i, j = np.triu_indices(60, 1)
    assert_allclose(again.pairs(i, j), model.hyperbolic_.pairs(i, j), rtol=1e-4, atol=1e-6)
    flat = HyperbolicEmbedding(dim=2, method="hmds", model="lorentz").fit_transform(X)
    assert flat.shape == (60, 3)
    assert_allclose(flat[:, 0] ** 2 - (flat[:, 1:] ** 2).sum(axis=1), 1, atol=1e-6)
    assert not hasattr(HyperbolicEmbedding(method="hmds").fit(X), "tree_")
    assert HyperbolicEmbedding(scale=0.5).fit(X).hyperbolic_.scale == 0.5
    refined = HyperbolicEmbedding(random_state=0, refine=True).fit(X)
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    assert refined.tree_ == tr.refine(model.tree_, tr.PointMetric(X), rng=seed) != model.tree_


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples_and_copies_of_one(n: int) -> None:
    X = np.ones((n, 2))
    model = TreeRep(n_clusters=1, refine=True).fit(X)
    assert_array_equal(model.labels_, np.zeros(n))
    assert_array_equal(model.predict([[5.0, 5.0]]), [0])
    assert HyperbolicEmbedding().fit_transform(X).shape == (n, 2)
    with pytest.raises(ValueError, match=f"n_samples={n} should be >= n_clusters={n + 1}"):
        NeighborJoining(n + 1).fit(X)


def test_errors_name_what_is_wrong() -> None:
    X, _ = blobs(10)
    for model, message in (
        (TreeRep(0), "n_clusters must be a positive whole number, not 0"),
        (TreeRep(metric="sqeuclidean"), "needs the triangle inequality"),
        (TreeRep(pivot="best"), "unknown pivot rule"),
        (HyperbolicEmbedding(method="nothing"), "method must be one of"),
        (HyperbolicEmbedding(model="sphere"), "model must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X)


def test_jobs_do_not_matter() -> None:
    X, _ = blobs(200)
    one, two = (TreeRep(3, random_state=0, n_jobs=jobs).fit(X[:100]) for jobs in (None, -1))
    assert one.tree_ == two.tree_
    assert_array_equal(one.transform(X), two.transform(X))


def test_a_device_is_for_methods_that_learn() -> None:
    with pytest.raises(ValueError, match="sarkar does not accept device"):
        HyperbolicEmbedding(device="cuda").fit(blobs(20)[0])


def test_scikit_learn_is_imported_only_when_used() -> None:
    code = "import sys, treerep as tr; tr.fit, tr.place, tr.sklearn; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "use",
    ["import treerep as tr; tr.sklearn.TreeRep", "from treerep.sklearn import NeighborJoining"],
)
def test_without_scikit_learn_one_line_says_what_to_install(use: str) -> None:
    # The front door itself works without it: all names are listed, and all others can be imported.
    absent = (
        f"import sys; sys.modules['sklearn'] = None\nfrom treerep import *\nprint(len(dir(sklearn)))\n{use}"
    )
    done = subprocess.run([sys.executable, "-c", absent], capture_output=True, text=True, check=False)
    assert done.stdout == "4\n", done.stderr
    last = done.stderr.splitlines()[-1]
    assert last == "ImportError: this needs sklearn, which is not installed: pip install 'treerep[sklearn]'"
