"""h-MDS: exact on points of hyperbolic space, the same as its plain twin on everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, tree_metrics
from treerep.embedding.hmds import _spectrum as spectrum
from treerep.embedding.hmds import scaling as module
from treerep.embedding.hmds._spectrum import hyperbolic_spectrum
from treerep.embedding.hmds.scaling import hmds
from treerep.metric.base import Metric, MetricError


def all_distances(metric: Metric) -> np.ndarray:
    return metric.block(np.arange(len(metric)), np.arange(len(metric)))


def twin(distances: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues, descending, vectors and weights, straight from the formulas, in the plainest NumPy."""
    log_cosh = np.log(np.cosh(scale * distances))
    weights = np.exp(log_cosh.mean() / 2 - log_cosh.mean(axis=1))
    values, vectors = np.linalg.eigh(-np.cosh(scale * distances) * weights[:, None] * weights)
    return values[::-1], vectors[:, ::-1], weights


def test_two_points_by_hand() -> None:
    # Two points 3 apart lie on a line, symmetric about the origin, at 3 / 2 each.
    embedding = hmds(tr.MatrixMetric([[0, 3], [3, 0]]), dim=2, scale=1.0)
    np.testing.assert_allclose(embedding.radii, 1.5, rtol=1e-14)
    np.testing.assert_allclose(embedding.directions[0], -embedding.directions[1])
    assert embedding.scale == 1.0 and embedding.pairs(0, 1) == pytest.approx(3.0, rel=1e-14)


def test_three_points_by_hand() -> None:
    # An equilateral triangle of side a: sinh(a / 2) = sinh(r) sin(60 degrees).
    embedding = hmds(tr.MatrixMetric(2.0 - 2.0 * np.eye(3)), dim=2, scale=0.5)
    np.testing.assert_allclose(np.sinh(embedding.radii), np.sinh(0.5) / np.sin(np.pi / 3), rtol=1e-13)
    np.testing.assert_allclose(
        embedding.directions @ embedding.directions.T, 1.5 * np.eye(3) - 0.5, atol=1e-13
    )


def test_a_line_needs_one_dimension() -> None:
    places = np.array([0.0, 1.0, 1.5, 4.0, 9.0])
    line = np.abs(places[:, None] - places)
    for dim in (1, 3):
        for scale in (0.3, 1.0, None):
            embedding = hmds(tr.MatrixMetric(line), dim=dim, scale=scale)
            assert embedding.dim == dim
            np.testing.assert_allclose(all_distances(embedding), line, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(("dim", "scale"), [(10, 1.0), (2, 1.0), (10, 1024.0), (3, 0.01)])
def test_points_of_hyperbolic_space_come_back(dim: int, scale: float) -> None:
    points = tr.datasets.hyperbolic_points(100, dim, scale=scale, rng=dim)
    embedding = tr.embed(points, method="hmds", dim=dim)
    assert tr.average_distortion(embedding, points) <= 1e-9
    assert embedding.scale == pytest.approx(1.0, rel=1e-4)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 30),
    dim=st.integers(1, 6),
    more=st.integers(0, 3),
    spread=st.sampled_from([0.1, 1.0, 8.0]),
)
def test_exact_at_the_right_scale(seed: int, n: int, dim: int, more: int, spread: float) -> None:
    # In units of which `spread / 2` make one of hyperbolic space, with room to spare.
    points = tr.datasets.hyperbolic_points(n, dim, scale=spread, rng=seed)
    truth = all_distances(points) * 2 / spread
    embedding = hmds(tr.MatrixMetric(truth), dim=dim + more, scale=spread / 2)
    np.testing.assert_allclose(all_distances(embedding), truth, rtol=1e-6, atol=1e-6)
    assert embedding.scale == spread / 2


