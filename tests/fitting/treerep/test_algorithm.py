"""TreeRep: exact on tree metrics, equal to its plain twin on everything, whatever the engine."""

import itertools
import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import ArrayLike, NDArray

import treerep as tr
from tests.fitting.treerep import naive_treerep
from tests.metrics import Table
from tests.strategies import (
    SHAPES,
    any_symmetric,
    distances_from_parents,
    integer_metrics,
    parents,
    tree_metrics,
)
from treerep._core.parallel import Workers
from treerep.fitting.treerep import algorithm as engine
from treerep.fitting.treerep._settings import PIVOT_RULES
from treerep.fitting.treerep._zone_kernels import (
    RANDOM,
    Pivots,
    Points,
    lowest,
    pick,
    universal_tree,
)
from treerep.metric._four_point_condition import obeys_four_points
from treerep.metric.base import MetricError

RULES = ("closest", "random", "near")
SCALES = (1e-9, 1e-3, 1.0, 1e9)


def priority_of(seed: int, n: int) -> NDArray[np.int32]:
    return np.random.default_rng(seed).permutation(n).astype(np.int32)


def twin(d: np.ndarray, seed: int, tol: float, rule: str) -> tr.Tree:
    """The tree that the plain Python version builds, as a Tree."""
    n = len(d)
    edges = naive_treerep.treerep(d, priority_of(seed, n).tolist(), tol, rule)
    names = {node: k for k, node in enumerate(sorted({*range(n), *(v for edge in edges for v in edge[:2])}))}
    pairs = np.array([[names[u], names[v]] for u, v, _ in edges]).reshape(-1, 2)
    return tr.Tree(n, pairs, np.array([max(length, 0.0) for _, _, length in edges])).canonical()


@pytest.fixture
def tiny_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the split phase do almost all the work, in tiny chunks."""
    limits = engine.Limits(finish_points=4, finish_by_matrix=4, chunk=3)
    monkeypatch.setattr(engine, "LIMITS", limits)


# Exact recovery


@given(tree_metrics(), st.sampled_from(SCALES), st.integers(0, 5), st.sampled_from(RULES))
def test_tree_metrics_are_recovered_exactly(d: np.ndarray, scale: float, seed: int, rule: str) -> None:
    d = d * scale
    tree = tr.fit(d, rng=seed, pivot=rule, method="treerep")
    assert_allclose(tree.distances(), d, rtol=1e-9, atol=1e-13 * d.max())


@given(tree_metrics(12), st.integers(0, 3), st.sampled_from(RULES))
def test_recovered_trees_have_the_fewest_nodes(d: np.ndarray, seed: int, rule: str) -> None:
    # The smallest tree has no Steiner leaf, no Steiner node of degree 2 and no zero edge at a Steiner node.
    tree = tr.fit(d, rng=seed, pivot=rule, method="treerep")
    assert tree.n_nodes == tree.contracted(1e-9 * d.max()).n_nodes
    # ... and any two seeds agree on it, as arrays.
    other = tr.fit(d, rng=seed + 1, pivot=rule, method="treerep")
    assert_array_equal(tree.edges, other.edges)
    assert_allclose(tree.weights, other.weights, atol=1e-12 * d.max(initial=0))


def test_hand_worked_quartet() -> None:
    # Two cherries (0, 1) and (2, 3): pendant edges 1, 2, 3, 4, middle edge 5.
    d = np.array([[0, 3, 9, 10], [3, 0, 10, 11], [9, 10, 0, 7], [10, 11, 7, 0]])
    tree = tr.fit(d, method="treerep")
    assert tree.edges.tolist() == [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]]
    assert tree.weights.tolist() == [1, 2, 3, 4, 5]


def test_short_edges_are_kept() -> None:
    # Reported against a public implementation: a 4-leaf binary tree with all edges 0.1 did not come back, because
    # its tolerance was an absolute 0.1.
    d = 0.1 * np.array([[0, 2, 3, 3], [2, 0, 3, 3], [3, 3, 0, 2], [3, 3, 2, 0]])
    tree = tr.fit(d, method="treerep")
    assert tree.n_nodes == 6
    assert_allclose(tree.weights, 0.1, rtol=1e-12)


@given(tree_metrics(30), st.sampled_from(SCALES), st.integers(0, 5))
def test_float32_input_is_recovered_to_its_precision(d: np.ndarray, scale: float, seed: int) -> None:
    d = d * scale
    tree = tr.fit(d.astype(np.float32), rng=seed, method="treerep")
    assert_allclose(tree.distances(), d, rtol=1e-5, atol=1e-6 * d.max())
    assert tree.n_nodes == tr.fit(d, rng=seed, method="treerep").n_nodes


@given(tree_metrics(30), st.integers(0, 5))
def test_float64_that_went_through_float32_is_recovered_too(d: np.ndarray, seed: int) -> None:
    given = d.astype(np.float32).astype(np.float64)
    tree = tr.fit(given, rng=seed, method="treerep")
    assert_allclose(tree.distances(), d, rtol=1e-5, atol=1e-6 * d.max())
    if obeys_four_points(
        given
    ):  # a few points, of which rounding has made another tree metric: that one comes back
        assert_allclose(tree.distances(), given, rtol=0, atol=1e-13 * d.max())
    else:
        assert tree.n_nodes == tr.fit(d, rng=seed, method="treerep").n_nodes


@st.composite
def tables_with_few_digits(draw: st.DrawFn) -> np.ndarray:
    """Exact tree metrics that look like rounded ones: leaves of 500 to 3,000 steps, inner edges of 1 to 29 steps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    inner = draw(st.integers(1, 40))
    lengths = rng.integers(1, 30, inner - 1)
    steps = distances_from_parents(parents(draw(st.sampled_from(SHAPES)), inner, rng), lengths)
    at = rng.integers(0, inner, draw(st.integers(2, 30)))
    leaves = rng.integers(500, 3000, len(at))
    d = steps[np.ix_(at, at)] + leaves[:, None] + leaves
    np.fill_diagonal(d, 0)
    return d / draw(st.sampled_from([10, 100, 1000, 10**4, 10**6, 2**9, 2**21]))


