import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.best_trees import SCORES, optimal_scores, path_matrices
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.metric.base import MetricError
from treerep.scores.lower_bound import lower_bound
from treerep.scores.lower_bounds import averages
from treerep.scores.lower_bounds.result import LowerBound

AVERAGES = ("average_distortion", "l1")
CYCLE = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]


def score_of(approx, truth, score):
    if score == "average_distortion":
        return tr.average_distortion(approx, truth)
    if score == "worst_distortion":
        return tr.worst_distortion(approx, truth)
    return tr.distance_error(approx, truth, norm=score)


def tables(kind, k, n, rng):
    """k distance matrices of n points."""
    if kind == "points":
        p = rng.normal(size=(k, n, 2))
        return np.linalg.norm(p[:, :, None] - p[:, None], axis=-1)
    values = {
        "whole": lambda: rng.integers(1, 4, (k, n, n)).astype(float),
        "zeros": lambda: rng.integers(0, 3, (k, n, n)).astype(float),
        "uniform": lambda: rng.uniform(size=(k, n, n)),
    }[kind]()
    upper = np.triu(values, 1)
    return upper + upper.transpose(0, 2, 1)


def euclidean(n, seed, dimension=3):
    p = np.random.default_rng(seed).normal(size=(n, dimension))
    return np.linalg.norm(p[:, None] - p[None], axis=-1)


def test_the_reference_enumerates_all_trees():
    # (2 n - 5)!! binary trees on n leaves
    for n, expected in ((3, 1), (4, 3), (5, 15), (6, 105)):
        distinct = {m[:, np.lexsort(m)].tobytes() for m in path_matrices(n)}
        assert len(path_matrices(n)) == len(distinct) == expected


def test_hand_worked():
    # Sums 4, 2, 2. The best tree has length 1 instead of 2 for both diagonals, or errors of 1/2.
    assert lower_bound(CYCLE, score="l1") == pytest.approx(2 / 6, rel=1e-8)
    assert lower_bound(CYCLE) == pytest.approx(1 / 6, rel=1e-8)
    assert lower_bound(CYCLE, score="linf") == 0.5
    assert lower_bound(CYCLE, score="worst_distortion") == 2.0
    table = np.array([CYCLE], dtype=float)
    expected = [1 / 6, 2 / 6, 0.5, 2.0]
    assert [optimal_scores(table, score)[0] for score in SCORES] == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["points", "whole", "zeros", "uniform"])
@pytest.mark.parametrize(("n", "k"), [(4, 250), (5, 60), (6, 8)])
def test_never_above_the_best_tree(kind, n, k):
    stack = tables(kind, k, n, np.random.default_rng(n))
    for score in SCORES:
        trivial = 1.0 if score == "worst_distortion" else 0.0
        best = np.maximum(optimal_scores(stack, score), trivial)
        found = np.array([lower_bound(Table(d), score=score, n_jobs=1) for d in stack])
        assert (found <= best + 1e-8).all()
        assert np.sum(found - trivial) >= 0.7 * np.sum(best - trivial)
        if n == 4 and kind == "points":  # one quadruple decides
            np.testing.assert_allclose(found, best, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["points", "whole", "uniform"])
def test_never_above_the_best_tree_of_seven_points(kind):
    stack = tables(kind, 10, 7, np.random.default_rng(7))
    for score in SCORES:
        best = optimal_scores(stack, score)
        found = [lower_bound(Table(d), score=score) for d in stack]
        assert (np.array(found) <= best + 1e-8).all()


@settings(max_examples=40)
@given(st.one_of(integer_metrics(max_points=5), any_symmetric(max_points=5)))
def test_never_above_the_best_tree_of_any_distances(d):
    if len(d) < 3:
        return
    for score in SCORES:
        trivial = 1.0 if score == "worst_distortion" else 0.0
        best = max(optimal_scores(d[None], score)[0], trivial)
        assert lower_bound(Table(d), score=score) <= best * (1 + 1e-7) + 1e-8


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("method", ["treerep", "neighbor_joining"])
@pytest.mark.parametrize("n", [12, 90])
def test_never_above_a_fitted_tree(score, method, n):
    for seed in range(3):
        d = euclidean(n, seed)
        tree = tr.fit(d, method=method)
        found = lower_bound(d, score=score, points=12)
        assert found.confidence == 1.0
        assert 0 < found <= score_of(tree, d, score)


