"""Sums over the paths of several trees: against plain NumPy, differences, and the code for one tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import treerep as tr
from tests.refinement.sums.plain import random_metric, same_points, split_matrix
from tests.tree.strategies import caterpillar, naive_splits, trees
from treerep._core.parallel import Workers
from treerep.metric.matrix import MatrixMetric
from treerep.refinement.lengths._neighborhoods import Neighborhoods
from treerep.refinement.lengths._pairs import Pairs
from treerep.refinement.lengths._path_sum_kernels import FACTORS, PRODUCT, SMOOTH, SQUARES
from treerep.refinement.lengths._splits import find_tree_splits, gather
from treerep.refinement.sums._sum_pairs import SumNeighborhoods, SumPairs
from treerep.tree.tree import Tree

KINDS = (SQUARES, SMOOTH, PRODUCT, FACTORS)
EPS = 0.1


class Case:
    """Trees and distances, as the code under test sees them and as explicit matrices."""

    def __init__(
        self,
        given: list[Tree],
        d: np.ndarray,
        power: float,
        sample: np.ndarray | None = None,
        jobs: int = 1,
    ) -> None:
        self.trees = given
        self.n = n = len(given[0])
        self.d = d
        self.power = power
        splits = [find_tree_splits(tree) for tree in given]
        self.pairs = SumPairs(splits, MatrixMetric(d), sample, power, Workers(jobs))
        lengths = [gather(own, tree.weights) for own, tree in zip(splits, given, strict=True)]
        self.length = np.concatenate(lengths) / self.pairs.unit
        self.matrix = np.concatenate([split_matrix(own, n) for own in splits])
        # The weight of each ordered pair: every pair once, or sampled rows that stand for all rows.
        self.count = np.full((n, n), 0.5)
        if sample is not None:
            self.count = np.zeros((n, n))
            self.count[sample] = n / (2 * len(sample))
        np.fill_diagonal(self.count, 0.0)

    def plain(self, what: int, length: np.ndarray, eps: float) -> tuple[float, np.ndarray]:
        """Compute the sums of `SumPairs.sums` with explicit matrices."""
        d = self.d / self.pairs.unit
        u = np.ones_like(d)
        if self.power:
            u = np.where(d > 0, np.where(d > 0, d, 1.0) ** (-self.power / 2), 0.0)
        np.fill_diagonal(u, 0.0)
        x = np.einsum("k,kij->ij", length, self.matrix)
        q = u * (x - d)
        root = np.sqrt(q * q + eps * eps)
        value, slope = {
            SQUARES: (q * q, u * q),
            SMOOTH: (np.where(u > 0, root, 0.0), u * q / np.where(root > 0, root, 1.0)),
            PRODUCT: (u * u * x * x, u * u * x),
            FACTORS: (u > 0, u * u),
        }[what]
        by_edge = np.einsum("ij,kij->k", self.count * slope, self.matrix)
        return float((self.count * value).sum()), by_edge


def check(case: Case) -> None:
    for what in KINDS:
        value, slope = case.pairs.sums(what, case.length, EPS)
        expected, expected_slope = case.plain(what, case.length, EPS)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-12)
        assert_allclose(slope, expected_slope, rtol=1e-9, atol=1e-10)


STAR = Tree(5, [[i, 5] for i in range(5)], [1.0, 2.0, 0.0, 0.5, 1.5])
PATH = Tree(5, [[0, 1], [1, 2], [2, 3], [3, 4]], [1.0, 0.0, 2.0, 1.0])
# Steiner nodes 5, 6 and 7 are a chain with one split, and node 8 is a leaf without points.
CHAIN = Tree(
    5,
    [[0, 5], [1, 5], [5, 6], [6, 7], [7, 2], [7, 3], [2, 4], [6, 8]],
    [1.0, 1.0, 0.5, 0.25, 0.0, 1.0, 2.0, 3.0],
)


def test_two_quartets_by_hand() -> None:
    # Splits 01|23 and 02|13, each of length 1: d(0, 3) and d(1, 2) cross both, the other pairs cross one.
    ends = [0.0] * 4
    first = Tree(4, [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]], [*ends, 1.0])
    second = Tree(4, [[0, 4], [2, 4], [1, 5], [3, 5], [4, 5]], [*ends, 1.0])
    case = Case([first, second], 4.0 - 4.0 * np.eye(4), 0.0)
    # Errors: 4 - 1 = 3 for four pairs and 4 - 2 = 2 for two pairs, in units of 8.
    assert case.pairs.unit == 8.0
    value, slope = case.pairs.sums(SQUARES, case.length)
    assert value == pytest.approx((4 * 9 + 2 * 4) / 64)
    # Two pairs of either kind cross each of the two splits: -(3 + 3 + 2 + 2) / 8.
    inner = case.length > 0
    assert slope[inner] == pytest.approx([-10 / 8] * 2)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("sampled", [False, True])
def test_special_trees(power: float, sampled: bool) -> None:
    sample = np.array([1, 4]) if sampled else None
    given = [STAR, PATH, CHAIN, STAR]
    check(Case(given, random_metric(5, 3, zeros=0.3), power, sample))


@pytest.mark.parametrize("tree", [Tree(2, [[0, 1]], [1.0]), Tree(2, [[0, 2], [2, 1]], [1.0, 0.0])])
def test_two_points(tree: Tree) -> None:
    check(Case([tree, Tree(2, [[0, 1]], [0.25])], np.array([[0, 3.0], [3.0, 0]]), 2.0))


@settings(max_examples=30)
@given(
    st.lists(trees(min_points=2, max_nodes=18), min_size=1, max_size=4),
    st.sampled_from([0.0, 1.5, 2.0]),
    st.integers(0, 1000),
    st.booleans(),
)
def test_sums_are_those_of_plain_numpy(
    given_trees: list[Tree], power: float, seed: int, sampled: bool
) -> None:
    both = same_points(given_trees)
    n = len(both[0])
    rng = np.random.default_rng(seed)
    sample = rng.permutation(n)[: max(1, n // 2)] if sampled else None
    check(Case(both, random_metric(n, seed, zeros=0.2), power, sample))


@settings(max_examples=20)
@given(st.lists(trees(min_points=3, max_nodes=14), min_size=2, max_size=3), st.integers(0, 99))
def test_splits_are_those_of_networkx(given_trees: list[Tree], seed: int) -> None:
    both = same_points(given_trees)
    case = Case(both, random_metric(len(both[0]), seed), 0.0)
    for tree, own, length in zip(
        both, case.pairs.parts(case.matrix), case.pairs.parts(case.length), strict=True
    ):
        found = {
            frozenset(np.flatnonzero(matrix[0]).tolist()): float(size * case.pairs.unit)
            for matrix, size in zip(own[1:], length[1:], strict=True)
        }
        assert found == pytest.approx(naive_splits(tree))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("power", [0.0, 2.0])
def test_gradients_are_those_of_differences(power: float, jobs: int) -> None:
    # 70 points are three tasks of rows.
    given = [caterpillar(70, seed) for seed in (0, 1)]
    mixed = [given[0], given[1].restrict(np.random.default_rng(0).permutation(70))]
    case = Case(mixed, random_metric(70, 1), power, jobs=jobs)
    for what in (SQUARES, SMOOTH):
        factor = 2 if what == SQUARES else 1  # the derivative of q^2 is 2 u q
        slope = factor * case.pairs.sums(what, case.length, EPS)[1]
        for k in (1, 7, 40, len(case.length) - 1):
            step = np.zeros(len(case.length))
            step[k] = 1e-5
            after = case.pairs.sums(what, case.length + step, EPS)[0]
            before = case.pairs.sums(what, case.length - step, EPS)[0]
            assert (after - before) / 2e-5 == pytest.approx(slope[k], rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("power", [0.0, 2.0])
@pytest.mark.parametrize("sampled", [False, True])
def test_one_tree_gives_the_sums_of_pairs(power: float, sampled: bool) -> None:
    tree = caterpillar(50, 2)
    metric = MatrixMetric(random_metric(50, 2, zeros=0.1))
    sample = np.arange(0, 50, 7) if sampled else None
    splits = find_tree_splits(tree)
    one = Pairs(splits, metric, sample, power, Workers(1))
    several = SumPairs([splits], metric, sample, power, Workers(1))
    length = gather(splits, tree.weights)
    assert several.unit == one.unit
    for what in KINDS:
        value, slope = several.sums(what, length, EPS)
        expected, expected_slope = one.sums(what, length, EPS)
        assert value == pytest.approx(expected, rel=1e-10)
        assert_allclose(slope, expected_slope, rtol=1e-8, atol=1e-8)
    assert_allclose(several.product(length), one.product(length), rtol=1e-8, atol=1e-8)
    if not sampled:
        assert_allclose(several.crossing(), one.crossing())
        free = np.arange(len(length)) % 3 > 0
        assert_allclose(several.solve(free, length), one.solve(free, length), atol=1e-9)


def test_sums_do_not_depend_on_threads() -> None:
    given = [caterpillar(90, seed) for seed in range(3)]
    cases = [Case(given, random_metric(90, 5), 2.0, jobs=jobs) for jobs in (1, 2)]
    for what in KINDS:
        (value, slope), (other, other_slope) = (case.pairs.sums(what, case.length, EPS) for case in cases)
        assert value == other
        np.testing.assert_array_equal(slope, other_slope)


def test_a_tiny_distance_does_not_overflow() -> None:
    # 1 / d^2 would be 1e400. The pair counts as a pair at distance 0, as for one tree.
    d = random_metric(5, 0)
    d[1, 2] = d[2, 1] = 1e-200
    zero = d.copy()
    zero[1, 2] = zero[2, 1] = 0.0
    tiny = Case([STAR, PATH], d, 2.0)
    none = Case([STAR, PATH], zero, 2.0)
    for what in KINDS:
        value, slope = tiny.pairs.sums(what, tiny.length, EPS)
        expected, expected_slope = none.pairs.sums(what, none.length, EPS)
        assert value == expected
        np.testing.assert_array_equal(slope, expected_slope)


# Neighborhoods.


def graph_on(n: int, seed: int) -> tr.GraphMetric:
    rng = np.random.default_rng(seed)
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return tr.GraphMetric(np.concatenate([path, rng.integers(n, size=(n, 2))]))


@settings(max_examples=30)
@given(st.lists(trees(min_points=3, max_nodes=20), min_size=1, max_size=3), st.integers(0, 1000))
def test_loss_is_that_of_the_definition(given_trees: list[Tree], seed: int) -> None:
    both = same_points(given_trees)
    case = Case(both, random_metric(len(both[0]), seed), 2.0)
    graph = graph_on(case.n, seed)
    near = SumNeighborhoods(graph.adjacency, case.pairs)
    expected = 1 - float(tr.mean_average_precision(tr.TreeSum(both), graph))
    assert near.loss(case.length) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("width", [0.1, 0.7])
def test_smooth_loss_of_one_tree_is_that_of_neighborhoods(width: float) -> None:
    tree = caterpillar(70, 3)
    splits = find_tree_splits(tree)
    graph = graph_on(70, 3)
    pairs = SumPairs([splits], MatrixMetric(random_metric(70, 3)), None, 2.0, Workers(1))
    length = gather(splits, tree.weights)
    several = SumNeighborhoods(graph.adjacency, pairs)
    one = Neighborhoods(graph.adjacency, splits, pairs.unit, Workers(1))
    assert several.near == one.near
    assert several.loss(length) == pytest.approx(one.loss(length), abs=1e-12)
    value, slope = several.smooth_loss(length, width)
    expected, expected_slope = one.smooth_loss(length, width)
    assert value == pytest.approx(expected, abs=1e-10)
    assert_allclose(slope, expected_slope, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_of_the_smooth_loss_is_that_of_differences(seed: int) -> None:
    given = [caterpillar(40, seed), tr.datasets.random_tree(40, rng=seed)]
    case = Case(same_points(given), random_metric(40, seed), 2.0)
    near = SumNeighborhoods(graph_on(case.n, seed).adjacency, case.pairs)
    slope = near.smooth_loss(case.length, 0.8)[1]
    assert np.count_nonzero(slope) > 20
    for k in np.flatnonzero(slope)[:: len(slope) // 9]:
        step = np.zeros(len(slope))
        step[k] = 1e-6
        after = near.smooth_loss(case.length + step, 0.8)[0]
        before = near.smooth_loss(case.length - step, 0.8)[0]
        assert (after - before) / 2e-6 == pytest.approx(slope[k], rel=1e-4, abs=1e-6)