@settings(max_examples=40)
@given(
    st.one_of(any_symmetric(), tree_metrics(25)),
    st.integers(1, 6),
    st.sampled_from([0.3, 3.0, 12.0]),
)
def test_the_same_as_its_twin(distances: np.ndarray, dim: int, length: float) -> None:
    n, scale = len(distances), length / max(1.0, distances.max())
    found = hyperbolic_spectrum(distances.copy(), scale, dim)
    values, vectors, weights = twin(distances, scale)
    width = len(found.values)
    assert width == min(dim, int((values > 1e-11 * n).sum())) or np.abs(values).min() < 1e-9 * n
    # The points, weighted. A constant factor may have gone from the weights to the heights; it is in both here.
    rows = np.sqrt(found.values) * found.vectors * (weights * np.exp(found.heights))[:, None]
    np.testing.assert_allclose((rows * rows).sum(axis=0), values[:width], rtol=1e-8, atol=1e-9 * n)
    if (
        width == n or values[width - 1] - values[width] > 1e-3
    ):  # otherwise one may keep any of several vectors
        gram = (vectors[:, :width] * values[:width]) @ vectors[:, :width].T
        np.testing.assert_allclose(rows @ rows.T, gram, atol=1e-8 * n)


def test_lanczos_and_the_dense_solver_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = all_distances(tr.PointMetric(np.random.default_rng(0).standard_normal((400, 6))))
    dense_calls = []
    monkeypatch.setattr("scipy.linalg.eigh", lambda *_, **__: dense_calls.append(1))
    quick = hyperbolic_spectrum(truth.copy(), 0.5, 5)
    assert not dense_calls
    monkeypatch.undo()
    monkeypatch.setattr(spectrum, "_FEW_POINTS", 1000)
    slow = hyperbolic_spectrum(truth.copy(), 0.5, 5)
    np.testing.assert_allclose(quick.values, slow.values, rtol=1e-10)
    np.testing.assert_allclose(quick.vectors, slow.vectors, atol=1e-8)
    again = hyperbolic_spectrum(truth.copy(), 0.5, 5)
    assert again.values.tobytes() == slow.values.tobytes()


def test_many_equal_eigenvalues() -> None:
    # All distances equal: Lanczos sees one eigenvalue 400 times.
    equal = 1.0 - np.eye(400)
    found = hyperbolic_spectrum(equal.copy(), 1.0, 3)
    # cosh D = c 11^T - (c - 1) I with c = cosh 1: all positive eigenvalues of -cosh D are c - 1, times the weights.
    weight = np.exp(-2 * found.heights[0])
    np.testing.assert_allclose(found.values, weight * (np.cosh(1) - 1), rtol=1e-10)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-8)


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_all_points_at_one_place(n: int) -> None:
    for scale in (None, 2.0):
        embedding = hmds(tr.MatrixMetric(np.zeros((n, n))), dim=2, scale=scale)
        assert not embedding.radii.any() and embedding.scale == (scale or 1.0)


def test_duplicates_stay_together() -> None:
    points = all_distances(tr.datasets.hyperbolic_points(15, 3, rng=4))
    twice = np.repeat(np.repeat(points, 2, axis=0), 2, axis=1)
    embedding = hmds(tr.MatrixMetric(twice), dim=3)
    np.testing.assert_allclose(all_distances(embedding), twice, rtol=1e-6, atol=1e-6)


def test_relabeling_changes_nothing() -> None:
    truth = all_distances(tr.PointMetric(np.random.default_rng(1).standard_normal((60, 8))))
    order = np.random.default_rng(2).permutation(60)
    one = hmds(tr.MatrixMetric(truth), dim=3)
    two = hmds(tr.MatrixMetric(truth[np.ix_(order, order)]), dim=3)
    assert two.scale == pytest.approx(one.scale, rel=1e-2)
    one, two = (hmds(tr.MatrixMetric(d), dim=3, scale=0.3) for d in (truth, truth[np.ix_(order, order)]))
    np.testing.assert_allclose(two.poincare, one.poincare[order], atol=1e-8)