@given(
    tables_with_few_digits(),
    st.integers(0, 5),
    st.sampled_from(["treerep", "gromov", "construct_tree"]),
)
def test_exact_tables_with_few_digits_keep_their_short_edges(d: np.ndarray, seed: int, method: str) -> None:
    tree = tr.fit(d, method=method, rng=seed)
    assert_allclose(tree.distances(), d, rtol=0, atol=1e-13 * d.max())
    assert tree.n_nodes == tree.contracted(1e-9 * d.max()).n_nodes


def test_a_quartet_with_an_inner_edge_of_two_steps() -> None:
    # ((0:1,1:1):0.002,(2:1,3:1)), once taken for a rounded star.
    d = np.array([[0, 2, 2.002, 2.002], [2, 0, 2.002, 2.002], [2.002, 2.002, 0, 2], [2.002, 2.002, 2, 0]])
    tree = tr.fit(d, method="treerep")
    assert tree.n_nodes == 6
    assert_allclose(np.sort(tree.weights), [0.002, 1, 1, 1, 1], atol=1e-14)


@pytest.mark.parametrize("shape", ["random", "path", "caterpillar", "binary"])
@pytest.mark.parametrize("digits", [4, 6])
def test_a_tree_metric_written_with_some_digits_is_recovered(shape: str, digits: int) -> None:
    truth = tr.datasets.random_tree(200, shape=shape, hidden=0.5, rng=1)
    tree = tr.fit(np.round(truth.distances(), digits), method="treerep")  # as read from a file
    assert tree.n_nodes == truth.n_nodes
    assert np.abs(tree.distances() - truth.distances()).max() < 10 * 10.0**-digits


