"""Smooth precision: against plain NumPy, differences, and the definition."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline
from scipy.sparse import csr_array

import treerep as tr
from tests.tree.strategies import caterpillar, trees
from treerep._core.parallel import Workers
from treerep.refinement.lengths import _rank_kernels as rank_kernels
from treerep.refinement.lengths._neighborhoods import Neighborhoods, neighbor_graph
from treerep.refinement.lengths._row_walk_kernels import enter_row
from treerep.refinement.lengths._splits import depths, find_tree_splits, gather, measured
from treerep.refinement.lengths.weights import fit_weights


def random_graph(n: int, seed: int) -> tr.GraphMetric:
    rng = np.random.default_rng(seed)
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return tr.GraphMetric(np.concatenate([path, rng.integers(n, size=(n, 2))]))


def python(helper: Any) -> Any:
    """Return a helper as Python. Its machine code can only be called by kernels."""
    return getattr(helper, "py_func", helper)  # nothing is compiled if coverage is measured


def plain_step(x: float, d: np.ndarray, width: float) -> np.ndarray:
    """How much each distance d comes before x, in cells of the size sqrt(0.3) width."""
    cell = np.arange(int(x / (0.3**0.5 * width)) + 7)
    d = np.minimum(d, x + 3 * 0.3**0.5 * width)  # points farther away all come after x
    spline = BSpline.basis_element(np.arange(4), extrapolate=False)

    def weights(distance: np.ndarray | float) -> np.ndarray:
        y = np.asarray(distance) / (0.3**0.5 * width)
        return np.nan_to_num(spline(y[..., None] - cell + 2))

    own = weights(x)
    at_least = np.cumsum(own[::-1])[::-1]
    return weights(d) @ (at_least - own / 2)


def plain_losses(d: np.ndarray, graph: tr.GraphMetric, width: float | np.ndarray) -> list[float]:
    """For every point, 1 - mean over neighbors of (1 + nearer neighbors) / (1 + nearer points)."""
    losses = []
    widths = np.broadcast_to(width, len(d))
    for v in range(len(d)):
        near = graph.neighbors(v)
        others = np.delete(np.arange(len(d)), v)
        precisions = []
        for u in near:
            a = plain_step(d[v, u], d[v, near[near != u]], widths[v]).sum()
            b = plain_step(d[v, u], d[v, others[others != u]], widths[v]).sum()
            precisions.append((1 + a) / (1 + b))
        losses.append(1 - np.mean(precisions) if len(near) else 0.0)
    return losses


def plain_loss(d: np.ndarray, graph: tr.GraphMetric, width: float) -> float:
    return float(np.mean(plain_losses(d, graph, width)))


def case(tree: tr.Tree, seed: int, jobs: int = 1) -> tuple[Neighborhoods, np.ndarray, tr.GraphMetric]:
    graph = random_graph(len(tree), seed)
    splits = find_tree_splits(tree)
    return (
        Neighborhoods(graph.adjacency, splits, 1.0, Workers(jobs)),
        gather(splits, tree.weights),
        graph,
    )


@settings(max_examples=40)
@given(trees(min_points=3, max_nodes=20), st.integers(0, 1000), st.sampled_from([0.05, 0.5, 3.0]))
def test_value_is_that_of_plain_numpy(tree: tr.Tree, seed: int, width: float) -> None:
    near, length, graph = case(tree, seed)
    assert near.smooth_loss(length, width)[0] == pytest.approx(
        plain_loss(tree.distances(), graph, width), abs=1e-9
    )


@settings(max_examples=40)
@given(trees(min_points=3, max_nodes=20), st.integers(0, 1000))
def test_without_smoothing_it_is_the_precision_of_the_definition(tree: tr.Tree, seed: int) -> None:
    near, length, graph = case(tree, seed)
    assert 1 - near.loss(length) == pytest.approx(float(tr.mean_average_precision(tree, graph)), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_gradient_is_that_of_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = tr.datasets.random_tree(20, hidden=0.3, rng=seed)
    near, length, _ = case(tree, seed)
    gradient = near.smooth_loss(length, 0.7)[1]
    for edge in rng.integers(1, len(length), size=8):
        ends = []
        for sign in (1, -1):
            moved = length.copy()
            moved[edge] += sign * 1e-6
            ends.append(near.smooth_loss(moved, 0.7)[0])
        assert gradient[edge] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("width", [0.3, 4.0, 60.0])
@pytest.mark.parametrize("kind", ["comb", "random"])
def test_cells_of_many_points(kind: str, width: float) -> None:
    """Up to hundreds of points in a cell, so that both sums of its moments are used."""
    tree = caterpillar(300) if kind == "comb" else tr.datasets.random_tree(300, rng=1)
    near, length, graph = case(tree, 1)
    loss, gradient = near.smooth_loss(length, width)
    assert loss == pytest.approx(plain_loss(tree.distances(), graph, width), abs=1e-12)
    rng = np.random.default_rng(0)
    for edge in rng.integers(1, len(length), size=6):
        step = np.zeros(len(length))
        step[edge] = 1e-5
        ends = [near.smooth_loss(length + sign * step, width)[0] for sign in (1, -1)]
        assert gradient[edge] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-8)


def test_a_neighbor_far_away_makes_cells_larger() -> None:
    """The farthest neighbor spans 6,000 cells, so cells are twice as large."""
    tree = caterpillar(50)
    near, length, graph = case(tree, 1)
    d = tree.distances()
    farthest = np.where(graph.adjacency.toarray() > 0, d, 0).max(axis=1)
    width = float(farthest.min()) / 6000 / 0.3**0.5
    size = np.full(50, 0.3**0.5 * width)
    while (larger := farthest > 4096 * size).any():
        size[larger] *= 2
    rows = plain_losses(d, graph, size / 0.3**0.5)
    assert near.smooth_loss(length, width)[0] == pytest.approx(np.mean(rows), abs=1e-12)


def test_points_at_the_same_place() -> None:
    tree = tr.datasets.random_tree(40, rng=0)
    near, length, graph = case(tree.with_weights(np.zeros(len(tree.weights))), 0)
    loss, gradient = near.smooth_loss(np.zeros(len(length)), 1.0)
    assert loss == pytest.approx(plain_loss(np.zeros((40, 40)), graph, 1.0), abs=1e-12)
    assert np.isfinite(gradient).all()


def test_threads_change_no_bit() -> None:
    tree = tr.datasets.random_tree(200, rng=0)
    one, length, _ = case(tree, 0, 1)
    two, _, _ = case(tree, 0, 3)
    values = [near.smooth_loss(length, 0.3) for near in (one, two)]
    assert values[0][0] == values[1][0]
    assert_allclose(values[0][1], values[1][1], rtol=0, atol=0)


def test_neighbors_are_those_of_the_graph_or_the_nearest() -> None:
    graph = random_graph(30, 0)
    assert neighbor_graph(graph) is graph.adjacency
    points = tr.PointMetric(np.random.default_rng(0).normal(size=(60, 2)))
    nearest = neighbor_graph(points)
    assert isinstance(nearest, csr_array)
    assert (np.diff(nearest.indptr) >= 10).all()


def test_balance_walks_from_distances_to_neighborhoods() -> None:
    graph = random_graph(80, 3)
    every = np.arange(80)
    metric = tr.MatrixMetric(graph.block(every, every))
    start = tr.fit(metric, method="neighbor_joining")
    found = [
        fit_weights(start, metric, objective="l1", balance=share, neighbors=graph.adjacency).tree
        for share in (0.0, 0.3, 0.9)
    ]
    distortion = [float(tr.average_distortion(tree, metric)) for tree in found]
    precision = [float(tr.mean_average_precision(tree, graph)) for tree in found]
    assert distortion == sorted(distortion)
    assert precision == sorted(precision)
    assert distortion[0] < float(tr.average_distortion(start, metric))
    assert precision[2] > float(tr.mean_average_precision(start, graph))


def test_balance_never_ends_above_its_start() -> None:
    for seed in range(5):
        graph = random_graph(40, seed)
        every = np.arange(40)
        metric = tr.MatrixMetric(graph.block(every, every))
        for share in (0.2, 0.5, 1.0):
            fit = fit_weights(
                tr.fit(metric, rng=seed, method="treerep"),
                metric,
                objective="l1",
                balance=share,
                neighbors=graph.adjacency,
            )
            assert fit.value <= fit.start


def test_every_neighbor_is_found_where_rounding_hides_it() -> None:
    """Neighbors so near that depths cannot tell them apart: one that is not listed would be read from nowhere."""
    rng = np.random.default_rng(0)
    cluster = np.arange(60) // 20
    d = np.triu(rng.uniform(1, 2, (60, 60)) * np.where(cluster[:, None] == cluster, 1e-16, 1.0), 1)
    metric = tr.MatrixMetric(d + d.T)
    tree = tr.fit(metric, method="neighbor_joining")
    short = rng.uniform(0, 1e-16, len(tree.weights))
    tree = tree.with_weights(np.where(tree.weights < 1e-3, short, tree.weights * rng.uniform(0.5, 1.5)))
    splits = find_tree_splits(tree)
    near = Neighborhoods(neighbor_graph(metric), splits, 1.0, Workers(1))
    rooted = measured(splits, depths(splits, gather(splits, tree.weights)))
    far = np.empty(60)
    for v in range(60):
        python(enter_row)(rooted, v - 1, v, True, far)
        own = near.neighbors[near.starts[v] : near.starts[v + 1]]
        close = python(rank_kernels.room_for)(60)
        count = python(rank_kernels._find_close)(rooted, far, v, own, 0.05 * near.near, close)
        assert set(own) <= set(close.point[:count])
