"""`fit`, `refine` and scores of metrics with missing distances."""

import warnings

import numpy as np
import pytest
from scipy.optimize import nnls

import treerep as tr
from tests.fitting.missing.patterns import determining, random_binary_tree, without_pairs
from treerep import methods
from treerep.refinement.lengths.weights import fit_weights
from treerep.refinement.moves.search import rearrange

ABLE = [name for name, record in methods.FIT.items() if record.missing]
NAN = float("nan")
pytestmark = pytest.mark.filterwarnings("ignore:fewer than 3 distances")


def noisy(n, share, seed):
    """A tree with noisy distances, of which some are missing."""
    rng = np.random.default_rng(seed)
    tree = random_binary_tree(n, rng)
    noise = np.triu(rng.uniform(0.9, 1.1, (n, n)), 1)
    square = without_pairs(tree.distances() * (noise + noise.T), share, rng)
    assert square is not None
    return tree, tr.MatrixMetric(square, missing=True)


def test_methods_that_accept_missing_distances():
    assert ABLE == ["auto", "neighbor_joining", "bionj", "minimum_evolution"]


@pytest.mark.parametrize("method", ABLE)
def test_measured_distances_of_tree_metrics_are_reproduced(method):
    """In nearly all of random patterns without 20% of the pairs, up to the precision of fitted lengths."""
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        distances = random_binary_tree(25, rng).distances()
        metric = tr.MatrixMetric(without_pairs(distances, 0.2, rng), missing=True)
        found = tr.distance_error(tr.fit(metric, method=method), metric, norm="linf")
        errors.append(float(found) / distances.max())
    assert np.mean(np.array(errors) < 1e-6) >= 0.9


@pytest.mark.parametrize("method", ABLE)
def test_the_tree_has_the_fewest_nodes(method):
    """Fitted lengths of edges that do not exist differ from 0 by rounding errors."""
    truth = tr.datasets.random_tree(40, hidden=0.5)
    square = truth.distances()
    square[0, 5] = square[5, 0] = np.nan
    found = tr.fit(tr.as_metric(square, missing=True), method=method)
    assert found.difference(truth, zero_edges=True).robinson_foulds == 0
    assert found.n_nodes == truth.n_nodes


@pytest.mark.parametrize("method", ABLE)
def test_the_tree_comes_back_if_the_measured_pairs_determine_it(method):
    rng = np.random.default_rng(1)
    tree = random_binary_tree(40, rng)
    square = determining(tree.distances(), tree, rng)
    labels = [f"t{k}" for k in range(40)]
    metric = tr.MatrixMetric(square, labels=labels, missing=True)
    found = tr.fit(metric, method=method)
    assert found.labels == tuple(labels)
    np.testing.assert_allclose(found.distances(), tree.distances(), atol=1e-6)


def test_float32_distances_of_a_tree_are_recognized():
    rng = np.random.default_rng(2)
    tree = random_binary_tree(30, rng)
    square = determining(tree.distances(), tree, rng).astype(np.float32)
    found = tr.fit(tr.MatrixMetric(square, missing=True), method="neighbor_joining")
    np.testing.assert_allclose(found.distances(), tree.distances(), atol=1e-4)


@pytest.mark.parametrize("method", ABLE)
def test_noisy_distances(method):
    tree, metric = noisy(40, 0.3, 3)
    found = tr.fit(metric, method=method)
    # The errors of the data are uniform up to 10%.
    assert tr.average_distortion(found, metric) < 0.06
    assert found.difference(tree).normalized < 0.5
    again = tr.fit(metric, method=method, n_jobs=1)
    assert again.isclose(found)


def test_better_than_the_mean_of_all_distances():
    ours, theirs = [], []
    for seed in range(5):
        tree, metric = noisy(30, 0.3, seed)
        square = metric.distances
        mean = np.where(np.isnan(square), np.nanmean(square), square)
        found = tr.fit(metric, method="minimum_evolution")
        ours.append(found.difference(tree).normalized)
        other = tr.fit(mean, method="minimum_evolution")
        theirs.append(other.difference(tree).normalized)
    assert np.mean(ours) < np.mean(theirs)


