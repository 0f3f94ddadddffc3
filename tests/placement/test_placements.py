"""Several places of each new point: least squares over all edges, weights, and uncertainty."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear

import treerep as tr
from tests.strategies import tree_metrics
from tests.tree.strategies import naive_distances

# Random distances may fit the tree better with other lengths.
MISFITS = pytest.mark.filterwarnings("ignore:the lengths of the tree do not fit")

LINE = tr.Tree(2, [[0, 1]], [4.0], labels="ab")
QUARTET = tr.Tree.from_newick("((a:1,b:2):1.5,c:3,d:1);").restrict("abcd")


def random_case(n: int, m: int, seed: int) -> tuple[tr.Tree, np.ndarray]:
    """A binary tree without edges of length 0, and rows of distances that are no tree's."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n + m, 3))
    d = tr.PointMetric(points).block(range(n + m), range(n + m)) + 0.1
    np.fill_diagonal(d, 0.0)
    tree = tr.fit(d[:n, :n], method="neighbor_joining")
    return tree.with_weights(tree.weights + 0.05), d[n:, :n]


def edge_errors(tree: tr.Tree, row: np.ndarray, power: float) -> np.ndarray:
    """Least weighted squared error on each edge, by bounded least squares."""
    d = naive_distances(tree)
    known = np.flatnonzero(~np.isnan(row))
    scale = row[known] ** (-power / 2)
    errors = []
    for (u, v), length in zip(tree.edges, tree.weights, strict=True):
        near_u = d[u, known] < d[v, known]
        if near_u.all() or not near_u.any():
            continue
        # At x from u and height y: d(q, i) = d(u, i) + x + y, or d(v, i) + length - x + y.
        x = np.where(near_u, 1.0, -1.0)
        right = row[known] - np.where(near_u, d[u, known], d[v, known] + length)
        table = np.column_stack([x, np.ones(len(known))]) * scale[:, None]
        fit = lsq_linear(table, right * scale, ([0, 0], [length, np.inf]), tol=1e-14)
        errors.append(2 * fit.cost)
    return np.sort(errors)


def error_of(found: tr.Placements, i: int, k: int, row: np.ndarray, power: float) -> float:
    """Weighted squared error of a place, from the distances of the larger tree."""
    one = {name: getattr(found, name)[i : i + 1, k : k + 1] for name in ("nodes", "distal", "pendant")}
    larger = replace(found, labels=None, **one).attached()
    path = larger.block([len(row)], range(len(row)))[0]
    return float(np.nansum((path - row) ** 2 * row**-power))


def test_by_hand() -> None:
    # Both distances are too short by 1: the best place is the middle, with relative errors of 1.
    found = tr.placements(LINE, [[1.0, 1.0]], nearest=None)
    assert_allclose([found.distal[0, 0], found.pendant[0, 0], found.errors[0, 0]], [2, 0, 2])
    # Without weights, 1 - x and 2 - (4 - x) are -0.5 at x = 1.5. The lower end is b.
    found = tr.placements(LINE, [[1.0, 2.0]], nearest=None, power=0)
    assert_allclose([found.distal[0, 0], found.pendant[0, 0]], [2.5, 0], atol=1e-12)
    assert_allclose(found.errors, [[0.5]])
    assert_allclose(found.proximal, [[1.5]])


def test_hand_worked_quartet() -> None:
    # On the edge of c, 1 below the inner node, with a pendant edge of 0.5.
    found = tr.placements(QUARTET, [[4.0, 5.0, 2.5, 2.5]], labels=["new"])
    assert found.nodes[0, 0] == 2
    assert_allclose([found.distal[0, 0], found.pendant[0, 0]], [2.0, 0.5])
    assert_allclose(found.weights[0, 0], 1.0)
    assert found.attached().isclose(
        tr.Tree.from_newick("((a:1,b:2):1.5,(c:2,new:0.5):1,d:1);").restrict([*"abcd", "new"])
    )
    assert repr(found) == "Placements(1 point in Tree(4 points, 2 Steiner nodes), up to 5 places each)"


@MISFITS
@given(st.integers(4, 14), st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 2.0, 3.0]))
@settings(max_examples=25)
def test_no_edge_is_better(n: int, seed: int, power: float) -> None:
    tree, rows = random_case(n, 2, seed)
    found = tr.placements(tree, rows, lengths="given", nearest=None, power=power, candidates=5)
    for i, row in enumerate(rows):
        count = (found.nodes[i] >= 0).sum()
        expected = edge_errors(tree, row, power)[:count]
        assert_allclose(found.errors[i, :count], expected, rtol=1e-6, atol=1e-9)
        for k in range(count):
            error = error_of(found, i, k, row, power)
            assert_allclose(error, found.errors[i, k], rtol=1e-6, atol=1e-9)


