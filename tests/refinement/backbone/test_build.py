"""Backbone trees: exact on tree metrics, the best places by another solver, heights that branches keep."""

import signal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, tree_metrics
from treerep._core.parallel import Workers
from treerep.metric.base import MetricError, read_only
from treerep.placement import _least_squares_places as placement
from treerep.placement._edge_fit_kernels import best_on_edge, shifted, weigh
from treerep.placement._least_squares_places import best_places
from treerep.placement._locate import Places, distances_from
from treerep.placement._placement_kernels import find_best_places
from treerep.refinement.backbone import _branches as branches
from treerep.refinement.backbone._branch_kernels import join_branches
from treerep.refinement.backbone._branches import grow
from treerep.refinement.lengths import weights
from treerep.refinement.moves import search as moves
from treerep.tree.structure.rooted import preorder


def backbone(data, size, **options):
    return tr.fit(data, method="backbone", size=size, **options)


def places_of(tree, distances, power, jobs=1):
    """The best places of the points behind those of the tree, by a matrix of all distances."""
    m, n = len(tree), len(distances)
    with Workers(jobs) as workers:
        return best_places(tree, Table(distances), np.arange(m), np.arange(m, n), power, workers)


# Placement


def test_a_place_by_hand():
    # On an edge of length 4: 1 from one end, 3 from the other, and 2 above it.
    d = np.array([[0, 4, 3], [4, 0, 5], [3, 5, 0.0]])
    found = places_of(tr.Tree(2, [[0, 1]], [4.0]), d, 0.0)
    assert found.node.tolist() == [1] and found.above.tolist() == [3.0] and found.height.tolist() == [2.0]


def test_weights_count_by_hand():
    # Equal errors of 1 at distances 1 and 3 cannot both vanish on one edge of length 2; with 1 / d^2 the near one wins.
    d = np.array([[0, 2, 1], [2, 0, 3.5], [1, 3.5, 0]])
    tree = tr.Tree(2, [[0, 1]], [2.0])
    plain, near = (distances_from(tree, places_of(tree, d, power), np.arange(2))[0] for power in (0.0, 2.0))
    assert abs(near[0] - 1) < abs(plain[0] - 1)


def least_cost(tree, row, power):
    """The least weighted squared error over all edges, each by scipy."""
    points = np.arange(len(tree))
    weight = np.maximum(row, 1e-3 * tree.weights.max()) ** -power
    best = np.inf
    for (u, v), length in zip(tree.edges, tree.weights, strict=True):
        from_u, from_v = tree.block([u], points)[0], tree.block([v], points)[0]

        def cost(at, from_u=from_u, from_v=from_v, length=length):
            x, y = at
            return float((weight * (np.minimum(from_u + x, from_v + length - x) + y - row) ** 2).sum())

        for start in (0.0, length / 2, length):
            bounds = [(0, length), (0, None)]
            best = min(
                best,
                minimize(cost, [start, row.mean()], bounds=bounds, method="L-BFGS-B", tol=1e-14).fun,
            )
    return best, weight


@settings(max_examples=25)
@given(st.integers(2, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0]))
def test_places_are_as_good_as_those_of_scipy(m, seed, power):
    rng = np.random.default_rng(seed)
    tree = tr.datasets.random_tree(m, hidden=float(rng.choice([0.0, 0.5])), rng=seed)
    d = np.zeros((m + 1, m + 1))
    d[:m, :m] = tree.distances()
    d[m, :m] = d[:m, m] = rng.uniform(0.5, 1.5) * d[:m, :m].mean() * rng.uniform(0.5, 1.5, m)
    found = distances_from(tree, places_of(tree, d, power), np.arange(m))[0]
    least, weight = least_cost(tree, d[m, :m], power)
    cost = (weight * (found - d[m, :m]) ** 2).sum()
    assert cost <= least * (1 + 1e-6) + 1e-10 * (weight * d[m, :m] ** 2).sum()


