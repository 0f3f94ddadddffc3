"""Hub labels: exact on every kind of graph, and short where graphs are simple."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import dijkstra

from treerep.metric.graph import GraphMetric
from treerep.metric.oracle.classes import HubOracle
from treerep.metric.oracle.distance_kernels import block_distances
from treerep.metric.shortest_paths import hub_labels


def ask_all(metric: GraphMetric, rows: np.ndarray | None = None) -> np.ndarray:
    """Distances from the labels alone, whatever route the metric would choose."""
    everyone = np.arange(len(metric))
    rows = everyone if rows is None else rows
    out = np.empty((len(rows), len(metric)))
    block_distances(metric.build_labels(), rows, everyone, out)
    return out


def mean_label_size(metric: GraphMetric) -> float:
    return len(metric.build_labels().hubs) / len(metric)


def path(n: int) -> np.ndarray:
    return np.column_stack([np.arange(n - 1), np.arange(1, n)])


def cycle(n: int) -> np.ndarray:
    return np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])


def star(n: int) -> np.ndarray:
    return np.column_stack([np.zeros(n - 1, int), np.arange(1, n)])


def caterpillar(n: int) -> np.ndarray:
    return np.concatenate([path(n // 2), np.column_stack([np.arange(n // 2), np.arange(n // 2) + n // 2])])


def grid(height: int, width: int) -> np.ndarray:
    number = np.arange(height * width).reshape(height, width)
    down = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    right = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    return np.concatenate([down, right])


def binary_tree(n: int) -> np.ndarray:
    return np.column_stack([np.arange(1, n), (np.arange(1, n) - 1) // 2])


def random_edges(n: int, extra: int, seed: int) -> np.ndarray:
    """A random tree with `extra` random edges on top: connected, from path-like to dense."""
    rng = np.random.default_rng(seed)
    tree = np.column_stack([np.arange(1, n), rng.integers(0, np.arange(1, n))])
    return np.concatenate([tree, rng.integers(0, n, (extra, 2))])


def test_a_path_of_three_by_hand() -> None:
    # The middle covers every path between the ends, so it is the first hub; each end adds itself.
    oracle = GraphMetric([[0, 1], [1, 2]]).build_labels()
    assert isinstance(oracle, HubOracle)
    assert_array_equal(oracle.starts, [0, 2, 3, 5])
    assert_array_equal(oracle.hubs[[0, 2, 3]], [0, 0, 0])
    assert_array_equal(sorted(oracle.hubs[[1, 4]]), [1, 2])
    assert_array_equal(oracle.hub_distances, [1, 0, 0, 1, 0])


@given(n=st.integers(2, 60), extra=st.integers(0, 150), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_unweighted_labels_equal_scipys_distances(n: int, extra: int, seed: int) -> None:
    metric = GraphMetric(random_edges(n, extra, seed))
    assert metric.build_labels().hub_distances.dtype == np.uint8
    assert_array_equal(ask_all(metric), dijkstra(metric.adjacency, unweighted=True))


@given(
    n=st.integers(2, 50),
    extra=st.integers(0, 120),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["floats", "tenths", "ties", "wide"]),
)
@settings(max_examples=80)
def test_weighted_labels_equal_scipys_distances(n: int, extra: int, seed: int, kind: str) -> None:
    edges = random_edges(n, extra, seed)
    rng = np.random.default_rng(seed)
    whole = rng.integers(1, 4, len(edges))
    weights = {
        "floats": rng.uniform(0.01, 1, len(edges)),
        "tenths": whole * 0.1,  # equal sums in exact arithmetic that rounding tells apart
        "ties": whole.astype(float),
        "wide": 10.0 ** rng.uniform(-9, 9, len(edges)),
    }[kind]
    metric = GraphMetric(edges, weights=weights)
    truth = dijkstra(metric.adjacency)
    if metric.integral:
        assert_array_equal(ask_all(metric), truth)
    else:
        assert_allclose(ask_all(metric), truth, rtol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "edges",
    [
        path(90),
        cycle(91),
        star(80),
        caterpillar(90),
        grid(9, 11),
        binary_tree(100),
        np.argwhere(np.ones((40, 40))),
    ],
    ids=["path", "cycle", "star", "caterpillar", "grid", "binary tree", "complete"],
)
def test_graphs_with_names(edges: np.ndarray, weighted: bool) -> None:
    metric = GraphMetric(edges, weights=edges.sum(axis=1) % 5 + 0.5 if weighted else None)
    assert_allclose(ask_all(metric), dijkstra(metric.adjacency), rtol=1e-14 if weighted else 0)


@given(n=st.integers(2, 60), extra=st.integers(0, 100), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_labels_are_sorted_contain_the_vertex_itself_and_hold_true_distances(
    n: int, extra: int, seed: int
) -> None:
    metric = GraphMetric(random_edges(n, extra, seed))
    starts, hubs, distances = metric.build_labels()
    truth = dijkstra(metric.adjacency)
    vertex_of_rank = np.full(n, -1)
    owner = np.repeat(np.arange(n), np.diff(starts))
    vertex_of_rank[hubs[distances == 0]] = owner[distances == 0]
    assert_array_equal(np.sort(vertex_of_rank), np.arange(n))
    assert_array_equal(distances, truth[owner, vertex_of_rank[hubs]])
    same_owner = owner[1:] == owner[:-1]
    assert (np.diff(hubs)[same_owner] > 0).all()


@pytest.mark.parametrize("n", [255, 256, 257, 70_000])
def test_long_distances_do_not_wrap_around(n: int) -> None:
    metric = GraphMetric(path(n))
    ends = ask_all(metric, np.array([0, n - 1, n // 3]))
    assert_array_equal(ends, np.abs(np.array([[0], [n - 1], [n // 3]]) - np.arange(n)))
    # A hub is near the middle, so labels reach half as far as distances.
    assert metric.build_labels().hub_distances.dtype == (np.uint8 if n < 300 else np.int32)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [path, cycle, caterpillar, binary_tree])
def test_labels_of_simple_graphs_grow_like_the_logarithm(make: object, weighted: bool) -> None:
    assert callable(make)
    sizes = []
    for n in (5_000, 20_000):
        edges = make(n)
        weights = np.random.default_rng(n).uniform(0.5, 2, len(edges)) if weighted else None
        sizes.append(mean_label_size(GraphMetric(edges, weights=weights)))
    assert sizes[1] < 1.5 * np.log2(20_000)
    assert sizes[1] - sizes[0] < 2 * 1.5  # four times the vertices: two more halvings


def test_labels_of_a_grid_grow_slower_than_its_side() -> None:
    small, large = (mean_label_size(GraphMetric(grid(side, side))) for side in (30, 90))
    assert large < 2.5 * small
    assert large < 80


def test_rounding_does_not_break_ties_and_lengthen_labels() -> None:
    # All shortest paths of a grid tie; with lengths of 0.1 their sums differ in the last bits.
    exact, rounded = (
        GraphMetric(grid(40, 40), weights=np.full(len(grid(40, 40)), length)) for length in (2.0, 0.1)
    )
    assert exact.integral and not rounded.integral
    assert mean_label_size(rounded) < 1.05 * mean_label_size(exact)
    assert_allclose(ask_all(rounded), ask_all(exact) / 20, rtol=1e-13)


def test_a_star_needs_two_labels_a_vertex() -> None:
    metric = GraphMetric(star(20_000))
    assert np.diff(metric.build_labels().starts).max() == 2


def test_slices_of_work_and_storage_that_grows_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edges = random_edges(400, 800, 1)  # labels fill several chunks a vertex
    whole = GraphMetric(edges).build_labels()
    assert np.diff(whole.starts).max() > 64
    slices = []
    label_hubs = hub_labels.label_hubs

    def in_small_slices(*args: object) -> object:
        slices.append(args)
        return label_hubs(*args[:-1], min(500, int(args[-1])))  # type: ignore[call-overload]

    monkeypatch.setattr(hub_labels, "label_hubs", in_small_slices)
    sliced = GraphMetric(edges).build_labels()
    assert len(slices) > 100
    for one, other in zip(whole, sliced, strict=True):
        assert_array_equal(one, other)


def test_an_interrupt_leaves_the_metric_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = GraphMetric(path(50))
    with monkeypatch.context() as patch:
        patch.setattr(hub_labels, "label_hubs", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            _ = metric.oracle
    assert_array_equal(ask_all(metric), dijkstra(metric.adjacency))


def _interrupt(*args: object) -> None:
    raise KeyboardInterrupt


def test_threads_that_ask_first_at_once_get_one_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    build = hub_labels.build_hub_labels

    def counting(*args: object) -> tuple[HubOracle, int]:
        built.append(args)
        return build(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(hub_labels, "build_hub_labels", counting)
    metric = GraphMetric(random_edges(3000, 500, 2))
    with ThreadPoolExecutor(8) as pool:
        oracles = list(pool.map(lambda _: metric.oracle, range(16)))
    assert len(built) == 1
    assert all(oracle is oracles[0] for oracle in oracles)


def test_labels_travel_in_a_pickle_and_come_out_read_only() -> None:
    metric = GraphMetric(random_edges(50, 30, 3))
    expected = ask_all(metric)
    copy = pickle.loads(pickle.dumps(metric))
    assert "oracle" in vars(copy)
    assert all(not array.flags.writeable for array in copy.oracle)
    assert_array_equal(ask_all(copy), expected)
