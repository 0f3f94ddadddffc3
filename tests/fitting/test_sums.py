"""`fit(trees=k)` and `refine` of a sum: by hand, properties that always hold, and invalid arguments."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.metrics import Table, uneven_table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from tests.tree.strategies import naive_splits
from treerep.refinement.sums import fit as module
from treerep.tree.tree_sum import TreeSum

CYCLE = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], float)
POINTS = np.random.default_rng(0).normal(size=(60, 4))
METRIC = tr.PointMetric(POINTS)
WEIGHTS = ("l1", "l2", "relative_l2", "none")


def distances(n: int, seed: int = 0, dim: int = 3) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(n, dim))
    d = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return (d + d.T) / 2


def distortion(trees: Any, d: Any) -> float:
    return float(tr.average_distortion(trees, d))


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let 60 points be many, so that most of them are placed in the trees of a sample."""
    monkeypatch.setattr(module, "ALL_PAIRS", 40)
    monkeypatch.setattr(module, "_SAMPLE", 30)


# By hand.


@pytest.mark.parametrize("balance", [None, 0.0, 0.5])
def test_a_cycle_is_a_sum_of_two_trees(balance: float | None) -> None:
    # Split 01|23 separates 1 from 2 and 3 from 0, split 03|12 separates 0 from 1 and 2 from 3, and both separate
    # opposite points. So two trees, each with one inner edge of length 1, give the distances of the cycle. One tree
    # cannot: of d(0, 2) + d(1, 3) = 4 and the two other sums, 2 and 2, the two largest must be equal. Lowering 4 to 2
    # changes distances of 2, so the relative errors add up to at least 1, and their mean over six pairs is 1/6.
    found = tr.fit(CYCLE, trees=2, balance=balance)
    assert len(found.trees) == 2
    assert distortion(found, CYCLE) < 1e-6
    splits = []
    for tree in found.trees:
        lengths = naive_splits(tree)
        longest = max(lengths, key=lambda far: lengths[far])
        assert lengths[longest] == pytest.approx(1, abs=1e-6)
        splits.append(longest)
    # The points that are not on the side of point 0.
    assert set(splits) == {frozenset({2, 3}), frozenset({1, 2})}
    assert distortion(tr.fit(CYCLE), CYCLE) > 1 / 6 - 1e-6


def test_a_grid_is_a_sum_of_two_paths() -> None:
    # |x - x'| + |y - y'|: a path along the rows plus a path along the columns.
    cells = np.array(list(itertools.product(range(5), range(5))), float)
    metric = tr.PointMetric(cells, "manhattan")
    assert distortion(tr.fit(metric, trees=2, balance=0), metric) < 1e-6
    assert distortion(tr.fit(metric, balance=0), metric) > 0.1


# Properties of fit.


@settings(max_examples=20)
@given(tree_metrics(max_nodes=25), st.integers(1, 4), st.sampled_from([None, 0.0, 1.0]))
def test_a_tree_metric_gives_one_exact_tree(d: np.ndarray, count: int, balance: float | None) -> None:
    found = tr.fit(d, trees=count, balance=balance)
    assert len(found.trees) == 1
    assert_allclose(found.distances(), d, rtol=1e-9, atol=1e-9 * d.max())


@settings(max_examples=15)
@given(st.one_of(any_symmetric(max_points=12), integer_metrics(max_points=12)), st.integers(2, 4))
def test_several_trees_are_hardly_ever_worse_than_one(d: np.ndarray, count: int) -> None:
    # In a run over 65 drawn data sets with 2 and 4 trees, no sum was more than 0.5% worse than the one tree.
    one = tr.fit(d)
    several = tr.fit(d, trees=count)
    assert len(several.trees) <= count
    expected = distortion(one, d)
    assert not distortion(several, d) > 1.02 * expected + 1e-9


def test_more_trees_are_better() -> None:
    found = [distortion(tr.fit(METRIC, trees=k, balance=0), METRIC) for k in (1, 2, 4)]
    assert found[1] < 0.8 * found[0]
    assert found[2] < 0.8 * found[1]


