"""Shortest-path metrics: what graphs are accepted, how they answer, and what is refused with one line."""

import gzip
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import (
    connected_components,
    dijkstra,
    minimum_spanning_tree,
    shortest_path,
)

import treerep as tr
from treerep.metric import graph as graph_module
from treerep.metric.base import MetricError
from treerep.metric.graph import GraphMetric
from treerep.metric.oracle.classes import HubOracle, MatrixOracle
from treerep.metric.shortest_paths import all_pairs as all_pairs_module

SQUARE = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
HOPS = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])


def matrix(entries: dict[tuple[int, int], float], n: int, dtype: type = float) -> sparse.csr_array:
    i, j = np.array(list(entries)).T
    return sparse.csr_array((np.array(list(entries.values()), dtype=dtype), (i, j)), shape=(n, n))


def random_edges(n: int, extra: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    tree = np.column_stack([np.arange(1, n), rng.integers(0, np.arange(1, n))])
    return np.concatenate([tree, rng.integers(0, n, (extra, 2))])


def refuse(message: str, *args: object, error: type[Exception] = MetricError, **kwargs: object) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        GraphMetric(*args, **kwargs)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


# What a graph may be


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.uint64])
def test_edges_of_any_integer_type(dtype: type) -> None:
    metric = GraphMetric(SQUARE.astype(dtype))
    assert_array_equal(metric.block(range(4), range(4)), HOPS)
    assert not metric.weighted and metric.integral and metric.labels is None
    assert_array_equal(metric.vertices, range(4))


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_array])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float32, float])
def test_sparse_matrices_of_any_kind(make: type, dtype: type) -> None:
    given_matrix = make((HOPS == 1).astype(dtype))
    before = given_matrix.toarray()
    metric = GraphMetric(given_matrix)
    assert_array_equal(metric.block(range(4), range(4)), HOPS)
    assert not metric.weighted
    assert_array_equal(given_matrix.toarray(), before)


@pytest.mark.parametrize("make", [sparse.coo_array, sparse.coo_matrix])
def test_entries_given_twice_add_up_without_wrapping_around(make: type) -> None:
    i, j = [0, 0, 1, 1], [1, 1, 0, 0]
    assert GraphMetric(make((np.full(4, 200, np.uint8), (i, j)), shape=(2, 2))).pairs(0, 1) == 400
    assert GraphMetric(make((np.full(4, 100, np.int8), (i, j)), shape=(2, 2))).pairs(0, 1) == 200


def test_vertex_numbers_beyond_int64_are_refused() -> None:
    edges = np.array([[0, 1], [1, 2**63]], dtype=np.uint64)
    refuse("edge 1 is (1, 9223372036854775808), but vertices must be numbered", edges)
    refuse("edge 1 is (1, 9223372036854775808)", edges, largest_component=True)


def test_values_other_than_one_are_lengths() -> None:
    metric = GraphMetric(matrix({(0, 1): 2, (1, 0): 2, (1, 2): 0.5, (2, 1): 0.5}, 3))
    assert metric.weighted and not metric.integral
    assert_array_equal(metric.block([0], [0, 1, 2]), [[0, 2, 2.5]])
    assert GraphMetric(SQUARE, weights=[1, 1, 1, 1]).weighted is False
    assert GraphMetric(SQUARE, weights=[1, 2, 1, 1]).integral


def test_whole_numbers_too_large_for_exact_sums_are_not_called_integral() -> None:
    assert not GraphMetric(SQUARE, weights=[2.0**52] * 4).integral


def test_the_adjacency_is_sorted_symmetric_float64_and_serves_scipy() -> None:
    metric = GraphMetric(SQUARE[::-1], weights=[4, 3, 2, 1])
    rows = metric.adjacency
    assert isinstance(rows, sparse.csr_array) and rows.dtype == np.float64 and rows.indices.dtype == np.int32
    assert_array_equal(rows.toarray(), [[0, 1, 0, 4], [1, 0, 2, 0], [0, 2, 0, 3], [4, 0, 3, 0]])
    assert_array_equal(rows.indices, [1, 3, 0, 2, 1, 3, 0, 2])
    assert not any(array.flags.writeable for array in (rows.data, rows.indices, rows.indptr))
    assert minimum_spanning_tree(rows).sum() == 6
    assert connected_components(rows)[0] == 1
    assert_array_equal(dijkstra(rows), metric.block(range(4), range(4)))
    assert_array_equal(metric.degrees, [2, 2, 2, 2])
    assert_array_equal(metric.neighbors(0), [1, 3])
    with pytest.raises(IndexError, match="point 4 does not exist"):
        metric.neighbors(4)