@settings(max_examples=10)
@given(any_symmetric(12), st.integers(1, 4))
def test_any_symmetric_matrix_is_placed_and_repeatable(distances: np.ndarray, dim: int) -> None:
    one, two = (hmds(tr.MatrixMetric(distances), dim=dim) for _ in range(2))
    assert one.radii.tobytes() == two.radii.tobytes() and one.directions.tobytes() == two.directions.tobytes()
    assert one.scale == two.scale and np.isfinite(all_distances(one)).all()


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_units_do_not_matter(factor: float) -> None:
    truth = all_distances(tr.PointMetric(np.random.default_rng(3).standard_normal((40, 5))))
    one, two = (hmds(tr.MatrixMetric(d), dim=2) for d in (truth, factor * truth))
    assert two.scale * factor == pytest.approx(one.scale, rel=1e-2)
    scores = [tr.average_distortion(e, d) for e, d in ((one, truth), (two, factor * truth))]
    assert scores[1] == pytest.approx(scores[0], rel=1e-2)


def test_a_tree_is_placed_well_and_the_scale_is_the_best() -> None:
    tree = tr.datasets.random_tree(60, rng=0)
    embedding = hmds(tree, dim=10)
    best = tr.average_distortion(embedding, tree)
    assert best == pytest.approx(tr.average_distortion(embedding, tree, scale="optimal"), rel=1e-9)
    assert best < 0.1
    for other in (0.3, 0.6, 1.7, 3.0):
        worse = hmds(tree, dim=10, scale=other * embedding.scale)
        assert tr.average_distortion(worse, tree, scale="optimal") > best


def test_weights_do_better_than_none(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tr.datasets.random_tree(60, rng=1)
    weighted = tr.average_distortion(hmds(tree, dim=2), tree)

    def unweighted(matrix: np.ndarray, scale: float) -> np.ndarray:
        np.cosh(scale * matrix, out=matrix)
        return np.zeros(len(matrix))

    monkeypatch.setattr(spectrum, "_weigh", unweighted)
    assert weighted < tr.average_distortion(hmds(tree, dim=2), tree)


def test_many_points_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SEARCHED", 40)
    points = tr.datasets.hyperbolic_points(150, 3, rng=7)
    assert tr.average_distortion(hmds(points, dim=3), points) < 1e-8


def test_labels_and_types() -> None:
    metric = tr.MatrixMetric(np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], np.uint8), labels="abc")
    embedding = tr.embed(metric, method="hmds", dim=3)
    assert embedding.labels == ("a", "b", "c") and embedding.directions.shape == (3, 3)
    assert tr.average_distortion(embedding, metric) < 1e-7


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = tr.MatrixMetric([[0.0, 3.0], [3.0, 0.0]])
    for dim in (0, -1, 2.5, None):
        with pytest.raises(ValueError, match="dim must be a positive whole number"):
            hmds(metric, dim=dim)
    with pytest.raises(ValueError, match="scale must be a positive number, not -1"):
        hmds(metric, dim=2, scale=-1)
    with pytest.raises(
        ValueError,
        match="makes the largest distance 3e-06, which float64 cannot .* use at least 3.33e-05",
    ):
        hmds(metric, dim=2, scale=1e-6)
    with pytest.raises(MetricError, match="node 0 is 1500 from the origin, beyond 350: use a smaller scale"):
        hmds(metric, dim=2, scale=1000.0)
    with pytest.raises(MetricError, match=r"Table.block returned d\(1, 2\) = nan: distances must be finite"):
        hmds(Table([[0, 1, 1], [1, 0, np.nan], [1, 1, 0]]), dim=2)
    with pytest.raises(ValueError, match="hmds does not accept epochs, only scale"):
        tr.embed(metric, method="hmds", epochs=3)
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 10)
    with pytest.raises(MemoryError, match="hmds on 2 points needs"):
        hmds(metric, dim=2)


def test_cells_that_the_published_code_could_not_place(data_folder) -> None:
    zeisel = tr.datasets.load("zeisel").metric
    cells = tr.PointMetric(zeisel.points[::12])
    embedding = tr.embed(cells, method="hmds", dim=2)
    assert tr.average_distortion(embedding, cells) < 0.2