def test_useless_trees_are_not_added() -> None:
    # Two trees suffice for a grid: see above.
    grid = tr.PointMetric(list(itertools.product(range(4), range(4))), "manhattan")
    found = tr.fit(grid, trees=120)
    assert len(found.trees) < 10
    assert distortion(found, grid) < 1e-3


def test_more_trees_than_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="trees=16 is more than the 15 pairs of 6 points"):
        tr.fit(distances(6), trees=16)
    assert len(tr.fit(distances(3), trees=10**9).trees) == 1


@pytest.mark.parametrize("data", [METRIC, distances(30), tr.datasets.sarich()])
def test_a_seed_gives_one_sum_for_every_number_of_threads(data: Any) -> None:
    first = tr.fit(data, trees=3, rng=5, n_jobs=1)
    for jobs in (1, 2):
        assert tr.fit(data, trees=3, rng=5, n_jobs=jobs) == first
    better = tr.refine(first, data, rng=2, n_jobs=1, balance=0)
    assert tr.refine(first, data, rng=2, n_jobs=2, balance=0) == better


def test_seeds_differ() -> None:
    assert tr.fit(METRIC, trees=2, rng=0) != tr.fit(METRIC, trees=2, rng=1)


def scaled_by(exponent: int, first: TreeSum, second: TreeSum) -> bool:
    """Return whether all lengths of the second sum are those of the first, times 2^exponent."""
    return all(
        np.array_equal(one.edges, two.edges) and np.array_equal(np.ldexp(one.weights, exponent), two.weights)
        for one, two in zip(first.trees, second.trees, strict=True)
    )


@pytest.mark.parametrize("exponent", [-1000, 10, 1010])
def test_a_power_of_two_scales_all_lengths(exponent: int) -> None:
    d = distances(25)
    large = np.ldexp(d, exponent)
    found = tr.fit(d, trees=2)
    assert scaled_by(exponent, found, tr.fit(large, trees=2))
    start = [tree.with_weights(np.ldexp(tree.weights, exponent)) for tree in found.trees]
    for weights in ("l1", "l2"):
        better = tr.refine(found, d, weights=weights, balance=0)
        other = tr.refine(TreeSum(start), large, weights=weights, balance=0)
        assert scaled_by(exponent, better, other)


@pytest.mark.parametrize("exponent", [-1000, 10, 1010])
def test_a_power_of_two_scales_all_lengths_for_many_points(few_pairs: None, exponent: int) -> None:
    d = distances(60)
    assert scaled_by(exponent, tr.fit(d, trees=2), tr.fit(np.ldexp(d, exponent), trees=2))


@settings(max_examples=4)
@given(st.permutations(range(20)))
def test_labels_follow_the_points(order: list[int]) -> None:
    d = distances(20)
    labels = [f"p{i}" for i in order]
    shuffled = tr.MatrixMetric(d[np.ix_(order, order)], labels=labels)
    found = tr.fit(shuffled, trees=2)
    assert found.labels == tuple(labels)
    assert {tree.labels for tree in found.trees} == {tuple(labels)}
    original = tr.MatrixMetric(d, labels=[f"p{i}" for i in range(20)])
    assert distortion(found, original) == pytest.approx(distortion(found, shuffled))
    # The quality does not depend on the order by much.
    assert distortion(found, original) < 1.3 * distortion(tr.fit(d, trees=2), d)
    better = tr.refine(found, original)
    assert better.labels == original.labels


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_distances_of_zero(n: int, count: int) -> None:
    found = tr.fit(np.zeros((n, n)), trees=count)
    assert found.distances().tolist() == np.zeros((n, n)).tolist()
    for weights in WEIGHTS:
        assert tr.refine(found, np.zeros((n, n)), weights=weights) == found


@pytest.mark.parametrize("count", [1, 2, 5])
def test_two_and_three_points_need_one_tree(count: int) -> None:
    d = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]], float)
    for n in (1, 2, 3):
        found = tr.fit(tr.MatrixMetric(d[:n, :n], labels="abc"[:n]), trees=count)
        assert len(found.trees) == 1
        assert found.labels == tuple("abc"[:n])
        assert_allclose(found.distances(), d[:n, :n], atol=1e-12)