def test_self_loops_do_not_matter_and_the_shortest_of_parallel_edges_counts() -> None:
    edges = [[0, 1], [1, 0], [1, 1], [1, 2], [1, 2], [2, 2]]
    metric = GraphMetric(edges, weights=[5, 3, 0, 1, 7, 2])
    assert_array_equal(metric.adjacency.toarray(), [[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    looped = GraphMetric(matrix({(0, 0): 9, (0, 1): 2, (1, 0): 2, (1, 1): 0}, 2))
    assert_array_equal(looped.adjacency.toarray(), [[0, 2], [2, 0]])


@pytest.mark.parametrize("graph", [sparse.csr_array((1, 1)), [[0, 0]]], ids=["matrix", "self-loop"])
def test_a_single_vertex(graph: object) -> None:
    metric = GraphMetric(graph, labels=["alone"])
    assert len(metric) == 1 and metric.labels == ("alone",)
    assert metric.pairs(0, 0) == 0
    assert_array_equal(metric.build_labels().hubs, [0])


# The largest component


def test_the_largest_component_keeps_numbers_and_labels() -> None:
    edges = [[0, 1], [2, 4], [4, 5], [5, 2], [7, 8]]
    metric = GraphMetric(edges, labels=list("abcdefghi"), largest_component=True)
    assert_array_equal(metric.vertices, [2, 4, 5])
    assert metric.labels == ("c", "e", "f")
    assert_array_equal(metric.adjacency.toarray(), 1 - np.eye(3))
    block = np.array([0, 0, 1, 1, 1, 2])
    whole = sparse.csr_array((block[:, None] == block) & (block < 2))
    assert_array_equal(GraphMetric(whole, largest_component=True).vertices, [2, 3, 4])


def test_largest_component_of_a_connected_graph_is_the_graph() -> None:
    metric = GraphMetric(SQUARE, labels="abcd", largest_component=True)
    assert metric.labels == ("a", "b", "c", "d")
    assert_array_equal(metric.vertices, range(4))


def test_huge_vertex_numbers_cost_nothing() -> None:
    metric = GraphMetric([[10**12, 5], [5, 10**15]], largest_component=True)
    assert_array_equal(metric.vertices, [5, 10**12, 10**15])
    assert_array_equal(metric.block([1], [0, 1, 2]), [[1, 0, 2]])


# What is refused


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_bad_lengths_are_named(value: float) -> None:
    refuse(f"edge (1, 2) has length {value}", SQUARE, weights=[1, value, 1, 1])
    refuse(
        f"edge (0, 2) has length {value}",
        matrix({(0, 1): 1, (1, 0): 1, (0, 2): value, (2, 0): value}, 3),
    )


def test_edges_of_length_zero_are_refused() -> None:
    refuse("edge (2, 3) has length 0.0, but lengths must be positive", SQUARE, weights=[1, 1, 0, 1])
    refuse("A.eliminate_zeros()", matrix({(0, 1): 0, (1, 0): 0}, 2))
    refuse("edge (0, 1) has length 0.0", matrix({(0, 1): False, (1, 0): False}, 2, bool))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({(0, 1): 1, (1, 0): 1, (1, 2): 1}, "entry (1, 2) is 1.0 but (2, 1) is 0.0"),
        ({(0, 1): 3, (1, 0): 1, (1, 2): 1, (2, 1): 1}, "entry (0, 1) is 3.0 but (1, 0) is 1.0"),
    ],
)
def test_directed_graphs_are_refused(entries: dict[tuple[int, int], float], message: str) -> None:
    refuse(message, matrix(entries, 3))
    refuse("A.maximum(A.T)", matrix(entries, 3))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (sparse.csr_array((2, 3)), "expected a square adjacency matrix, got 2 x 3"),
        (sparse.csr_array((0, 0)), "the graph is empty: give at least one vertex"),
        (sparse.csr_array(np.eye(2) * 1j), "edge lengths of dtype complex128"),
        (np.empty((0, 2)), "the graph is empty: give at least one edge"),
        (np.ones((4, 4)), "scipy.sparse.csr_array(A)"),
        ([0, 1, 2], "expected an (m, 2) array of edges, got 3"),
        ([[0.0, 1.0]], "edges of dtype float64 cannot name vertices"),
        ([["a", "b"]], "number the vertices 0, 1, 2, ... as integers"),
        ([[0, 1], [1, -2]], "edge 1 is (1, -2), but vertices must be numbered from 0"),
    ],
)
def test_what_is_no_graph_is_refused(graph: object, message: str) -> None:
    refuse(message, graph)


