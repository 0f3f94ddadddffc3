import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.backends.devices import DEVICE
from tests.metrics import Table
from tests.tree.strategies import caterpillar, trees
from treerep._core.parallel import Workers
from treerep.backends.torch import _rectangles as torch_rectangles
from treerep.backends.torch.refine import DevicePairs
from treerep.refinement.lengths._pairs import Pairs
from treerep.refinement.lengths._path_sum_kernels import FACTORS, PRODUCT, SMOOTH, SQUARES
from treerep.refinement.lengths._splits import find_tree_splits
from treerep.refinement.lengths.weights import fit_weights

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]


def shaken(tree, seed=0, zeros=0.0):
    rng = np.random.default_rng(seed)
    d = tree.distances() * rng.uniform(0.7, 1.4, (len(tree),) * 2) * (rng.random((len(tree),) * 2) >= zeros)
    return np.triu(d, 1) + np.triu(d, 1).T


def refined(tree, data, **options):
    return tr.refine(tree, data, moves=False, balance=0.0, device=DEVICE, **options)


def test_three_leaves_by_hand():
    # Any three distances fit: (3 + 4 - 5) / 2 = 1, (3 + 5 - 4) / 2 = 2, (4 + 5 - 3) / 2 = 3.
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0], labels=["a b", "'c'", "<d>"])
    found = refined(star, tr.MatrixMetric([[0, 3, 4], [3, 0, 5], [4, 5, 0]]), weights="l2")
    assert found.weights == pytest.approx([1.0, 2.0, 3.0], abs=1e-12)
    assert found.labels == star.labels
    report = found.refinement
    assert report.objective_before == 1 + 4 + 9 and report.objective == pytest.approx(0.0, abs=1e-20)
    assert report.distortion == pytest.approx(0.0, abs=1e-12) and report.moves == 0 and report.start == "tree"
    assert report.distortion_before == pytest.approx((1 / 3 + 2 / 4 + 3 / 5) / 3)


@settings(max_examples=40)
@given(
    tree=trees(max_nodes=50, min_points=2),
    what=st.sampled_from([SQUARES, SMOOTH, PRODUCT, FACTORS]),
    power=st.sampled_from([0.0, 1.0, 2.0]),
    low=st.sampled_from([0.0, -1.0]),
    seed=st.integers(0, 1000),
)
def test_one_pass_is_that_of_the_threads(tree, what, power, low, seed):
    import torch

    metric = tr.MatrixMetric(shaken(tree, seed, zeros=0.2))
    splits = find_tree_splits(tree)
    length = np.random.default_rng(seed).uniform(low, 1, len(splits.up))  # steps have lengths of both signs
    with pytest.MonkeyPatch.context() as patch, Workers(1) as workers:
        patch.setattr(torch_rectangles, "CPU_ENTRIES", 64)
        patch.setattr(torch_rectangles, "_SMALLEST_TILE", 2)
        ours = Pairs(splits, metric, None, power, workers, with_zeros=True)
        theirs = DevicePairs(splits, metric, power, workers, torch.device(DEVICE), with_zeros=True)
        for one, two in ((ours, theirs), (ours.with_power(0.0), theirs.with_power(0.0))):
            value, sums = one.sums(what, length, 0.1)
            again, others = two.sums(what, length, 0.1)
            assert again == pytest.approx(value, rel=1e-12)
            np.testing.assert_allclose(others, sums, rtol=1e-9, atol=1e-9 * (np.abs(sums).max() + 1e-300))