def test_other_noise_needs_a_tolerance_above_it() -> None:
    truth = tr.datasets.random_tree(200, rng=1)
    noise = np.triu(np.random.default_rng(0).uniform(-1e-6, 1e-6, size=(200, 200)), 1)
    noisy = truth.distances() + noise + noise.T
    assert tr.fit(noisy, tol=1e-5, method="treerep").n_nodes == truth.n_nodes
    assert tr.average_distortion(tr.fit(noisy, tol=1e-5, method="treerep"), truth) < 1e-4


@given(tree_metrics(30), st.randoms(use_true_random=False))
def test_permuted_points_give_an_isometric_tree(d: np.ndarray, random: object) -> None:
    order = np.array(random.sample(range(len(d)), len(d)))  # type: ignore[attr-defined]
    tree, shuffled = (
        tr.fit(d, method="treerep"),
        tr.fit(d[np.ix_(order, order)], method="treerep"),
    )
    assert_allclose(shuffled.distances(), tree.distances()[np.ix_(order, order)], atol=1e-12 * d.max())
    assert shuffled.n_nodes == tree.n_nodes


# The twin


@given(
    st.one_of(integer_metrics(), any_symmetric(), tree_metrics(25)),
    st.integers(0, 20),
    st.sampled_from(RULES),
)
def test_compiled_engine_equals_its_plain_twin(d: np.ndarray, seed: int, rule: str) -> None:
    tol = 0.1 if (d == np.floor(d)).all() else 1e-9
    tree = tr.fit(d, rng=seed, tol=tol, pivot=rule, method="treerep")
    expected = twin(d, seed, tol, rule)
    assert_array_equal(tree.edges, expected.edges)
    assert_array_equal(tree.weights, expected.weights)


@given(
    st.one_of(integer_metrics(), any_symmetric()),
    st.integers(0, 20),
    st.sampled_from(RULES),
    st.sampled_from([1, 2, 4]),
)
@pytest.mark.usefixtures("tiny_zones")
def test_split_phase_equals_the_twin_on_any_number_of_threads(
    d: np.ndarray, seed: int, rule: str, jobs: int
) -> None:
    tol = 0.1 if (d == np.floor(d)).all() else 1e-9
    tree = tr.fit(d, rng=seed, tol=tol, pivot=rule, n_jobs=jobs, method="treerep")
    assert tree == twin(d, seed, tol, rule)


# Any metric


@given(st.one_of(integer_metrics(), any_symmetric()), st.integers(0, 5), st.sampled_from(RULES))
def test_every_symmetric_matrix_gives_a_tree(d: np.ndarray, seed: int, rule: str) -> None:
    before = d.copy()
    tree = tr.fit(d, rng=seed, pivot=rule, method="treerep")
    tr.Tree(
        tree.n_points, tree.edges, tree.weights
    )  # the constructor refuses cycles, forests, negative lengths
    assert tree.n_points == len(d)
    assert tree.n_nodes - tree.n_points <= max(0, len(d) - 2)
    assert_array_equal(d, before)


@given(integer_metrics(4).filter(lambda d: len(d) == 4), st.integers(0, 20))
def test_on_four_points_the_error_is_at_most_delta(d: np.ndarray, seed: int) -> None:
    # Proposition 1. Four-point delta = half the gap between the two largest of the three sums of opposite distances.
    sums = sorted([d[0, 1] + d[2, 3], d[0, 2] + d[1, 3], d[0, 3] + d[1, 2]])
    delta = (sums[2] - sums[1]) / 2
    tree = tr.fit(d, rng=seed, method="treerep")
    assert np.abs(tree.distances() - d).max() <= delta + 1e-12


def test_the_papers_pseudo_code_misses_its_own_proposition() -> None:
    # delta is 0.5 here, but when one agreeing product suffices some order of the points makes an error of 1.
    d = np.array([[0, 2, 1, 1], [2, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]], float)
    errors = {needed: worst_error(d, needed) for needed in (any, all)}
    assert errors == {any: 1.0, all: 0.5}


