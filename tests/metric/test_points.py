"""Distances of coordinates against SciPy and 50-digit arithmetic."""

import copy
import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from treerep.metric.base import MetricError
from treerep.metric.points import PointMetric

SCIPY = {"euclidean": "euclidean", "manhattan": "cityblock", "chebyshev": "chebyshev"}
ALL = (
    "euclidean",
    "manhattan",
    "chebyshev",
    "cosine",
    "correlation",
    "hyperboloid",
    "poincare",
)


def points_for(metric: str, n: int, dim: int, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, dim))
    if metric == "hyperboloid":
        return np.column_stack([np.sqrt(1 + (x * x).sum(axis=1)), x])
    return x / (1 + np.linalg.norm(x, axis=1, keepdims=True)) if metric == "poincare" else x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 3, 8, 9, 16, 50])  # below, at and beyond the eight lanes
@pytest.mark.parametrize("metric", sorted(SCIPY))
def test_plain_metrics_agree_with_scipy(metric: str, dim: int, dtype: type) -> None:
    x = np.random.default_rng(dim).normal(size=(20, dim)).astype(dtype)
    ours = PointMetric(x, metric).block(range(20), range(20))
    assert_allclose(
        ours,
        cdist(x.astype(float), x.astype(float), SCIPY[metric]),
        rtol=8 * np.finfo(dtype).eps,
        atol=0,
    )


def test_the_order_of_summation_is_the_one_in_the_source() -> None:
    # Lane k adds the terms k, k + 8, ...; lanes pairwise; then the rest one by one: bit for bit.
    x = np.random.default_rng(0).normal(size=(2, 29)).astype(np.float32)
    terms = (x[0] - x[1]) ** 2
    lanes = np.zeros(8, np.float32)
    for block in terms[:24].reshape(3, 8):
        lanes += block
    while len(lanes) > 1:
        lanes = lanes[::2] + lanes[1::2]
    total = lanes[0]
    for term in terms[24:]:
        total += term
    assert PointMetric(x).pairs(0, 1) == np.sqrt(np.float64(total))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 7, 8, 50, 900])  # 900 coordinates fill a tile alone
@pytest.mark.parametrize("metric", [*sorted(SCIPY), "cosine"])
def test_blocks_have_the_bits_of_pairs(metric: str, dim: int, dtype: type) -> None:
    # Blocks measure a point against several columns at once, pairs one by one.
    points = PointMetric(points_for(metric, 40, dim).astype(dtype), metric)
    rng = np.random.default_rng(dim)
    for rows, cols in ((3, 40), (4, 1), (5, 3), (9, 11), (40, 39)):
        i, j = rng.choice(40, rows), rng.choice(40, cols)
        one_by_one = points.pairs(np.repeat(i, cols), np.tile(j, rows)).reshape(rows, cols)
        assert_array_equal(points.block(i, j), one_by_one)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_angles_agree_with_scipy(metric: str) -> None:
    x = np.random.default_rng(1).normal(size=(30, 12))
    angles = np.arccos(np.clip(1 - cdist(x, x, metric), -1, 1))
    assert_allclose(PointMetric(x, metric).block(range(30), range(30)), angles, atol=3e-8)


def test_small_and_flat_angles_keep_their_digits() -> None:
    # acos(1 - 5e-21) is 0 in float64; the angle is 1e-10 (and pi minus that for the mirrored vector).
    x = [[1.0, 0.0], [1.0, 1e-10], [-1.0, 1e-10]]
    assert_allclose(PointMetric(x, "cosine").pairs(0, [1, 2]), [1e-10, np.pi - 1e-10], rtol=1e-14)


NOT_TINY = st.floats(-1e3, 1e3).filter(lambda value: abs(value) > 1e-3)


