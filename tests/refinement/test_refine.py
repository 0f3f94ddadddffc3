"""`refine`: never worse, exact trees stay, time is kept, every tree can be refined."""

import copy
import pickle
import time
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.fitting._trials import selection_score
from treerep.fitting.methods import METHODS
from treerep.refinement import _run
from treerep.refinement._candidates import as_matrix
from treerep.refinement._run import Limits, Run
from treerep.refinement.refine import WEIGHTS, RefineRequest, refined_tree
from treerep.refinement.report import RefinedTree

POINTS = np.random.default_rng(0).normal(size=(60, 4))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "poincare"])
def test_the_matrix_of_points_holds_all_their_distances(metric: str) -> None:
    # More points than one block of rows, of which only half of the distances are computed.
    points = np.random.default_rng(1).uniform(-0.4, 0.4, size=(700, 3))
    data = tr.PointMetric(points, metric)
    every = np.arange(700)
    np.testing.assert_array_equal(as_matrix(data, 2).distances, data.block(every, every))


def test_a_misplaced_pair_by_hand() -> None:
    # Two cherries, of which 1 and 2 were exchanged: the moves put them back, and the metric is that of a tree.
    truth = tr.Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5, labels="abcd")
    wrong = tr.Tree(4, [[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]], [1.0] * 5, labels="abcd")
    better = tr.refine(wrong, truth)
    assert isinstance(better, RefinedTree)
    assert better.isclose(truth)
    assert better.labels == truth.labels
    assert better.refinement.distortion == pytest.approx(0, abs=1e-9)
    assert better.refinement.distortion_before > 0.1


@settings(max_examples=25)
@given(tree_metrics(max_nodes=25), st.sampled_from(WEIGHTS))
def test_exact_trees_are_fixed_points(d: np.ndarray, weights: str) -> None:
    tree = tr.fit(d, method="treerep")
    better = tr.refine(tree, d, weights=weights)  # type: ignore[arg-type]
    assert better == tree
    assert better.refinement.moves == 0


@settings(max_examples=25)
@given(
    st.one_of(any_symmetric(max_points=14), integer_metrics(max_points=14)),
    st.sampled_from(WEIGHTS),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
def test_never_worse_whatever_the_input(d: np.ndarray, weights: str, balance: float, moves: bool) -> None:
    tree = tr.fit(d, method="treerep")
    better = tr.refine(tree, d, weights=weights, balance=balance, moves=moves)  # type: ignore[arg-type]
    report = better.refinement
    assert report.objective <= report.objective_before + 1e-12 * abs(report.objective_before)
    assert report.distortion == pytest.approx(float(tr.average_distortion(better, d)), nan_ok=True)
    if not moves:
        assert better.with_weights(tree.weights) == tree
        assert report.start == "tree"


def test_relative_errors_of_a_tiny_distance_do_not_overflow() -> None:
    # 1 / d^2 would be 1e400.
    d = tr.PointMetric(POINTS[:12]).block(range(12), range(12))
    d[0, 1] = d[1, 0] = 1e-200
    better = tr.refine(tr.fit(d, method="treerep"), d, weights="relative_l2")
    assert np.isfinite(better.distances()).all()
    assert better.refinement.moves > 0


# "auto" and "backbone" refine the tree of few points themselves.
@pytest.mark.parametrize("method", [method for method in METHODS if method not in ("auto", "backbone")])
def test_the_tree_of_every_method_gets_better(method: str) -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric, method=method, **({"draws": 3} if method == "bartal" else {}))
    better = tr.refine(tree, metric, balance=0)
    assert float(tr.average_distortion(better, metric)) < float(tr.average_distortion(tree, metric))


def test_weights_alone_keep_topology_and_support() -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric, trials=5, method="treerep")
    better = tr.refine(tree, metric, weights="l2", moves=False)
    assert (better.edges == tree.edges).all()
    assert_allclose(better.support, tree.support)
    assert better.refinement.residual < 1e-9
    assert better.refinement.precision is None