def worst_error(d: np.ndarray, needed: Callable[[Iterable[bool]], bool]) -> float:
    """Largest error of the plain twin over all orders of four points."""
    worst = 0.0
    for priority in itertools.permutations(range(4)):
        edges = naive_treerep.treerep(d, priority, 0.1, needed=needed)
        names = {node: k for k, node in enumerate(sorted({v for edge in edges for v in edge[:2]}))}
        tree = tr.Tree(4, [[names[u], names[v]] for u, v, _ in edges], [max(w, 0.0) for _, _, w in edges])
        worst = max(worst, float(np.abs(tree.distances() - d).max()))
    return worst


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_inputs(n: int) -> None:
    d = 2.0 * (1 - np.eye(n))
    tree = tr.fit(d, method="treerep")
    assert_array_equal(tree.distances(), d)
    assert tree.n_nodes == (4 if n == 3 else n)


@pytest.mark.parametrize("n", [5, 60])
@pytest.mark.parametrize("rule", RULES)
def test_all_distances_equal(n: int, rule: str) -> None:
    tree = tr.fit(3.0 * (1 - np.eye(n)), pivot=rule, method="treerep")
    assert tree.n_nodes == n + 1  # a star around one hidden node
    assert_array_equal(tree.weights, 1.5)


def test_all_distances_zero() -> None:
    tree = tr.fit(np.zeros((200, 200)), method="treerep")
    assert tree.n_nodes == 200
    assert_array_equal(tree.weights, 0)


@given(tree_metrics(15), st.integers(1, 30), st.integers(0, 5))
def test_duplicates_hang_at_distance_zero(d: np.ndarray, copies: int, seed: int) -> None:
    owner = np.random.default_rng(seed).integers(0, len(d), len(d) + copies)
    owner[: len(d)] = np.arange(len(d))
    tree = tr.fit(d[np.ix_(owner, owner)], rng=seed, method="treerep")
    assert_allclose(tree.distances(), d[np.ix_(owner, owner)], atol=1e-12 * d.max())
    assert tree.n_nodes == tr.fit(d, rng=seed, method="treerep").n_nodes + copies


def test_a_pivot_that_seems_to_lie_beyond_r_is_r() -> None:
    # Estimates need not obey the triangle inequality: x is 1 from y and z, which are 3 apart, so (y, z)_x is -1/2.
    for pivot, (xy, xz, yz) in enumerate([(1.0, 1.0, 3.0), (1.0, 3.0, 1.0), (3.0, 1.0, 1.0)]):
        arms = universal_tree(Pivots(2, -1, -1, -1, 0, xy, xz, yz), 1e-9)
        assert arms[pivot] == 0.0
        assert arms.contracted == pivot + 1
        assert sum(arms[:3]) == 2.0  # the other two keep their distances from it


def test_no_length_is_negative() -> None:
    # 128 random points, reported against a public implementation as a source of negative edges.
    points = np.random.default_rng(0).uniform(size=(128, 2))
    assert tr.fit(points, metric="euclidean", method="treerep").weights.min() > 0.0


def test_points_far_from_any_tree() -> None:
    # Almost all distances are alike. With negative arms that are cut to 0 at the end the distortion is above 0.4.
    metric = tr.PointMetric(np.random.default_rng(0).normal(size=(1000, 50)))
    for seed in range(3):
        assert tr.average_distortion(tr.fit(metric, rng=seed, method="treerep"), metric) < 0.25


# The same seed, the same tree