@given(hnp.arrays(np.float64, (4, 5), elements=NOT_TINY), st.floats(1e-100, 1e100))
def test_angles_ignore_scale(x: np.ndarray, scale: float) -> None:
    assert_allclose(
        PointMetric(x * scale, "cosine").pairs(0, 1),
        PointMetric(x, "cosine").pairs(0, 1),
        atol=1e-14,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_angles_at_the_ends_of_the_range_of_floats(metric: str, dtype: type) -> None:
    x = np.random.default_rng(4).integers(-8, 8, (4, 300)) * dtype(1 / 8)
    expected = PointMetric(x, metric).block(range(4), range(4))
    for factor in (np.finfo(dtype).max, np.finfo(dtype).tiny):
        # The largest float is no power of two: products with it are rounded, and so are the angles.
        found = PointMetric(x * factor, metric).block(range(4), range(4))
        assert_allclose(found, expected, rtol=0, atol=8 * np.finfo(dtype).eps)


ENDS = [("euclidean", 1e19, 1e154), ("manhattan", 1e38, 5e307), ("chebyshev", 1e38, 5e307)]


@pytest.mark.parametrize(("metric", "large", "larger"), ENDS)
def test_coordinates_too_large_for_the_floats_of_the_points_are_refused(
    metric: str, large: float, larger: float
) -> None:
    x = np.array([[1.0, -2.0], [0.5, 1.0], [1.0, 1.5]])
    with pytest.raises(
        MetricError,
        match=rf"^point 0 .* -.*too large for {metric} distances in float64: rescale",
    ):
        PointMetric(x * larger, metric)
    with pytest.raises(MetricError, match="float32: rescale"):
        PointMetric((x * large).astype(np.float32), metric)
    for scaled, room in (
        (x * larger, 1e-3),
        ((x * large).astype(np.float32), np.float32(1e-3)),
    ):
        distances = PointMetric(scaled * room, metric).pairs([0, 1], [1, 2])
        wide = scaled.astype(float) / (larger if scaled.dtype == np.float64 else large)
        unit = PointMetric(wide, metric).pairs([0, 1], [1, 2])
        assert_allclose(distances / distances[0], unit / unit[0], rtol=1e-6)


@pytest.mark.parametrize(("dtype", "small"), [(np.float32, 1e-25), (np.float64, 1e-200)])
def test_coordinates_too_small_to_be_squared_are_refused(dtype: type, small: float) -> None:
    x = (np.array([[0.0, 1.0], [0.0, 0.0], [2.0, 1.0]]) * small).astype(dtype)
    with pytest.raises(
        MetricError,
        match=r"^point 2 has the largest coordinate, .* too small for euclidean [^\n]*$",
    ):
        PointMetric(x)
    for metric in ("manhattan", "chebyshev"):
        assert_allclose(PointMetric(x, metric).pairs(0, 2) / small, 2, rtol=1e-6)
    assert PointMetric(np.zeros_like(x)).pairs(0, 1) == 0


def test_hyperbolic_points_at_the_ends_of_the_range_of_floats() -> None:
    ray = np.array([1e100, 1e-100, 0.0])
    metric = PointMetric(np.column_stack([np.hypot(1, ray), ray]), "hyperboloid")
    assert_allclose(metric.pairs([0, 1], 2), np.arcsinh(ray[:2]), rtol=1e-14)
    with pytest.raises(MetricError, match=r"^point 1 has \|x\| = 1e\+160, which exceeds 1e150"):
        PointMetric([[1.0, 0.0], [1e160, 1e160]], "hyperboloid")
    with pytest.raises(MetricError, match="^point 1 is the farthest from the origin, at distance 1e-200"):
        PointMetric([[1.0, 0.0], [1.0, 1e-200]], "hyperboloid")
    with pytest.raises(MetricError, match="^point 1 is the farthest from the origin, at distance 2e-200"):
        PointMetric([[0.0, 0.0], [0.0, 1e-200]], "poincare")
    with pytest.raises(MetricError, match=r"point 0 has norm 1e\+200"):
        PointMetric([[1e200, 0.0]], "poincare")


@pytest.mark.parametrize("radius", [0.0, 1e-8, 1.0, 10.0, 18.0])
@pytest.mark.parametrize("step", [1e-7, 1e-3, 1.0])
def test_near_points_far_out_on_the_hyperboloid(radius: float, step: float) -> None:
    # Along a ray through the origin the distance is the difference of radii. acosh(x0 y0 - x.y) at radius 18 and
    # step 1e-7 returns garbage.
    radii = np.array([radius, radius + step])
    points = np.column_stack([np.cosh(radii), np.sinh(radii), np.zeros(2)])
    assert_allclose(
        PointMetric(points, "hyperboloid").pairs(0, 1),
        step,
        rtol=1e-6 if step == 1e-7 else 1e-9,
    )


def test_hyperbolic_right_triangle() -> None:
    # Hyperbolic Pythagoras: cosh c = cosh a cosh b.
    a, b = 1.5, 2.5
    hyperboloid = np.array([[np.cosh(a), np.sinh(a), 0], [np.cosh(b), 0, np.sinh(b)], [1, 0, 0]])
    metric = PointMetric(hyperboloid, "hyperboloid")
    assert_allclose(
        metric.pairs([0, 0, 1], [1, 2, 2]),
        [np.arccosh(np.cosh(a) * np.cosh(b)), a, b],
        rtol=1e-14,
    )
    ball = hyperboloid[:, 1:] / (1 + hyperboloid[:, :1])
    same = PointMetric(ball, "poincare").block(range(3), range(3))
    assert_allclose(same, metric.block(range(3), range(3)), rtol=1e-12)


@pytest.mark.parametrize("metric", ALL)
def test_every_metric_is_one(metric: str) -> None:
    d = PointMetric(points_for(metric, 15, 4), metric).block(range(15), range(15))
    assert_array_equal(d, d.T)
    assert_array_equal(np.diag(d), 0)
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all()


def test_float_points_are_not_copied_and_others_are_widened() -> None:
    for dtype in (np.float32, np.float64):
        x = np.zeros((3, 4), dtype)
        assert np.shares_memory(PointMetric(x).points, x)
    assert PointMetric(np.eye(3, dtype=np.int8)).points.dtype == np.float64
    fortran = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3)))
    by_rows, by_columns = (PointMetric(x).block(range(5), range(5)) for x in (fortran.copy("C"), fortran))
    assert_array_equal(by_rows, by_columns)


