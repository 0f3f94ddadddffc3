"""The graph that graph methods work on, against brute force and networkx."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics
from treerep.fitting.spanning import _graphs as graphs
from treerep.fitting.spanning._graphs import central_point, check_root, sparse_graph
from treerep.metric.base import MetricError


def edges_of(graph: csr_array) -> dict[tuple[int, int], float]:
    """Stored entries above the diagonal, zeros included; the graph is checked to be symmetric and loop-free."""
    entries = graph.tocoo()
    stored = dict(
        zip(
            zip(entries.row.tolist(), entries.col.tolist(), strict=True),
            entries.data.tolist(),
            strict=True,
        )
    )
    assert len(stored) == graph.nnz
    assert all(i != j and stored[j, i] == length for (i, j), length in stored.items())
    return {(i, j): length for (i, j), length in stored.items() if i < j}


def nearest_pairs(d: np.ndarray, k: int) -> set[tuple[int, int]]:
    """The k-NN graph by sorting (distance, index)."""
    n = len(d)
    near = {i: sorted((d[i, j], j) for j in range(n) if j != i)[:k] for i in range(n)}
    return {(min(i, j), max(i, j)) for i in near for _, j in near[i]}


def shortest_connections(d: np.ndarray, pairs: set[tuple[int, int]]) -> list[float]:
    """Sorted lengths of the edges that join the components: single linkage between components, by networkx."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(d)))
    graph.add_edges_from(pairs)
    parts = [sorted(part) for part in nx.connected_components(graph)]
    whole = nx.Graph()
    whole.add_nodes_from(range(len(parts)))
    for a, b in itertools.combinations(range(len(parts)), 2):
        whole.add_edge(a, b, weight=d[np.ix_(parts[a], parts[b])].min())
    return sorted(length for _, _, length in nx.minimum_spanning_tree(whole).edges(data="weight"))


metrics = st.one_of(integer_metrics(), any_symmetric()).filter(lambda d: len(d) > 1)


@given(metrics, st.integers(1, 30), st.booleans())
def test_neighbors_are_those_of_brute_force_and_shortest_edges_connect_them(
    d: np.ndarray, k: int, compiled: bool
) -> None:
    stored = edges_of(sparse_graph(tr.MatrixMetric(d) if compiled else Table(d), "knn", k))
    assert all(length == d[pair] for pair, length in stored.items())
    near = nearest_pairs(d, k)
    assert near <= stored.keys()
    assert sorted(d[pair] for pair in stored.keys() - near) == shortest_connections(d, near)
    assert nx.is_connected(nx.Graph(list(stored)))


def test_two_clusters_are_joined_by_their_closest_pair() -> None:
    x = np.array([0.0, 1.0, 2.0, 10.0, 11.5, 13.0])
    graph = sparse_graph(tr.PointMetric(x[:, None]), "knn", 2)
    assert edges_of(graph) == {
        (0, 1): 1,
        (0, 2): 2,
        (1, 2): 1,
        (3, 4): 1.5,
        (3, 5): 3,
        (4, 5): 1.5,
        (2, 3): 8,
    }


def test_duplicates_are_joined_by_edges_of_length_zero() -> None:
    graph = sparse_graph(tr.PointMetric(np.array([[0.0], [0.0], [5.0], [5.0], [5.0]])), "knn", 1)
    assert edges_of(graph) == {(0, 1): 0, (2, 3): 0, (2, 4): 0, (0, 2): 5}


def test_many_blocks_and_threads_give_the_same_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    points = tr.PointMetric(rng.integers(0, 6, (300, 2)))
    one = sparse_graph(points, "knn", 4, 1)
    monkeypatch.setattr("treerep.scores._streaming.BLOCK_ENTRIES", 2000)
    other = sparse_graph(points, "knn", 4, 3)
    assert edges_of(one) == edges_of(other)
    assert nearest_pairs(points.block(range(300), range(300)), 4) <= edges_of(one).keys()


def test_ten_neighbors_by_default() -> None:
    points = tr.PointMetric(np.random.default_rng(0).normal(size=(60, 3)))
    assert edges_of(sparse_graph(points, "knn", None)) == edges_of(sparse_graph(points, None, 10))


def test_a_graph_is_its_own_graph() -> None:
    metric = tr.GraphMetric([[0, 1], [1, 2]], weights=[2.0, 3.0])
    assert sparse_graph(metric, None, None) is metric.adjacency
    for graph, k, name in (("knn", None, "graph"), ("complete", None, "graph"), (None, 3, "k")):
        with pytest.raises(
            ValueError,
            match=f"^{name} applies only to data that is not a graph.*leave out {name}$",
        ):
            sparse_graph(metric, graph, k)


def test_choices_are_checked() -> None:
    metric = tr.MatrixMetric(np.ones((3, 3)) - np.eye(3))
    assert sparse_graph(metric, None, None) is None
    assert sparse_graph(metric, "complete", None) is None
    with pytest.raises(ValueError, match="^graph must be one of 'complete', 'knn', not 'tree'$"):
        sparse_graph(metric, "tree", None)
    with pytest.raises(ValueError, match="k=3 requires graph='knn'"):
        sparse_graph(metric, "complete", 3)
    with pytest.raises(ValueError, match="k must be a positive whole number, not 0"):
        sparse_graph(metric, "knn", 0)


def test_bad_distances_of_a_metric_of_ones_own_are_named() -> None:
    d = np.ones((3, 3)) - np.eye(3)
    d[2, 1] = np.nan
    with pytest.raises(MetricError, match=r"Table.block returned d\(2, 1\) = nan"):
        sparse_graph(Table(d), "knn", 1)


@given(metrics)
def test_the_central_point_has_the_least_total_distance(d: np.ndarray) -> None:
    center = central_point(Table(d), np.random.default_rng(0))
    totals = [sum(row) for row in d.tolist()]
    assert totals[center] <= min(totals) * (1 + 1e-12)


def test_of_equally_central_points_the_first_is_taken() -> None:
    circle = tr.GraphMetric([[i, (i + 1) % 6] for i in range(6)])
    assert central_point(circle, np.random.default_rng(0)) == 0


@settings(max_examples=10)
@given(st.integers(0, 100))
def test_a_sampled_center_is_close_to_the_best(seed: int) -> None:
    points = tr.PointMetric(np.random.default_rng(0).normal(size=(1500, 3)))
    totals = points.block(range(1500), range(1500)).sum(axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphs, "_EXACT_CENTER", 100)
        center = central_point(points, np.random.default_rng(seed))
    assert totals[center] < np.quantile(totals, 0.01)
    assert totals[center] < 1.01 * totals.min()


def test_roots_are_points() -> None:
    assert check_root(np.int64(2), 3) == 2
    assert check_root("c", 3, ("a", "b", "c")) == 2
    for root in (3, -1, 1.0, True):
        with pytest.raises(ValueError, match="root must be one of the points 0 to 2, not"):
            check_root(root, 3)


def test_graphs_are_read_only_like_those_of_graph_metrics() -> None:
    graph = sparse_graph(tr.PointMetric(np.arange(5.0)[:, None]), "knn", 1)
    own = tr.GraphMetric([[0, 1], [1, 2]], weights=[2.0, 3.0]).adjacency
    for name in ("data", "indices", "indptr"):
        assert getattr(graph, name).dtype == getattr(own, name).dtype
        assert not getattr(graph, name).flags.writeable
    assert_array_equal(graph.indptr, [0, 1, 3, 5, 7, 8])
