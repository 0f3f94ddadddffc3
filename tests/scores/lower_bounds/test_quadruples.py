import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics
from treerep.scores.lower_bounds import quadruples
from treerep.scores.lower_bounds.quadruples import largest_bound


def bound(d, ratio=False):
    rng = np.random.default_rng(0)
    return largest_bound(Table(d), ratio=ratio, margin=0.0, rng=rng)


def sums_of(d, points):
    """The largest sum and the next one, of three or four points."""
    if len(points) == 3:
        a, b, c = points
        sides = sorted([d[a, b], d[a, c], d[b, c]])
        return sides[2], sides[0] + sides[1]
    a, b, c, e = points
    sums = sorted([d[a, b] + d[c, e], d[a, c] + d[b, e], d[a, e] + d[b, c]])
    return sums[2], sums[1]


def naive(d, ratio):
    """The best bound of all triples and quadruples."""
    best = 1.0 if ratio else 0.0
    for size in (3, 4):
        for points in itertools.combinations(range(len(d)), size):
            first, second = sums_of(d, points)
            if not ratio:
                best = max(best, (first - second) / size)
            elif all(d[p] > 0 for p in itertools.combinations(points, 2)):
                best = max(best, first / second)
    return best


@given(st.one_of(integer_metrics(max_points=9), any_symmetric(max_points=9)), st.booleans())
def test_the_worst_of_all(d, ratio):
    if len(d) < 3:
        return
    found = bound(d, ratio)
    assert found == pytest.approx(naive(d, ratio), rel=1e-13, abs=1e-15)
    assert found.confidence == 1.0
    if found.witness is None:
        assert found == (1.0 if ratio else 0.0)
        return
    first, second = sums_of(d, found.witness)
    proof = first / second if ratio else (first - second) / len(found.witness)
    assert found == pytest.approx(proof, rel=1e-13)


def test_hand_worked_triple():
    d = np.array([[0, 7, 1], [7, 0, 2], [1, 2, 0]], dtype=float)
    found = bound(d)
    assert (float(found), found.witness) == (4 / 3, (0, 1, 2))
    assert bound(d, ratio=True) == 7 / 3


@pytest.mark.parametrize("ratio", [False, True])
def test_local_search_finds_the_worst(monkeypatch, ratio):
    rng = np.random.default_rng(2)
    for _ in range(5):
        p = rng.normal(size=(40, 2))
        d = np.linalg.norm(p[:, None] - p[None], axis=-1)
        expected = bound(d, ratio)
        with monkeypatch.context() as patch:
            patch.setattr(quadruples, "_ALL_QUADRUPLES", 4)
            found = bound(d, ratio)
            assert found.basis == "a quadruple found by local search"
        assert found == pytest.approx(expected, rel=1e-13)


def test_a_sample_of_candidates_is_improved_over_all_points(monkeypatch):
    rng = np.random.default_rng(4)
    p = rng.normal(size=(60, 2))
    d = np.linalg.norm(p[:, None] - p[None], axis=-1)
    expected = bound(d)
    monkeypatch.setattr(quadruples, "_ALL_QUADRUPLES", 4)
    monkeypatch.setattr(quadruples, "_CANDIDATES", 20)
    monkeypatch.setattr(quadruples, "_SWEEPS", 0)
    sampled = bound(d)
    monkeypatch.setattr(quadruples, "_SWEEPS", 10)
    improved = bound(d)
    assert sampled < improved <= expected * (1 + 1e-13)
    first, second = sums_of(d, improved.witness)
    assert improved == pytest.approx((first - second) / 4, rel=1e-13)


def test_missing_distances_are_left_out():
    d = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], dtype=float)
    assert bound(d) == 0.5
    d[0, 1] = d[1, 0] = np.nan
    assert bound(d) == 0.0


@pytest.mark.parametrize(("name", "half_delta"), [("celegans", 0.75), ("diseasome", 1.25), ("csphd", 3.25)])
def test_half_the_hyperbolicity_of_graphs(data_folder, name, half_delta):
    metric = tr.as_metric(tr.datasets.load(name))
    found = largest_bound(metric, ratio=False, margin=0.0, rng=np.random.default_rng(0))
    assert found == half_delta
    assert metric.integral
    assert found.witness is not None


def test_half_the_hyperbolicity_of_a_random_graph():
    rng = np.random.default_rng(1)
    edges = np.unique(np.sort(rng.integers(0, 200, (420, 2)), axis=1), axis=0)
    path = np.stack([np.arange(199), np.arange(1, 200)], axis=1)
    graph = tr.GraphMetric(np.concatenate([edges[edges[:, 0] < edges[:, 1]], path]))
    delta = tr.hyperbolicity(graph, method="exact")
    assert delta.exact
    found = largest_bound(graph, ratio=False, margin=0.0, rng=np.random.default_rng(0))
    assert found == delta / 2
