import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.metrics import Table
from treerep.metric.base import MetricError
from treerep.scores import _comparison as comparison
from treerep.scores import _streaming as streaming
from treerep.scores.distortion import average_distortion, distance_error, worst_distortion


def random_table(seed, n, zeros=0.0, whole=False):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 6, (n, n)).astype(float) if whole else rng.uniform(0.5, 3.0, (n, n))
    values[rng.random((n, n)) < zeros] = 0.0
    upper = np.triu(values, 1)
    return upper + upper.T


def naive(approx, truth, scale):
    """Every score by the double loop of its definition."""
    n = len(truth)
    pairs = [(approx[i][j], truth[i][j]) for i in range(n) for j in range(i + 1, n)]
    if scale == "optimal":
        alpha = sum(a * t for a, t in pairs) / sum(a * a for a, t in pairs)
        pairs = [(alpha * a, t) for a, t in pairs]
    relative = [abs(a - t) / t for a, t in pairs if t > 0]
    ratios = [a / t for a, t in pairs if t > 0]
    errors = [abs(a - t) for a, t in pairs]
    return {
        "average": sum(relative) / len(relative),
        "worst": max(ratios) / min(ratios) if min(ratios) > 0 else math.inf,
        "l1": sum(errors) / len(errors),
        "l2": math.sqrt(sum(e * e for e in errors) / len(errors)),
        "linf": max(errors),
    }


# A hand-worked case. Pairs:   01   02   03   12   13   23
#                     truth     1    2    4    2    4    4
#                     approx    2    2    2    1    4    6
TRUTH = [[0, 1, 2, 4], [1, 0, 2, 4], [2, 2, 0, 4], [4, 4, 4, 0]]
APPROX = [[0, 2, 2, 2], [2, 0, 1, 4], [2, 1, 0, 6], [2, 4, 6, 0]]


def test_hand_worked():
    # relative errors 1, 0, 1/2, 1/2, 0, 1/2: sum 5/2 over 6 pairs
    assert average_distortion(Table(APPROX), Table(TRUTH)) == pytest.approx(5 / 12, abs=1e-15)
    # ratios 2, 1, 1/2, 1/2, 1, 3/2: 2 / (1/2)
    assert worst_distortion(Table(APPROX), Table(TRUTH)) == 4.0
    # errors 1, 0, 2, 1, 0, 2
    assert distance_error(Table(APPROX), Table(TRUTH)) == pytest.approx(1.0, abs=1e-15)
    assert distance_error(Table(APPROX), Table(TRUTH), norm="l2") == pytest.approx(
        math.sqrt(10 / 6), abs=1e-15
    )
    assert distance_error(Table(APPROX), Table(TRUTH), norm="linf") == 2.0


def test_hand_worked_scale():
    # <A, T> = 2 + 4 + 8 + 2 + 16 + 24 = 56, <A, A> = 4 + 4 + 4 + 1 + 16 + 36 = 65
    score = average_distortion(Table(APPROX), Table(TRUTH), scale="optimal")
    assert score.scale == pytest.approx(56 / 65, rel=1e-15)
    assert score == pytest.approx(naive(APPROX, TRUTH, "optimal")["average"], rel=1e-14)
    # min |T - c A|^2 = <T, T> - <A, T>^2 / <A, A> = 57 - 56^2 / 65
    error = distance_error(Table(APPROX), Table(TRUTH), norm="l2", scale="optimal")
    assert error == pytest.approx(math.sqrt((57 - 56**2 / 65) / 6), rel=1e-14)
    assert error.scale == score.scale