def test_whole_number_coordinates_have_whole_number_distances() -> None:
    x = np.array([[0, 1], [2, 5]])
    assert PointMetric(x, "manhattan").integral and PointMetric(x, "chebyshev").integral
    assert not PointMetric(x, "euclidean").integral
    assert not PointMetric(x + 0.5 * np.eye(2), "manhattan").integral


def test_squared_distances() -> None:
    x = np.random.default_rng(0).normal(size=(40, 7))
    metric = PointMetric(x, "sqeuclidean")
    every = np.arange(40)
    assert np.allclose(metric.block(every, every), cdist(x, x, "sqeuclidean"))
    assert np.allclose(metric.pairs(every, every[::-1]), PointMetric(x).pairs(every, every[::-1]) ** 2)
    assert metric.squared and not PointMetric(x).squared
    assert PointMetric(x.round(), "sqeuclidean").integral


@pytest.mark.parametrize("noise", [0.2, np.linspace(0, 0.5, 40)])
def test_noise_is_subtracted_from_squared_distances(noise: object) -> None:
    x = np.random.default_rng(0).normal(size=(40, 7))
    metric = PointMetric(x, "sqeuclidean", noise=noise)  # type: ignore[arg-type]
    every = np.arange(40)
    each = 7 * np.broadcast_to(noise, 40) ** 2  # type: ignore[arg-type]
    expected = np.maximum(cdist(x, x, "sqeuclidean") - each[:, None] - each, 0)
    np.fill_diagonal(expected, 0)
    assert np.allclose(metric.block(every, every), expected)
    assert np.allclose(metric.pairs(every, every[::-1]), expected[every, every[::-1]])
    drawn = metric.resample(np.random.default_rng(1))
    assert np.allclose(drawn.oracle.noise, each)