@pytest.mark.parametrize("score", AVERAGES)
def test_subsets_that_share_pairs_are_not_above_the_best_tree(score):
    # A star whose points 0 and 1 are far apart: the best tree is the star, and this pair has all
    # of the error. In some covers, several subsets contain this pair.
    d = 2.0 * (1 - np.eye(24))
    d[0, 1] = d[1, 0] = 100.0
    star = tr.Tree(24, [[24, k] for k in range(24)], np.ones(24))
    best = score_of(star, d, score)
    found = [lower_bound(d, score=score, points=12, subsets="all", rng=seed) for seed in range(20)]
    assert 0.9 * best < max(found) <= best


@pytest.mark.parametrize("hidden", [0.0, 1.0])
@pytest.mark.parametrize("score", ["linf", "worst_distortion"])
def test_rounded_path_lengths_prove_nothing(score, hidden):
    # Sums of path lengths that are equal in the tree differ in their last digits.
    trivial = 1.0 if score == "worst_distortion" else 0.0
    for seed in range(20):
        tree = tr.datasets.random_tree(9, hidden=hidden, rng=seed)
        assert lower_bound(tree.distances(), score=score) == trivial


@given(tree_metrics(max_nodes=25))
def test_tree_metrics_have_the_trivial_bound(d):
    for score in SCORES:
        trivial = 1.0 if score == "worst_distortion" else 0.0
        found = lower_bound(Table(d), score=score)
        scale = max(1.0, d.max(initial=0.0))
        assert trivial <= found <= trivial + 1e-12 * scale


@pytest.mark.parametrize("score", AVERAGES)
def test_larger_subsets_are_better(score):
    d = euclidean(60, 1)
    bounds = [lower_bound(d, score=score, points=p, subsets="all") for p in (6, 12, 30, 60)]
    assert bounds == sorted(bounds)
    assert bounds[0] < 0.8 * bounds[-1]
    assert bounds[0].basis.endswith("subsets that cover all pairs")
    assert bounds[-1].basis == "packing of all quadruples of 60 points"


@pytest.mark.parametrize("score", AVERAGES)
def test_random_subsets(score):
    d = euclidean(80, 2)
    whole = lower_bound(d, score=score, points=80)
    sampled = lower_bound(d, score=score, points=16, subsets=60)
    assert sampled.confidence == 0.95
    assert 0.5 * whole < sampled < sampled.estimate < whole
    assert sampled.basis == "packings in 60 random subsets of 16 points"
    other = lower_bound(d, score=score, points=16, subsets=60, rng=1)
    assert float(other) != float(sampled)


def test_the_mean_of_random_quadruples_is_the_mean_of_all():
    d = tables("whole", 1, 9, np.random.default_rng(3))[0]
    fours = [np.array(q) for q in np.ndindex(9, 9, 9, 9) if q[0] < q[1] < q[2] < q[3]]
    exact = np.mean([lower_bound(Table(d[np.ix_(q, q)]), n_jobs=1) for q in fours])
    sampled = lower_bound(Table(d), points=4, subsets=3_000)
    assert sampled.estimate == pytest.approx(exact, rel=0.05)
    assert sampled < exact


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("subsets", [7, "all"])
def test_the_number_of_threads_does_not_matter(score, subsets):
    d = euclidean(140, 3)
    options = {"score": score, "points": 12, "subsets": subsets, "rng": 5}
    one, three = (lower_bound(d, n_jobs=jobs, **options) for jobs in (1, 3))
    assert float(one) == float(three)
    assert (one.estimate, one.witness, one.basis) == (
        three.estimate,
        three.witness,
        three.basis,
    )


def test_default_plans(monkeypatch):
    monkeypatch.setattr(averages, "_WHOLE", 10)
    monkeypatch.setattr(averages, "_POINTS", 6)
    monkeypatch.setattr(averages, "_COVER", 12)
    monkeypatch.setattr(averages, "_SAMPLE", 5)
    found = [lower_bound(euclidean(n, 0)).basis for n in (10, 16, 40)]
    assert found == [
        "packing of all quadruples of 10 points",
        "packings in 12 subsets that cover all pairs",
        "packings in 5 random subsets of 6 points",
    ]