def test_trials_are_scored_on_the_measured_pairs():
    _, metric = noisy(20, 0.3, 4)
    tree = tr.fit(metric, trials=3)
    assert tree.support is not None


# Lengths and moves.


def test_lengths_are_the_least_squares_of_the_measured_pairs():
    tree, metric = noisy(12, 0.3, 5)
    i, j = np.triu_indices(12, 1)
    measured = ~np.isnan(metric.distances[i, j])
    paths = np.zeros((len(i), len(tree.edges)))
    for k in range(len(tree.edges)):
        unit = tree.with_weights(np.eye(len(tree.edges))[k])
        paths[:, k] = unit.pairs(i, j)
    expected = nnls(paths[measured], metric.distances[i, j][measured])[1]
    found = fit_weights(tree, metric, objective="l2")
    assert np.sqrt(found.value) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("method", ["neighbor_joining", "bionj", "minimum_evolution"])
def test_fitted_lengths_minimize_the_squared_relative_errors(method):
    _, metric = noisy(14, 0.3, 5)
    found = tr.fit(metric, method=method)
    i, j = np.triu_indices(14, 1)
    d = metric.distances[i, j]
    measured = ~np.isnan(d)
    paths = [found.with_weights(row).pairs(i, j) for row in np.eye(len(found.edges))]
    relative = (np.array(paths) / d).T[measured]
    least = nnls(relative, np.ones(len(relative)))[1]
    errors = found.pairs(i, j)[measured] / d[measured] - 1
    assert np.linalg.norm(errors) == pytest.approx(least, rel=1e-6)


def test_moves_ignore_missing_pairs():
    tree, metric = noisy(15, 0.3, 6)
    found = rearrange(tree, metric, power=2.0)
    square = metric.distances
    errors = (found.tree.distances() - square) ** 2 / np.where(square > 0, square, 1) ** 2
    assert found.after == pytest.approx(np.nansum(errors) / 2)
    assert found.after <= found.before


@pytest.mark.parametrize("weights", ["l1", "l2", "relative_l2", "none"])
@pytest.mark.parametrize("balance", [0.0, 0.5])
def test_refine_never_makes_the_measured_pairs_worse(weights, balance):
    _, metric = noisy(25, 0.4, 7)
    tree = tr.fit(metric, method="neighbor_joining")
    found = tr.refine(tree, metric, weights=weights, balance=balance).refinement
    assert found.objective <= found.objective_before
    assert found.precision is None
    assert found.start == "tree"


# Scores.


def test_scores_by_hand():
    truth = tr.MatrixMetric([[0, 2, 4], [2, 0, NAN], [4, NAN, 0]], missing=True)
    approx = [[0, 1, 5], [1, 0, 9], [5, 9, 0]]
    distortion = tr.average_distortion(approx, truth)
    assert repr(distortion) == "0.375 (2 of 3 pairs)"  # (1/2 + 1/4) / 2
    assert distortion.skipped == 0
    assert float(tr.worst_distortion(approx, truth)) == 2.5  # (5/4) / (1/2)
    assert float(tr.distance_error(approx, truth)) == 1.0
    assert float(tr.distance_error(approx, truth, norm="linf")) == 1.0
    assert tr.distance_error(approx, truth, norm="l2").pairs == 2


@pytest.mark.parametrize("rows", ["all", 7])
@pytest.mark.parametrize("scale", ["none", "optimal"])
def test_scores_equal_their_definition(rows, scale):
    tree, metric = noisy(20, 0.3, 8)
    score = tr.average_distortion(tree, metric, rows=rows, scale=scale, rng=1)
    chosen = np.arange(20)
    if rows != "all":
        chosen = np.sort(np.random.default_rng(1).choice(20, 7, replace=False))
    truth = metric.distances[chosen]
    approx = tree.distances()[chosen]
    used = truth > 0  # not NaN, and not the point itself
    factor = 1.0
    if scale == "optimal":
        factor = (approx * truth)[used].sum() / (approx**2)[used].sum()
    expected = (np.abs(factor * approx - truth)[used] / truth[used]).mean()
    assert float(score) == pytest.approx(expected)
    assert score.pairs == used.sum() // (2 if rows == "all" else 1)


