"""Gromov's tree: exact on tree metrics, true to the root, and for single linkage within its guarantee."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

import treerep as tr
from tests.metrics import Table, uneven_table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep._core import memory
from treerep.fitting.rooted import gromov as module

LINKAGES = ("average", "single")
several = st.integers(0, 30)

every_linkage = pytest.mark.parametrize("linkage", LINKAGES)


def gromov(d: object, **options: object) -> tr.Tree:
    return tr.fit(d, method="gromov", **options)  # type: ignore[call-overload]


def hyperbolicity(d: np.ndarray) -> float:
    """Gromov's delta, by looking at all quadruples and all base points."""
    worst = 0.0
    for base in range(len(d)):
        product = (d[base][:, None] + d[base] - d) / 2
        # (x, z) >= min((x, y), (y, z)) - delta
        worst = max(worst, (np.minimum(product[:, :, None], product[None]).max(axis=1) - product).max())
    return worst


def by_scipy(d: np.ndarray, root: int, linkage: str) -> np.ndarray:
    """The distances of the tree from scipy's linkage, by the formulas of the Farris transform."""
    depth, others = d[root], np.delete(np.arange(len(d)), root)
    m = depth.max()
    u = m - (depth[:, None] + depth - d) / 2
    u = u[np.ix_(others, others)]
    fitted = squareform(cophenet(scipy_linkage(u[np.triu_indices(len(u), 1)], linkage)))
    out = depth[:, None] + depth
    out[np.ix_(others, others)] -= 2 * (m - fitted)
    np.fill_diagonal(out, 0.0)
    return out


# By hand


@every_linkage
@pytest.mark.parametrize("root", range(4))
def test_hand_worked_quartet(linkage: str, root: int) -> None:
    # Two cherries (0, 1) and (2, 3): pendant edges 1, 2, 3, 4, middle edge 5.
    d = np.array([[0, 3, 9, 10], [3, 0, 10, 11], [9, 10, 0, 7], [10, 11, 7, 0]])
    tree = gromov(d, linkage=linkage, root=root)
    assert tree.edges.tolist() == [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]]
    assert tree.weights.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("linkage", "to_3"),
    # Products at 0: (1, 2) = (2, 3) = 1 and (1, 3) = 0. After the merge of 1 and 2, their product with 3 is ...
    [
        ("single", [1, 0, 1, 0]),
        ("average", [1, 1, 2, 0]),
    ],  # ... 1 or 1/2
)
def test_hand_worked_square(linkage: str, to_3: list[int]) -> None:
    square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    tree = gromov(square, linkage=linkage, root=0)
    assert tree.distances()[3].tolist() == to_3
    assert tree.distances()[0].tolist() == [0, 1, 2, 1]
    assert tree.distances()[1, 2] == 1


# Against scipy