def test_each_weighting_is_best_by_its_own_measure() -> None:
    metric = tr.PointMetric(POINTS)
    d = metric.block(range(60), range(60))[np.triu_indices(60, 1)]
    tree = tr.fit(metric, method="treerep")

    def errors(weights: str) -> list[float]:
        found = tr.refine(tree, metric, weights=weights, moves=False, balance=0)  # type: ignore[arg-type]
        q = found.distances()[np.triu_indices(60, 1)] - d
        return [float(np.abs(q / d).mean()), float((q**2).sum()), float(((q / d) ** 2).sum())]

    table = np.array([errors(weights) for weights in ("l1", "l2", "relative_l2")])
    assert table.argmin(axis=0).tolist() == [0, 1, 2]


def test_a_seed_gives_one_tree_whatever_the_threads() -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric, method="treerep")
    assert tr.refine(tree, metric, rng=3, n_jobs=1) == tr.refine(tree, metric, rng=3, n_jobs=2)


def test_a_time_limit_that_is_not_reached_changes_nothing() -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric, method="treerep")
    assert tr.refine(tree, metric, balance=0.2, time_limit=1e6) == tr.refine(tree, metric, balance=0.2)


@pytest.mark.parametrize("balance", [0.0, 0.5])
def test_every_part_keeps_to_the_time_limit(monkeypatch: pytest.MonkeyPatch, balance: float) -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric, method="treerep")
    starts = []

    def counted(*arguments: Any) -> float:
        starts.append(arguments[0])
        return selection_score(*arguments)

    monkeypatch.setattr(_run, "selection_score", counted)
    # Every reading of the clock moves it on by a second.
    clock = count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    report = tr.refine(tree, metric, balance=balance, time_limit=60, n_jobs=1).refinement
    assert report.objective < report.objective_before
    assert 1 <= len(starts) < 20
    assert 30 < report.seconds < 70


def test_no_time_at_all() -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric, method="treerep")
    assert tr.refine(tree, metric, time_limit=1e-9) == tree


@pytest.mark.parametrize("weights", ["l2", "relative_l2", "none"])
def test_duplicates_that_are_apart_are_brought_together(weights: str) -> None:
    # All relative errors are 0, and yet the points 0 and 1, which are the same, are at distance 1.
    d = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])
    star = tr.Tree(4, [[k, 4] for k in range(4)], [0.5] * 4)
    better = tr.refine(star, d, weights=weights)  # type: ignore[arg-type]
    assert better.refinement.distortion_before == 0
    assert better.refinement.objective_before == 1
    assert_allclose(better.distances(), d, atol=1e-12)


def test_all_points_in_one_place() -> None:
    star = tr.Tree(5, [[k, 5] for k in range(5)], [1.0] * 5)
    assert tr.refine(star, np.zeros((5, 5)), weights="l2").weights.sum() == 0


@pytest.mark.parametrize("seed", range(3))
def test_rounding_to_float32_is_no_error_to_repair(seed: int) -> None:
    d = tr.datasets.random_tree(60, hidden=0.4, rng=seed).distances().astype(np.float32)
    tree = tr.fit(d, method="treerep")
    assert tr.refine(tree, d) == tree


@pytest.mark.parametrize("scale", [2.0**-660, 2.0**660])
@pytest.mark.parametrize("weights", ["l1", "l2", "relative_l2", "none"])
def test_squares_may_be_beyond_all_numbers(scale: float, weights: str) -> None:
    d = tr.PointMetric(POINTS[:12]).block(range(12), range(12))
    tree = tr.fit(d, method="treerep")
    options: dict[str, Any] = {"weights": weights, "balance": 0.0}
    one = tr.refine(tree, d, **options)
    other = tr.refine(tree.with_weights(tree.weights * scale), d * scale, **options)
    assert_allclose(other.weights / scale, one.weights, atol=1e-6)


