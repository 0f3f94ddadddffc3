"""New points in an old tree: exact where there is a tree, and never at the cost of the old points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from tests.tree.strategies import caterpillar, naive_distances, trees
from treerep.placement._separators import find_separators

# Random distances may fit the tree better with other lengths.
MISFITS = pytest.mark.filterwarnings("ignore:the lengths of the tree do not fit")

SCALES = st.sampled_from([1e-9, 1.0, 1e9])


def whole(tree: tr.Tree) -> np.ndarray:
    return tree.block(range(len(tree)), range(len(tree)))


def check_old_points(placed: tr.Tree, old: tr.Tree) -> None:
    """The old points have the distances that they had, to the last bit."""
    assert placed.restrict(range(len(old))) == old.restrict(range(len(old)))


def best_place(tree: tr.Tree, row: np.ndarray) -> float:
    """Largest error of the best place of one point, over all nodes and edges, by brute force."""
    d, n = naive_distances(tree), len(tree)
    errors = [np.ptp(row - d[v, :n]) / 2 for v in range(tree.n_nodes)]
    for (u, v), length in zip(tree.edges, tree.weights, strict=True):
        near_u = d[u, :n] < d[v, :n]
        if near_u.all() or not near_u.any():
            continue
        to_u, to_v = row[near_u] - d[u, :n][near_u], row[~near_u] - d[v, :n][~near_u]
        x = np.clip((to_u.mean() - to_v.mean() + length) / 2, 0, length)
        errors.append(np.ptp(np.concatenate([to_u - x, to_v - (length - x)])) / 2)
    return float(min(errors))


def test_hand_worked_example() -> None:
    # A star of three with arms 1, 2, 3. New: on the arm of 2 at 1 from its end; the center; beyond point 0; a side
    # branch of length 5 in the middle of the arm of 1; a copy of point 1.
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels="abc")
    rows = np.array([[3, 4, 1], [1, 2, 3], [2, 5, 6], [7, 6, 9], [3, 0, 5]])
    placed = tr.place(star, rows, labels=["on", "center", "beyond", "side", "copy"])
    assert placed.labels == ("a", "b", "c", "on", "center", "beyond", "side", "copy")
    assert_array_equal(placed.block(range(3, 8), range(3)), rows)
    assert placed.n_nodes == 9  # one Steiner node, where the side branch begins
    assert_array_equal(placed.pairs([4, 4, 5], [3, 6, 7]), [2, 6, 5])
    check_old_points(placed, star)


@given(tree_metrics(), st.data(), SCALES)
@settings(max_examples=80)
def test_tree_metrics_are_exact(d: np.ndarray, data: st.DataObject, scale: float) -> None:
    d = d * scale
    n = data.draw(st.integers(1, len(d)))
    old = tr.fit(d[:n, :n], method="treerep")
    with_rows = tr.place(old, d[n:, :n])
    assert_allclose(whole(with_rows)[:, :n], d[:, :n], rtol=0, atol=1e-12 * d.max())
    check_old_points(with_rows, old)
    with_all = tr.place(old, d[n:])
    assert_allclose(whole(with_all), d, rtol=0, atol=1e-12 * d.max())
    check_old_points(with_all, old)
    assert with_all.isclose(tr.fit(d, method="treerep"))
    assert with_all.n_nodes == tr.fit(d, method="treerep").n_nodes


@given(trees(min_points=2), st.data())
@settings(max_examples=80)
def test_any_tree_will_do(tree: tr.Tree, data: st.DataObject) -> None:
    # Some data points become Steiner nodes, which may be leaves, lie on lines and at distance 0, and are then placed.
    n = data.draw(st.integers(1, len(tree)))
    old, d = tr.Tree(n, tree.edges, tree.weights), whole(tree)
    placed = tr.place(old, d[n:, :n])
    assert_allclose(whole(placed)[:, :n], d[:, :n], rtol=0, atol=1e-12 * d.max())
    assert_allclose(whole(tr.place(old, d[n:])), d, rtol=0, atol=1e-12 * d.max())


@given(tree_metrics(), st.data())
@settings(max_examples=40)
def test_edges_that_rounding_made_do_not_lead_astray(d: np.ndarray, data: st.DataObject) -> None:
    # Neighbor joining resolves every node into binary ones, with edges of length 0 or a few ulps between them.
    n = data.draw(st.integers(1, len(d)))
    placed = tr.place(tr.fit(d[:n, :n], method="neighbor_joining"), d[n:])
    assert_allclose(whole(placed), d, rtol=0, atol=1e-11 * d.max())


@MISFITS
@given(tree_metrics(max_nodes=14))
@settings(max_examples=30)
def test_no_place_is_better(d: np.ndarray) -> None:
    if len(d) > 1:
        old = tr.fit(d[:-1, :-1], method="treerep")
        best = best_place(old, d[-1, :-1])
        placed = tr.place(old, d[-1:, :-1], lengths="given")
        error = np.abs(placed.block([len(d) - 1], range(len(d) - 1)) - d[-1:, :-1]).max()
        assert error <= best + 1e-12 * d.max()


@MISFITS
@given(st.one_of(any_symmetric(), integer_metrics()), st.data())
@settings(max_examples=80)
def test_old_points_stay_whatever_comes(d: np.ndarray, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(d)))
    old = tr.fit(tr.MatrixMetric(d[:n, :n]), method="treerep")
    for rows in (d[n:, :n], d[n:]):
        placed = tr.place(old, rows, lengths="given")
        assert len(placed) == len(d)
        check_old_points(placed, old)


@given(tree_metrics(max_nodes=12), st.integers(1, 4))
@settings(max_examples=40)
def test_copies_of_old_points_lie_on_them(d: np.ndarray, times: int) -> None:
    n, old = len(d), tr.fit(d, method="treerep")
    copies = np.tile(np.arange(n), times)
    for rows in (d[copies], d[np.ix_(copies, np.concatenate([np.arange(n), copies]))]):
        placed = tr.place(old, rows)
        assert_allclose(
            placed.pairs(copies, n + np.arange(len(copies))),
            0,
            atol=1e-12 * max(d.max(), 1e-300),
        )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_old_points(n: int) -> None:
    d = np.abs(np.subtract.outer([0.0, 1.5, 4.0, 2.5, -1.0, 2.5], [0.0, 1.5, 4.0, 2.5, -1.0, 2.5]))
    placed = tr.place(tr.fit(d[:n, :n], method="treerep"), d[n:])
    assert_allclose(whole(placed), d, atol=1e-12)
    assert placed.n_nodes == 6


def test_nobody_new() -> None:
    tree = tr.fit(tr.datasets.sarich(), method="treerep")
    assert tr.place(tree, np.empty((0, 8))) == tree
    assert tr.place(tree, []) == tree
    assert tr.place(tree, np.empty((0, 2)), data=np.ones((8, 2)), metric="euclidean") == tree


def branched_points(n: int, seed: int) -> np.ndarray:
    """Points on the axes of Manhattan space, all on one side: a star, exactly."""
    rng = np.random.default_rng(seed)
    points = np.zeros((n, 4))
    points[np.arange(n), rng.integers(0, 4, n)] = rng.uniform(0, 1, n)
    return points


def test_points_with_coordinates() -> None:
    points = branched_points(300, 0)
    truth = tr.PointMetric(points, "manhattan")
    old = tr.fit(points[:200], metric="manhattan", method="treerep")
    for data in (points[:200], tr.PointMetric(points[:200], "manhattan")):
        placed = tr.place(
            old,
            points[200:],
            data=data,
            metric=None if isinstance(data, tr.Metric) else "manhattan",
        )
        assert_allclose(whole(placed), truth.block(range(300), range(300)), atol=1e-12)
        assert placed.isclose(tr.fit(truth, method="treerep"))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_result_does_not_depend_on_threads_or_chunks(
    metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = np.asarray(tr.datasets.branching_cells(400, dim=10).points) + 1.0
    old = tr.fit(points[:200], metric=metric, method="treerep")
    one = tr.place(old, points[200:], data=points[:200], metric=metric, n_jobs=1)
    monkeypatch.setattr("treerep.placement.candidates.search._CHUNK", 23)
    monkeypatch.setattr("treerep.placement._attach._BATCH", 11)
    assert tr.place(old, points[200:], data=points[:200], metric=metric, n_jobs=3) == one
    d = tr.PointMetric(points, metric).block(range(400), range(400))
    rows = tr.place(old, d[200:, :200], n_jobs=1)
    monkeypatch.undo()
    assert tr.place(old, d[200:, :200], n_jobs=2) == rows


def test_placing_is_about_as_good_as_fitting() -> None:
    points = np.asarray(tr.datasets.branching_cells(500, dim=20).points)
    metric = tr.PointMetric(points)
    placed = tr.place(
        tr.fit(points[:400], metric="euclidean", method="treerep"),
        points[400:],
        data=points[:400],
        metric="euclidean",
    )
    together = tr.average_distortion(tr.fit(metric, method="treerep"), metric, scale="optimal")
    assert tr.average_distortion(placed, metric, scale="optimal") < 1.5 * together


def test_few_distances_are_looked_at() -> None:
    # A row of 1,000 points: each new one meets at most log2(2,000) + 1 nodes of degree 3.
    tree = caterpillar(1000)
    separators = find_separators(tree, 1, 1e-300, np.random.default_rng(0))
    steps, frontier = 0, {separators.first}
    while frontier:
        steps += 1
        arms = np.concatenate([np.arange(separators.starts[v], separators.starts[v + 1]) for v in frontier])
        frontier = set(separators.following[arms][separators.following[arms] >= 0].tolist())
    assert steps <= 11
    assert np.diff(separators.starts).max() == 3


@given(trees())
@settings(max_examples=60)
def test_every_arm_is_shown_by_a_point_in_it(tree: tr.Tree) -> None:
    separators, d = (
        find_separators(tree, 2, 1e-300, np.random.default_rng(0)),
        naive_distances(tree),
    )
    for v in range(tree.n_nodes):
        for arm in range(separators.starts[v], separators.starts[v + 1]):
            for point, gap in zip(separators.points[:, arm], separators.gaps[:, arm], strict=True):
                u = separators.neighbor[arm]
                assert point < len(tree)
                assert gap == pytest.approx(d[v, point])
                assert gap == pytest.approx(d[v, u] + d[u, point])


def test_labels() -> None:
    odd = ["it's", "<b>", "🐘 (x)"]
    named, plain = (
        tr.Tree(2, [[0, 1]], [1.0], labels=["a b", '"q"']),
        tr.Tree(2, [[0, 1]], [1.0]),
    )
    rows = np.array([[1, 2], [2, 1], [1, 1]])
    assert tr.place(named, rows, labels=odd).labels == ("a b", '"q"', *odd)
    assert tr.place(named, rows).labels == ("a b", '"q"', "2", "3", "4")
    assert tr.place(plain, rows, labels=odd).labels == ("0", "1", *odd)
    assert tr.place(plain, rows).labels is None
    with pytest.raises(tr.MetricError, match="share the label"):
        tr.place(named, rows, labels=["x", "x", "y"])
    with pytest.raises(ValueError, match="2 labels were given for 3 new points"):
        tr.place(named, rows, labels=["x", "y"])


def test_errors_name_what_is_wrong() -> None:
    tree = tr.fit(np.array([[0, 2, 2], [2, 0, 2], [2, 2, 0]]), method="treerep")
    bad = [[1.0, 2, 3], [1, np.nan, 3]]
    for rows, message in (
        ([[1, 2]], "use 3 or 4 columns"),
        ([1, 2, 3], "rows has shape"),
        (bad, r"rows\[1, 1\] is nan"),
        ([[1, -2, 3]], r"rows\[0, 1\] is -2"),
        ([["a", "b", "c"]], "dtype"),
        (5, r"rows has shape \(\)"),
        ([[1, 2, 3, 4]], r"rows, from column 3 on .*: d\(0, 0\) is 4"),
    ):
        with pytest.raises(ValueError, match=message):
            tr.place(tree, rows)
    with pytest.raises(TypeError, match="not ndarray: fit a tree first"):
        tr.place(np.zeros((3, 3)), [[1, 2, 3]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="metric='euclidean' applies only to points"):
        tr.place(tree, [[1, 2, 3]], metric="euclidean")
    with pytest.raises(ValueError, match="tol must be a length"):
        tr.place(tree, [[1, 2, 3]], tol=-1)
    points = np.eye(3)
    with pytest.raises(tr.MetricError, match="rows: coordinate 1 of point 0 is nan"):
        tr.place(tree, [[1, np.nan, 2]], data=points, metric="euclidean")
    with pytest.raises(ValueError, match="1 labels were given for 0 new points"):
        tr.place(tree, [], labels=["a"])
    with pytest.raises(ValueError, match="the old points have 3 coordinates"):
        tr.place(tree, [[1, 2]], data=points, metric="euclidean")
    with pytest.raises(ValueError, match="data has 2 points and the tree has 3"):
        tr.place(tree, [[1, 2, 3]], data=points[:2], metric="euclidean")
    with pytest.raises(TypeError, match="data is a CharacterMetric, but coordinates"):
        tr.place(tree, [[1, 2, 3]], data=tr.CharacterMetric(np.eye(3, dtype=int)))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", ">f8"])
def test_rows_of_any_dtype(dtype: str) -> None:
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0])
    rows = np.array([[3, 4, 1], [7, 6, 9]], dtype)
    assert_array_equal(tr.place(tree, rows).block([3, 4], range(3)), rows)


def test_exact_rows_that_fit_float32_are_not_called_rounded() -> None:
    # A point on an edge of 8,192, at 1/512 from its end: once taken for that end.
    tree = tr.Tree(2, [[0, 1]], [8192.0])
    rows = np.array([[2.0**-9, 8192 - 2.0**-9]])
    assert_array_equal(tr.place(tree, rows).block([2], range(2)), rows)


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e40, 1e300])
def test_huge_and_tiny_distances(scale: float) -> None:
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], np.array([1.0, 2.0, 3.0]) * scale)
    rows = np.array([[3.3, 4.3, 1.3], [5.0, 6.0, 9.0]]) * scale
    placed = tr.place(tree, rows)
    assert_allclose(placed.block([3], range(3)), rows[:1], rtol=1e-12)
    assert np.isfinite(placed.weights).all()


def test_a_tolerance_of_ones_own() -> None:
    # 0.3 off the middle of the edge: a branch by itself, or noise.
    line = tr.Tree(2, [[0, 1]], [4.0])
    assert tr.place(line, [[2.3, 2.3]]).n_nodes == 4
    assert tr.place(line, [[2.3, 2.3]], tol=0.5).n_nodes == 3