@njit
def places_one_by_one(tree, distances, power, smallest, edge, along, height):
    """The same search for one point after the other, without a limit, and every sum by its definition."""
    n, m = len(tree.up), distances.shape[1]
    below, total, weight = np.empty((n, 3)), np.empty((n, 2)), np.empty(m)
    for row in range(len(distances)):
        weigh(distances[row], power, smallest, weight)
        below[:] = 0.0
        for y in range(m):
            k, d = tree.position[y], distances[row, y]
            below[k, 0], below[k, 1], below[k, 2] = weight[y], weight[y] * d, weight[y] * d * d
        for k in range(n - 1, 0, -1):
            g = tree.up[k]
            w, f, q = shifted(below[k, 0], below[k, 1], below[k, 2], tree.length[k])
            below[g, 0] += w
            below[g, 1] += f
            below[g, 2] += q
        total[0, 0], total[0, 1] = below[0, 1], below[0, 2]
        best, edge[row], along[row], height[row] = np.inf, 1, 0.0, 0.0
        for k in range(1, n):
            g, length = tree.up[k], tree.length[k]
            w, f, q = below[k, 0], below[k, 1], below[k, 2]
            _, shifted_f, shifted_q = shifted(w, f, q, length)
            v, a, r = below[0, 0] - w, total[g, 0] - shifted_f, total[g, 1] - shifted_q
            total[k, 0] = f + a - length * v
            total[k, 1] = q + r - length * (2.0 * a - length * v)
            if w > 0.0 and v > 0.0 and (q + r - best) * w * v < f * f * v + a * a * w:
                cost, x, y = best_on_edge(w, f, q, v, a, r, length)
                if cost < best:
                    best, edge[row], along[row], height[row] = cost, k, x, y


@settings(max_examples=50)
@given(
    st.integers(2, 40),
    st.integers(1, 20),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.5, 1.0, 2.0]),
)
def test_places_side_by_side_have_the_bits_of_a_plain_loop(m, count, seed, power):
    rng = np.random.default_rng(seed)
    tree = tr.datasets.random_tree(m, hidden=float(rng.choice([0.0, 0.5])), rng=seed)
    near = tree.distances()[rng.choice(m, count)]
    # Noise from none, where many edges are about as good, to more than the distances. Some are duplicates of points.
    distances = np.abs(near + rng.choice([0.0, 1e-6, 0.1, 3.0], (count, 1)) * rng.normal(size=(count, m)))
    distances = read_only(np.maximum(distances, rng.choice([0.0, 1e-3], (count, 1))))
    view = preorder(tree.edges, tree.weights, 0)
    smallest = 1e-3 * tree.weights.max()
    node, above, height = np.empty(count, np.int64), np.empty(count), np.empty(count)
    find_best_places(view, distances, power, smallest, 0.0, node, above, height)
    edge, along, high = np.empty(count, np.int64), np.empty(count), np.empty(count)
    places_one_by_one(view, distances, power, smallest, edge, along, high)
    apart = distances.min(axis=1) > 0
    inside = (along > 0) & (along < view.length[edge])
    lower = np.where(along >= view.length[edge], view.up[edge], edge)
    assert_array_equal(node[apart], view.order[np.where(along > 0, lower, edge)][apart])
    assert_array_equal(above[apart], np.where(inside, along, 0.0)[apart])
    assert_array_equal(height[apart], high[apart])
    same = distances.argmin(axis=1)[~apart]
    assert_array_equal(node[~apart], view.order[view.position[same]])
    assert not above[~apart].any() and not height[~apart].any()


# Branches


def test_branches_by_hand():
    # Heights 3 and 2 at distance 1 share 2; the third point shares nothing.
    height, above, top = np.array([3.0, 2.0, 5.0]), np.array([1.0, 2.0, 0.5]), np.arange(3)
    edges, lengths = np.empty((6, 2), np.int64), np.empty(6)
    first, second, shared = np.array([0, 0]), np.array([1, 2]), np.array([2.0, 0.0])
    assert join_branches(first, second, shared, 1e-9, height, above, top, edges, lengths) == 1
    assert edges[:2].tolist() == [[0, 3], [1, 3]] and lengths[:2].tolist() == [1.0, 0.0]
    assert height.tolist() == [2.0, -1.0, 5.0] and above[0] == 1.5 and top.tolist() == [3, 1, 2]