@every_linkage
@pytest.mark.parametrize("n", [3, 20, 200])
def test_equals_scipys_linkage_after_the_farris_transform(linkage: str, n: int) -> None:
    x = np.random.default_rng(n).normal(size=(n, 3))
    d = np.linalg.norm(x[:, None] - x[None], axis=-1)
    for root in (0, n // 2, n - 1):
        tree = gromov(d, linkage=linkage, root=root)
        assert_allclose(tree.distances(), by_scipy(d, root, linkage), atol=1e-12 * n)


@given(integer_metrics(), several)
def test_single_linkage_equals_scipys_with_ties_too(d: np.ndarray, root: int) -> None:
    root %= len(d)
    if len(d) > 2:
        assert_array_equal(gromov(d, linkage="single", root=root).distances(), by_scipy(d, root, "single"))


# What always holds


@given(
    tree_metrics(),
    st.sampled_from([1e-150, 1e-9, 1.0, 1e150]),
    st.integers(0, 5),
    st.sampled_from(LINKAGES),
)
def test_tree_metrics_are_recovered_exactly_with_the_fewest_nodes(
    d: np.ndarray, scale: float, seed: int, linkage: str
) -> None:
    d = d * scale
    tree = gromov(d, linkage=linkage, rng=seed)
    assert_allclose(tree.distances(), d, rtol=1e-9, atol=1e-13 * d.max())
    # The smallest tree has no Steiner leaf, no Steiner node of degree 2 and no zero edge at a Steiner node.
    assert tree.n_nodes == tree.contracted(1e-9 * d.max()).n_nodes


@given(tree_metrics(30), st.integers(0, 5), st.sampled_from(LINKAGES))
def test_float32_tree_metrics_are_recovered_to_their_precision(
    d: np.ndarray, seed: int, linkage: str
) -> None:
    tree = gromov(d.astype(np.float32), linkage=linkage, rng=seed)
    assert_allclose(tree.distances(), d, rtol=1e-5, atol=1e-6 * d.max())
    assert tree.n_nodes == gromov(d, linkage=linkage, rng=seed).n_nodes


@given(st.one_of(integer_metrics(), any_symmetric()), several, st.sampled_from(LINKAGES))
def test_every_symmetric_matrix_gives_a_tree_that_keeps_the_distances_from_the_root(
    d: np.ndarray, root: int, linkage: str
) -> None:
    before, root = d.copy(), root % len(d)
    tree = gromov(d, linkage=linkage, root=root)
    tr.Tree(
        tree.n_points, tree.edges, tree.weights
    )  # the constructor refuses cycles, forests, negative lengths
    assert_allclose(tree.distances()[root], d[root], rtol=1e-9, atol=1e-12 * d.max())
    assert tree.n_nodes == tree.contracted().n_nodes
    assert_array_equal(d, before)


@given(integer_metrics(12), several)
@settings(max_examples=200)
def test_single_linkage_keeps_gromovs_guarantee(d: np.ndarray, root: int) -> None:
    n = len(d)
    error = d - gromov(d, linkage="single", root=root % n).distances()
    assert error.min() >= 0
    assert error.max() <= 2 * hyperbolicity(d) * np.log2(n) + 1e-12


@given(st.integers(3, 12), st.integers(0, 2**32 - 1))
def test_single_linkage_keeps_gromovs_guarantee_on_points(n: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(n, 2))
    d = np.linalg.norm(x[:, None] - x[None], axis=-1)
    error = d - gromov(d, linkage="single", rng=seed).distances()
    assert error.min() >= -1e-12
    assert error.max() <= 2 * hyperbolicity(d) * np.log2(n) + 1e-12


def test_a_square_needs_the_guarantees_slack() -> None:
    # Otherwise the tests above could not fail: delta of a square is 1, and the error of its tree is 2.
    square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], float)
    assert hyperbolicity(square) == 1
    assert (square - gromov(square, linkage="single", root=0).distances()).max() == 2


def test_close_levels_do_not_add_up_when_they_are_contracted() -> None:
    # A comb whose teeth stand a unit in the last place of float32 apart: contracting each would move the last by all.
    n = 2000
    spine = 1e-7 * np.arange(n)
    d = 2 * (1 - np.eye(n)) + np.abs(spine[:, None] - spine)
    metric = Table(d)
    metric.eps = float(np.finfo(np.float32).eps)
    tree = gromov(metric, root=0)
    assert n + 10 < tree.n_nodes < 1.5 * n
    assert np.abs(tree.distances() - d).max() < 1e-5


# Edge cases


@every_linkage
@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_all_distances_equal(linkage: str, n: int) -> None:
    d = 2.0 * (1 - np.eye(n))
    tree = gromov(d, linkage=linkage)
    assert_array_equal(tree.distances(), d)
    assert tree.n_nodes == (n + 1 if n > 2 else n)


@every_linkage
def test_duplicates_hang_at_distance_zero(linkage: str) -> None:
    assert_array_equal(gromov(np.zeros((50, 50)), linkage=linkage).weights, 0)
    owner = np.array([0, 1, 1, 2, 2, 2, 3])
    d = np.array([[0, 3, 9, 10], [3, 0, 10, 11], [9, 10, 0, 7], [10, 11, 7, 0]])[np.ix_(owner, owner)]
    tree = gromov(d, linkage=linkage, root=4)
    assert_array_equal(tree.distances(), d)
    assert tree.n_nodes == 4 + 2 + 3


@every_linkage
def test_points_on_the_way_to_the_root_are_inner_nodes(linkage: str) -> None:
    tree = gromov(np.abs(np.subtract.outer(np.arange(6), np.arange(6))), linkage=linkage, root=2)
    assert tree.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


