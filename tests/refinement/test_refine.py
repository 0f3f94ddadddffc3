"""`refine`: never worse, exact trees stay, time is kept, every tree can be refined."""

import pickle
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.fitting.fit import METHODS
from treerep.refinement.refine import WEIGHTS, RefinedTree

POINTS = np.random.default_rng(0).normal(size=(60, 4))


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
    tree = tr.fit(d)
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
    tree = tr.fit(d)
    better = tr.refine(tree, d, weights=weights, balance=balance, moves=moves)  # type: ignore[arg-type]
    report = better.refinement
    assert report.objective <= report.objective_before + 1e-12 * abs(report.objective_before)
    assert report.distortion == pytest.approx(float(tr.average_distortion(better, d)), nan_ok=True)
    if not moves:
        assert better.with_weights(tree.weights) == tree
        assert report.start == "tree"


@pytest.mark.parametrize("method", [method for method in METHODS if method != "bartal_average"])
def test_the_tree_of_every_method_gets_better(method: str) -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric, method=method, **({"trees": 3} if method == "bartal" else {}))
    better = tr.refine(tree, metric, balance=0)
    assert float(tr.average_distortion(better, metric)) < float(tr.average_distortion(tree, metric))


def test_weights_alone_keep_topology_and_support() -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric, trials=5)
    better = tr.refine(tree, metric, weights="l2", moves=False)
    assert (better.edges == tree.edges).all()
    assert_allclose(better.support, tree.support)
    assert better.refinement.residual < 1e-9
    assert better.refinement.precision is None


def test_each_weighting_is_best_by_its_own_measure() -> None:
    metric = tr.PointMetric(POINTS)
    d = metric.block(range(60), range(60))[np.triu_indices(60, 1)]
    tree = tr.fit(metric)

    def errors(weights: str) -> list[float]:
        found = tr.refine(tree, metric, weights=weights, moves=False, balance=0)  # type: ignore[arg-type]
        q = found.distances()[np.triu_indices(60, 1)] - d
        return [float(np.abs(q / d).mean()), float((q**2).sum()), float(((q / d) ** 2).sum())]

    table = np.array([errors(weights) for weights in ("l1", "l2", "relative_l2")])
    assert table.argmin(axis=0).tolist() == [0, 1, 2]


def test_a_seed_gives_one_tree_whatever_the_threads() -> None:
    metric = tr.PointMetric(POINTS)
    tree = tr.fit(metric)
    assert tr.refine(tree, metric, rng=3, n_jobs=1) == tr.refine(tree, metric, rng=3, n_jobs=2)


def test_the_time_limit_is_kept() -> None:
    metric = tr.PointMetric(np.random.default_rng(0).normal(size=(1500, 5)))
    tree = tr.fit(metric)
    tr.refine(tr.fit(POINTS, metric="euclidean"), POINTS, metric="euclidean")  # compiles
    begin = time.monotonic()
    better = tr.refine(tree, metric, time_limit=3.0)
    # The rest is the last look at the scores, and a shared machine.
    assert time.monotonic() - begin < 6.0
    assert better.refinement.objective < better.refinement.objective_before


def test_many_points_are_refined_by_samples() -> None:
    points = tr.datasets.hyperbolic_points(12_000, 3, rng=0)
    tree = tr.fit(points)
    better = tr.refine(tree, points, time_limit=20.0)
    ours, theirs = (tr.average_distortion(t, points, rows=200, rng=5) for t in (better, tree))
    assert float(ours) < float(theirs)


def test_points_that_coincide_and_tiny_trees() -> None:
    assert tr.refine(tr.fit([[0.0]]), [[0.0]]).n_nodes == 1
    two = tr.Tree(2, [[0, 1]], [1.0])
    assert tr.refine(two, [[0, 3], [3, 0]]).weights.tolist() == [3.0]
    same = np.zeros((5, 5))
    assert tr.refine(tr.fit(same), same).weights.sum() == 0


def test_a_refined_tree_is_a_tree() -> None:
    metric = tr.PointMetric(POINTS)
    better = tr.refine(tr.fit(metric), metric, moves=False)
    assert pickle.loads(pickle.dumps(better)) == better
    assert tr.Tree.from_newick(better.contracted().newick()).isclose(better)


# Floors: unscaled distortion, distances first; distortion and MAP, balanced.
FLOORS = {"celegans": (0.101, 0.120, 0.715), "diseasome": (0.077, 0.085, 0.96), "csphd": (0.092, 0.108, 0.99)}


@pytest.mark.parametrize("name", FLOORS)
def test_one_tree_beats_what_is_published(name: str, data_folder: Path) -> None:
    graph = tr.datasets.load(name).metric
    start = tr.fit(graph, trials=20)
    first, distortion, precision = FLOORS[name]
    assert tr.refine(start, graph, balance=0).refinement.distortion <= first
    balanced = tr.refine(start, graph)
    assert float(tr.average_distortion(balanced, graph)) <= distortion
    assert float(tr.mean_average_precision(balanced, graph)) >= precision


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": "l3"}, "weights is one of 'l1', 'l2', 'relative_l2', 'heuristic', 'none', not 'l3'"),
        ({"balance": 1.5}, "balance is a number from 0 .distances. to 1 .neighbourhoods., not 1.5"),
        ({"balance": "both"}, "balance is a number from 0"),
        ({"moves": 3}, "moves is True or False, not 3"),
        ({"time_limit": 0}, "time_limit is a number of seconds above 0, or None, not 0"),
        ({"time_limit": "soon"}, "time_limit is a number of seconds above 0, or None, not 'soon'"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        tr.refine(tr.fit(POINTS, metric="euclidean"), POINTS, metric="euclidean", **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_other_points_are_refused() -> None:
    with pytest.raises(ValueError, match="tree has 60 points and data has 3"):
        tr.refine(tr.fit(POINTS, metric="euclidean"), np.zeros((3, 3)))
