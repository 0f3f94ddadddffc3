import math

import numpy as np
import pytest
from scipy.stats import binom

from tests.metrics import Table
from treerep.metric.base import Metric
from treerep.scores._sampling import EXACT_POINTS, half_width, sample_rows
from treerep.scores.distortion import average_distortion, distance_error, worst_distortion
from treerep.scores.mean_average_precision import mean_average_precision

N = 150
SEEDS = 200


class Line(Metric):
    """Points 0, factor, 2 factor, ... on a line, without a matrix."""

    def __init__(self, n, factor=1.0):
        self.n, self.factor = n, factor

    def __len__(self):
        return self.n

    def block(self, rows, cols):
        return self.factor * np.abs(np.subtract.outer(rows, cols))


def uneven(zeros):
    """A truth, and an approximation whose points are good and bad to different degrees; some true distances are 0."""
    rng = np.random.default_rng(7)
    points = rng.uniform(-1.0, 1.0, (N, 2))
    truth = np.linalg.norm(points[:, None] - points, axis=-1)
    factor = rng.uniform(0.6, 1.5, N)
    approx = truth * factor * factor[:, None] + 0.1 * (1 - np.eye(N))
    if zeros:
        truth = np.where(truth < 0.4, 0.0, truth)
    return Table(approx), Table(truth)


CASES = {
    "average": (average_distortion, {}),
    "average scaled": (average_distortion, {"scale": "optimal"}),
    "l1": (distance_error, {}),
    "l1 scaled": (distance_error, {"scale": "optimal"}),
    "l2": (distance_error, {"norm": "l2"}),
    "l2 scaled": (distance_error, {"norm": "l2", "scale": "optimal"}),
}


def check_coverage(exact, scores):
    inside = [score.low <= exact <= score.high for score in scores]
    assert np.mean(inside) >= 0.88
    # The intervals are no wider than they need to be: at half the width, many would miss.
    narrow = [abs(score - exact) <= (score.high - score.low) / 4 for score in scores]
    assert np.mean(narrow) <= 0.88
    # No bias to speak of: the mean error is small against the spread of the estimates.
    errors = np.array([score - exact for score in scores])
    assert abs(errors.mean()) < 0.35 * errors.std()


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_interval_covers_the_exact_score(name, zeros):
    score, options = CASES[name]
    approx, truth = uneven(zeros)
    exact = score(approx, truth, **options)
    scores = [score(approx, truth, rows=40, rng=seed, n_jobs=1, **options) for seed in range(SEEDS)]
    assert not any(s.exact for s in scores)
    check_coverage(exact, scores)


