"""The minimum spanning tree: as short as networkx's, and the same from all pairs as from a sparse graph."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.metrics import Table
from tests.strategies import (
    SHAPES,
    any_symmetric,
    distances_from_parents,
    integer_metrics,
    parents,
)
from treerep.fitting.spanning import _prim as prim
from treerep.fitting.spanning._graphs import joining_edges, sparse_graph
from treerep.fitting.spanning._spanning_kernels import grow_tree


def spanning(data: object, **options: object) -> tr.Tree:
    return tr.fit(data, method="minimum_spanning_tree", **options)


def least_length(edges: list[tuple[int, int, float]]) -> float:
    graph = nx.Graph()
    graph.add_weighted_edges_from(edges)
    return nx.minimum_spanning_tree(graph).size(weight="weight")


def all_pairs(d: np.ndarray) -> list[tuple[int, int, float]]:
    return [(i, j, d[i, j]) for i in range(len(d)) for j in range(i)]


def prim_twin(d: np.ndarray, start: int) -> set[tuple[int, int]]:
    """Prim's algorithm by its definition, with the documented rule for equals."""
    inside, edges = [start], set()
    while len(inside) < len(d):
        outside = [j for j in range(len(d)) if j not in inside]
        _, rank, j = min((d[i, j], rank, j) for rank, i in enumerate(inside) for j in outside)
        edges.add((min(inside[rank], j), max(inside[rank], j)))
        inside.append(j)
    return edges


metrics = st.one_of(integer_metrics(), any_symmetric()).filter(lambda d: len(d) > 1)


@given(metrics, st.integers(0, 3), st.booleans())
def test_no_spanning_tree_is_shorter(d: np.ndarray, seed: int, compiled: bool) -> None:
    tree = spanning(tr.MatrixMetric(d) if compiled else Table(d), rng=seed)
    assert tree.n_nodes == len(d)
    assert_array_equal(tree.weights, d[tuple(tree.edges.T)])
    assert_allclose(tree.weights.sum(), least_length(all_pairs(d)), rtol=1e-12)


@given(metrics, st.integers(0, 100))
def test_equals_are_resolved_as_documented(d: np.ndarray, start: int) -> None:
    start %= len(d)
    expected = prim_twin(d, start)
    complete = spanning(d, root=start)
    assert {tuple(edge) for edge in complete.edges.tolist()} == expected
    # A sparse graph that joins all points gives the same tree.
    assert spanning(d, graph="knn", k=len(d), root=start) == complete


@given(metrics, st.integers(1, 4), st.integers(0, 3))
def test_no_spanning_tree_of_a_sparse_graph_is_shorter(d: np.ndarray, k: int, seed: int) -> None:
    entries = sparse_graph(tr.MatrixMetric(d), "knn", k).tocoo()
    edges = list(zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True))
    tree = spanning(d, graph="knn", k=k, rng=seed)
    assert_allclose(tree.weights.sum(), least_length(edges), rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.sampled_from(SHAPES))
def test_a_tree_without_hidden_nodes_is_recovered(seed: int, n: int, shape: str) -> None:
    rng = np.random.default_rng(seed)
    parent = parents(shape, n, rng)
    d = distances_from_parents(parent, rng.uniform(0.05, 1.0, n - 1))
    tree = spanning(d, rng=seed)
    assert {tuple(edge) for edge in tree.edges.tolist()} == {(p, c) for c, p in enumerate(parent.tolist(), 1)}


@given(integer_metrics(), st.integers(0, 3))
def test_metrics_are_dominated(d: np.ndarray, seed: int) -> None:
    if len(d) > 1:
        assert (spanning(d, rng=seed).distances() >= d).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_on_an_unweighted_graph_it_is_a_breadth_first_tree_of_the_root(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(n, 0.15, seed=seed)
    graph.add_edges_from((int(rng.integers(c)), c) for c in range(1, n))
    metric = tr.GraphMetric(np.array(graph.edges))
    root = int(rng.integers(n))
    tree = spanning(metric, root=root)
    assert all(graph.has_edge(u, v) for u, v in tree.edges.tolist())
    assert_array_equal(tree.block([root], range(n)), metric.block([root], range(n)))
    # The same from the distances: the graph's edges are the pairs at distance 1.
    assert spanning(metric.block(range(n), range(n)), root=root) == tree


def test_hand_worked() -> None:
    # A square with sides 1, 2, 3, 2 and long diagonals: the side of length 3 is left out.
    d = np.array([[0, 1, 9, 2], [1, 0, 2, 9], [9, 2, 0, 3], [2, 9, 3, 0]])
    tree = spanning(d)
    assert tree.edges.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert tree.weights.tolist() == [1, 2, 2]


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_dtypes(dtype: type) -> None:
    d = np.array([[0, 0, 7, 7], [0, 0, 7, 7], [7, 7, 0, 4], [7, 7, 4, 0]], dtype)
    assert spanning(d).weights.sum() == 11
    assert spanning(d, graph="knn", k=1).weights.sum() == 11


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale: float) -> None:
    d = np.abs(np.subtract.outer([0.0, 3, 1, 7], [0.0, 3, 1, 7])) * scale
    assert_allclose(spanning(d).weights, np.array([1, 2, 4]) * scale)
    assert_allclose(spanning(d, graph="knn", k=1).weights, np.array([1, 2, 4]) * scale)


def test_points_all_equal_and_pairs() -> None:
    assert spanning(np.zeros((5, 5))).weights.tolist() == [0, 0, 0, 0]
    assert spanning(np.zeros((5, 5)), graph="knn", k=2).weights.tolist() == [0, 0, 0, 0]
    assert spanning([[0, 3], [3, 0]], root=1).weights.tolist() == [3]
    assert spanning(tr.GraphMetric([[0, 1]])).edges.tolist() == [[0, 1]]


def test_weighted_graphs() -> None:
    triangle = tr.GraphMetric([[0, 1], [1, 2], [2, 0]], weights=[1.0, 2.5, 9.0], labels="abc")
    tree = spanning(triangle)
    assert tree.edges.tolist() == [[0, 1], [1, 2]]
    assert tree.labels == ("a", "b", "c")


def test_long_work_in_pieces_gives_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    points = tr.PointMetric(np.random.default_rng(0).integers(0, 5, (80, 2)), "manhattan")
    whole = spanning(points, root=5)
    monkeypatch.setattr(prim, "_BUDGET", 100)
    assert spanning(points, root=5) == whole


def test_the_seed_chooses_the_root() -> None:
    circle = tr.GraphMetric([[i, (i + 1) % 30] for i in range(30)])
    trees = [spanning(circle, rng=seed) for seed in range(5)]
    assert trees[0] == spanning(circle, rng=0, n_jobs=1)
    assert any(tree != trees[0] for tree in trees)


def test_bad_roots_are_refused() -> None:
    with pytest.raises(ValueError, match="root must be one of the points 0 to 1, not 2"):
        spanning([[0, 3], [3, 0]], root=2)


def test_joining_edges_reads_ends_and_lengths_off_the_rows() -> None:
    rows = tr.GraphMetric([[0, 1], [1, 2], [0, 3]], weights=[1.0, 2.0, 3.0]).adjacency
    edges, lengths = joining_edges(rows, grow_tree(rows.indptr, rows.indices, rows.data, 2, False))
    assert edges.tolist() == [[1, 0], [2, 1], [0, 3]]
    assert lengths.tolist() == [1, 2, 3]
