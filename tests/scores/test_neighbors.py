import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import hypergeom
from sklearn.neighbors import NearestNeighbors

import treerep as tr
from tests.metrics import Table
from tests.scores.test_sampling import check_coverage
from tests.strategies import any_symmetric, integer_metrics
from treerep.metric.base import MetricError
from treerep.scores import _streaming as streaming
from treerep.scores._neighbor_kernels import _expected_hits
from treerep.scores.neighbors import neighbors_kept


def choices(row, point, k):
    """All sets of k nearest points, one for each way to break ties."""
    others = [x for x in range(len(row)) if x != point]
    tolerance = 1e-9 * max(row)
    last = sorted(row[x] for x in others)[k - 1]
    nearer = [x for x in others if row[x] < last - tolerance]
    tied = [x for x in others if abs(row[x] - last) <= tolerance]
    return [{*nearer, *rest} for rest in combinations(tied, k - len(nearer))]


def naive(approx, truth, k):
    """The definition: the mean over ties of approx of the best choice of truth."""
    shares = []
    for v in range(len(truth)):
        right = choices(truth[v], v, k)
        found = choices(approx[v], v, k)
        shares.append(np.mean([max(len(own & each) for each in right) for own in found]) / k)
    return np.mean(shares)


def symmetric(rng, n, levels):
    upper = np.triu(rng.integers(0, levels, (n, n)), 1).astype(float)
    return upper + upper.T


# Distances from point 0 to 1, 2, 3: all equal in the star. Each point has one nearest neighbor in the truth:
# 0 and 1 have each other, 2 and 3 have 0. The star keeps it with probability 1/3.
TRUTH = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]
STAR = (1 - np.eye(4)).tolist()


def test_hand_worked():
    score = neighbors_kept(STAR, TRUTH, k=1)
    assert score == pytest.approx(1 / 3, abs=1e-15)
    assert (score.pairs, score.exact, score.low, score.high) == (4, True, score, score)
    # Two of three points are neighbors in the truth, and two of three are drawn: 4/3 of 2 on average.
    assert neighbors_kept(STAR, TRUTH, k=2) == pytest.approx(2 / 3, abs=1e-15)
    assert neighbors_kept(STAR, TRUTH, k=3) == 1.0
    # Every point is a right neighbor if all distances of the data tie.
    assert neighbors_kept(TRUTH, STAR, k=1) == 1.0
    # The nearest points are 3, 2, 1 and 0. Only the neighbor of 3 is kept.
    far = [[0, 3, 2, 1], [3, 0, 1, 2], [2, 1, 0, 3], [1, 2, 3, 0]]
    assert neighbors_kept(far, TRUTH, k=1) == 1 / 4


@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(2, 8),
    seed=st.integers(0, 10**6),
    levels=st.tuples(*[st.sampled_from([1, 2, 3, 6, 10**6])] * 2),
    noise=st.sampled_from([0.0, 1e-13]),
    data=st.data(),
)
def test_agrees_with_the_definition(n, seed, levels, noise, data):
    k = data.draw(st.integers(1, n - 1))
    rng = np.random.default_rng(seed)
    approx, truth = (symmetric(rng, n, each) for each in levels)
    approx = approx * (1 + noise * rng.random((n, n)))
    score = neighbors_kept(Table(approx), Table(truth), k=k)
    assert score == pytest.approx(naive(approx.tolist(), truth.tolist(), k), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.one_of(integer_metrics(), any_symmetric()), st.integers(1, 12), st.floats(0.3, 3))
def test_distances_keep_all_of_their_own_neighbors(distances, k, power):
    k = min(k, len(distances) - 1)
    if k:
        own = Table(distances)
        assert neighbors_kept(own, own, k=k) == 1.0
        assert neighbors_kept(Table(7 * distances), own, k=k) == 1.0


def test_a_tree_keeps_the_neighbors_of_its_tree_metric():
    tree = tr.datasets.random_tree(60, rng=1)
    found = tr.fit(tree.distances(), method="neighbor_joining")
    assert neighbors_kept(found, tree) == 1.0
    assert neighbors_kept(tr.TreeSum([found, found]), tree) == 1.0