def test_pairs_at_distance_zero_do_not_count():
    # Every point twice: 4 of the 28 pairs have distance 0. Trees on the cycle still pay.
    d = np.kron(np.array(CYCLE, dtype=float), np.ones((2, 2)))
    found = lower_bound(d)
    # Four copies of the quadruple per pair of copies: all 24 pairs are used as in the cycle.
    assert found == pytest.approx(1 / 6, rel=1e-3)
    assert lower_bound(d, score="l1") == pytest.approx(8 / 28, rel=1e-3)
    sampled = lower_bound(np.kron(d, np.ones((4, 4))), points=12, subsets=50)
    assert sampled.estimate <= 1 / 6 + 1e-9


def test_missing_distances_are_left_out():
    d = euclidean(20, 4)
    d[3, 7] = d[7, 3] = np.nan
    metric = tr.as_metric(d, missing=True)
    for score in SCORES:
        found = lower_bound(metric, score=score)
        kept = np.delete(np.delete(d, 3, 0), 3, 1)
        assert found > 1e-3
        assert found.witness is None or not {3, 7} <= set(found.witness)
        if score in ("linf", "worst_distortion"):
            assert found >= lower_bound(kept, score=score)


@pytest.mark.parametrize("score", SCORES)
def test_few_points(score):
    trivial = 1.0 if score == "worst_distortion" else 0.0
    for n in (1, 2, 3):
        assert lower_bound(np.ones((n, n)) - np.eye(n), score=score) == trivial
    assert lower_bound(np.zeros((5, 5)), score=score) == trivial


def test_large_metrics_are_read_in_small_blocks():
    table = Table(euclidean(2_300, 5))
    lower_bound(table, points=8, subsets=5)
    assert set(table.asked) == {(8, 8)}
    table.asked.clear()
    found = lower_bound(table, score="linf")
    assert max(rows for rows, _ in table.asked) <= 2_048
    assert found.witness is not None


def test_takes_what_as_metric_takes():
    p = np.random.default_rng(0).normal(size=(15, 3))
    city = lower_bound(p, metric="manhattan")
    assert city == pytest.approx(lower_bound(np.abs(p[:, None] - p[None]).sum(-1)), rel=1e-6)
    tree = tr.fit(euclidean(15, 0), method="treerep")
    assert lower_bound(tree) == pytest.approx(0, abs=1e-12)
    with pytest.raises(MetricError):
        lower_bound([[0, -1], [-1, 0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "l2"}, "score must be one of 'average_distortion', 'l1', 'linf'"),
        ({"points": 3}, "points must be a whole number from 4 to 128, or None, not 3"),
        ({"points": 200}, "points must be a whole number from 4 to 128, or None, not 200"),
        ({"points": 8.0}, "points must be a whole number"),
        ({"subsets": 0}, "subsets must be a positive whole number, 'all' or None, not 0"),
        ({"subsets": "some"}, "subsets must be a positive whole number, 'all' or None"),
        ({"n_jobs": 0}, "n_jobs must be a positive whole number"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        lower_bound(CYCLE, **options)


def test_result():
    bound = LowerBound(0.031, confidence=0.95, estimate=0.033, basis="some subsets", witness=None)
    assert repr(bound) == "0.031 (95% confidence; some subsets)"
    assert bound + 1 == 1.031
    certain = lower_bound(CYCLE, score="linf")
    assert repr(certain) == "0.5 (the worst quadruple of 4 points)"
    assert repr(LowerBound(2.0)) == "2"
    for value in (bound, certain):
        copy = pickle.loads(pickle.dumps(value))
        assert type(copy) is LowerBound and copy == value
        for name in LowerBound.__slots__:
            assert getattr(copy, name) == getattr(value, name)


@pytest.mark.parametrize(("name", "reached"), [("celegans", 0.0779), ("diseasome", 0.065), ("csphd", 0.0715)])
def test_at_least_half_of_what_trees_reach(data_folder, name, reached):
    # `reached`: the distortion of refined trees in benchmarks/results/refinement.md.
    metric = tr.as_metric(tr.datasets.load(name))
    found = lower_bound(metric, points=20, subsets=60)
    assert reached / 2 < found < reached