@MISFITS
@given(st.integers(6, 14), st.integers(0, 10**6))
@settings(max_examples=15)
def test_missing_distances_have_no_weight(n: int, seed: int) -> None:
    tree, rows = random_case(n, 1, seed)
    rng = np.random.default_rng(seed)
    rows[0, rng.choice(n, n - 4, replace=False)] = np.nan
    found = tr.placements(tree, rows, lengths="given", nearest=None, missing=True, candidates=1)
    assert_allclose(found.errors[0, 0], edge_errors(tree, rows[0], 2.0)[0], rtol=1e-6, atol=1e-9)


@given(tree_metrics(), st.data())
@settings(max_examples=40)
def test_tree_metrics_are_exact(d: np.ndarray, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(d)))
    if n < 2 or n == len(d):
        return
    old = tr.fit(d[:n, :n], method="treerep")
    found = tr.placements(old, d[n:, :n])
    larger = found.attached()
    assert_allclose(larger.block(range(len(d)), range(n)), d[:, :n], atol=1e-12 * d.max())
    assert larger == tr.place(old, d[n:, :n])
    assert_allclose(found.weights.sum(axis=1), 1)
    assert_array_equal(tr.placements(old, d[n:, :n], candidates=1).weights, 1)
    known = d[n:, :n].copy()
    known[:, 3::2] = np.nan
    larger = tr.place(old, known, missing=True)
    path = larger.block(range(n, len(d)), range(n))
    seen = ~np.isnan(known)
    assert_allclose(path[seen], known[seen], atol=1e-6 * max(d.max(), 1e-300))


@MISFITS
@given(st.integers(5, 40), st.integers(0, 10**6))
@settings(max_examples=20)
def test_weights_order_and_threads(n: int, seed: int) -> None:
    tree, rows = random_case(n, 6, seed)
    found = tr.placements(tree, rows, lengths="given", n_jobs=1)
    assert_allclose(found.weights.sum(axis=1), 1)
    used = found.nodes >= 0
    assert (np.diff(np.where(used, found.errors, np.inf), axis=1)[used[:, 1:]] >= 0).all()
    assert (np.diff(found.weights, axis=1) <= 0).all()
    assert (found.uncertainty >= 0).all()
    order = np.random.default_rng(seed).permutation(len(rows))
    again = tr.placements(tree, rows[order], lengths="given", n_jobs=2)
    for name in ("nodes", "distal", "pendant", "errors", "weights"):
        assert_array_equal(getattr(again, name), getattr(found, name)[order])
    assert found.attached() == tr.place(tree, rows, lengths="given")
    assert_array_equal(found.best.nodes, found.nodes[:, :1])


def test_labels_in_any_order() -> None:
    tree, rows = random_case(12, 3, 0)
    named = tr.Tree(12, tree.edges, tree.weights, labels="abcdefghijkl")
    table = pd.DataFrame(rows, index=["x", "y", "z"], columns=list("abcdefghijkl"))
    found = tr.placements(named, table)
    assert found.labels == ("x", "y", "z")
    shuffled = tr.placements(named, table[list("lcbadefghijk")])
    assert_array_equal(shuffled.nodes, found.nodes)
    text = tr.Tree.from_newick(named.newick())
    read = tr.placements(text, table).attached()
    assert read.difference(found.attached()).path == pytest.approx(0, abs=1e-9)


def test_the_metric_may_have_old_and_new_points() -> None:
    points = np.random.default_rng(0).normal(size=(30, 3))
    names = [f"p{k}" for k in range(30)]
    d = tr.PointMetric(points).block(range(30), range(30))
    tree = tr.fit(tr.MatrixMetric(d[:25, :25], labels=names[:25]))
    metric = tr.MatrixMetric(d, labels=names)
    rows = tr.place(
        tree,
        pd.DataFrame(d[25:], names[25:], names),
        data=tr.MatrixMetric(d[:25, :25], labels=names[:25]),
    )
    placed = tr.place(tree, names[25:], data=metric)
    assert placed.labels == rows.labels
    assert_allclose(placed.distances(), rows.distances())
    by_points = tr.PointMetric(points, labels=names)
    known = tr.place(tree, points[25:], data=points[:25], metric="euclidean")
    placed = tr.place(tree, names[25:], data=by_points)
    assert_allclose(placed.distances(), known.distances())
    with pytest.raises(ValueError, match="data has no point 'q'"):
        tr.place(tree, ["q"], data=by_points)


@MISFITS
@given(st.integers(4, 12), st.integers(0, 10**6))
@settings(max_examples=15)
def test_uncertainty_is_the_mean_distance_of_places(n: int, seed: int) -> None:
    tree, rows = random_case(n, 1, seed)
    tree = tree.with_root(n + seed % (tree.n_nodes - n))
    found = tr.placements(tree, rows, lengths="given", candidates=4, power=1)
    k = int((found.nodes[0] >= 0).sum())
    ends = {name: getattr(found, name)[0, :k, None] for name in ("nodes", "distal")}
    spots = replace(found, labels=None, pendant=np.zeros((k, 1)), tol=0.0, **ends)
    d = spots.attached().block(range(n, n + k), range(n, n + k))
    w = found.weights[0, :k]
    assert_allclose(found.uncertainty, w @ d @ w, rtol=1e-9, atol=1e-12)


