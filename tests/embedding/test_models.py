"""Models of hyperbolic space against their textbook formulas with 60 digits."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounding import FUNCTIONS
from treerep.embedding._models import MODELS, from_polar, polar_of_lorentz, polar_of_poincare
from treerep.embedding.embedding import Embedding
from treerep.metric.base import MetricError
from treerep.metric.points import PointMetric


def polar(seed: int, n: int, dim: int, far: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, dim))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), rng.uniform(0.0, far, n)


def test_by_hand() -> None:
    # r = log 3: tanh(r / 2) = 1/2, tanh r = 4/5, cosh r = 5/3, sinh r = 4/3.
    directions, radii = np.array([[0.6, -0.8]]), np.array([np.log(3.0)])
    np.testing.assert_allclose(from_polar(directions, radii, "poincare"), [[0.3, -0.4]], rtol=FUNCTIONS)
    np.testing.assert_allclose(from_polar(directions, radii, "klein"), [[0.48, -0.64]], rtol=FUNCTIONS)
    np.testing.assert_allclose(
        from_polar(directions, radii, "lorentz"), [[5 / 3, 0.8, -3.2 / 3]], rtol=FUNCTIONS
    )


@pytest.mark.parametrize("model", MODELS)
def test_the_origin(model: str) -> None:
    points = from_polar(np.zeros((1, 3)), np.zeros(1), model)
    assert points.tolist() == ([[1, 0, 0, 0]] if model == "lorentz" else [[0, 0, 0]])


def textbook_distance(model: str, x: np.ndarray, y: np.ndarray) -> float:
    """Distance of the float64 coordinates as they are, with 60 digits."""

    def dot(u: list[Decimal], v: list[Decimal]) -> Decimal:
        return sum((s * t for s, t in zip(u, v, strict=True)), Decimal(0))

    with localcontext() as context:
        context.prec = 60
        a, b = ([Decimal(float(c)) for c in p] for p in (x, y))
        if model == "lorentz":
            # x0 from x: rounding of x0 moves a far point off the hyperboloid.
            cosh = ((1 + dot(a[1:], a[1:])) * (1 + dot(b[1:], b[1:]))).sqrt() - dot(a[1:], b[1:])
        elif model == "klein":
            cosh = (1 - dot(a, b)) / ((1 - dot(a, a)) * (1 - dot(b, b))).sqrt()
        else:
            gap = [s - t for s, t in zip(a, b, strict=True)]
            cosh = 1 + 2 * dot(gap, gap) / ((1 - dot(a, a)) * (1 - dot(b, b)))
        return float((cosh + (cosh * cosh - 1).sqrt()).ln())  # acosh


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 6))
def test_models_are_isometric(model: str, seed: int, dim: int) -> None:
    directions, radii = polar(seed, 2, dim, 6.0)
    points = from_polar(directions, radii, model)
    expected = float(Embedding(directions, radii).pairs(0, 1))
    # Coordinates at radius 6 lose about e^12 of the digits near the edge of the Klein ball.
    assert textbook_distance(model, *points) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8), dim=st.integers(1, 5))
def test_round_trips(seed: int, n: int, dim: int) -> None:
    directions, radii = polar(seed, n, dim, 10.0)
    for back, model, rtol in (
        (polar_of_lorentz, "lorentz", 1e-13),
        (polar_of_poincare, "poincare", 1e-10),
    ):
        units, lengths = back(from_polar(directions, radii, model))
        np.testing.assert_allclose(units, directions, atol=1e-12)
        np.testing.assert_allclose(lengths, radii, rtol=rtol, atol=1e-15)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 8), dim=st.integers(1, 5))
def test_coordinates_give_point_metrics(seed: int, n: int, dim: int) -> None:
    directions, radii = polar(seed, n, dim, 8.0)
    nodes = np.arange(n)
    one = PointMetric(from_polar(directions, radii, "poincare"), "poincare").block(nodes, nodes)
    two = PointMetric(from_polar(directions, radii, "lorentz"), "hyperboloid").block(nodes, nodes)
    np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)


def test_points_outside_are_refused() -> None:
    with pytest.raises(MetricError, match="point 1 has norm 1.0, but the Poincare ball has radius 1"):
        polar_of_poincare([[0.0, 0.0], [0.6, 0.8]])
    with pytest.raises(MetricError, match="point 0 is not on the hyperboloid"):
        polar_of_lorentz([[2.0, 1.0]])