def test_trees_and_weighted_graphs_give_the_same_tree_on_any_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    truth = tr.datasets.random_tree(3000, hidden=0.5, rng=1)
    rng = np.random.default_rng(0)
    extra = rng.integers(0, truth.n_nodes, size=(500, 2))
    graph = tr.GraphMetric(
        np.concatenate([truth.edges, extra]),
        weights=rng.uniform(0.5, 2.0, len(truth.edges) + 500),
    )
    metrics = [truth, graph]
    references = [tr.fit(metric, rng=3, n_jobs=1, method="treerep") for metric in metrics]
    limits = engine.Limits(finish_points=200, chunk=333)
    monkeypatch.setattr(engine, "LIMITS", limits)
    assert [tr.fit(metric, rng=3, n_jobs=2, method="treerep") for metric in metrics] == references


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize("finish_points", [50, 700, 1 << 15])
@pytest.mark.parametrize("name", ["euclidean", "cosine", "hyperboloid"])
def test_points_give_the_same_tree_on_any_engine(
    name: str, jobs: int, finish_points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(3).normal(size=(1500, 7)).astype(np.float32)
    points = np.column_stack([np.sqrt(1 + (x.astype(float) ** 2).sum(1)), x]) if name == "hyperboloid" else x
    reference = tr.fit(points, metric=name, rng=5, n_jobs=1, method="treerep")
    # Without a cache, at least 1,024 points are finished together.
    limits = engine.Limits(finish_points=finish_points, cache_bytes=0, chunk=333)
    monkeypatch.setattr(engine, "LIMITS", limits)
    assert tr.fit(points, metric=name, rng=5, n_jobs=jobs, method="treerep") == reference


@given(integer_metrics(), st.integers(0, 3))
def test_layout_and_dtype_do_not_matter(d: np.ndarray, seed: int) -> None:
    reference = tr.fit(d, rng=seed, method="treerep")
    strided = np.zeros((2 * len(d), 2 * len(d)))
    strided[::2, ::2] = d
    for variant in (
        np.asfortranarray(d),
        strided[::2, ::2],
        d.astype(np.uint8),
        d.astype(np.float32),
        d.astype(">i4"),
    ):
        assert tr.fit(variant, rng=seed, method="treerep") == reference


@pytest.mark.parametrize("n", [3, 40, 300])
def test_a_metric_that_only_has_blocks_gives_the_same_tree(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(n, 3))
    d = np.linalg.norm(x[:, None] - x[None], axis=-1)
    assert tr.fit(Table(d), rng=2, method="treerep") == tr.fit(d, rng=2, method="treerep")


@given(st.one_of(integer_metrics(), any_symmetric()), st.integers(0, 20), st.sampled_from(RULES))
@pytest.mark.usefixtures("tiny_zones")
def test_blocks_alone_give_the_tree_of_the_twin(d: np.ndarray, seed: int, rule: str) -> None:
    tol = 0.1 if (d == np.floor(d)).all() else 1e-9
    assert tr.fit(Table(d), rng=seed, tol=tol, pivot=rule, method="treerep") == twin(d, seed, tol, rule)


@pytest.mark.parametrize("kind", ["int64", "float32", "fortran", "list"])
def test_blocks_may_be_of_any_kind(kind: str) -> None:
    class Line(Table):
        def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
            found = np.abs(np.subtract.outer(np.asarray(rows), np.asarray(cols)))
            return {
                "list": found.tolist,
                "fortran": lambda: np.asfortranarray(found, float),
            }.get(kind, lambda: found.astype(kind))()

    tree = tr.fit(Line(np.empty((300, 0)), integral=True), method="treerep")
    assert_array_equal(tree.distances(), np.abs(np.subtract.outer(np.arange(300), np.arange(300))))


@pytest.mark.parametrize(
    ("labels", "value", "message"),
    [
        (None, np.nan, r"Bad.block returned d\(\d, \d\) = nan"),
        (None, -1.0, r"Bad.block returned d\(\d, \d\) = -1.0"),
        (["a", "a", "b", "c", "d"], 1.0, "share the label 'a'"),
        (["a"], 1.0, "1 labels were given for 5 points"),
    ],
)
def test_what_a_users_metric_says_is_checked(labels: list[str] | None, value: float, message: str) -> None:
    class Bad(Table):
        pass

    metric = Bad(value * (1 - np.eye(5)))
    metric.labels = labels  # type: ignore[assignment]
    with pytest.raises(MetricError, match=message):
        tr.fit(metric, method="treerep")


def test_an_oracle_from_elsewhere_is_left_alone() -> None:
    class Foreign(NamedTuple):
        data: NDArray[np.float64]

    class Own(Table):
        @property
        def oracle(self) -> Foreign:
            return Foreign(self.distances)

    d = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    assert tr.fit(Own(d), rng=2, method="treerep") == tr.fit(d, rng=2, tol=1e-9, method="treerep")


def test_a_tree_is_a_metric_and_fits_to_itself() -> None:
    tree = tr.datasets.random_tree(300, rng=1).contracted()
    assert tr.fit(tree, rng=4, method="treerep").isclose(tree)


def test_concurrent_fits_from_python_threads() -> None:
    x = np.random.default_rng(0).normal(size=(4000, 5))
    expected = [tr.fit(x, metric="euclidean", rng=seed, n_jobs=1, method="treerep") for seed in range(8)]
    found: dict[int, tr.Tree] = {}

    def work(seed: int) -> None:
        found[seed] = tr.fit(x, metric="euclidean", rng=seed, n_jobs=2, method="treerep")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[seed] == expected[seed] for seed in range(8))