# Errors.


def test_without_the_option_nan_is_an_error_that_names_the_option():
    with pytest.raises(tr.MetricError, match=r"d\(0, 1\) is nan: .*missing=True"):
        tr.fit([[0, NAN], [NAN, 0]])


def test_a_matrix_without_nan_is_an_ordinary_matrix():
    metric = tr.MatrixMetric([[0, 1], [1, 0]], missing=True)
    assert not metric.has_missing
    assert len(tr.fit(metric, method="treerep")) == 2


@pytest.fixture
def three():
    return tr.MatrixMetric([[0, 2, 4], [2, 0, NAN], [4, NAN, 0]], missing=True)


@pytest.mark.parametrize("method", [name for name in methods.FIT if name not in ABLE])
def test_other_methods_name_those_that_accept_missing_distances(three, method):
    with pytest.raises(tr.MetricError, match=f"{method!r} needs all .*use one of auto, "):
        tr.fit(three, method=method)


@pytest.mark.parametrize(
    "call",
    [
        tr.hyperbolicity,
        tr.embed,
        lambda metric: tr.embed(metric, method="hmds"),
        lambda metric: tr.average_distortion(metric, tr.fit(metric)),
        lambda metric: tr.fit(metric, engine="dask"),
        lambda metric: tr.mean_average_precision(metric, tr.GraphMetric([[0, 1], [1, 2]])),
        lambda metric: tr.place(tr.fit(metric).restrict([0, 1]), ["2"], data=metric),
        lambda metric: tr.page(tr.fit(metric), "never.html", data=metric),
    ],
    ids=[
        "hyperbolicity",
        "embed",
        "hmds",
        "approx",
        "dask",
        "precision",
        "place",
        "page",
    ],
)
@pytest.mark.filterwarnings("ignore:fewer than 3 distances")
def test_everything_else_needs_all_distances(three, call):
    with pytest.raises(tr.MetricError, match="needs all distances, but some are missing: "):
        call(three)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:fewer than 3 distances")
def test_devices_need_all_distances(three):
    with pytest.raises(tr.MetricError, match="device='cpu' needs all distances"):
        tr.fit(three, method="treerep", device="cpu")


def test_points_without_measured_distances():
    square = np.full((4, 4), NAN)
    np.fill_diagonal(square, 0.0)
    square[0, 1] = square[1, 0] = 1.0
    metric = tr.MatrixMetric(square, labels="abcd", missing=True)
    with pytest.raises(tr.MetricError, match="measured for points 'c', 'd': drop these points"):
        tr.fit(metric)
    square[2, 3] = square[3, 2] = 1.0
    with pytest.raises(tr.MetricError, match="between points 0, 1 and the other 2: measure"):
        tr.fit(tr.MatrixMetric(square, missing=True))


@pytest.mark.filterwarnings("default:fewer than 3 distances")
def test_points_with_one_or_two_measured_distances_give_a_warning():
    square = random_binary_tree(6, np.random.default_rng(0)).distances()
    square[0, 2:] = square[2:, 0] = NAN
    with pytest.warns(UserWarning, match="fewer than 3 distances were measured for point 0:"):
        tree = tr.fit(tr.MatrixMetric(square, missing=True))
    assert tree.pairs(0, 1) == pytest.approx(square[0, 1])
    square[0, 2] = square[2, 0] = NAN
    complete = random_binary_tree(3, np.random.default_rng(0)).distances()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tr.fit(tr.MatrixMetric(complete, missing=True))