def test_takes_what_as_metric_takes():
    score = average_distortion(APPROX, np.array(TRUTH))
    assert score == average_distortion(Table(APPROX), Table(TRUTH))
    assert (score.pairs, score.exact, score.skipped, score.scale) == (6, True, 0, 1.0)
    assert repr(score) == "0.4167 (all 6 pairs)"


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 40),
    seed=st.integers(0, 10**6),
    zeros=st.sampled_from([0.0, 0.1]),
    whole=st.booleans(),
    scale=st.sampled_from(["none", "optimal"]),
    entries=st.sampled_from([1, 50, 1 << 18]),
)
def test_agrees_with_the_definition(n, seed, zeros, whole, scale, entries):
    approx, truth = random_table(seed, n, zeros, whole), random_table(seed + 1, n, zeros, whole)
    if not truth.any() or not approx.any():
        return
    expected = naive(approx, truth, scale)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "BLOCK_ENTRIES", entries)
        average = average_distortion(Table(approx), Table(truth), scale=scale)
        assert average == pytest.approx(expected["average"], rel=1e-12)
        assert average.skipped == np.count_nonzero(np.triu(truth == 0, 1))
        assert average.pairs + average.skipped == n * (n - 1) // 2
        assert worst_distortion(Table(approx), Table(truth)) == pytest.approx(expected["worst"], rel=1e-12)
        for norm in ("l1", "l2", "linf"):
            error = distance_error(Table(approx), Table(truth), norm=norm, scale=scale)
            assert error == pytest.approx(expected[norm], rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("n", [127, 128, 129, 300, 500])
def test_rows_longer_than_the_lanes(n):
    approx, truth = random_table(n, n), random_table(n + 1, n)
    upper = np.triu_indices(n, 1)
    a, t = approx[upper], truth[upper]
    assert average_distortion(Table(approx), Table(truth)) == pytest.approx(
        np.mean(np.abs(a - t) / t), rel=1e-13
    )
    assert worst_distortion(Table(approx), Table(truth)) == np.max(a / t) / np.min(a / t)
    assert distance_error(Table(approx), Table(truth), norm="linf") == np.max(np.abs(a - t))
    alpha = a @ t / (a @ a)
    scaled = distance_error(Table(approx), Table(truth), scale="optimal")
    assert scaled == pytest.approx(np.mean(np.abs(alpha * a - t)), rel=1e-13)


SCORES = {
    "average": average_distortion,
    "average scaled": lambda a, t, **options: average_distortion(a, t, scale="optimal", **options),
    "worst": worst_distortion,
    "l1": distance_error,
    "l2 scaled": lambda a, t, **options: distance_error(a, t, norm="l2", scale="optimal", **options),
    "linf": lambda a, t, **options: distance_error(a, t, norm="linf", **options),
}


@pytest.mark.parametrize("rows", ["all", 37])
@pytest.mark.parametrize("name", SCORES)
def test_same_bits_for_every_number_of_threads_and_block_size(name, rows, monkeypatch):
    approx, truth = random_table(1, 240), random_table(2, 240)
    monkeypatch.setattr(comparison, "_KEPT_ENTRIES", 0)
    results = set()
    for entries in (1, 3000, 1 << 18):
        monkeypatch.setattr(streaming, "BLOCK_ENTRIES", entries)
        for n_jobs in (1, 2, 4):
            score = SCORES[name](Table(approx), Table(truth), rows=rows, n_jobs=n_jobs)
            results.add(tuple(x.hex() for x in (float(score), score.low, score.high, score.scale)))
    assert len(results) == 1


def test_concurrent_callers():
    approx, truth = Table(random_table(1, 200)), Table(random_table(2, 200))
    with ThreadPoolExecutor(4) as pool:
        scores = list(
            pool.map(lambda _: average_distortion(approx, truth, scale="optimal", n_jobs=2), range(8))
        )
    assert len(set(scores)) == 1


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), seed=st.integers(0, 10**6), i=st.integers(0, 29), j=st.integers(0, 29))
def test_perfect_exactly_when_equal(n, seed, i, j):
    truth = random_table(seed, n)
    for name, score in SCORES.items():
        assert score(Table(truth), Table(truth.copy())) == (1.0 if name == "worst" else 0.0)
    if i % n == j % n:
        return
    other = truth.copy()
    other[i % n, j % n] = other[j % n, i % n] = np.nextafter(other[i % n, j % n], 9)
    assert average_distortion(Table(other), Table(truth)) > 0
    assert distance_error(Table(other), Table(truth), norm="linf") > 0


@settings(max_examples=40, deadline=None)
@given(n=st.integers(3, 30), seed=st.integers(0, 10**6), factor=st.floats(1e-6, 1e6))
def test_optimal_scale_undoes_any_factor(n, seed, factor):
    approx, truth = random_table(seed, n), random_table(seed + 1, n)
    once = average_distortion(Table(approx), Table(truth), scale="optimal")
    again = average_distortion(Table(factor * approx), Table(truth), scale="optimal")
    assert again == pytest.approx(once, rel=1e-9)
    assert again.scale * factor == pytest.approx(once.scale, rel=1e-9)
    assert average_distortion(Table(factor * truth), Table(truth), scale="optimal") < 1e-12
    assert worst_distortion(Table(factor * approx), Table(truth)) == pytest.approx(
        worst_distortion(Table(approx), Table(truth)), rel=1e-9
    )