# Size


def visits_per_point(shape: str, n: int, rule: str) -> float:
    """How often a point is sorted when the path metric of a tree is fitted."""
    parent = parents(shape, n, np.random.default_rng(0))
    tree = tr.Tree(n, np.column_stack([np.arange(1, n), parent]), np.ones(n - 1))
    with Workers(1) as workers:
        run = engine.TreeRep(tree, priority_of(0, n), None, PIVOT_RULES.index(rule), workers, Mock())
        run.run()
    return run.visits / n


@pytest.mark.parametrize("rule", ["random", "near"])
@pytest.mark.parametrize("shape", ["path", "caterpillar"])
def test_work_per_point_grows_like_log_n_on_paths(shape: str, rule: str) -> None:
    small, large = (visits_per_point(shape, n, rule) for n in (1000, 8000))
    assert large < 1.6 * small  # log 8000 / log 1000 = 1.3; the paper's rule gives 8


def test_the_papers_rule_is_quadratic_on_a_path() -> None:
    default, closest = (visits_per_point("path", 2000, rule) for rule in ("random", "closest"))
    assert closest > 5 * default


def test_many_duplicates_stay_linear() -> None:
    points = np.zeros((100_000, 2), np.float32)
    points[:10] = np.random.default_rng(0).normal(size=(10, 2))
    with Workers(1) as workers:
        run = engine.TreeRep(tr.PointMetric(points), priority_of(0, 100_000), None, 1, workers, Mock())
        run.run()
    assert (
        run.visits < 10 * 100_000
    )  # attached in passes over all points; quadratic work would be 10^9 and more
    tree = tr.fit(points, metric="euclidean", method="treerep")
    assert np.count_nonzero(tree.weights) <= 30


def test_path_of_100_000_points_is_recovered_without_a_matrix() -> None:
    n = 100_000
    lengths = np.random.default_rng(0).uniform(0.5, 1.5, n - 1)
    path = tr.Tree(n, np.column_stack([np.arange(n - 1), np.arange(1, n)]), lengths)
    tree = tr.fit(path, method="treerep")
    assert tree.n_nodes == n
    assert_array_equal(tree.edges, path.canonical().edges)
    assert_allclose(tree.weights, path.canonical().weights, atol=1e-9 * n)


@given(st.permutations(range(12)), st.integers(0, 11), st.integers(1, 12))
def test_the_points_of_lowest_priority_are_found(order: list[int], lo: int, size: int) -> None:
    hi = min(lo + size, 12)
    slots = np.array(order[::-1], np.int32)
    priority = np.array(order, np.int32)
    points = Points(slots, np.zeros(12), np.zeros(12), np.zeros(12, np.uint8), priority)
    expected = sorted(range(lo, hi), key=lambda i: priority[slots[i]])
    best = np.full(4, -1)
    assert lowest(points, lo, hi, best) == min(hi - lo, 4)
    assert best[: hi - lo].tolist() == expected[:4]
    if hi - lo >= 2:  # a loop without branches finds the first two
        pick(1, points, lo, hi, RANDOM, best)
        assert best[:2].tolist() == expected[:2]