def test_equal_points_stay_together() -> None:
    d = distances(15)
    twice = np.repeat(np.arange(15), 2)
    doubled = d[np.ix_(twice, twice)]
    found = tr.fit(doubled, trees=2, balance=0)
    assert distortion(found, doubled) < distortion(tr.fit(doubled, balance=0), doubled)
    # Distances of 0 have no relative error, but moves keep equal points near each other.
    assert found.pairs(twice * 0 + np.arange(30) // 2 * 2, np.arange(30)).max() < 0.2 * d.max()


def test_very_different_distances() -> None:
    # 1 / d^2 would overflow.
    d = distances(12)
    d[0, 1] = d[1, 0] = 1e-200
    found = tr.fit(d, trees=2)
    assert np.isfinite(found.distances()).all()
    for weights in WEIGHTS:
        refined = tr.refine(found, d, weights=weights)
        assert np.isfinite(refined.distances()).all()


def test_custom_metrics() -> None:
    d = distances(30)
    labels = [f"p{i}" for i in range(30)]
    expected = tr.fit(tr.MatrixMetric(d, labels=labels), trees=2)
    assert tr.fit(Table(d, labels), trees=2) == expected
    # d(i, j) and d(j, i) may differ by rounding.
    rounded = tr.fit(uneven_table(d), trees=2)
    assert distortion(rounded, d) < 1.2 * distortion(expected, d)


def test_graphs() -> None:
    edges = [[i, (i + 1) % 12] for i in range(12)]
    cycle = tr.GraphMetric(edges)
    found = tr.fit(cycle, trees=3)
    assert distortion(found, cycle) < 0.5 * distortion(tr.fit(cycle), cycle)
    assert tr.mean_average_precision(found, cycle) > 0.9


@pytest.mark.parametrize("seconds", [1e-9, 0.01, 0.05])
def test_a_short_time_gives_a_valid_sum(seconds: float) -> None:
    found = tr.fit(METRIC, trees=3, time_limit=seconds)
    assert 1 <= len(found.trees) <= 3
    assert len(found) == 60
    assert np.isfinite(distortion(found, METRIC))
    start = tr.fit(METRIC, trees=2)
    better = tr.refine(start, METRIC, time_limit=seconds, balance=0)
    assert distortion(better, METRIC) <= distortion(start, METRIC)


def test_a_short_time_for_many_points(few_pairs: None) -> None:
    found = tr.fit(METRIC, trees=3, time_limit=1e-9)
    assert len(found) == 60


def test_a_time_limit_that_is_not_reached_changes_nothing() -> None:
    assert tr.fit(METRIC, trees=2, time_limit=1e6) == tr.fit(METRIC, trees=2)


# Many points.


def test_many_points_by_one_or_two_threads(few_pairs: None) -> None:
    labels = [f"p{i}" for i in range(60)]
    d = distances(60)
    first = tr.fit(tr.MatrixMetric(d, labels=labels), trees=3, n_jobs=1)
    assert first == tr.fit(tr.MatrixMetric(d, labels=labels), trees=3, n_jobs=2)
    assert first.labels == tuple(labels)
    assert len(first.trees) == 3
    assert distortion(first, d) < distortion(tr.fit(d), d)
    # Points are in the order of the data: another order would be far off.
    assert np.corrcoef(first.distances().ravel(), d.ravel())[0, 1] > 0.95


@settings(max_examples=5)
@given(st.integers(0, 1000))
def test_many_points_of_a_tree_give_one_tree(seed: int) -> None:
    tree = tr.datasets.random_tree(60, rng=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ALL_PAIRS", 40)
        patch.setattr(module, "_SAMPLE", 30)
        found = tr.fit(tree, trees=3)
    assert len(found.trees) == 1
    assert_allclose(found.distances(), tree.distances(), atol=1e-9 * tree.distances().max())


def test_many_points_read_few_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    # 800 points: 100 in the sample. Nothing has 800 x 800 entries.
    from treerep.refinement.sums import many_points

    monkeypatch.setattr(module, "ALL_PAIRS", 400)
    monkeypatch.setattr(module, "_SAMPLE", 100)
    monkeypatch.setattr(many_points, "_ROWS", 40)
    cells = tr.datasets.branching_cells(800, dim=10, rng=0)
    table = Table(tr.PointMetric(np.asarray(cells[0], float)).block(range(800), range(800)))
    found = tr.fit(table, trees=3)
    largest = max(rows * cols for rows, cols in table.asked)
    assert largest <= 128 * 800
    # The sample, its distances to all points, the probed rows and the fitted rows.
    assert sum(rows * cols for rows, cols in table.asked) < 0.4 * 800**2
    assert distortion(found, table) < 1.05 * distortion(tr.fit(table), table)


# Properties of refine.


def objective(trees: TreeSum, d: np.ndarray, weights: str) -> float:
    """Return the objective of `refine` with balance 0."""
    error = trees.distances() - d
    apart = d > 0
    if weights == "l2":
        return float((error**2).sum())
    relative = error[apart] / d[apart]
    return float((relative**2).sum() if weights == "relative_l2" else np.abs(relative).sum())


@settings(max_examples=25)
@given(
    st.one_of(any_symmetric(max_points=12), integer_metrics(max_points=12)),
    st.sampled_from(WEIGHTS),
    st.booleans(),
    st.integers(1, 3),
)
def test_refine_never_worsens_its_objective(d: np.ndarray, weights: Any, moves: bool, count: int) -> None:
    trees = [tr.fit(d, method="treerep", rng=k) for k in range(count)]
    start = TreeSum(tree.with_weights(tree.weights / count) for tree in trees)
    better = tr.refine(start, d, weights=weights, balance=0, moves=moves)
    assert isinstance(better, TreeSum)
    assert len(better.trees) == count
    before = objective(start, d, weights)
    assert objective(better, d, weights) <= before * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("weights", WEIGHTS)
def test_refine_improves(weights: Any) -> None:
    d = distances(40)
    start = tr.fit(d, trees=2, rng=1, time_limit=1e-9)
    start = TreeSum([tree.with_weights(tree.weights / 2) for tree in [*start.trees, *start.trees]])
    better = tr.refine(start, d, weights=weights, balance=0)
    assert objective(better, d, weights) < 0.5 * objective(start, d, weights)


def test_refine_with_neighborhoods() -> None:
    start = tr.fit(METRIC, trees=2, balance=0)
    better = tr.refine(start, METRIC, balance=1)
    d = METRIC.block(range(60), range(60))
    near = np.argsort(d, axis=1)[:, 1:11]
    graph = tr.GraphMetric(np.column_stack([np.repeat(np.arange(60), 10), near.ravel()]))
    precision = tr.mean_average_precision(better, graph)
    assert precision > tr.mean_average_precision(start, graph) + 0.02


@settings(max_examples=15)
@given(tree_metrics(max_nodes=15), st.sampled_from(WEIGHTS))
def test_exact_sums_are_fixed_points(d: np.ndarray, weights: Any) -> None:
    tree = tr.fit(d, method="treerep")
    exact = TreeSum(tree.with_weights(part * tree.weights) for part in (0.25, 0.75))
    assert tr.refine(exact, d, weights=weights) == exact


@pytest.mark.parametrize("weights", WEIGHTS)
def test_rounding_errors_are_not_fitted(weights: Any) -> None:
    tree = tr.datasets.random_tree(20, rng=0)
    exact = TreeSum([tree.with_weights(tree.weights / 4), tree.with_weights(tree.weights * 0.75)])
    # Rounding to float32 is recognized.
    d = exact.distances().astype(np.float32)
    assert tr.refine(exact, d, weights=weights) == exact


def test_a_sum_that_separates_equal_points_is_not_exact() -> None:
    # All positive distances are right, and only d(0, 1) is 2 instead of 0.
    d = np.array([[0, 0, 2], [0, 0, 2], [2, 2, 0]], float)
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [0.5, 0.5, 0.5])
    start = TreeSum([star, star])
    better = tr.refine(start, d, weights="l2")
    # Lengths a, a, b with a + b = 2 and 2 a = 0: a fit without errors.
    assert better.distances() == pytest.approx(d, abs=1e-6)


def test_refine_keeps_labels_and_matches_by_label() -> None:
    d = distances(20)
    labels = [f"p{i}" for i in range(20)]
    named = tr.MatrixMetric(d, labels=labels)
    start = tr.fit(named, trees=2, time_limit=1e-9)
    start = TreeSum([*start.trees, *start.trees])
    plain = tr.refine(start, d)
    assert plain.labels == tuple(labels)
    assert plain.order_known
    turned = start.restrict(labels[::-1])
    matched = tr.refine(turned, named)
    assert matched.labels == tuple(labels)
    assert distortion(matched, named) < distortion(start, named)
    text = [tr.Tree.from_newick(tree.newick()) for tree in start.trees]
    from_text = tr.refine(TreeSum(text), named)
    assert from_text.labels == tuple(labels)
    assert from_text.order_known
    with pytest.raises(ValueError, match="in the order of a text file"):
        tr.refine(TreeSum(text), d)


def test_refine_changes_nothing_in_place() -> None:
    d = distances(20)
    start = tr.fit(d, trees=2, balance=1)
    kept = [tree.weights.copy() for tree in start.trees]
    tr.refine(start, d, balance=0)
    for tree, weights in zip(start.trees, kept, strict=True):
        assert_array_equal(tree.weights, weights)


# Invalid arguments.


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "2", [2]])
def test_a_bad_number_of_trees_gets_one_clear_line(count: Any) -> None:
    with pytest.raises(ValueError, match="trees must be a positive whole number") as caught:
        tr.fit(CYCLE, trees=count)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("trials", 3),
        ("keep", "greedy"),
        ("bootstrap", 10),
        ("engine", "dask"),
        ("device", "cpu"),
        ("tol", 0.1),
        ("pivot", "near"),
        ("graph", "knn"),
        ("k", 3),
        ("root", 0),
        ("linkage", "single"),
        ("draws", 4),
        ("size", 100),
    ],
)
def test_options_of_one_tree_get_one_clear_line(name: str, value: Any) -> None:
    message = f"{name} does not apply to a sum of trees: leave out {name} or trees"
    with pytest.raises(ValueError, match=message):
        tr.fit(CYCLE, trees=2, **{name: value})


