"""AKPW: a spanning tree of low stretch, equal to its plain twin, on a graph and on all pairs."""

from math import log

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.fitting.spanning._low_stretch_kernels import grow_balls
from treerep.fitting.spanning.low_stretch import low_stretch
from treerep.metric.base import Metric, MetricError
from treerep.metric.graph import GraphMetric
from treerep.metric.matrix import MatrixMetric

Edges = dict[tuple[int, int], float]  # (low, high): length


def learn(metric: Metric, seed: int = 0, **options) -> tr.Tree:
    return low_stretch(metric, rng=np.random.default_rng(seed), **options)


def graph_of(edges: Edges) -> GraphMetric:
    return GraphMetric(np.array(list(edges)), weights=np.array(list(edges.values())))


def edges_of(tree: tr.Tree) -> Edges:
    return {(int(u), int(v)): float(w) for (u, v), w in zip(tree.edges, tree.weights, strict=True)}


def mean_stretch(tree: tr.Tree, graph: GraphMetric) -> float:
    entries = graph.adjacency.tocoo()
    return float(np.mean(tree.pairs(entries.row, entries.col) / entries.data))


def grid(side: int) -> GraphMetric:
    return GraphMetric(nx.to_scipy_sparse_array(nx.grid_2d_graph(side, side)))