def test_many_points_are_refined_by_samples() -> None:
    points = tr.datasets.hyperbolic_points(12_000, 3, rng=0)
    tree = tr.fit(points, method="treerep")
    better = tr.refine(tree, points, time_limit=20.0)
    ours, theirs = (tr.average_distortion(t, points, rows=200, rng=5) for t in (better, tree))
    assert float(ours) < float(theirs)


#: More than 200 points are refined as otherwise more than 10,000.
FEW = Limits(all_pairs=200, backbone=200)


def refine_within(
    limits: Limits,
    tree: tr.Tree,
    data: Any,
    weights: str = "l1",
    moves: bool = True,
    n_jobs: int | None = None,
) -> RefinedTree:
    request = RefineRequest(tree, tr.as_metric(data), weights, moves, 0.5, None, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "LIMITS", limits)
        return refined_tree(request, n_jobs)


CELLS = tr.PointMetric(tr.datasets.branching_cells(1500, dim=10, rng=0).points)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_many_points_get_the_tree_of_a_backbone(weights: str) -> None:
    tree = tr.fit(CELLS, method="treerep")
    better = refine_within(FEW, tree, CELLS, weights)
    assert better.refinement.start == "backbone"
    assert better.refinement.objective < better.refinement.objective_before
    assert tr.average_distortion(better, CELLS) < 0.8 * tr.average_distortion(tree, CELLS)
    assert refine_within(FEW, tree, CELLS, weights, n_jobs=1) == better


@settings(max_examples=20)
@given(any_symmetric(30), st.sampled_from(WEIGHTS), st.booleans())
def test_many_points_never_get_a_worse_tree(d: np.ndarray, weights: str, moves: bool) -> None:
    tree = tr.fit(d, method="treerep")
    few = Limits(all_pairs=4, backbone=4, least_backbone=4)
    better = refine_within(few, tree, d, weights, moves)
    assert better.refinement.objective <= better.refinement.objective_before
    assert moves or better.refinement.start == "tree"


@settings(max_examples=20)
@given(tree_metrics())
def test_exact_trees_of_many_points_are_fixed_points(d: np.ndarray) -> None:
    tree = tr.fit(d, method="treerep")
    assert refine_within(Limits(all_pairs=0), tree, d) == tree


def test_a_good_tree_of_many_points_is_kept() -> None:
    cells = tr.PointMetric(CELLS.points[:600])
    good = tr.refine(tr.fit(cells, method="treerep"), cells, balance=0.0)  # by all pairs
    again = refine_within(FEW, good, cells)
    assert again.refinement.start == "tree"
    assert again.refinement.distortion <= again.refinement.distortion_before


def test_the_backbone_fits_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    monkeypatch.setattr(_run, "seconds_to_read", lambda metric: 0.0)
    points = tr.PointMetric(np.random.default_rng(0).standard_normal((5000, 3)))
    request = RefineRequest(tr.Tree(2, [[0, 1]], [1.0]), points, "l1", True, 0.0, None, 0)
    time_limits = (None, 1e3, 0.1, 0.001)
    sizes = [Run(request._replace(time_limit=limit), 1, None).backbone_size() for limit in time_limits]
    # A quarter of a tenth of a second is enough for 250 points at 20 ns for each of 5,000 points.
    assert sizes == [2000, 2000, 250, 0]


def test_points_that_coincide_and_tiny_trees() -> None:
    assert tr.refine(tr.fit([[0.0]], method="treerep"), [[0.0]]).n_nodes == 1
    two = tr.Tree(2, [[0, 1]], [1.0])
    assert tr.refine(two, [[0, 3], [3, 0]]).weights.tolist() == [3.0]
    same = np.zeros((5, 5))
    assert tr.refine(tr.fit(same, method="treerep"), same).weights.sum() == 0


def test_a_refined_tree_is_a_tree() -> None:
    metric = tr.PointMetric(POINTS)
    better = tr.refine(tr.fit(metric, method="treerep"), metric, moves=False)
    assert pickle.loads(pickle.dumps(better)) == better
    assert tr.Tree.from_newick(better.contracted().newick()).isclose(better)


