"""FRT: equal to a plain twin level by level, dominating, and not far off on average."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.fitting.random import frt as engine
from treerep.metric.base import MetricError

metrics = st.one_of(integer_metrics(20), tree_metrics(20)).filter(lambda d: len(d) > 1)


def line(*places: float) -> np.ndarray:
    x = np.array(places, float)
    return np.abs(x[:, None] - x)


def twin(d: np.ndarray, seed: int) -> np.ndarray:
    """Distances in the tree: all levels, one after the other, every cluster a node, nothing compressed."""
    rng = np.random.default_rng(seed)
    n = len(d)
    order, beta = rng.permutation(n).tolist(), 2.0 ** rng.random()
    positive = d[d > 0]
    if not len(positive):
        return np.zeros((n, n))
    scaled = d / positive.min()
    top = max(1, math.ceil(math.log2(scaled.max())))
    path = [[0] for _ in range(n)]  # the centers of a point's clusters, from level top on downwards
    for level in range(top - 1, -1, -1):
        radius = beta * 2.0 ** (level - 1)
        for v in range(n):
            path[v].append(next(c for c in order if scaled[c, v] <= radius))
    out = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            apart = [
                level for level in range(top) if path[u][: top - level + 1] != path[v][: top - level + 1]
            ]
            # An edge from level i to level i + 1 has length 2^(i+1), on both sides.
            out[u, v] = 2 * sum(2.0 ** (level + 1) for level in apart)
    return out * positive.min()


@settings(max_examples=100)
@given(metrics, st.integers(0, 1000))
def test_every_tree_equals_its_plain_twin(d: np.ndarray, seed: int) -> None:
    assert_allclose(tr.fit(d, method="frt", rng=seed).distances(), twin(d, seed), rtol=1e-12)


@settings(max_examples=100)
@given(metrics, st.integers(0, 1000), st.booleans())
def test_the_tree_dominates_the_metric(d: np.ndarray, seed: int, doubled: bool) -> None:
    if doubled:
        d = np.kron(d, np.ones((2, 2)))
    tree = tr.fit(d, method="frt", rng=seed)
    distances = tree.distances()
    assert (distances >= d * (1 - 1e-12)).all()
    assert_array_equal(distances == 0, d == 0)
    # Compressed: a Steiner node has two children or more, and all points are leaves at one depth, or copies of one.
    assert (tree.degrees[len(d) :] >= 2).all()
    assert (tree.degrees[len(d) :] == 2).sum() <= 1


@settings(max_examples=40)
@given(any_symmetric(20).filter(lambda d: len(d) > 1), st.integers(0, 100))
def test_without_the_triangle_inequality_it_is_still_a_tree(d: np.ndarray, seed: int) -> None:
    tree = tr.fit(d, method="frt", rng=seed)
    assert tr.Tree(len(d), tree.edges, tree.weights) == tree


def test_hand_worked_line() -> None:
    # Unit 1, diameter 3: level 2 is everything. Level 1 has a radius from 1 to 2, so point 2 is alone and the others
    # are together, whatever the order: they part at level 0, 2 (2 - 0) apart, and from point 2 at level 1, 2 (2 + 4).
    for seed in range(20):
        tree = tr.fit(line(0, 1, 3), method="frt", rng=seed)
        assert tree.distances().tolist() == [[0, 4, 12], [4, 0, 12], [12, 12, 0]]
        assert tree.n_nodes == 5


def test_two_points_are_four_times_as_far_apart() -> None:
    for scale in (1.0, 0.3, 1e150, 1e-150, 5e-324):
        assert tr.fit(line(0, scale), method="frt").pairs(0, 1) == 4 * scale


def test_the_order_is_random() -> None:
    # A path of four: the radius of level 1 covers neighbors only. Points 0 and 1 stay together there iff the first
    # of 0, 1, 2 is not 2; points 1 and 2 iff the first of all is 1 or 2.
    seeds = 800
    drawn = np.array(
        [tr.fit(line(0, 1, 2, 3), method="frt", rng=s).pairs([0, 1], [1, 2]) for s in range(seeds)]
    )
    assert set(drawn.ravel()) == {4, 12}
    assert_allclose((drawn == 4).mean(axis=0), [2 / 3, 1 / 2], atol=4 * 0.5 / seeds**0.5)


def test_beta_has_a_uniform_logarithm() -> None:
    # Points 1 and 2, at distance 1.5, part at level 1 if beta < 1.5, and else if point 0 is the first of all.
    seeds = 800
    drawn = np.array([tr.fit(line(0, 1, 2.5), method="frt", rng=s).pairs(1, 2) for s in range(seeds)])
    apart = math.log2(1.5) + (1 - math.log2(1.5)) / 3
    assert (drawn == 12).mean() == pytest.approx(apart, abs=4 * 0.5 / seeds**0.5)


@pytest.mark.parametrize("shape", ["cycle", "star", "points"])
def test_mean_stretch_is_within_the_promise_for_every_pair(shape: str) -> None:
    n = 32
    k = np.arange(n)
    around = np.abs(k[:, None] - k)
    d = {
        "cycle": np.minimum(around, n - around).astype(float),
        "star": (2.0 - (k[:, None] * k == 0)) * (around > 0),
        "points": tr.PointMetric(np.random.default_rng(0).normal(size=(n, 3))).block(k, k),
    }[shape]
    upper = np.triu_indices(n, 1)
    stretch = np.mean(
        [tr.fit(d, method="frt", rng=seed).distances()[upper] / d[upper] for seed in range(100)],
        axis=0,
    )
    assert (stretch >= 1).all()
    # E[d_T] <= (16 / ln 2) H_n d; the average over all pairs is well below it.
    promise = 16 / math.log(2) * (1 / (k + 1)).sum()
    assert stretch.max() < promise
    assert stretch.mean() < promise / 4


def test_identical_points_are_one_leaf() -> None:
    tree = tr.fit(np.kron(line(0, 1, 5), np.ones((3, 3))), method="frt")
    distances = tree.distances()
    assert (distances[:3, :3] == 0).all()
    assert tree.n_nodes - len(tree) <= 2
    nowhere = tr.fit(np.zeros((4, 4)), method="frt")
    assert nowhere.n_nodes == 4
    assert nowhere.total_length == 0


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 3.0, 1e150])
def test_scale_changes_nothing_but_the_lengths(scale: float) -> None:
    d = tr.datasets.random_tree(50, rng=2).distances()
    tree, scaled = tr.fit(d, method="frt", rng=1), tr.fit(d * scale, method="frt", rng=1)
    assert_array_equal(tree.edges, scaled.edges)
    assert_allclose(scaled.weights, tree.weights * scale, rtol=1e-12)


def test_places_over_the_whole_range_of_floats() -> None:
    d = line(0, *(10.0**k for k in range(-280, 281, 20)))
    tree = tr.fit(d, method="frt")
    assert (tree.distances() >= d).all()


def test_distances_beyond_the_range_are_refused() -> None:
    with pytest.raises(MetricError, match="sums of distances overflow: rescale"):
        tr.fit(Table(1e308 * (1 - np.eye(2))), method="frt")


def test_kinds_of_metric_blocks_and_threads_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    d = np.minimum(line(*range(40)), 40 - line(*range(40)))
    expected = tr.fit(d, method="frt", rng=3)
    assert tr.fit(d.astype(np.uint8), method="frt", rng=3) == expected
    assert tr.fit(d.astype(np.float32), method="frt", rng=3) == expected
    assert tr.fit(d, method="frt", rng=4) != expected
    monkeypatch.setattr(engine, "row_slices", lambda n, _: [slice(k, min(k + 7, n)) for k in range(0, n, 7)])
    for jobs in (1, 2, 4):
        assert tr.fit(d, method="frt", rng=3, n_jobs=jobs) == expected


def test_labels_pass_through() -> None:
    assert tr.fit(tr.datasets.sarich(), method="frt").labels == tr.datasets.sarich().labels