@given(st.integers(5, 14), st.integers(0, 10**6), st.sampled_from([0.0, 2.0]))
@settings(max_examples=15)
@MISFITS
def test_weights_by_definition(n: int, seed: int, power: float) -> None:
    """The variance is the least error divided by the number of points, less two."""
    tree, rows = random_case(n, 1, seed)
    options = {"lengths": "given", "nearest": None, "power": power}
    found = tr.placements(tree, rows, candidates=4, **options)
    used = found.nodes[0] >= 0
    errors = found.errors[0, used]
    variance = errors[0] / (n - 2)
    likelihoods = np.exp(-(errors - errors[0]) / (2 * variance))
    assert_allclose(found.weights[0, used], likelihoods / likelihoods.sum(), rtol=1e-6)
    assert_allclose(found.log_likelihoods[0, used], -errors / (2 * variance), rtol=1e-6)


def test_uncertainty_of_places_on_the_same_edge() -> None:
    """Other programs write several places on one edge: 2 w_1 w_2 |x_1 - x_2|."""
    found = tr.placements(LINE, [[2.5, 2.5]], candidates=1)
    nodes = np.array([[1, 1]])
    numbers = {name: np.ones((1, 2)) for name in ("pendant", "errors", "log_likelihoods")}
    two = replace(
        found,
        nodes=nodes,
        distal=np.array([[1.0, 3.5]]),
        weights=np.array([[0.75, 0.25]]),
        **numbers,
    )
    assert_allclose(two.uncertainty, [2 * 0.75 * 0.25 * 2.5])


@MISFITS
def test_copies_lie_on_their_points() -> None:
    tree, _ = random_case(20, 1, 0)
    rows = np.random.default_rng(0).uniform(1, 2, (20, 20))
    np.fill_diagonal(rows, 0.0)
    placed = tr.place(tree, rows, lengths="given")
    assert_allclose(placed.pairs(range(20), range(20, 40)), 0, atol=1e-12)


def test_only_some_points_choose_the_edge() -> None:
    # Far points are wrong, and only the nearest points of a caterpillar count.
    legs = np.arange(20.0)
    d = np.abs(np.subtract.outer(legs, legs)) + 2.0
    np.fill_diagonal(d, 0.0)
    tree = tr.fit(d, method="treerep")
    row = np.abs(legs - 4.5) + 1.5
    expected = tr.placements(tree, row[None, :])
    row[14:] = 7.0
    found = tr.placements(tree, row[None, :])
    assert found.nodes[0, 0] == expected.nodes[0, 0]
    wrong = tr.placements(tree, row[None, :], nearest=None, power=0)
    assert wrong.nodes[0, 0] != expected.nodes[0, 0]


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("power", [0.0, 2.0, 4.0])
def test_huge_and_tiny_distances(scale: float, power: float) -> None:
    tree, rows = random_case(10, 3, 0)
    found = tr.placements(tree, rows, power=power)
    scaled = tr.placements(tree.with_weights(tree.weights * scale), rows * scale, power=power)
    assert_array_equal(scaled.nodes[:, 0], found.nodes[:, 0])
    assert_allclose(scaled.weights, found.weights, rtol=1e-6, atol=1e-12)


def test_errors() -> None:
    row = [[1.0, 2.0, 3.0, 4.0]]
    for options, message in (
        ({"candidates": 0}, "candidates must be"),
        ({"nearest": 2}, "nearest must be at least 3, not 2"),
        ({"power": -1}, "power must be between 0 and 8, not -1"),
        ({"labels": ["x", "y"]}, "2 labels were given for 1 new points"),
        ({"labels": ["a"]}, "share the label 'a'"),
    ):
        with pytest.raises(ValueError, match=message):
            tr.placements(QUARTET, row, **options)
    with pytest.raises(ValueError, match="a tree of one point has no edges"):
        tr.placements(tr.Tree(1, np.empty((0, 2), int), []), [[1.0]])
    with pytest.raises(TypeError, match="fit a tree first"):
        tr.placements(np.zeros((3, 3)), row)  # type: ignore[arg-type]
    gaps = [[1.0, np.nan, np.nan, 2.0]]
    with pytest.raises(tr.MetricError, match=r"rows\[0, 1\] is nan"):
        tr.placements(QUARTET, gaps)
    with pytest.raises(tr.MetricError, match="row 0 has 2 known distances: give at least 3"):
        tr.placements(QUARTET, gaps, missing=True)
    assert len(tr.placements(QUARTET, np.empty((0, 4)))) == 0