def test_other_types_are_refused() -> None:
    refuse("not str", "graph.edges", error=TypeError)


def test_disconnected_graphs_are_described() -> None:
    refuse(
        "2 components of sizes 3, 2, and vertex 0 is not in the largest",
        [[0, 1], [2, 3], [3, 4]],
    )
    refuse("largest_component=True", [[0, 1], [2, 3], [3, 4]])
    refuse("6 components of sizes 1, 1, 1, 1, ...,", sparse.csr_array((6, 6)))


def test_gaps_in_the_numbers_are_isolated_vertices() -> None:
    refuse(
        "3 components of sizes 3, 1, 1 (2 of the numbers 0 to 4 occur in no edge), and vertex 1",
        [[0, 2], [2, 4]],
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "weights of shape (2,) for 4 edges"),
        (["1", "2", "3", "4"], "use real numbers"),
        ([1j, 1, 1, 1], "weights of dtype complex128"),
        ([1e308] * 4, "rescale the weights"),
    ],
)
def test_bad_weights(weights: object, message: str) -> None:
    refuse(message, SQUARE, weights=weights)


def test_weights_belong_to_edge_arrays() -> None:
    refuse("weights applies only to an edge array", sparse.csr_array(HOPS == 1), weights=[1, 2])


def test_bad_labels() -> None:
    refuse("3 labels were given for 4 points", SQUARE, labels="abc")
    refuse("share the label 'a'", SQUARE, labels="abca")


# Answers


def by_labels(metric: GraphMetric) -> GraphMetric:
    _ = metric.oracle
    return metric