@pytest.mark.parametrize("k", [1, 5, 40, 119])
def test_agrees_with_scikit_learn(k):
    rng = np.random.default_rng(k)
    points = rng.normal(size=(120, 4))
    moved = points + 0.5 * rng.normal(size=points.shape)

    def nearest(x):
        return NearestNeighbors(n_neighbors=k).fit(x).kneighbors(return_distance=False)

    pairs = zip(nearest(moved), nearest(points), strict=True)
    expected = np.mean([len(np.intersect1d(a, b)) / k for a, b in pairs])
    score = neighbors_kept(tr.PointMetric(moved), points, metric="euclidean", k=k)
    assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("limit", "sure", "size", "marked", "drawn"),
    [
        (3, 1, 10, 5, 4),
        (10, 0, 90_000, 30_000, 60),
        (500, 100, 3000, 2000, 900),
        (20, 30, 100, 50, 10),
        (4, 0, 7, 7, 3),
        (4, 0, 7, 0, 3),
        (650, 0, 3000, 2900, 700),
    ],
)
def test_expected_hits(limit, sure, size, marked, drawn):
    hits = np.arange(drawn + 1)
    chances = hypergeom(size, marked, drawn).pmf(hits)
    expected = float(chances @ np.minimum(limit, sure + hits))
    own = getattr(_expected_hits, "py_func", _expected_hits)  # not compiled for coverage
    assert_allclose(own(limit, sure, size, marked, drawn), expected, rtol=1e-9)


def test_score_is_the_mean_over_random_ties():
    rng = np.random.default_rng(3)
    approx, truth = symmetric(rng, 40, 5), rng.random((40, 40))
    truth = truth + truth.T
    right = np.argsort(truth + 9 * np.eye(40), axis=1)[:, :10]
    drawn = []
    for _ in range(300):
        noisy = approx + 1e-6 * rng.random(approx.shape) + 99 * np.eye(40)
        found = np.argsort(noisy, axis=1)[:, :10]
        drawn.append(np.mean([np.isin(a, b).mean() for a, b in zip(found, right, strict=True)]))
    error = np.std(drawn) / math.sqrt(len(drawn))
    np.fill_diagonal(truth, 0)
    score = neighbors_kept(Table(approx), Table(truth))
    assert abs(score - np.mean(drawn)) < 4 * error


def test_points_are_matched_by_label():
    points = np.random.default_rng(0).normal(size=(30, 2))
    names = [f"p{i}" for i in range(30)]
    metric = tr.as_metric(points, metric="euclidean", labels=names)
    tree = tr.fit(metric)
    turned = tree.restrict(names[::-1])
    assert neighbors_kept(turned, metric) == pytest.approx(neighbors_kept(tree, metric))
    assert neighbors_kept(turned, metric) > 0.4


@pytest.mark.parametrize("rows", [None, 40])
def test_same_bits_for_every_number_of_threads_and_block_size(rows, monkeypatch):
    rng = np.random.default_rng(4)
    approx, truth = (Table(symmetric(rng, 150, 20)) for _ in range(2))
    results = set()
    for entries in (1, 2000, 1 << 18):
        monkeypatch.setattr(streaming, "BLOCK_ENTRIES", entries)
        for n_jobs in (1, 3):
            score = neighbors_kept(approx, truth, rows=rows, n_jobs=n_jobs)
            results.add((float(score).hex(), score.low.hex(), score.high.hex()))
    assert len(results) == 1


def test_intervals_contain_the_score_of_all_points():
    rng = np.random.default_rng(7)
    points = rng.normal(size=(150, 3))
    noise = rng.uniform(0, 1.5, (150, 1))
    moved = tr.PointMetric(points + noise * rng.normal(size=points.shape))
    truth = tr.PointMetric(points)
    exact = neighbors_kept(moved, truth)
    scores = [neighbors_kept(moved, truth, rows=40, rng=seed) for seed in range(200)]
    check_coverage(exact, scores)
    assert (scores[0].exact, scores[0].pairs) == (False, 40)
    assert "(from 40 of 150 points)" in repr(scores[0])


def test_bad_input_gets_one_clear_line():
    with pytest.raises(ValueError, match=r"^k=10 neighbors need at least 11 points, but there"):
        neighbors_kept(STAR, TRUTH)
    with pytest.raises(ValueError, match="k must be a positive whole number, not 0"):
        neighbors_kept(STAR, TRUTH, k=0)
    with pytest.raises(ValueError, match="approx has 2 points and truth has 4"):
        neighbors_kept([[0, 1], [1, 0]], TRUTH, k=1)
    gap = np.array(TRUTH, float)
    gap[0, 2] = gap[2, 0] = np.nan
    with pytest.raises(MetricError, match=r"^truth has d\(0, 2\) = nan: [^\n]*$"):
        neighbors_kept(STAR, Table(gap), k=1)
    with pytest.raises(MetricError, match=r"^approx has d\(0, 2\) = nan: [^\n]*$"):
        neighbors_kept(Table(gap), STAR, k=1)
    with pytest.raises(MetricError, match="the share of kept neighbors needs all distances"):
        neighbors_kept(STAR, tr.as_metric(gap, missing=True), k=1)
