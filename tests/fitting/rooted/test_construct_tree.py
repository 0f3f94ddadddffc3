"""ConstructTree: equal to a plain reading of the paper, exact on tree metrics, within its bound on others."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.fitting.rooted.test_gromov import hyperbolicity
from tests.metrics import Table, uneven_table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.fitting.rooted import gromov as rooted

several = st.integers(0, 30)


def construct_tree(d: object, **options: object) -> tr.Tree:
    return tr.fit(d, method="construct_tree", **options)  # type: ignore[call-overload]


def twin(d: np.ndarray, root: int) -> np.ndarray:
    """Distances of the tree, step by step: look at all pairs each time; split the path from p to the root."""
    n = len(d)
    product = (d[root][:, None] + d[root] - d) / 2
    left, count, removals = [x for x in range(n) if x != root], dict.fromkeys(range(n), 1), []
    while len(left) > 1:
        p, q = max(((x, y) for x in left for y in left if x < y), key=lambda pair: product[pair])
        if (-count[q], d[root, q]) < (-count[p], d[root, p]):
            p, q = q, p
        count[p] += count[q]
        left.remove(q)
        removals.append((p, q))
    tree = nx.Graph()
    tree.add_edge(root, left[0], weight=d[root, left[0]])
    for p, q in reversed(removals):
        branch_off(tree, p, q, root, h=(d[p, q] + d[p, root] - d[q, root]) / 2, n=n)
        # The distance of q to the branch is (p, r)_q.
        tree.edges[q, next(iter(tree[q]))]["weight"] = (d[p, q] + d[q, root] - d[p, root]) / 2
    lengths = dict(nx.all_pairs_dijkstra_path_length(tree))
    return np.array([[lengths[i][j] for j in range(n)] for i in range(n)])


def branch_off(tree: nx.Graph, p: int, q: int, root: int, h: float, n: int) -> None:
    """Join q to the point at distance h from p on the way to the root."""
    way = nx.shortest_path(tree, p, root)
    for u, v in pairwise(way):
        if h == 0:
            tree.add_edge(u, q)
            return
        length = tree.edges[u, v]["weight"]
        if h < length:
            new = n + len(tree)
            tree.remove_edge(u, v)
            tree.add_edge(u, new, weight=h)
            tree.add_edge(new, v, weight=length - h)
            tree.add_edge(new, q)
            return
        h -= length
    tree.add_edge(root, q)


@pytest.mark.parametrize("root", range(4))
def test_hand_worked_quartet(root: int) -> None:
    # Two cherries (0, 1) and (2, 3): pendant edges 1, 2, 3, 4, middle edge 5.
    d = np.array([[0, 3, 9, 10], [3, 0, 10, 11], [9, 10, 0, 7], [10, 11, 7, 0]])
    tree = construct_tree(d, root=root)
    assert tree.edges.tolist() == [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]]
    assert tree.weights.tolist() == [1, 2, 3, 4, 5]


def test_hand_worked_pentagon() -> None:
    # From 0, the depths are 0, 1, 2, 2, 1 and the products (1, 2) = (3, 4) = 1, (2, 3) = 3/2, (1, 3) = (2, 4) = 1/2,
    # (1, 4) = 0. First 3 is removed next to 2. Then (1, 2) = 1 is the largest, and 2 stands for two, so 1 goes, at
    # (1, 2) = 1, its own depth: 1 is the branch. Last, 4 branches off the way to 2 at (2, 4) = 1/2.
    pentagon = tr.GraphMetric([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])
    tree = construct_tree(pentagon, root=0)
    expected = tr.Tree(5, [[0, 5], [4, 5], [5, 1], [1, 6], [6, 2], [6, 3]], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    assert tree == expected.canonical()


@given(integer_metrics(16), several)
def test_equals_its_plain_twin(d: np.ndarray, root: int) -> None:
    root %= len(d)
    if len(d) > 1:
        assert_array_equal(construct_tree(d, root=root).distances(), twin(d, root))


@given(st.integers(2, 20), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_equals_its_plain_twin_on_points(n: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(n, 3))
    d = np.linalg.norm(x[:, None] - x[None], axis=-1)
    assert_allclose(construct_tree(d, root=seed % n).distances(), twin(d, seed % n), atol=1e-12)


@given(tree_metrics(), st.sampled_from([1e-150, 1e-9, 1.0, 1e150]), st.integers(0, 5))
def test_tree_metrics_are_recovered_exactly_with_the_fewest_nodes(
    d: np.ndarray, scale: float, seed: int
) -> None:
    d = d * scale
    tree = construct_tree(d, rng=seed)
    assert_allclose(tree.distances(), d, rtol=1e-9, atol=1e-13 * d.max())
    assert tree.n_nodes == tree.contracted(1e-9 * d.max()).n_nodes


@given(st.one_of(integer_metrics(), any_symmetric()), several)
def test_every_symmetric_matrix_gives_a_tree_that_keeps_the_distances_from_the_root(
    d: np.ndarray, root: int
) -> None:
    before, root = d.copy(), root % len(d)
    tree = construct_tree(d, root=root)
    tr.Tree(
        tree.n_points, tree.edges, tree.weights
    )  # the constructor refuses cycles, forests, negative lengths
    assert_allclose(tree.distances()[root], d[root], rtol=1e-9, atol=1e-12 * d.max())
    assert tree.n_nodes == tree.contracted().n_nodes
    assert_array_equal(d, before)


@given(integer_metrics(12), several)
@settings(max_examples=200)
def test_the_error_is_at_most_four_delta_log_n(d: np.ndarray, root: int) -> None:
    error = np.abs(construct_tree(d, root=root % len(d)).distances() - d)
    assert error.max() <= 4 * hyperbolicity(d) * np.log2(len(d)) + 1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_all_distances_equal(n: int) -> None:
    d = 2.0 * (1 - np.eye(n))
    tree = construct_tree(d)
    assert_array_equal(tree.distances(), d)
    assert tree.n_nodes == (n + 1 if n > 2 else n)


def test_duplicates_hang_at_distance_zero() -> None:
    assert_array_equal(construct_tree(np.zeros((50, 50))).weights, 0)
    owner = np.array([0, 1, 1, 2, 2, 2, 3])
    d = np.array([[0, 3, 9, 10], [3, 0, 10, 11], [9, 10, 0, 7], [10, 11, 7, 0]])[np.ix_(owner, owner)]
    tree = construct_tree(d, root=4)
    assert_array_equal(tree.distances(), d)
    assert tree.n_nodes == 4 + 2 + 3


@given(integer_metrics(), st.integers(0, 3))
def test_dtype_and_kind_of_metric_do_not_matter(d: np.ndarray, seed: int) -> None:
    reference = construct_tree(d, rng=seed)
    for same in (d.astype(np.uint8), d.astype(np.float32), Table(d)):
        assert construct_tree(same, rng=seed) == reference


@given(integer_metrics(), st.integers(0, 3))
def test_distances_that_are_symmetric_but_for_rounding_are_fine(d: np.ndarray, seed: int) -> None:
    tree = construct_tree(uneven_table(d), rng=seed)
    # The constructor refuses cycles, forests and negative lengths.
    assert len(tr.Tree(tree.n_points, tree.edges, tree.weights)) == len(d)


def test_rows_kept_or_asked_for_give_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = tr.PointMetric(np.random.default_rng(1).normal(size=(150, 3)))
    kept = construct_tree(metric, root=3)
    monkeypatch.setattr(rooted, "_KEPT_ROWS", 0)
    assert construct_tree(metric, root=3) == kept


def test_the_root_is_drawn_by_the_seed() -> None:
    pentagon = tr.GraphMetric([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], labels=list("abcde"))
    trees = [construct_tree(pentagon, rng=seed) for seed in range(30)]
    assert trees == [construct_tree(pentagon, rng=seed) for seed in range(30)]
    at_roots = [construct_tree(pentagon, root=root) for root in range(5)]
    assert all(tree in at_roots for tree in trees)
    assert all(tree in trees for tree in at_roots)
    assert trees[0].labels == tuple("abcde")


def test_a_root_that_is_no_point_is_refused() -> None:
    with pytest.raises(ValueError, match="root must be one of the points 0 to 2, not 3"):
        construct_tree(1 - np.eye(3), root=3)


@pytest.mark.parametrize(("name", "published"), [("celegans", 0.325), ("diseasome", 0.315), ("csphd", 0.282)])
@pytest.mark.usefixtures("data_folder")
def test_far_below_the_published_numbers(name: str, published: float) -> None:
    # Which come from code that does not split the path.
    metric = tr.datasets.load(name).metric
    scores = [
        tr.average_distortion(construct_tree(metric, rng=seed), metric, scale="optimal") for seed in range(5)
    ]
    assert np.mean(scores) < 0.7 * published