@given(
    n=st.integers(1, 40),
    extra=st.integers(0, 60),
    seed=st.integers(0, 2**32 - 1),
    weighting=st.sampled_from(["hops", "whole", "real"]),
    cost=st.sampled_from([0.0, 1e9]),
)
@settings(max_examples=60)
def test_searches_and_labels_both_equal_scipy(
    n: int, extra: int, seed: int, weighting: str, cost: float
) -> None:
    rng = np.random.default_rng(seed)
    edges = random_edges(n, extra + 1, seed)
    weights = {
        "hops": None,
        "whole": rng.integers(1, 9, len(edges)),
        "real": rng.uniform(0.1, 1, len(edges)),
    }[weighting]
    metric = by_labels(GraphMetric(edges, weights=weights))
    truth = dijkstra(metric.adjacency)
    rows, cols = rng.integers(0, n, rng.integers(0, 9)), rng.integers(0, n, rng.integers(0, 9))
    i, j = rng.integers(0, n, (2, 3, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_module, "_QUERY_COST", cost)  # 0: labels answer everything; 1e9: searches do
        block, pairs = metric.block(rows, cols), metric.pairs(i, j)
    assert block.shape == (len(rows), len(cols)) and pairs.shape == (3, 5)
    rounding = 1e-13 if weighting == "real" else 0
    assert_allclose(block, truth[np.ix_(rows, cols)], rtol=rounding)
    assert_allclose(pairs, truth[i, j], rtol=rounding)


def test_pairs_broadcast_and_keep_their_shape() -> None:
    metric = GraphMetric(SQUARE)
    assert_array_equal(metric.pairs(0, [[1, 2], [3, 0]]), [[1, 2], [1, 0]])
    assert_array_equal(metric.pairs([[0], [1]], [0, 1, 2]), HOPS[:2, :3])
    assert metric.pairs([], []).shape == (0,)
    assert metric.block([], [0]).shape == (0, 1)
    with pytest.raises(IndexError, match="point 9 does not exist"):
        metric.pairs(0, 9)
    with pytest.raises(IndexError, match="point -1 does not exist"):
        metric.block([-1], [0])


def test_large_blocks_are_answered_in_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = random_edges(300, 200, 7)
    metric = GraphMetric(edges, weights=np.random.default_rng(7).uniform(0.1, 1, len(edges)))
    everyone, some, i = (
        np.arange(300),
        np.arange(0, 300, 7),
        np.random.default_rng(8).integers(0, 300, 1000),
    )
    requests = [(everyone, some), (some, everyone), (everyone, everyone)]
    for ask in (0.0, 1e9):
        monkeypatch.setattr(graph_module, "_QUERY_COST", ask)
        monkeypatch.setattr(graph_module, "_BAND", 2e7)
        whole = [metric.block(*request) for request in requests] + [metric.pairs(i, i[::-1])]
        monkeypatch.setattr(graph_module, "_BAND", 1.0)
        banded = [metric.block(*request) for request in requests] + [metric.pairs(i, i[::-1])]
        for one, other in zip(whole, banded, strict=True):
            assert_array_equal(one, other)


def test_a_few_requests_do_not_build_labels_but_many_do() -> None:
    metric = GraphMetric(random_edges(500, 100, 3))
    metric.block([0, 1], range(500))
    assert metric.pairs([3], [4]) == metric.block([4], [3])
    assert "oracle" not in vars(metric)
    for start in range(0, 500, 2):
        metric.block(range(100), [start, start + 1])
    metric.pairs(range(500), range(500))
    metric.pairs(range(500), range(500))
    assert "oracle" in vars(metric)


@pytest.mark.parametrize("count", [17, 512, 700])
def test_searches_that_run_together_are_those_of_scipy(count: int) -> None:
    n = 900
    metric = GraphMetric(random_edges(n, 400, 6))
    assert metric._read_together == 512
    generator = np.random.default_rng(count)
    rows = generator.integers(0, n, count)  # some occur twice
    cols = generator.integers(0, n, 800)
    expected = shortest_path(metric.adjacency, unweighted=True)[rows][:, cols]
    assert_array_equal(metric.block(rows, cols), expected)
    assert_array_equal(metric.block(cols, rows), expected.T)
    assert not metric.has_labels


def test_long_paths_and_lengths_are_searched_one_by_one() -> None:
    path = GraphMetric([[k, k + 1] for k in range(299)])
    assert path._read_together == 1
    assert_array_equal(path.block(range(300), [0, 7]), np.abs(np.subtract.outer(np.arange(300), [0, 7])))
    edges = random_edges(300, 50, 1)
    assert GraphMetric(edges, weights=np.full(len(edges), 2.0))._read_together == 1


def test_real_lengths_answer_the_same_bits_before_and_after_labels_exist() -> None:
    edges = random_edges(400, 300, 5)
    weights = np.random.default_rng(5).uniform(0.1, 1, len(edges))
    fresh, used = (
        GraphMetric(edges, weights=weights),
        by_labels(GraphMetric(edges, weights=weights)),
    )
    for rows, cols in [
        ([0], range(400)),
        (range(400), [1, 2]),
        ([5], [6]),
        (range(100), range(200, 300)),
    ]:
        assert_array_equal(fresh.block(rows, cols), used.block(rows, cols))
    assert_array_equal(fresh.pairs([1, 2], [3, 4]), used.pairs([1, 2], [3, 4]))


def test_a_pickle_without_labels_builds_them_on_arrival() -> None:
    metric = GraphMetric(SQUARE, labels="abcd")
    copy = pickle.loads(pickle.dumps(metric))
    assert "oracle" not in vars(copy)
    assert copy.labels == metric.labels and copy.integral and not copy.weighted
    assert not copy.adjacency.data.flags.writeable and not copy.vertices.flags.writeable
    assert_array_equal(by_labels(copy).block(range(4), range(4)), HOPS)


def expander(n: int, degree: int) -> np.ndarray:
    """Random cycles through all vertices: their shortest paths have few vertices in common."""
    rng = np.random.default_rng(0)
    cycles = [rng.permutation(n) for _ in range(degree // 2)]
    return np.concatenate([np.column_stack([c, np.roll(c, 1)]) for c in cycles])


def test_an_expander_has_a_matrix_instead_of_labels() -> None:
    edges = expander(1200, 20)
    metric = GraphMetric(edges)
    labels = GraphMetric(edges)
    labels.build_labels()
    assert isinstance(metric.oracle, MatrixOracle) and isinstance(labels.oracle, HubOracle)
    assert metric.oracle.distances.dtype == np.uint8 and metric.has_labels
    assert_array_equal(metric.oracle.distances, shortest_path(metric.adjacency, unweighted=True))
    i, j = np.random.default_rng(1).integers(1200, size=(2, 5000))
    assert_array_equal(metric.pairs(i, j), labels.pairs(i, j))
    trees = [tr.fit(graph, method="treerep") for graph in (metric, labels)]
    assert trees[0] == trees[1]


def test_trees_on_an_expander_have_a_matrix() -> None:
    # Two thirds of the vertices are in the expander; the others are in trees attached to it.
    later = np.arange(1200, 1800)
    parent = np.random.default_rng(0).integers(0, later)
    metric = GraphMetric(np.concatenate([expander(1200, 20), np.column_stack([parent, later])]))
    assert isinstance(metric.oracle, MatrixOracle)
    assert_array_equal(metric.oracle.distances, shortest_path(metric.adjacency, unweighted=True))


def test_an_expander_with_lengths_may_have_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = expander(1000, 12)
    lengths = np.random.default_rng(4).integers(1, 10, len(edges))
    labels = GraphMetric(edges, weights=lengths)
    assert isinstance(labels.oracle, HubOracle)  # heaps make searches slow
    monkeypatch.setattr(graph_module, "_LABEL_SHARE", 0.01)
    metric = GraphMetric(edges, weights=lengths)
    assert isinstance(metric.oracle, MatrixOracle)
    assert_array_equal(metric.oracle.distances, shortest_path(metric.adjacency))
    i, j = np.random.default_rng(5).integers(1000, size=(2, 5000))
    assert_array_equal(metric.pairs(i, j), labels.pairs(i, j))


def test_two_expanders_are_refused_or_one_is_kept() -> None:
    edges = np.concatenate([expander(1100, 20), 1100 + expander(1050, 20)])
    with pytest.raises(MetricError, match="2 components of sizes 1,100, 1,050"):
        GraphMetric(edges)
    kept = GraphMetric(edges, largest_component=True)
    assert len(kept) == 1100 and isinstance(kept.oracle, MatrixOracle)


def test_other_threads_wait_for_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = GraphMetric(expander(1000, 20))
    calls = []
    build = all_pairs_module.all_pairs

    def counted(*arguments: Any) -> MatrixOracle | None:
        calls.append(1)
        return build(*arguments)

    monkeypatch.setattr(all_pairs_module, "all_pairs", counted)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: metric.oracle, range(4)))
    assert len(calls) == 1 and all(oracle is found[0] for oracle in found)


def test_the_matrix_has_the_smallest_type_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = expander(60, 4)
    lengths = np.random.default_rng(2).integers(1, 200, len(edges))
    metric = GraphMetric(edges, weights=lengths)
    found = all_pairs_module.all_pairs(60, metric._search_all, 7)
    assert found is not None and found.distances.dtype == np.uint16
    assert_array_equal(found.distances, shortest_path(metric.adjacency))
    monkeypatch.setattr(all_pairs_module, "_LARGEST", 2 * 60 * 60 - 1)
    assert all_pairs_module.all_pairs(60, metric._search_all, 7) is None


@pytest.mark.parametrize(
    ("edges", "weights"),
    [
        (expander(900, 20), np.full(9000, 2.0)),  # few vertices
        (expander(1000, 12), np.random.default_rng(3).uniform(1, 2, 6000)),  # rounded sums
        (np.column_stack([np.arange(1999), np.arange(1, 2000)]), None),  # a path: short labels
    ],
)
def test_other_graphs_have_labels(edges: np.ndarray, weights: np.ndarray | None) -> None:
    assert isinstance(GraphMetric(edges, weights=weights).oracle, HubOracle)


@pytest.mark.parametrize(("name", "n", "labels_at_most"), [("wordnet", 74_374, 15), ("enron", 33_695, 55)])
def test_real_graphs(data_folder: Path, name: str, n: int, labels_at_most: float) -> None:
    with gzip.open(data_folder / "graphs" / f"{name}.edges.gz") as file:
        metric = GraphMetric(np.loadtxt(file, dtype=np.int64))
    assert len(metric) == n
    assert len(metric.oracle.hubs) < labels_at_most * n
    rng = np.random.default_rng(0)
    rows, cols = rng.integers(0, n, 3), np.arange(n)
    truth = dijkstra(metric.adjacency, indices=rows, unweighted=True)
    assert_array_equal(metric.block(rows, cols), truth)
    i, j = np.repeat(rows, 2000), rng.integers(0, n, 6000)
    assert_array_equal(
        metric.pairs(np.concatenate([i, cols]), np.concatenate([j, cols]))[:6000],
        truth[np.arange(6000) // 2000, j],
    )