def test_other_methods_get_one_clear_line() -> None:
    with pytest.raises(ValueError, match="trees=2 needs method='auto', not 'treerep'"):
        tr.fit(CYCLE, trees=2, method="treerep")  # type: ignore[call-overload]


@pytest.mark.parametrize("balance", [-0.1, 1.1, float("nan"), "near", True])
def test_a_bad_balance_gets_one_clear_line(balance: Any) -> None:
    with pytest.raises(ValueError, match="balance must be") as caught:
        tr.fit(CYCLE, trees=2, balance=balance)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seconds", [-1, float("nan"), "soon"])
def test_a_bad_time_limit_gets_one_clear_line(seconds: Any) -> None:
    with pytest.raises(ValueError, match="time_limit") as caught:
        tr.fit(CYCLE, trees=2, time_limit=seconds)
    assert "\n" not in str(caught.value)


def test_missing_distances_get_one_clear_line() -> None:
    d = distances(6)
    d[0, 1] = d[1, 0] = np.nan
    metric = tr.MatrixMetric(d, missing=True)
    with pytest.raises(
        ValueError,
        match="a sum of trees needs all distances, but some are missing: fit one tree",
    ):
        tr.fit(metric, trees=2)
    whole = tr.fit(distances(6), trees=2)
    with pytest.raises(
        ValueError,
        match="a sum of trees needs all distances, but some are missing: refine one tree",
    ):
        tr.refine(whole, metric)


def test_options_that_refine_only_one_tree_get_one_clear_line() -> None:
    start = tr.fit(CYCLE, trees=2)
    with pytest.raises(ValueError, match="leave out engine$"):
        tr.refine(start, CYCLE, engine="dask")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="tree has 4 points and data has 6"):
        tr.refine(start, distances(6))


def test_one_tree_is_that_of_fit() -> None:
    d = distances(30)
    for balance in (None, 0.1, 0.9):
        assert tr.fit(d, trees=1, balance=balance).trees == (tr.fit(d, balance=balance),)