def test_optimal_scale_is_optimal():
    approx, truth = random_table(1, 40), random_table(2, 40)
    best = distance_error(Table(approx), Table(truth), norm="l2", scale="optimal")
    for nearby in (0.99, 1.01):
        assert distance_error(Table(best.scale * nearby * approx), Table(truth), norm="l2") > best


def test_kept_blocks_change_nothing(monkeypatch):
    approx, truth = random_table(1, 90), random_table(2, 90)
    kept = Table(approx)
    score = average_distortion(kept, Table(truth), scale="optimal")
    monkeypatch.setattr(comparison, "_KEPT_ENTRIES", 0)
    read_twice = Table(approx)
    assert average_distortion(read_twice, Table(truth), scale="optimal").hex() == score.hex()
    assert len(read_twice.asked) == 2 * len(kept.asked)


def test_reads_half_the_matrix_in_small_blocks(monkeypatch):
    monkeypatch.setattr(streaming, "BLOCK_ENTRIES", 2000)
    approx, truth = Table(random_table(1, 200)), Table(random_table(2, 200))
    average_distortion(approx, truth)
    assert max(rows * cols for rows, cols in approx.asked) <= 2000
    assert sum(rows * cols for rows, cols in truth.asked) < 0.6 * 200**2


def test_zero_true_distances_are_counted_not_compared():
    # Pair 01 is at true distance 0; 02 and 12 have relative errors 1/2 and 0.
    truth = [[0, 0, 2], [0, 0, 2], [2, 2, 0]]
    approx = [[0, 5, 3], [5, 0, 2], [3, 2, 0]]
    score = average_distortion(Table(approx), Table(truth))
    assert (score, score.pairs, score.skipped) == (0.25, 2, 1)
    assert repr(score) == "0.25 (2 of 3 pairs, 1 skipped at true distance 0)"
    worst = worst_distortion(Table(approx), Table(truth))
    assert (worst, worst.pairs, worst.skipped) == (1.5, 2, 1)
    error = distance_error(Table(approx), Table(truth))  # (5 + 1 + 0) / 3
    assert (error, error.pairs, error.skipped) == (2.0, 3, 0)