def coverage(score, outliers, **options):
    """Count the samples of 40 rows, out of SEEDS, whose interval contains the exact score."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(N, 3))
    points[:outliers] *= 50
    truth = np.linalg.norm(points[:, None] - points, axis=-1)
    factor = rng.uniform(0.8, 1.2, N)
    tables = Table(truth * factor * factor[:, None]), Table(truth)
    exact = score(*tables, rows="all", **options)
    found = [score(*tables, rows=40, rng=seed, n_jobs=1, **options) for seed in range(SEEDS)]
    return sum(s.low <= exact <= s.high for s in found)


@pytest.mark.parametrize("name", ["average", "l1", "l2"])
def test_intervals_cover_ordinary_data_as_documented(name):
    score, options = CASES[name]
    # One in a million samples of a true coverage of 91% is below this.
    assert coverage(score, 0, **options) >= binom.ppf(1e-6, SEEDS, 0.91)


def test_far_outliers_break_intervals_as_documented():
    # What `Score` says: relative errors are not harmed, and the others are.
    assert coverage(average_distortion, 2) >= binom.ppf(1e-6, SEEDS, 0.91)
    for norm in ("l1", "l2"):
        assert coverage(distance_error, 2, norm=norm) <= binom.ppf(1e-6, SEEDS, 0.91)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_interval_counts_the_uncertainty_of_the_scale(norm):
    # Long distances decide the scale, and how many there are depends on the row. An interval that took the scale of
    # the sample for granted would be a quarter too narrow for l1.
    points = np.sort(np.random.default_rng(7).uniform(size=N)) ** 2
    truth = np.abs(points[:, None] - points) + 0.02 * (1 - np.eye(N))
    options = {"norm": norm, "scale": "optimal"}
    tables = Table(truth + 3 * truth**2), Table(truth)
    scores = [distance_error(*tables, rows=40, rng=seed, n_jobs=1, **options) for seed in range(SEEDS)]
    spread = np.std(scores)
    assert 1.7 < np.mean([score.high - score.low for score in scores]) / (2 * spread) < 2.3


@pytest.mark.parametrize("name", ["average scaled", "l1 scaled"])
def test_interval_covers_if_the_scale_and_the_errors_depend_on_the_same_rows(name):
    # Two kinds of pairs need two scales. The share of rows of each kind in the sample determines
    # the scale, and with it the errors of all pairs.
    score, options = CASES[name]
    points = np.random.default_rng(3).uniform(size=(N, 2))
    truth = np.linalg.norm(points[:, None] - points, axis=-1) + 0.02 * (1 - np.eye(N))
    is_long = np.arange(N) < N // 3
    tables = Table(truth * np.where(is_long[:, None] | is_long, 2.0, 1.0)), Table(truth)
    exact = score(*tables, **options)
    check_coverage(
        exact,
        [score(*tables, rows=40, rng=seed, n_jobs=1, **options) for seed in range(SEEDS)],
    )


@pytest.mark.parametrize("ties", ["definition", "rank"])
def test_interval_covers_the_exact_precision(ties):
    from scipy.sparse import csr_array

    approx, truth = uneven(zeros=False)
    near = (truth.distances < 0.25) & ~np.eye(N, dtype=bool)
    graph = Table(truth.distances, adjacency=csr_array(near.astype(float)))
    exact = mean_average_precision(approx, graph, ties=ties)
    assert 0.2 < exact < 0.95
    scores = [
        mean_average_precision(approx, graph, ties=ties, rows=40, rng=seed, n_jobs=1) for seed in range(SEEDS)
    ]
    check_coverage(exact, scores)


def test_half_width_by_hand():
    # Values 1, 2, 3, 6 of 10: mean 3, s^2 = (4 + 1 + 0 + 9) / 3; t(3, 97.5%) = 3.182446 from any table.
    values = np.array([1.0, 2.0, 3.0, 6.0])
    expected = 3.182446305 * math.sqrt((1 - 4 / 10) * (14 / 3) / 4)
    assert half_width(values - 3.0, 4.0, 10) == pytest.approx(expected, rel=1e-8)
    assert half_width(values[:1] - 1.0, 1.0, 10) == math.inf


def test_all_rows_make_it_exact():
    approx, truth = uneven(zeros=False)
    exact = average_distortion(approx, truth)
    for rows in ("all", N, N + 1, np.int32(N)):
        assert average_distortion(approx, truth, rows=rows) == exact
    nearly = average_distortion(approx, truth, rows=N - 1)
    assert not nearly.exact
    assert nearly == pytest.approx(exact, rel=0.02)
    # With one row left out, hardly anything is uncertain: the finite population counts.
    assert nearly.high - nearly.low < 0.05 * exact


def test_sample_describes_itself():
    approx, truth = uneven(zeros=True)
    score = average_distortion(approx, truth, rows=10, rng=3, scale="optimal")
    assert score.pairs + score.skipped == 10 * (N - 1)
    assert score.skipped > 0
    assert score.low < score < score.high
    assert "(from 10 of 150 rows" in repr(score)


def test_extremes_of_a_sample_are_lower_bounds():
    approx, truth = uneven(zeros=False)
    for score in (worst_distortion, lambda *a, **k: distance_error(*a, norm="linf", **k)):
        part = score(approx, truth, rows=20, rng=1)
        assert part <= score(approx, truth)
        assert (part.low, part.high, part.exact) == (part, math.inf, False)


def test_one_row_knows_no_spread():
    approx, truth = uneven(zeros=False)
    score = average_distortion(approx, truth, rows=1)
    assert (score.low, score.high) == (0.0, math.inf)


def test_only_skipped_pairs_in_the_sample():
    truth = np.zeros((5, 5))
    truth[0, 1] = truth[1, 0] = 1.0
    seed = next(seed for seed in range(99) if sample_rows(5, 2, seed, 256).min() > 1)
    score = average_distortion(Table(truth), Table(truth), rows=2, rng=seed)
    assert score.pairs == 0
    assert (score, score.low, score.high, score.exact) == (0.0, 0.0, math.inf, False)


def test_seed_decides():
    approx, truth = uneven(zeros=False)
    first = average_distortion(approx, truth, rows=10, rng=5)
    assert average_distortion(approx, truth, rows=10, rng=np.random.default_rng(5)) == first
    assert average_distortion(approx, truth, rows=10, rng=6) != first
    assert average_distortion(approx, truth, rows=10) == average_distortion(approx, truth, rows=10, rng=0)


def test_exact_scores_draw_nothing():
    rng = np.random.default_rng(1)
    average_distortion(*uneven(zeros=False), rng=rng)
    assert rng.random() == np.random.default_rng(1).random()


def test_many_points_are_sampled_by_default():
    n = EXACT_POINTS + 1
    score = average_distortion(Line(n, 1.5), Line(n))
    assert score == pytest.approx(0.5, rel=1e-12)
    assert (score.exact, score.pairs) == (False, 256 * (n - 1))
    assert average_distortion(Line(n, 1.5), Line(n), scale="optimal", rows=5).scale == pytest.approx(
        2 / 3, rel=1e-12
    )


def test_sample_rows():
    assert sample_rows(EXACT_POINTS, None, 0, 256) is None
    assert sample_rows(10**6, "all", 0, 256) is None
    rows = sample_rows(10**6, None, 0, 256)
    assert len(set(rows.tolist())) == 256
    assert rows.tolist() == sorted(rows)
    # Few of many points may have neighbors: what counts as many is the number of points.
    assert len(sample_rows(5000, None, 0, 1024, EXACT_POINTS + 1)) == 1024