# Floors: unscaled distortion, distances first; distortion and MAP, balanced.
FLOORS = {
    "celegans": (0.101, 0.120, 0.715),
    "diseasome": (0.077, 0.085, 0.96),
    "csphd": (0.092, 0.108, 0.99),
}


@pytest.mark.parametrize("name", FLOORS)
def test_one_tree_beats_what_is_published(name: str, data_folder: Path) -> None:
    graph = tr.datasets.load(name).metric
    start = tr.fit(graph, trials=20, method="treerep")
    first, distortion, precision = FLOORS[name]
    assert tr.refine(start, graph, balance=0).refinement.distortion <= first
    balanced = tr.refine(start, graph)
    assert float(tr.average_distortion(balanced, graph)) <= distortion
    assert float(tr.mean_average_precision(balanced, graph)) >= precision


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"weights": "l3"},
            "weights must be one of 'l1', 'l2', 'relative_l2', 'none', not 'l3'",
        ),
        (
            {"balance": 1.5},
            "balance must be a number from 0 .distances. to 1 .neighborhoods., not 1.5",
        ),
        ({"balance": "both"}, "balance must be a number from 0"),
        ({"balance": float("nan")}, "balance must be a number from 0 .*, not nan"),
        ({"balance": np.complex128(1)}, "balance must be a number from 0"),
        ({"moves": 3}, "moves must be True or False, not 3"),
        ({"time_limit": 0}, "time_limit must be a positive number of seconds or None, not 0"),
        (
            {"time_limit": "soon"},
            "time_limit must be a positive number of seconds or None, not 'soon'",
        ),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        tr.refine(
            tr.fit(POINTS, metric="euclidean", method="treerep"),
            POINTS,
            metric="euclidean",
            **arguments,
        )  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_other_points_are_refused() -> None:
    with pytest.raises(ValueError, match="tree has 60 points and data has 3"):
        tr.refine(tr.fit(POINTS, metric="euclidean", method="treerep"), np.zeros((3, 3)))


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(
        TypeError,
        match="refine expects a Tree or a TreeSum, for example from fit, followed by the data; got a ndarray",
    ):
        tr.refine(np.zeros((3, 3)), np.zeros((3, 3)))  # type: ignore[arg-type]


def test_relative_squares_pull_points_at_distance_0_together() -> None:
    d = np.array([[0.0, 0, 1], [0, 0, 3], [1, 3, 0]])  # no triangle: 0 and 1 coincide, but 2 tells them apart
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [0.1, 0.1, 1.0])
    better = tr.refine(star, d, weights="relative_l2", moves=False)
    assert better.refinement.objective < better.refinement.objective_before
    # Weights 1, 1 and 1/9 of the pairs (0, 1), (0, 2) and (1, 2): distance 0 counts like the smallest, 1.
    x, y, z = better.pairs([0, 0, 1], [1, 2, 2])
    least = minimize(
        lambda w: (w[0] + w[1]) ** 2 + (w[0] + w[2] - 1) ** 2 + ((w[1] + w[2] - 3) / 3) ** 2,
        [0.1, 0.1, 1.0],
        bounds=[(0, None)] * 3,
    )
    assert x**2 + (y - 1) ** 2 + ((z - 3) / 3) ** 2 == pytest.approx(least.fun, rel=1e-6)


def test_the_report_survives_a_copy() -> None:
    mammals = tr.datasets.sarich()
    tree = tr.refine(tr.fit(mammals, method="treerep"), mammals)
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert twin == tree and twin.refinement == tree.refinement


def test_a_limit_too_short_to_read_all_pairs_means_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_run, "seconds_to_read", lambda metric: 0.4)
    points = tr.PointMetric(np.random.default_rng(0).standard_normal((300, 3)))
    tree = tr.fit(points, method="treerep")
    sampled = tr.refine(tree, points, time_limit=10)
    assert sampled.refinement.precision is None  # of all pairs only
    assert sampled.refinement.distortion < sampled.refinement.distortion_before
    assert tr.refine(tree, points, time_limit=30).refinement.precision is not None