def test_collapsed_pair_is_infinitely_distorted():
    assert worst_distortion([[0, 0], [0, 0]], [[0, 1], [1, 0]]) == math.inf
    assert worst_distortion([[0, 0, 1], [0, 0, 1], [1, 1, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]) == math.inf


def test_zero_approximation_has_scale_one():
    score = average_distortion([[0, 0], [0, 0]], [[0, 1], [1, 0]], scale="optimal")
    assert (score, score.scale) == (1.0, 1.0)


@pytest.mark.parametrize("table", [[[0]], np.zeros((3, 3))])
def test_nothing_to_compare_is_perfect(table):
    skipped = len(table) * (len(table) - 1) // 2
    average, worst = (
        average_distortion(Table(table), Table(table)),
        worst_distortion(Table(table), Table(table)),
    )
    assert (average, average.pairs, average.skipped, average.exact) == (0.0, 0, skipped, True)
    assert (worst, worst.pairs, worst.skipped) == (1.0, 0, skipped)
    assert distance_error(Table(table), Table(table), scale="optimal") == 0.0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("true_distance", [0.0, 1.0])
@pytest.mark.parametrize("name", SCORES)
def test_names_the_first_bad_distance(name, value, true_distance):
    approx, truth = random_table(1, 8), random_table(2, 8)
    approx[2, 5] = approx[5, 2] = approx[6, 7] = approx[7, 6] = value
    truth[2, 5] = truth[5, 2] = true_distance
    with pytest.raises(MetricError, match=rf"^approx has d\(2, 5\) = {value}: [^\n]*$"):
        SCORES[name](Table(approx), Table(truth), n_jobs=2)
    with pytest.raises(MetricError, match=rf"^truth has d\((2, 5|5, 2)\) = {value}: [^\n]*$"):
        SCORES[name](Table(truth), Table(approx), rows=7, rng=1)


@pytest.mark.parametrize("score", [average_distortion, worst_distortion])
def test_negative_true_distance_has_no_ratio(score):
    with pytest.raises(MetricError, match=r"truth has d\(0, 1\) = -1"):
        score(Table([[0, 1], [1, 0]]), Table([[0, -1], [-1, 0]]))


def test_own_distances_are_not_compared():
    approx = np.array(APPROX, dtype=float)
    np.fill_diagonal(approx, np.nan)
    assert average_distortion(Table(approx), Table(TRUTH)) == average_distortion(APPROX, TRUTH)
    assert average_distortion(Table(approx), Table(TRUTH), rows=3) == average_distortion(
        APPROX, TRUTH, rows=3
    )


def test_large_distances_may_overflow_but_not_silently_scale():
    huge, tiny = np.array([[0, 1e200], [1e200, 0]]), np.array([[0, 1e-200], [1e-200, 0]])
    assert average_distortion(Table(huge), Table(tiny)) == math.inf
    for distances in (huge, tiny):
        assert average_distortion(Table(2 * distances), Table(distances)) == 1.0
    for approx, truth in ((huge, tiny), (tiny, huge), (huge * 1.7e108, huge)):
        many = np.kron(approx, np.ones((9, 9)))  # so that sums of 1.7e308 overflow
        with pytest.raises(
            ValueError,
            match="^no scale within the range of floats fits approx to truth: rescale both",
        ):
            average_distortion(Table(many), Table(np.kron(truth, np.ones((9, 9)))), scale="optimal")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", ["all", 9])
@pytest.mark.parametrize("truth_power", [-700, -500, 0, 500, 700])
@pytest.mark.parametrize("power", [-1060, -700, -500, 500, 700, 1000])
def test_optimal_scale_of_huge_and_tiny_distances(power, truth_power, rows, monkeypatch):
    if abs(truth_power - power) > 1000:
        return
    # Whole numbers, so that the power of two changes no bit of them, not even of numbers next to 0.
    approx, truth = random_table(1, 30, whole=True), random_table(2, 30, whole=True)
    expected = average_distortion(Table(approx), Table(truth), scale="optimal", rows=rows)
    moved = Table(np.ldexp(approx, power)), Table(np.ldexp(truth, truth_power))
    for entries, n_jobs in ((1 << 18, 1), (1, 2), (70, 3)):
        monkeypatch.setattr(streaming, "BLOCK_ENTRIES", entries)
        score = average_distortion(*moved, scale="optimal", rows=rows, n_jobs=n_jobs)
        assert score.scale == math.ldexp(expected.scale, truth_power - power)
        assert (float(score), score.low, score.high) == (
            float(expected),
            expected.low,
            expected.high,
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "best"}, "scale must be one of 'none', 'optimal', not 'best'"),
        ({"scale": None}, "scale must be one of 'none', 'optimal', not None"),
        ({"norm": "l3"}, "norm must be one of 'l1', 'l2', 'linf', not 'l3'"),
        ({"rows": 0}, "rows must be a number of rows to sample"),
        ({"rows": 2.0}, "not 2.0"),
        ({"rows": True}, "not True"),
        ({"rows": "some"}, "not 'some'"),
        ({"n_jobs": 0}, "n_jobs must be a positive whole number"),
    ],
)
def test_refuses_unknown_options(options, message):
    with pytest.raises(ValueError, match=message):
        distance_error(APPROX, TRUTH, **options)


def test_refuses_other_points():
    with pytest.raises(ValueError, match=r"^approx has 2 points and truth has 4: [^\n]*$"):
        average_distortion([[0, 1], [1, 0]], TRUTH)
    with pytest.raises(ValueError, match=r"^approx has no point 'e', which is in truth: [^\n]*$"):
        average_distortion(Table(APPROX, ("a", "b", "c", "d")), Table(TRUTH, ("b", "a", "d", "e")))
    # A metric without names is taken at its word.
    average_distortion(Table(APPROX, ("a", "b", "c", "d")), Table(TRUTH))
    average_distortion(Table(APPROX), Table(TRUTH, ("a", "b", "c", "d")))


def test_refuses_a_block_of_another_shape():
    class Lopsided(Table):
        def block(self, rows, cols):
            return super().block(rows, cols).T

    with pytest.raises(
        ValueError,
        match=r"Lopsided\.block returned an array of shape 4 x 3 for 3 rows and 4 columns",
    ):
        average_distortion(Lopsided(APPROX), Table(TRUTH))


def test_any_layout_and_dtype_of_block():
    class Odd(Table):
        def block(self, rows, cols):
            block = np.asfortranarray(super().block(rows, cols).astype(np.float32))
            block.flags.writeable = False
            return block

    assert average_distortion(Odd(APPROX), Odd(TRUTH)) == average_distortion(APPROX, TRUTH)