@st.composite
def random_graphs(draw: st.DrawFn, max_vertices: int = 25) -> Edges:
    """Connected graphs with lengths whose conductances are exact: 1, or powers of two over many classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, max_vertices))
    pairs = [(int(rng.integers(v)), v) for v in range(1, n)]
    pairs += [
        (int(a), int(b)) for a, b in np.sort(rng.integers(n, size=(draw(st.integers(0, 3 * n)), 2))) if a < b
    ]
    spread = draw(st.sampled_from([0, 3, 20]))
    return {pair: 2.0 ** int(rng.integers(-spread, spread + 1)) for pair in pairs}


# The plain twin: counters from scratch, the next vertex by looking at all edges.


def twin(n: int, edges: Edges, rng: np.random.Generator) -> Edges:
    tree: Edges = {}
    cluster = {v: v for v in range(n)}
    count = n
    while count > 1:
        order = rng.permutation(count)
        cluster = {v: int(order[c]) for v, c in cluster.items()}
        links: dict[tuple[int, int], tuple[float, int, int]] = {}
        for (u, v), length in edges.items():
            if cluster[u] != cluster[v]:
                for a, b in ((cluster[u], cluster[v]), (cluster[v], cluster[u])):
                    links[a, b] = min(links.get((a, b), (np.inf, 0, 0)), (length, u, v))
        shortest = min(links.values())[0]
        x = 1 / (2 * log(count)) if shortest > 0 else 0.0
        active = {pair: link for pair, link in links.items() if link[0] == 0 or x * link[0] < shortest}
        if shortest == 0:
            active = {pair: (1.0, *link[1:]) for pair, link in active.items() if link[0] == 0}
        ball, used = twin_balls(
            count, {pair: link[0] / (shortest or 1.0) for pair, link in active.items()}, x
        )
        for pair in used:
            _, u, v = active[pair]
            tree[u, v] = edges[u, v]
        cluster = {v: ball[c] for v, c in cluster.items()}
        count = len(set(ball.values()))
    return tree


def twin_balls(count: int, lengths: Edges, x: float) -> tuple[dict[int, int], list[tuple[int, int]]]:
    ball: dict[int, int] = {}
    used: list[tuple[int, int]] = []
    for seed in range(count):
        if seed in ball:
            continue
        number = len(set(ball.values()))
        ball[seed] = number
        distance = {seed: 0.0}  # in the order of joining
        while True:
            leaving = {(a, b): w for (a, b), w in lengths.items() if a in distance and b not in ball}
            inside = sum(
                1 / w for (a, b), w in lengths.items() if a in distance and b in distance
            )  # both directions
            boundary = sum(1 / w for w in leaving.values())
            if not leaving or boundary <= x * (boundary + inside):
                break
            joined = list(distance)
            far, b, _, a = min((distance[a] + w, b, joined.index(a), a) for (a, b), w in leaving.items())
            ball[b], distance[b] = number, far
            used.append((a, b))
    return ball, used


@given(random_graphs(), st.integers(0, 5))
@settings(max_examples=60)
def test_graphs_give_the_tree_of_the_plain_twin(edges: Edges, seed: int) -> None:
    graph = graph_of(edges)
    assert edges_of(learn(graph, seed)) == twin(len(graph), edges, np.random.default_rng(seed))


@given(any_symmetric(16), st.integers(0, 5))
@settings(max_examples=40)
def test_all_pairs_give_the_tree_of_the_plain_twin_even_without_triangle_inequality(
    d: np.ndarray, seed: int
) -> None:
    # Rounding to powers of two makes conductances exact; zeros stay.
    d = np.where(d > 0, 2.0 ** np.round(np.log2(np.where(d > 0, d, 1.0))), 0.0)
    n = len(d)
    if n > 1:
        pairs = {(u, v): float(d[u, v]) for u in range(n) for v in range(u + 1, n)}
        assert edges_of(learn(Table(d), seed)) == twin(n, pairs, np.random.default_rng(seed))


@given(st.integers(2, 60), st.integers(1, 5), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_the_complete_graph_gives_the_same_tree_stored_or_not(
    n: int, dim: int, whole: bool, seed: int
) -> None:
    points = np.random.default_rng(seed).normal(size=(n, dim)) ** 3
    d = np.linalg.norm(points[:, None] - points, axis=2)
    d = np.ceil(3 * d) + (d > 0) if whole else d
    stored, unstored = learn(GraphMetric(csr_array(d)), seed), learn(MatrixMetric(d), seed)
    assert_array_equal(stored.edges, unstored.edges)
    assert_array_equal(stored.weights, unstored.weights)


# Worked by hand


def test_balls_of_a_wheel_by_hand() -> None:
    # Hub 0, rim 1 ... 8; spokes of length 1.5, rim edges of length 1; x = 0.2276 for 9 vertices. The hub's ball takes
    # the rim in order. With k of them: boundary (8 - k) / 1.5 + 2, volume (8 + 4 k) / 1.5; so k = 4 goes on with
    # 4.67 > 0.2276 * 16 = 3.64, and k = 5 stops with 4 <= 0.2276 * 18.67 = 4.25. The next ball, from 6, has boundary 1
    # and volume 1, then 1 and 3, then 0.
    rim = [(k, k % 8 + 1) for k in range(1, 9)]
    ends = [(0, k) for k in range(1, 9)] + rim
    lengths = np.array([1.5] * 8 + [1.0] * 8)
    a, b = np.array(ends).T
    order = np.lexsort((np.r_[b, a], np.r_[a, b]))
    edge = np.tile(np.arange(16), 2)[order]
    starts = np.searchsorted(np.r_[a, b][order], np.arange(10))
    ball, chosen = grow_balls(starts, np.r_[b, a][order], edge, lengths[edge], 1 / (2 * log(9)))
    assert ball.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1]
    assert [ends[k] for k in chosen] == [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (6, 7), (7, 8)]


@pytest.mark.parametrize("seed", range(6))
def test_short_edges_come_first_and_of_parallel_ones_the_shortest(seed: int) -> None:
    # Two triangles of sides 1; x = 1 / (2 ln 6) makes edges below 3.6 active, so each becomes a ball, a star around its
    # seed. Then the shorter bridge joins them.
    triangles = {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0, (3, 4): 1.0, (3, 5): 1.0, (4, 5): 1.0}
    tree = edges_of(learn(graph_of({**triangles, (0, 3): 100.0, (1, 4): 90.0}), seed))
    assert tree.pop((1, 4)) == 90.0
    assert sorted(u > 2 for u, _ in tree) == [False, False, True, True]
    assert set(tree.items()) <= set(triangles.items())


def test_long_edges_are_not_preferred() -> None:
    # Conductances, not lengths: a heavy edge beside a short path is left out.
    assert (0, 3) not in edges_of(learn(graph_of({(0, 1): 1.0, (1, 2): 1.0, (2, 3): 1.0, (0, 3): 50.0})))


# What always holds


@given(random_graphs(60), st.integers(0, 3))
@settings(max_examples=50)
def test_the_tree_spans_the_graph_with_its_edges_and_dominates(edges: Edges, seed: int) -> None:
    graph = graph_of(edges)
    tree = learn(graph, seed)
    assert tree.n_nodes == len(graph)
    assert set(edges_of(tree).items()) <= set(edges.items())
    everyone = np.arange(len(graph))
    assert (tree.distances() >= graph.block(everyone, everyone) * (1 - 1e-12)).all()


@given(integer_metrics(), st.integers(0, 3), st.sampled_from([np.float64, np.float32, np.uint8]))
@settings(max_examples=50)
def test_on_all_pairs_the_tree_dominates_with_distances_as_lengths(
    d: np.ndarray, seed: int, dtype: type
) -> None:
    tree = tr.fit(d.astype(dtype), method="low_stretch", rng=seed)
    assert tree.n_nodes == len(d)
    assert_array_equal(tree.weights, d[tree.edges[:, 0], tree.edges[:, 1]])
    assert (tree.distances() >= d).all() or not _is_metric(d)


def _is_metric(d: np.ndarray) -> bool:
    return bool((d[:, :, None] + d[None] >= d[:, None, :]).all())


@given(tree_metrics(60), st.integers(0, 3))
@settings(max_examples=40)
def test_a_tree_comes_back(d: np.ndarray, seed: int) -> None:
    # The minimum spanning tree of any metric, as a graph.
    n = len(d)
    complete = nx.from_numpy_array(d)
    edges = {
        (min(u, v), max(u, v)): w["weight"] for u, v, w in nx.minimum_spanning_edges(complete, data=True)
    }
    if n > 1:
        assert edges_of(learn(graph_of(edges), seed)) == edges


def test_the_same_generator_gives_the_same_tree_and_others_another() -> None:
    graph = grid(12)
    first, again, other = (
        edges_of(learn(graph, seed, n_jobs=jobs)) for seed, jobs in ((1, 1), (1, 2), (2, 1))
    )
    assert first == again
    assert first != other


# Stretch


@pytest.mark.parametrize(
    "graph",
    [
        grid(30),
        GraphMetric(nx.to_scipy_sparse_array(nx.random_regular_graph(4, 1000, seed=1))),
        GraphMetric(nx.to_scipy_sparse_array(nx.complete_graph(150))),
        GraphMetric(nx.to_scipy_sparse_array(nx.barabasi_albert_graph(1000, 3, seed=1))),
    ],
    ids=["grid", "regular", "complete", "preferential"],
)
def test_mean_stretch_is_a_few_logarithms(graph: GraphMetric) -> None:
    stretch = np.mean([mean_stretch(learn(graph, seed), graph) for seed in range(5)])
    assert 1 < stretch < 1.5 * log(len(graph))


def test_stretch_grows_slowly_where_that_of_a_path_is_the_side_of_the_grid() -> None:
    small, large = (
        np.mean([mean_stretch(learn(graph, seed), graph) for seed in range(5)])
        for graph in (grid(10), grid(40))
    )
    # The path that winds through the grid row by row stretches the other edges by the side, on average: 4 times more.
    assert large < 2.5 * small
    side = 40
    rows = np.arange(side * side).reshape(side, side)
    rows[1::2] = rows[1::2, ::-1].copy()
    winding = rows.ravel()
    path = tr.Tree(side * side, np.column_stack([winding[:-1], winding[1:]]), np.ones(side * side - 1))
    assert large < mean_stretch(path, grid(side)) / 2


def test_weighted_stretch_is_low_although_classes_are_many() -> None:
    rng = np.random.default_rng(0)
    lattice = nx.to_scipy_sparse_array(nx.grid_2d_graph(25, 25), dtype=float).tocoo()
    upper = lattice.row < lattice.col
    lengths = 10 ** rng.uniform(0, 6, upper.sum())
    graph = GraphMetric(np.column_stack([lattice.row[upper], lattice.col[upper]]), weights=lengths)
    assert mean_stretch(learn(graph), graph) < 1.5 * log(len(graph))


# Edge cases


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("graph", ["complete", "knn"])
def test_scale_does_not_matter(scale: float, graph: str) -> None:
    points = np.random.default_rng(3).normal(size=(40, 2))
    d = np.linalg.norm(points[:, None] - points, axis=2)
    d = 2.0 ** np.round(np.log2(scale)) * d
    tree, plain = (learn(MatrixMetric(m), 5, graph=graph) for m in (d, d / 2.0 ** np.round(np.log2(scale))))
    assert_array_equal(tree.edges, plain.edges)
    assert_array_equal(tree.weights, d[tree.edges[:, 0], tree.edges[:, 1]])


@pytest.mark.parametrize("graph", ["complete", "knn"])
def test_duplicates_stay_together(graph: str) -> None:
    points = np.repeat(np.arange(12.0) ** 2, 3)[:, None]
    tree = learn(MatrixMetric(abs(points - points.T)), graph=graph)
    assert (tree.weights == 0).sum() == 24
    assert_allclose(tree.distances()[::3, 1::3].diagonal(), 0)


@pytest.mark.parametrize(
    "d", [[[0, 3], [3, 0]], [[0, 0], [0, 0]], np.ones((3, 3)) - np.eye(3), np.zeros((5, 5))]
)
def test_smallest_cases(d: np.ndarray) -> None:
    tree = tr.fit(np.asarray(d, dtype=float), method="low_stretch")
    assert tree.n_nodes == len(d)
    assert_array_equal(tree.weights, np.asarray(d, dtype=float)[tree.edges[:, 0], tree.edges[:, 1]])


def test_distances_from_end_to_end_of_the_range_of_floats() -> None:
    tree = learn(Table([[0, 1e-300, 1e300], [1e-300, 0, 1e300], [1e300, 1e300, 0]]))
    assert sorted(tree.weights) == [1e-300, 1e300]


def test_bad_distances_and_options_are_named() -> None:
    with pytest.raises(MetricError, match=r"Table\.block returned d\(0, 1\) = nan"):
        learn(Table(np.array([[0, np.nan], [np.nan, 0]])))
    with pytest.raises(ValueError, match="graph must be one of 'complete', 'knn', not 'tree'"):
        learn(MatrixMetric(np.ones((3, 3)) - np.eye(3)), graph="tree")


def test_the_smallest_distances_do_not_hang() -> None:
    least = 5e-324
    assert tr.fit(least * (1 - np.eye(4)), method="low_stretch").weights.tolist() == [least] * 3