@settings(max_examples=40)
@given(any_symmetric(30), st.integers(2, 10))
def test_branches_keep_the_heights_of_points_at_nodes(d, m):
    n = len(d)
    assume(n > m)
    tree = tr.fit(tr.MatrixMetric(d[:m, :m]), method="neighbor_joining")
    places = places_of(tree, d, 0.0)
    places = Places(places.node, np.zeros(n - m), places.height)
    with Workers(1) as workers:
        edges, weights = grow(tree, Table(d), np.arange(m), np.arange(m, n), places, 0.0, workers)
    grown = tr.Tree(n, edges, np.maximum(weights, 0)).canonical()
    expected = distances_from(tree, places, np.arange(m))
    size = 1e-12 * max(expected.max(), 1e-300)
    assert_allclose(grown.block(np.arange(m, n), np.arange(m)), expected, rtol=1e-12, atol=size)
    # No two points are farther apart than by way of the backbone.
    alone = places.height[:, None] + places.height + tree.block(places.node, places.node)
    assert (grown.block(np.arange(m, n), np.arange(m, n)) <= alone + size).all()


# The whole method


@given(tree_metrics(), st.integers(3, 45), st.sampled_from([1e-9, 1.0, 1e9]), st.integers(0, 3))
def test_tree_metrics_are_exact_at_any_size(d, size, scale, seed):
    tree = backbone(d * scale, size, rng=seed)
    assert_allclose(tree.distances(), d * scale, rtol=1e-9, atol=1e-13 * scale * d.max())
    assert tree.n_nodes == tr.fit(d * scale, method="treerep").n_nodes


@pytest.mark.parametrize("size", [40, 200])
def test_cells_get_better_distances_than_from_treerep(size):
    cells = tr.PointMetric(tr.datasets.branching_cells(1500, dim=10, rng=0).points)
    ours, theirs = (
        tr.average_distortion(tree, cells)
        for tree in (backbone(cells, size), tr.fit(cells, method="treerep"))
    )
    assert ours < 0.75 * theirs


def test_branches_find_neighbors(data_folder):
    worm = tr.datasets.load("celegans").metric
    tree = backbone(worm, 100)
    assert tr.mean_average_precision(tree, worm) > tr.mean_average_precision(
        tr.fit(worm, method="treerep"), worm
    )


def test_few_points_give_the_refined_tree():
    mammals = tr.datasets.sarich()
    tree = tr.fit(mammals, method="backbone")
    assert tree.labels == mammals.labels
    assert tr.average_distortion(tree, mammals) <= tr.average_distortion(
        tr.fit(mammals, method="relaxed_neighbor_joining"), mammals
    )


@pytest.mark.parametrize("kind", ["points", "matrix", "graph", "blocks"])
def test_the_tree_depends_on_the_seed_alone(kind, monkeypatch):
    points = tr.datasets.branching_cells(300, dim=5, rng=1).points
    matrix = tr.PointMetric(points).block(range(300), range(300))
    ring = [[k, (k + 1) % 300] for k in range(300)] + [[k, (7 * k + 3) % 300] for k in range(0, 300, 11)]
    data = {
        "points": tr.PointMetric(points),
        "matrix": tr.MatrixMetric(matrix),
        "graph": tr.GraphMetric(ring),
        "blocks": Table(matrix),
    }[kind]
    tree = backbone(data, 40, rng=5, n_jobs=1)
    monkeypatch.setattr(placement, "_BLOCK", 7)
    assert backbone(data, 40, rng=5, n_jobs=3) == tree
    assert backbone(data, 40, rng=6) != tree