@pytest.mark.parametrize(
    ("metric", "noise", "message"),
    [
        ("euclidean", 1.0, "use metric='sqeuclidean', not 'euclidean'"),
        ("sqeuclidean", [1.0], "give one number, or one for each point"),
        ("sqeuclidean", -1.0, "noise is -1.0: it must be finite and not negative"),
        ("sqeuclidean", [0.0, 0.0, np.nan], "noise is nan"),
    ],
)
def test_bad_noise(metric: str, noise: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        PointMetric(np.eye(3), metric, noise=noise)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["1 - cos", "1 - r"])
def test_what_is_no_metric_is_refused_by_name_with_the_remedy(name: str) -> None:
    with pytest.raises(MetricError, match=rf"'{name}' is not a metric: .* use metric="):
        PointMetric(np.eye(3), name)


@pytest.mark.parametrize(
    ("points", "metric", "message"),
    [
        ([[0.0, 1.0], [2.0, np.nan]], "euclidean", "coordinate 1 of point 1 is nan"),
        ([[0.0, np.inf]], "euclidean", "coordinate 1 of point 0 is inf"),
        ([[1.0, 1.0], [0.0, 0.0]], "cosine", "point 1 is the zero vector"),
        ([[1.0, 2.0], [3.0, 3.0]], "correlation", "point 1 is constant"),
        ([[1.0, 0.1], [1.5, 1.0]], "hyperboloid", "point 0 is not on the hyperboloid"),
        ([[1.0], [1.0]], "hyperboloid", "at least two coordinates"),
        ([[0.0, 0.0], [0.6, 0.8]], "poincare", "point 1 has norm 1.0"),
        ([1.0, 2.0], "euclidean", "rows of a non-empty"),
        (np.zeros((0, 3)), "euclidean", "0 x 3"),
        ([["a", "b"]], "euclidean", "use real numbers"),
    ],
)
def test_bad_points_are_named(points: object, metric: str, message: str) -> None:
    with pytest.raises(MetricError, match=re.escape(message)):
        PointMetric(points, metric)  # type: ignore[arg-type]
    named = re.sub(r"\bpoint (\d)", r"point \1 ('c\1')", message)
    labels = [f"c{i}" for i in range(len(points))]  # type: ignore[arg-type]
    with pytest.raises(MetricError, match=re.escape(named)):
        PointMetric(points, metric, labels=labels)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "twin", [copy.deepcopy, copy.copy, lambda metric: pickle.loads(pickle.dumps(metric))]
)
@pytest.mark.parametrize("metric", ALL)
def test_copies_and_pickles_come_out_read_only(
    metric: str, twin: Callable[[PointMetric], PointMetric]
) -> None:
    given_metric = PointMetric(points_for(metric, 6, 3), metric, labels="abcdef")
    other = twin(given_metric)
    assert not any(array.flags.writeable for array in (other.points, *other.oracle))
    assert type(other.oracle) is type(given_metric.oracle) and other.labels == given_metric.labels
    assert np.shares_memory(other.points, other.oracle[0]) == (metric in SCIPY)
    assert_array_equal(other.block(range(6), range(6)), given_metric.block(range(6), range(6)))


def test_a_metric_that_is_no_name_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"^metric must be a name, one of euclidean, [^\n]*, not of type list$"
    ):
        PointMetric(np.eye(2), ["euclidean"])  # type: ignore[arg-type]


def test_unknown_metric_lists_the_choices() -> None:
    with pytest.raises(
        ValueError,
        match="unknown metric 'euklid': choose one of euclidean, sqeuclidean, manhattan",
    ):
        PointMetric(np.eye(2), "euklid")
