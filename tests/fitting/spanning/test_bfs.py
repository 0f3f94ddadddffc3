"""Shortest paths from one point, against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics
from treerep.fitting.spanning._graphs import sparse_graph


def bfs(data: object, **options: object) -> tr.Tree:
    return tr.fit(data, method="bfs", **options)


@st.composite
def connected_graphs(draw: st.DrawFn, max_vertices: int = 40) -> nx.Graph:
    """Random connected graphs, with whole lengths full of ties, other lengths, or none."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n = draw(st.integers(2, max_vertices))
    graph = nx.gnp_random_graph(n, draw(st.sampled_from([0.0, 0.05, 0.3])), seed=seed)
    graph.add_edges_from((int(rng.integers(c)), c) for c in range(1, n))
    kind = draw(st.sampled_from(["none", "whole", "real"]))
    for *_, edge in graph.edges(data=True):
        edge["weight"] = {
            "none": 1.0,
            "whole": float(rng.integers(1, 4)),
            "real": rng.uniform(0.1, 1.0),
        }[kind]
    return graph


def as_metric(graph: nx.Graph) -> tr.GraphMetric:
    edges = list(graph.edges(data="weight"))
    return tr.GraphMetric(np.array([edge[:2] for edge in edges]), weights=[edge[2] for edge in edges])


def tree_twin(graph: nx.Graph, root: int) -> set[tuple[int, int]]:
    """Every vertex hangs off its neighbor of smallest index among those on a shortest path (for exact lengths)."""
    far = nx.single_source_dijkstra_path_length(graph, root)
    parents = {
        v: min(u for u in graph[v] if far[u] + graph[u][v]["weight"] == far[v]) for v in graph if v != root
    }
    return {(min(edge), max(edge)) for edge in parents.items()}


@given(connected_graphs(), st.integers(0, 100))
def test_distances_to_the_root_are_exact_and_none_is_shorter(graph: nx.Graph, root: int) -> None:
    n = len(graph)
    root %= n
    tree = bfs(as_metric(graph), root=root)
    far = nx.single_source_dijkstra_path_length(graph, root)
    assert_allclose(tree.block([root], range(n))[0], [far[v] for v in range(n)], rtol=1e-12)
    truth = dict(nx.all_pairs_dijkstra_path_length(graph))
    d = np.array([[truth[u][v] for v in range(n)] for u in range(n)])
    assert (tree.distances() >= d * (1 - 1e-12)).all()
    assert all(
        graph[u][v]["weight"] == w for (u, v), w in zip(tree.edges.tolist(), tree.weights, strict=True)
    )


@given(connected_graphs(), st.integers(0, 100))
def test_of_several_shortest_paths_the_last_stop_is_the_smallest(graph: nx.Graph, root: int) -> None:
    root %= len(graph)
    tree = bfs(as_metric(graph), root=root)
    assert {tuple(edge) for edge in tree.edges.tolist()} == tree_twin(graph, root)


def test_hand_worked() -> None:
    # A square: 2 is reached by way of 1, not of 3.
    square = tr.GraphMetric([[0, 1], [1, 2], [2, 3], [3, 0]])
    assert bfs(square, root=0).edges.tolist() == [[0, 1], [0, 3], [1, 2]]
    # With a detour that is shorter than the direct edge.
    triangle = tr.GraphMetric([[0, 1], [1, 2], [2, 0]], weights=[1.0, 2.0, 9.0])
    assert bfs(triangle, root=0).edges.tolist() == [[0, 1], [1, 2]]


def test_the_root_is_the_central_point() -> None:
    path = tr.GraphMetric([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [2, 6], [2, 7]])
    assert bfs(path) == bfs(path, root=2)
    assert bfs(path) != bfs(path, root=5)


@given(st.one_of(integer_metrics(), any_symmetric()).filter(lambda d: len(d) > 1))
def test_all_pairs_give_the_star_of_the_root(d: np.ndarray) -> None:
    root = len(d) // 2
    tree = bfs(d, root=root)
    star = d[root][:, None] + d[root][None, :]
    np.fill_diagonal(star, 0)
    assert_allclose(tree.distances(), star, rtol=1e-12)
    assert bfs(d) == bfs(d, root=int(np.argmin(d.sum(axis=1))))


@given(
    st.one_of(integer_metrics(), any_symmetric()).filter(lambda d: len(d) > 1),
    st.integers(1, 4),
)
def test_nearest_neighbors_with_duplicates(d: np.ndarray, k: int) -> None:
    rows = sparse_graph(tr.MatrixMetric(d), "knn", k).tocoo()
    graph = nx.Graph()
    graph.add_weighted_edges_from(zip(rows.row.tolist(), rows.col.tolist(), rows.data.tolist(), strict=True))
    far = nx.single_source_dijkstra_path_length(graph, 0)
    tree = bfs(d, graph="knn", k=k, root=0)
    assert_allclose(tree.block([0], range(len(d)))[0], [far[v] for v in range(len(d))], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_small_and_degenerate_input(dtype: type) -> None:
    assert bfs(np.array([[0, 3], [3, 0]], dtype)).weights.tolist() == [3]
    assert bfs(np.zeros((4, 4), dtype), graph="knn", k=1).weights.tolist() == [0, 0, 0]
    equal = np.array([[0, 2, 2], [2, 0, 2], [2, 2, 0]], dtype)
    assert bfs(equal).edges.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale: float) -> None:
    d = np.abs(np.subtract.outer([0.0, 3, 1, 7], [0.0, 3, 1, 7])) * scale
    assert_array_equal(bfs(d, root=0).weights, d[0, 1:])
    assert_allclose(bfs(d, graph="knn", k=1, root=0).distances(), d, rtol=1e-12)


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="root must be one of the points 0 to 1, not -1"):
        bfs([[0, 3], [3, 0]], root=-1)
    with pytest.raises(ValueError, match="leave out k"):
        bfs(tr.GraphMetric([[0, 1]]), k=3)


def test_labels_are_kept() -> None:
    assert bfs(tr.GraphMetric([[0, 1], [1, 2]], labels="abc")).labels == ("a", "b", "c")