def test_distances_from_searches_and_from_labels_give_the_same_tree(monkeypatch):
    """A random graph with hubs, in which labels are long."""
    generator = np.random.default_rng(0)
    chance = np.arange(10, 3010) ** -0.8
    ends = generator.choice(3000, (9000, 2), p=chance / chance.sum())
    later = np.arange(1, 3000)
    edges = np.concatenate([np.column_stack([generator.integers(0, later), later]), ends])
    by_searches, by_labels = (tr.GraphMetric(edges[edges[:, 0] != edges[:, 1]]) for _ in range(2))
    assert by_searches._read_together > 1
    tree = tr.fit(by_searches, method="backbone", size=300, rng=0)
    assert not by_searches.has_labels
    by_labels.build_labels()
    monkeypatch.setitem(vars(by_labels), "_read_together", 1)
    assert tree == tr.fit(by_labels, method="backbone", size=300, rng=0)


def test_large_zones_are_split(monkeypatch):
    cells = tr.PointMetric(tr.datasets.branching_cells(600, dim=5, rng=1).points)
    whole = tr.average_distortion(backbone(cells, 20), cells)
    monkeypatch.setattr(branches, "LARGEST", 16)
    monkeypatch.setattr(branches, "CENTERS", 4)
    assert tr.average_distortion(backbone(cells, 20), cells) < 1.2 * whole


def bar_that_interrupts(stage, shown):
    """A progress bar that notes its name, and sends Ctrl-C when the stage makes progress."""

    class Bar:
        def __init__(self, total, what, unit):
            shown.append(what)
            self.what = what

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def update(self, done=1):
            if self.what == stage:
                signal.raise_signal(signal.SIGINT)

    return Bar


@pytest.mark.parametrize("stage", ["moves", "lengths", "placing", "zones", "branches", None])
def test_every_stage_shows_progress_and_can_be_interrupted(stage, monkeypatch):
    cells = tr.PointMetric(tr.datasets.branching_cells(600, dim=5, rng=1).points)
    shown = []
    for module in (moves, weights, placement, branches):
        monkeypatch.setattr(module, "progress_bar", bar_that_interrupts(stage, shown))
    if stage is None:
        backbone(cells, 40)
        assert {"moves", "lengths", "placing", "zones", "branches"} == set(shown)
        return
    with pytest.raises(KeyboardInterrupt):
        backbone(cells, 40)
    assert shown[-1] == stage


# Edge cases


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_tiny_inputs(n):
    d = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) * 1.5
    assert_allclose(backbone(d, 3).distances(), d)


def test_points_in_one_place():
    assert_array_equal(backbone(np.zeros((20, 20)), 5).distances(), np.zeros((20, 20)))


def test_duplicates_in_and_out_of_the_sample():
    points = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 6, axis=0)
    tree = backbone(tr.PointMetric(points), 20)
    d = tree.distances()
    together = np.repeat(np.arange(10), 6)[:, None] == np.repeat(np.arange(10), 6)
    assert d[together].max() < 1e-12 < 0.1 < d[~together].min()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 2}, "size must be a number of points of at least 3, got 2"),
        ({"size": 0}, "size must be a positive whole number, not 0"),
        ({"size": "all"}, "size must be a"),
        ({"size": 5, "balance": 2.0}, "balance must be a number from 0"),
        ({"size": 5, "time_limit": 0}, "time_limit must be a positive number of seconds"),
    ],
)
def test_bad_options_get_one_clear_line(options, message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        tr.fit(np.ones((9, 9)) - np.eye(9), method="backbone", **options)
    assert "\n" not in str(error.value)


def test_size_is_for_this_method():
    with pytest.raises(ValueError, match="treerep does not accept size"):
        tr.fit(np.ones((9, 9)) - np.eye(9), method="treerep", size=5)


def test_what_a_users_metric_says_is_checked():
    d = np.ones((30, 30)) - np.eye(30)
    d[3, 7] = d[7, 3] = np.nan
    with pytest.raises(MetricError, match="distances must be finite"):
        backbone(Table(d), 29)
