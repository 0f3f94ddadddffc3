"""Bartal's random trees: equal to a plain twin, 2 d_T >= d, and the best of what was drawn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.fitting.random.bartal import bartal, draw_trees, table_of

POINTS = np.random.default_rng(0).normal(size=(60, 3))


def drawn(
    metric: tr.Metric, trees: int, rng: int | np.random.Generator = 0, n_jobs: int | None = None
) -> list[tr.Tree]:
    """Return all the trees among which `fit` chooses."""
    return list(draw_trees(table_of(metric), lambda tree: tree, trees, np.random.default_rng(rng), n_jobs))


metrics = st.one_of(integer_metrics(20), tree_metrics(20)).filter(lambda d: len(d) > 1)


# The twin: sets are lists, and a set's tree is made after those of all sets before it, as in the kernel.


def shuffled(points: list[int], rng: np.random.Generator) -> list[int]:
    points = points.copy()
    for k in range(len(points) - 1, 0, -1):
        other = math.floor(rng.random() * (k + 1))
        points[k], points[other] = points[other], points[k]
    return points


def split(d: np.ndarray, points: list[int], rng: np.random.Generator) -> list[list[int]]:
    """Parts of the points, as the paper words it: each joins the first center nearer than R."""
    delta = d[np.ix_(points, points)].max() / 2
    parts: dict[int, list[int]] = {}
    while len(parts) < 2:
        order = points = shuffled(points, rng)
        radius = (delta / 4) * (1 + rng.random())
        parts = {}
        for point in order:
            center = next(c for c in order if c == point or d[c, point] < radius)
            parts.setdefault(center, []).append(point)
        parts = {c: parts[c] for c in order if c in parts}
    return list(parts.values())


def twin(d: np.ndarray, rng: np.random.Generator) -> tr.Tree:
    nodes = [{"points": list(range(len(d))), "parts": [], "width": 0.0}]
    for node in nodes:  # grows while it is walked
        points = node["points"]
        node["width"] = d[np.ix_(points, points)].max()
        if node["width"] > 0:
            node["parts"] = [{"points": part, "parts": []} for part in split(d, points, rng)]
            nodes += node["parts"]
    edges = []
    for node in reversed(nodes):
        roots = [part["root"] for part in node["parts"]]
        if roots:
            edges += [(roots[0], root, node["width"] / 2) for root in roots[1:]]
        else:
            roots = node["points"]
            edges += [(roots[0], other, 0.0) for other in roots[1:]]
        node["root"] = roots[0]
    return tr.Tree(len(d), [edge[:2] for edge in edges], [edge[2] for edge in edges]).canonical()


@settings(max_examples=60)
@given(st.one_of(metrics, any_symmetric(15).filter(lambda d: len(d) > 1)), st.integers(0, 100))
def test_every_tree_equals_its_plain_twin(d: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees = drawn(tr.MatrixMetric(d), 3, rng)
    seeds = np.random.default_rng(seed).integers(2**63, size=3)
    expected = [twin(d, np.random.default_rng(each)) for each in seeds]
    assert trees == expected


@settings(max_examples=60)
@given(metrics, st.integers(0, 100))
def test_twice_the_tree_dominates_the_metric(d: np.ndarray, seed: int) -> None:
    tree = bartal(tr.MatrixMetric(d), draws=2, rng=np.random.default_rng(seed))
    assert tree.n_nodes == len(d)  # no Steiner nodes
    assert (2 * tree.distances() >= d * (1 - 1e-12)).all()


def test_two_points_are_half_as_far_apart_in_the_tree() -> None:
    # The edge is Delta / 2 as published, so the tree does not dominate the metric, only twice the tree does.
    tree = tr.fit([[0, 8], [8, 0]], method="bartal", draws=3)
    assert tree.edges.tolist() == [[0, 1]]
    assert tree.weights.tolist() == [4.0]


def test_hand_worked_path_of_three() -> None:
    # Delta = 2, so R <= 1/2 and every point is alone: a star of edges of length 1 around a random point. Around the
    # middle one it is the metric itself, and that is the best tree.
    d = np.abs(np.arange(3)[:, None] - np.arange(3))
    trees = drawn(tr.MatrixMetric(d), 30)
    assert {tuple(map(tuple, tree.edges.tolist())) for tree in trees} == {
        ((0, 1), (0, 2)),
        ((0, 1), (1, 2)),
        ((0, 2), (1, 2)),
    }
    assert all(tree.weights.tolist() == [1.0, 1.0] for tree in trees)
    assert_array_equal(tr.fit(d, method="bartal", draws=30).distances(), d)


def test_hand_worked_two_pairs() -> None:
    # Delta = 100: R is between 12.5 and 25, so the two pairs part first, and then the points of each.
    x = np.array([0.0, 2.0, 98.0, 100.0])
    tree = tr.fit(np.abs(x[:, None] - x), method="bartal", draws=1)
    assert sorted(tree.weights.tolist()) == [1.0, 1.0, 50.0]
    assert tree.pairs([0, 2], [1, 3]).tolist() == [1.0, 1.0]


def test_the_radius_is_uniform_between_an_eighth_and_a_quarter_of_the_diameter() -> None:
    # Points 0, 1 at distance 3 and point 2 at distance 16 of both: the two stay together iff R = 2 (1 + U) > 3.
    d = np.array([[0, 3, 16], [3, 0, 16], [16, 16, 0]])
    trees = drawn(tr.MatrixMetric(d), 2000)
    together = np.mean([tree.pairs(0, 1) == 1.5 for tree in trees])
    assert together == pytest.approx(0.5, abs=4 * 0.5 / 2000**0.5)


def test_every_order_is_as_likely() -> None:
    # All distances equal: a star around the first of the order.
    d = 1 - np.eye(5)
    centers = [int(tree.degrees.argmax()) for tree in drawn(tr.MatrixMetric(d), 2000)]
    assert_allclose(np.bincount(centers) / 2000, 0.2, atol=4 * (0.2 * 0.8 / 2000) ** 0.5)


def test_the_best_of_the_drawn_trees_is_kept() -> None:
    metric = tr.PointMetric(POINTS)
    trees = drawn(metric, 20, 3)
    scores = [float(tr.average_distortion(tree, metric, scale="optimal")) for tree in trees]
    assert len(set(scores)) > 1
    assert tr.fit(metric, method="bartal", draws=20, rng=3) == trees[int(np.argmin(scores))]


def test_threads_and_kinds_of_metric_change_nothing() -> None:
    d = tr.PointMetric(POINTS).block(np.arange(60), np.arange(60))
    expected = tr.fit(d, method="bartal", draws=9, rng=1)
    for jobs in (1, 2, 4):
        assert tr.fit(d, method="bartal", draws=9, rng=1, n_jobs=jobs) == expected
        trees = drawn(tr.MatrixMetric(d), 9, 1, jobs)
        assert expected in trees
        assert trees == drawn(tr.MatrixMetric(d), 9, 1)
    assert tr.fit(tr.PointMetric(POINTS), method="bartal", draws=9, rng=1) == expected
    assert tr.fit(Table(d), method="bartal", draws=9, rng=1) == expected
    assert tr.fit(d, method="bartal", draws=9, rng=2) != expected


@pytest.mark.parametrize(
    "d",
    [
        np.zeros((4, 4)),  # identical points
        np.ones((2, 2), np.uint8) - np.eye(2, dtype=np.uint8),
        (np.abs(np.arange(9)[:, None] - np.arange(9)) * 30).astype(np.uint8),
        np.abs(np.arange(5)[:, None] - np.arange(5)).astype(np.float32),
        np.abs(np.arange(5.0)[:, None] - np.arange(5)) * 1e150,
        np.abs(np.arange(5.0)[:, None] - np.arange(5)) * 1e-150,
        np.kron(np.abs(np.arange(3.0)[:, None] - np.arange(3)), np.ones((2, 2))),  # every point twice
    ],
)
def test_edge_cases(d: np.ndarray) -> None:
    n = np.arange(len(d))
    for fitted in (tr.fit(d, method="bartal", draws=3), *drawn(tr.MatrixMetric(d), 3)):
        assert (2 * fitted.block(n, n) >= d * (1 - 1e-12)).all()
        assert (fitted.block(n, n)[d == 0] == 0).all()


def test_a_radius_that_is_rounded_to_zero_still_parts_points() -> None:
    tree = tr.fit(np.array([[0, 5e-324], [5e-324, 0]]), method="bartal", draws=1)
    assert len(tree) == 2


def test_a_hub_that_is_near_to_all_does_not_hang() -> None:
    # Far from a metric: point 0 is at distance 1 of points that are 100 apart, so its ball holds everything.
    d = 100.0 * (1 - np.eye(200))
    d[0, 1:] = d[1:, 0] = 1.0
    assert len(tr.fit(d, method="bartal", draws=20)) == 200


@pytest.mark.parametrize("draws", [0, -1, 2.5, True])
def test_a_bad_number_of_draws_gets_one_clear_line(draws: object) -> None:
    with pytest.raises(ValueError, match=f"draws must be a positive whole number, not {draws}"):
        tr.fit(POINTS, metric="euclidean", method="bartal", draws=draws)


def test_too_many_points_get_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 8 * 60 * 60 - 1)
    with pytest.raises(MemoryError, match="bartal on 60 points needs"):
        bartal(tr.PointMetric(POINTS), rng=np.random.default_rng(0))
    bartal(tr.MatrixMetric(1 - np.eye(60)), draws=1, rng=np.random.default_rng(0))  # a table is not copied