@given(integer_metrics(), st.integers(0, 3), st.sampled_from(LINKAGES))
def test_dtype_does_not_matter(d: np.ndarray, seed: int, linkage: str) -> None:
    reference = gromov(d, linkage=linkage, rng=seed)
    for dtype in (np.uint8, np.float32, np.int64):
        assert gromov(d.astype(dtype), linkage=linkage, rng=seed) == reference


@given(integer_metrics(), st.integers(0, 3), st.sampled_from(LINKAGES))
def test_a_metric_that_only_has_blocks_gives_the_same_tree(d: np.ndarray, seed: int, linkage: str) -> None:
    assert gromov(Table(d), linkage=linkage, rng=seed) == gromov(d, linkage=linkage, rng=seed)


@given(integer_metrics(), st.integers(0, 3), st.sampled_from(LINKAGES))
def test_distances_that_are_symmetric_but_for_rounding_are_fine(
    d: np.ndarray, seed: int, linkage: str
) -> None:
    # Ties that are none in one direction could send chains of nearest neighbors round in circles.
    tree = gromov(uneven_table(d), linkage=linkage, rng=seed)
    # The constructor refuses cycles, forests and negative lengths.
    assert len(tr.Tree(tree.n_points, tree.edges, tree.weights)) == len(d)


@pytest.mark.parametrize("make", [tr.PointMetric, lambda x: np.linalg.norm(x[:, None] - x[None], axis=-1)])
def test_rows_kept_or_asked_for_give_the_same_tree(
    make: Callable[[np.ndarray], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = make(np.random.default_rng(1).normal(size=(150, 3)))
    kept = gromov(metric, linkage="single", root=3)
    monkeypatch.setattr(module, "_KEPT_ROWS", 0)
    assert gromov(metric, linkage="single", root=3) == kept


def test_only_single_linkage_goes_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    monkeypatch.setattr(module, "_KEPT_ROWS", 0)
    d = 1 - np.eye(50)
    with pytest.raises(MemoryError, match="gromov on 50 points needs"):
        gromov(d, linkage="average")
    assert gromov(d, linkage="single").n_nodes == 51


def test_the_root_is_drawn_by_the_seed_and_the_default_linkage_is_average() -> None:
    square = tr.GraphMetric([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], labels=list("abcde"))
    trees = [gromov(square, rng=seed) for seed in range(30)]
    assert trees == [gromov(square, rng=seed) for seed in range(30)]
    rooted = [gromov(square, root=root, linkage="average") for root in range(5)]
    assert all(tree in rooted for tree in trees)
    assert all(tree in trees for tree in rooted)
    assert trees[0].labels == tuple("abcde")


def test_the_smaller_error_of_several_roots_is_kept() -> None:
    x = np.random.default_rng(1).normal(size=(60, 2))
    metric = tr.PointMetric(x)
    one, best = (tr.average_distortion(gromov(metric, trials=k), metric, scale="optimal") for k in (1, 10))
    assert best < one


@pytest.mark.parametrize("root", [-1, 3, 1.5, True])
def test_a_root_that_is_no_point_is_refused(root: object) -> None:
    with pytest.raises(ValueError, match="root must be one of the points 0 to 2, not "):
        gromov(1 - np.eye(3), root=root)


def test_a_root_by_name_needs_labels() -> None:
    with pytest.raises(
        ValueError,
        match="no point has the label '0': the points have no labels, so use a number from 0",
    ):
        gromov(1 - np.eye(3), root="0")


def test_an_unknown_linkage_is_refused() -> None:
    with pytest.raises(ValueError, match="linkage must be one of 'average', 'single', not 'ward'"):
        gromov(1 - np.eye(3), linkage="ward")


@pytest.mark.parametrize(("name", "treerep"), [("celegans", 0.197), ("diseasome", 0.188), ("csphd", 0.204)])
@pytest.mark.usefixtures("data_folder")
def test_average_linkage_beats_treerep_on_small_graphs(name: str, treerep: float) -> None:
    metric = tr.datasets.load(name).metric
    scores = [tr.average_distortion(gromov(metric, rng=seed), metric, scale="optimal") for seed in range(5)]
    assert np.mean(scores) < treerep