@pytest.mark.parametrize("weights", ["l2", "relative_l2"])
@pytest.mark.parametrize("kind", ["matrix", "points", "own"])
def test_least_squares_are_those_of_the_threads(weights, kind):
    points = np.random.default_rng(4).normal(size=(40, 5))
    data = tr.PointMetric(points)
    if kind != "points":
        data = {"matrix": tr.MatrixMetric, "own": Table}[kind](data.block(np.arange(40), np.arange(40)))
    tree = tr.fit(data, rng=0, method="treerep")
    found = refined(tree, data, weights=weights)
    expected = fit_weights(tree, data, power=2.0 if weights == "relative_l2" else 0.0)
    np.testing.assert_allclose(found.weights, expected.tree.weights, atol=1e-7)
    assert found.refinement.objective == pytest.approx(expected.value, rel=1e-9)
    assert found.refinement.objective_before == pytest.approx(expected.start, rel=1e-9)
    assert found.refinement.residual <= 1e-9
    host = tr.refine(tree, data, weights=weights, moves=False)
    assert found.refinement.objective == pytest.approx(host.refinement.objective, rel=1e-8)
    for name in ("distortion", "distortion_before"):
        assert getattr(found.refinement, name) == pytest.approx(getattr(host.refinement, name), rel=1e-6)


def test_least_distortion_is_as_good_as_that_of_the_threads():
    data = tr.PointMetric(np.random.default_rng(6).normal(size=(32, 4)))
    tree = tr.fit(data, rng=0, method="treerep")
    found = refined(tree, data, weights="l1")
    host = tr.refine(tree, data, weights="l1", moves=False, balance=0.0)
    assert found.refinement.objective == found.refinement.distortion < found.refinement.distortion_before
    assert found.refinement.distortion == pytest.approx(host.refinement.distortion, rel=2e-3)


@pytest.mark.parametrize("weights", ["l1", "l2", "relative_l2"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(weights, n):
    tree = tr.Tree(n, [[k, k + 1] for k in range(n - 1)], [2.0] * (n - 1))
    data = tr.MatrixMetric(np.abs(np.subtract.outer(np.arange(n), np.arange(n))))
    found = refined(tree, data, weights=weights)
    assert found.weights == pytest.approx(np.ones(n - 1), abs=2e-3 if weights == "l1" else 1e-9)


@pytest.mark.parametrize("weights", ["l1", "l2", "relative_l2"])
def test_exact_trees_stay_as_they_are_and_duplicates_do_no_harm(weights):
    tree = caterpillar(30)
    assert refined(tree, tree, weights=weights) == tree
    points = np.repeat(np.random.default_rng(0).normal(size=(8, 2)), 3, axis=0)
    data = tr.PointMetric(points)
    fitted = tr.fit(data, rng=0, method="treerep")
    report = refined(fitted, data, weights=weights).refinement
    assert report.objective <= report.objective_before


def test_a_deep_tree():
    tree = caterpillar(2000)
    data = tree.with_weights(tree.weights * np.random.default_rng(1).uniform(0.5, 1.5, len(tree.weights)))
    found = refined(tree, data, weights="l2")
    np.testing.assert_allclose(
        found.distances([0, 1, 999, 1999]), data.distances([0, 1, 999, 1999]), rtol=1e-9
    )


def test_distances_that_do_not_fit_are_asked_for_again(monkeypatch):
    data = tr.PointMetric(np.random.default_rng(4).normal(size=(32, 5)))
    tree = tr.fit(data, rng=0, method="treerep")
    kept = refined(tree, data, weights="l2")
    monkeypatch.setattr("treerep.backends.torch.refine.available_memory", lambda: 0)
    assert np.array_equal(refined(tree, data, weights="l2").weights, kept.weights)


def test_what_does_not_run_says_so():
    tree, data = caterpillar(5), caterpillar(5, seed=1)
    for options, message in [
        ({}, f"moves do not run with device='{DEVICE}': pass moves=False"),
        (
            {"moves": False},
            f"neighborhoods are not supported with device='{DEVICE}': pass balance=0",
        ),
        (
            {"moves": False, "weights": "none"},
            f"weights='none' does not run with device='{DEVICE}'",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            tr.refine(tree, data, device=DEVICE, **options)


def test_time_is_kept():
    data = tr.PointMetric(np.random.default_rng(4).normal(size=(32, 5)))
    tree = tr.fit(data, rng=0, method="treerep")
    report = refined(tree, data, weights="relative_l2", time_limit=1e-6).refinement
    assert report.objective <= report.objective_before
