"""The level tree, against clusters found by their definition and against its guarantee."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics
from treerep.fitting.spanning._graphs import sparse_graph


def level(data: object, **options: object) -> tr.Tree:
    return tr.fit(data, method="level_tree", **options)


@st.composite
def connected_graphs(draw: st.DrawFn, max_vertices: int = 40) -> nx.Graph:
    """Random connected graphs: trees, sparse ones, dense ones, circles and grids."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n = draw(st.integers(2, max_vertices))
    kind = draw(st.sampled_from(["tree", "sparse", "dense", "circle", "grid"]))
    if kind == "grid":
        graph = nx.convert_node_labels_to_integers(
            nx.grid_2d_graph(draw(st.integers(2, 6)), draw(st.integers(1, 6)))
        )
    elif kind == "circle":
        graph = nx.cycle_graph(max(n, 3))
    else:
        graph = nx.gnp_random_graph(n, {"tree": 0.0, "sparse": 0.08, "dense": 0.4}[kind], seed=seed)
        graph.add_edges_from((int(rng.integers(c)), c) for c in range(1, n))
    return nx.relabel_nodes(graph, dict(enumerate(rng.permutation(len(graph)).tolist())))


def clusters(graph: nx.Graph, root: int) -> list[tuple[int, set[int]]]:
    """Layer and members of every cluster: components of what lies at least as far out, cut to the layer itself."""
    far = nx.single_source_shortest_path_length(graph, root)
    found = []
    for k in range(1, max(far.values()) + 1):
        outer = graph.subgraph(v for v in graph if far[v] >= k)
        found += [(k, {v for v in part if far[v] == k}) for part in nx.connected_components(outer)]
    return found


def edges_twin(graph: nx.Graph, root: int) -> set[tuple[int, int]]:
    far = nx.single_source_shortest_path_length(graph, root)
    edges = set()
    for k, members in clusters(graph, root):
        top = min(u for v in members for u in graph[v] if far[u] == k - 1)
        edges |= {(min(v, top), max(v, top)) for v in members}
    return edges


@given(connected_graphs(), st.integers(0, 100))
def test_clusters_are_those_of_the_definition(graph: nx.Graph, root: int) -> None:
    root %= len(graph)
    tree = level(tr.GraphMetric(np.array(graph.edges)), root=root)
    assert {tuple(edge) for edge in tree.edges.tolist()} == edges_twin(graph, root)
    assert (tree.weights == 1).all()


@given(connected_graphs(), st.integers(0, 100))
def test_the_guarantee_holds(graph: nx.Graph, root: int) -> None:
    root %= len(graph)
    metric = tr.GraphMetric(np.array(graph.edges))
    d = metric.block(range(len(metric)), range(len(metric)))
    in_tree = level(metric, root=root).distances()
    widest = max(d[np.ix_(list(members), list(members))].max() for _, members in clusters(graph, root))
    # d_T - 2 <= d <= d_T + (largest distance within a cluster)
    assert (in_tree - 2 <= d).all()
    assert (d <= in_tree + widest).all()
    assert_array_equal(in_tree[root], d[root])


def test_hand_worked() -> None:
    # A hexagon from 0: layers {1, 5}, {2, 4}, {3}; each is one cluster, connected further out by way of 3.
    hexagon = tr.GraphMetric([[i, (i + 1) % 6] for i in range(6)])
    assert level(hexagon, root=0).edges.tolist() == [[0, 1], [0, 5], [1, 2], [1, 4], [2, 3]]
    # Without 3 the two arms are connected by the root alone.
    path = tr.GraphMetric([[0, 1], [1, 2], [0, 4], [4, 3]])
    assert level(path, root=0).edges.tolist() == [[0, 1], [0, 4], [1, 2], [3, 4]]


@given(connected_graphs(30))
def test_trees_come_back(graph: nx.Graph) -> None:
    tree = nx.minimum_spanning_tree(graph)
    assert_array_equal(
        level(tr.GraphMetric(np.array(tree.edges))).edges,
        sorted(sorted(edge) for edge in tree.edges),
    )


def test_the_root_is_the_central_point() -> None:
    star = tr.GraphMetric([[3, 0], [3, 1], [3, 2], [0, 1]])
    assert level(star).edges.tolist() == [[0, 3], [1, 3], [2, 3]]


def test_a_graph_deep_as_a_path() -> None:
    n = 20_000
    tree = level(tr.GraphMetric(np.column_stack([np.arange(n - 1), np.arange(1, n)])), root=0)
    assert_array_equal(tree.edges[:, 1] - tree.edges[:, 0], 1)


@given(
    st.one_of(integer_metrics(), any_symmetric()).filter(lambda d: len(d) > 1),
    st.integers(1, 5),
)
def test_other_data_goes_by_its_nearest_neighbors(d: np.ndarray, k: int) -> None:
    rows = sparse_graph(tr.MatrixMetric(d), "knn", k).tocoo()
    graph = nx.Graph(list(zip(rows.row.tolist(), rows.col.tolist(), strict=True)))
    tree = level(d, k=k, root=0)
    assert {tuple(edge) for edge in tree.edges.tolist()} == edges_twin(graph, 0)
    assert_array_equal(tree.weights, d[tuple(tree.edges.T)])
    assert level(d, graph="knn", k=k, root=0) == tree


def test_lengths_on_a_weighted_graph_are_distances() -> None:
    square = tr.GraphMetric([[0, 1], [1, 2], [2, 3], [3, 0]], weights=[1.0, 5.0, 5.0, 2.0])
    tree = level(square, root=0)
    assert tree.edges.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert_allclose(tree.weights, [1, 2, 5])


def test_the_complete_graph_is_refused() -> None:
    with pytest.raises(ValueError, match="complete graph is a star: use graph='knn' or method='bfs'"):
        level([[0, 3], [3, 0]], graph="complete")
    with pytest.raises(ValueError, match="leave out graph"):
        level(tr.GraphMetric([[0, 1]]), graph="complete")
    with pytest.raises(ValueError, match="root must be one of the points 0 to 1, not 5"):
        level([[0, 3], [3, 0]], root=5)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_small_and_degenerate_input(dtype: type) -> None:
    assert level(np.array([[0, 3], [3, 0]], dtype)).weights.tolist() == [3]
    assert level(np.zeros((4, 4), dtype)).weights.tolist() == [0, 0, 0]
    assert level(tr.GraphMetric([[0, 1], [1, 2]], labels="abc")).labels == ("a", "b", "c")


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale: float) -> None:
    x = np.array([0.0, 3, 1, 7]) * scale
    d = np.abs(np.subtract.outer(x, x))
    assert_allclose(level(d, k=1, root=0).distances(), d, rtol=1e-12)
