"""Neighbor joining, BIONJ and relaxed neighbor joining: the same joins as the textbook's."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from skbio import DistanceMatrix
from skbio.tree import nj

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep._core import memory
from treerep.fitting.joining._clusters import join_all, without_negatives
from treerep.fitting.joining._joining_kernels import Clusters, join_closest, join_mutual
from treerep.fitting.joining._row_minimum_kernels import row_minima

METHODS = ("neighbor_joining", "bionj", "relaxed_neighbor_joining")

# The example of the encyclopedias: two joins, then three clusters are left.
FIVE = np.array([[0, 5, 9, 9, 8], [5, 0, 10, 10, 9], [9, 10, 0, 8, 7], [9, 10, 8, 0, 3], [8, 9, 7, 3, 0]])


def mutual(clusters: Clusters, joins: int) -> None:
    join_mutual(clusters, np.random.default_rng(0).random(joins))


def joins_of(method: str, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    step = mutual if method == "relaxed_neighbor_joining" else join_closest
    return join_all(tr.MatrixMetric(d), method, step, variances=method == "bionj")


def noisy(n: int, seed: int, noise: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    tree = tr.datasets.random_tree(n, rng=seed)
    u = np.triu(rng.uniform(-1, 1, (n, n)), 1)
    d = tree.block(np.arange(n), np.arange(n)) * (1 + noise * (u + u.T))
    return (d + d.T) / 2


def replay(d: np.ndarray, edges: np.ndarray, lengths: np.ndarray, method: str) -> None:
    """Do the joins again with plain matrices, from scratch at every step, and check each of them."""
    names, m = list(range(len(d))), len(d)
    scale = d.sum(axis=1).max() / (m - 2)
    d, v = d.astype(float), d.astype(float)
    for k in range(m - 3):
        i, j = names.index(edges[2 * k, 0]), names.index(edges[2 * k + 1, 0])
        assert edges[2 * k, 1] == edges[2 * k + 1, 1] == len(lengths) // 2 + 2 + k
        sums = d.sum(axis=1)
        q = (m - 2) * d - sums[:, None] - sums
        np.fill_diagonal(q, np.inf)
        slack = 1e-9 * (1 + abs(q[i, j]))
        least = min(q[i].min(), q[j].min()) if method == "relaxed_neighbor_joining" else q.min()
        assert q[i, j] <= least + slack
        a = d[i, j] / 2 + (sums[i] - sums[j]) / (2 * (m - 2))
        b = d[i, j] - a
        assert_allclose(lengths[2 * k : 2 * k + 2], [a, b], atol=1e-9 * (1 + sums.max()))
        weight = 0.5
        if method == "bionj" and v[i, j] > 1e-12 * scale:
            weight = np.clip(0.5 + (v[j] - v[i]).sum() / (2 * (m - 2) * v[i, j]), 0, 1)
        v[i] = v[:, i] = weight * v[i] + (1 - weight) * v[j] - weight * (1 - weight) * v[i, j]
        d[i] = d[:, i] = weight * (d[i] - a) + (1 - weight) * (d[j] - b)
        d[i, i] = v[i, i] = 0
        names[i] = int(edges[2 * k, 1])
        d, v = (np.delete(np.delete(table, j, 0), j, 1) for table in (d, v))
        del names[j]
        m -= 1


def splits(n: int, edges: np.ndarray, lengths: np.ndarray) -> dict[frozenset[int], float]:
    """Length of every edge, by the points on the side away from point 0."""
    below: dict[int, frozenset[int]] = {k: frozenset([k]) for k in range(n)}
    for node in range(n, int(edges.max()) + 1):
        below[node] = frozenset().union(*(below[int(child)] for child, parent in edges if parent == node))
    every = frozenset(range(n))
    return {
        every - below[int(child)] if 0 in below[int(child)] else below[int(child)]: float(length)
        for (child, _), length in zip(edges, lengths, strict=True)
    }


def skbio_splits(d: np.ndarray) -> dict[frozenset[int], float]:
    tree = nj(DistanceMatrix(d, [str(k) for k in range(len(d))]), neg_as_zero=False)
    every = frozenset(range(len(d)))
    found = {}
    for node in tree.traverse(include_self=False):
        side = frozenset(int(tip.name) for tip in node.tips(include_self=True))
        found[every - side if 0 in side else side] = node.length
    return found


def test_five_points_by_hand() -> None:
    tree = tr.fit(FIVE, method="neighbor_joining")
    assert tree.newick() == "(0:2.0,1:3.0,(2:4.0,(3:2.0,4:1.0):2.0):3.0);"


@pytest.mark.parametrize("method", METHODS)
def test_two_three_and_four_points(method: str) -> None:
    assert tr.fit([[0, 3], [3, 0]], method=method).weights.tolist() == [3]
    assert tr.fit([[0, 3, 4], [3, 0, 5], [4, 5, 0]], method=method).newick() == "(0:1.0,1:2.0,2:3.0);"
    square = [[0, 3, 6, 7], [3, 0, 7, 8], [6, 7, 0, 7], [7, 8, 7, 0]]
    assert tr.fit(square, method=method).newick() == "(0:1.0,1:2.0,(2:3.0,3:4.0):2.0);"


@pytest.mark.parametrize("seed", range(100))
def test_same_metric_as_scikit_bio_on_additive_distances(seed: int) -> None:
    d = noisy(4 + seed // 2, seed, 0.0)
    other = nj(DistanceMatrix(d, [str(k) for k in range(len(d))]), neg_as_zero=False)
    theirs = other.cophenet().filter([str(k) for k in range(len(d))]).data
    ours = tr.fit(d, method="neighbor_joining").block(range(len(d)), range(len(d)))
    assert_allclose(ours, theirs, atol=1e-8 * d.max())
    assert_allclose(ours, d, atol=1e-8 * d.max())


@pytest.mark.parametrize("seed", range(100))
def test_same_topology_and_lengths_as_scikit_bio_on_noisy_distances(seed: int) -> None:
    d = noisy(4 + seed // 2, seed, 0.3)
    ours, theirs = splits(len(d), *joins_of("neighbor_joining", d)), skbio_splits(d)
    assert ours.keys() == theirs.keys()  # Robinson-Foulds distance 0
    for side, length in ours.items():
        assert length == pytest.approx(theirs[side], abs=1e-8 * d.max())


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(d=st.one_of(any_symmetric(), integer_metrics(), tree_metrics()))
def test_every_join_is_one_that_the_method_allows(method: str, d: np.ndarray) -> None:
    if len(d) > 3:
        replay(d, *joins_of(method, d), method)


@pytest.mark.parametrize("method", METHODS)
def test_every_join_with_slots_moved_together_and_several_spans(method: str) -> None:
    for d in (noisy(300, 0, 0.3), np.random.default_rng(0).uniform(1, 2, (600, 600))):
        d = np.triu(d, 1) + np.triu(d, 1).T
        replay(d, *joins_of(method, d), method)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(d=tree_metrics())
def test_tree_metrics_come_back(method: str, d: np.ndarray) -> None:
    for scale in (1.0, 1e-9, 1e9):
        tree = tr.fit(d * scale, method=method)
        assert_allclose(
            tree.block(range(len(d)), range(len(d))),
            d * scale,
            atol=1e-9 * scale * d.max(initial=0),
        )


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 30), scale=st.sampled_from([1.0, 1e-7, 1e7]))
def test_duplicates_on_a_line_come_back(method: str, seed: int, n: int, scale: float) -> None:
    # Once only duplicates are left, all that is left of distances is rounding noise.
    x = scale * np.random.default_rng(seed).integers(0, 4, n)
    d = np.abs(x[:, None] - x)
    assert_allclose(tr.fit(d, method=method).distances(), d, atol=1e-9 * scale)


@pytest.mark.parametrize("method", METHODS)
def test_short_inner_edges_come_back(method: str) -> None:
    rng = np.random.default_rng(0)
    edges = [(k, k + 1) for k in range(39)] + [(int(rng.integers(0, 40)), k) for k in range(40, 60)]
    weights = np.concatenate([1e-6 * rng.uniform(0.5, 1.5, 39), rng.uniform(0.5, 1.5, 20)])
    d = tr.Tree(60, edges, weights).distances()
    assert_allclose(tr.fit(d, method=method).distances(), d, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_line_of_points_comes_back(method: str) -> None:
    x = np.cumsum(np.random.default_rng(0).uniform(0.5, 1.5, 400))
    d = np.abs(x[:, None] - x)
    assert_allclose(tr.fit(d, method=method).distances(), d, atol=1e-9 * d.max())


@pytest.mark.parametrize("method", METHODS)
def test_float32_near_its_end_gives_a_tree_or_a_clear_line(method: str) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        d = np.triu(3.4e38 * rng.choice([0, 1, 0.5, 0.99], (9, 9)), 1).astype(np.float32)
        assert len(tr.fit(d + d.T, method=method)) == 9


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30, deadline=None)
@given(d=any_symmetric())
def test_any_matrix_gives_a_binary_tree_and_stays_as_it_is(method: str, d: np.ndarray) -> None:
    before = d.copy()
    tree = tr.fit(d, method=method)
    assert len(tree) == len(d)
    assert tree.n_nodes == max(2 * len(d) - 2, 1)
    assert (tree.weights >= 0).all()
    assert (d == before).all()


def test_negative_lengths_leave_the_pair_as_far_apart_as_it_was() -> None:
    # By hand: point 1 lies too near to 0 for its distances to the others, so its length comes out at (1 - 6) / 2.
    lengths = np.array([3.5, -2.5, 1.0, 2.0, 4.0])
    assert without_negatives(lengths).tolist() == [1.0, 0.0, 1.0, 2.0, 4.0]
    # Of the last three the negative one is moved into both others: its distances to them stay.
    assert without_negatives(np.array([-1.0, 3.0, 5.0])).tolist() == [0.0, 2.0, 4.0]
    # No length can make a negative distance good.
    assert without_negatives(np.array([-1.0, -3.0, 1.0, 2.0, 4.0])).tolist() == [
        0.0,
        0.0,
        1.0,
        2.0,
        4.0,
    ]
    d = noisy(60, 1, 0.5)
    raw = joins_of("neighbor_joining", d)[1]
    assert (raw < 0).any()
    tree = tr.fit(d, method="neighbor_joining")
    assert tree.weights.sum() == pytest.approx(without_negatives(raw).sum())


@pytest.mark.parametrize("method", METHODS)
def test_float32_matrices_are_worked_on_as_such(method: str) -> None:
    d = noisy(200, 3, 0.0)
    tree = tr.fit(d.astype(np.float32), method=method)
    assert_allclose(tree.block(range(200), range(200)), d, atol=3e-5 * d.max())


@pytest.mark.parametrize(
    "data",
    [
        lambda: tr.PointMetric(np.random.default_rng(0).normal(size=(50, 3))),
        lambda: tr.GraphMetric([[k, k + 1] for k in range(50)]),
        lambda: np.ones((50, 50)) - np.eye(50),
        lambda: np.zeros((50, 50)),
        lambda: (10 * noisy(50, 0, 0.1)).astype(np.uint8),
    ],
    ids=["points", "graph", "equal", "zero", "uint8"],
)
@pytest.mark.parametrize("method", METHODS)
def test_points_graphs_ties_and_whole_numbers(method: str, data: Callable[[], object]) -> None:
    metric = tr.as_metric(data())
    tree = tr.fit(metric, method=method)
    assert tree == tr.fit(metric, method=method)
    assert tr.average_distortion(tree, metric) < 0.3


def test_relaxed_joining_is_random_and_repeatable() -> None:
    d = noisy(100, 0, 0.5)
    one, same, other = (tr.fit(d, method="relaxed_neighbor_joining", rng=seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other


@pytest.mark.parametrize("method", METHODS)
def test_distances_too_large_to_add_up_are_refused(method: str) -> None:
    with pytest.raises(tr.MetricError, match="sums overflow: rescale them"):
        tr.fit(Table(1.5e308 * (1 - np.eye(6))), method=method)


def test_too_little_memory_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    points = tr.PointMetric(np.zeros((20_000, 1)))
    with pytest.raises(
        MemoryError,
        match="neighbor_joining on 20,000 points needs 3.0 GiB .* 1.0 GiB are available: use",
    ):
        tr.fit(points, method="neighbor_joining")
    with pytest.raises(MemoryError, match="bionj on 20,000 points needs 6.0 GiB"):
        tr.fit(points, method="bionj")


@settings(max_examples=30, deadline=None)
@given(
    width=st.integers(1, 70),
    start=st.integers(0, 20),
    seed=st.integers(0, 1000),
    single=st.booleans(),
)
def test_row_minima_are_those_of_numpy(width: int, start: int, seed: int, single: bool) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(3, 100)).astype(np.float32 if single else np.float64)
    means, gone = rng.normal(size=100), np.where(rng.random(100) < 0.3, np.inf, 0.0)
    d = (table[1].astype(float) + gone)[start : start + width]
    reduced = np.sort(np.append(d - means[start : start + width], np.inf))
    assert minima(table, means, gone, start, start + width) == (reduced[0], reduced[1], d.min())


def minima(
    table: np.ndarray, means: np.ndarray, gone: np.ndarray, start: int, stop: int
) -> tuple[float, ...]:
    import numba

    global _compiled
    if _compiled is None:
        _compiled = numba.njit(lambda m, u, g, a, b: row_minima(m, 1, u, g, a, b))
    return _compiled(table, means, gone, start, stop)


_compiled: Callable[..., tuple[float, ...]] | None = None


# The working matrix


def points32(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, 3)).astype(np.float32)


@pytest.mark.parametrize("method", ["neighbor_joining", "bionj", "relaxed_neighbor_joining"])
def test_float32_points_are_joined_in_one_float32_matrix(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = points32(40)
    metric = tr.as_metric(points, metric="euclidean")
    every = np.arange(40)
    matrix = metric.block(every, every).astype(np.float32)
    tree = tr.fit(metric, method=method)
    assert tree == tr.fit(matrix, method=method)
    for jobs in (1, 3):
        assert tr.fit(metric, method=method, n_jobs=jobs) == tree
    # One matrix of 40 x 40 float32 numbers, or two for BIONJ.
    needed = 6400 * (1 + (method == "bionj"))
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: needed)
    assert tr.fit(metric, method=method) == tree
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match=f"{method} on 40 points"):
        tr.fit(metric, method=method)


def test_float32_points_agree_with_float64_points() -> None:
    points = points32(60)
    single, double = (
        tr.fit(points.astype(dtype), metric="euclidean", method="neighbor_joining")
        for dtype in (np.float32, np.float64)
    )
    assert_allclose(single.distances(), double.distances(), rtol=1e-4, atol=1e-4)
