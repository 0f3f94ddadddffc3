import numpy as np
import pytest

from treerep.datasets import hyperbolic_points


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_the_smallest_and_the_largest_scale(scale):
    metric = hyperbolic_points(50, 3, scale=scale)
    distances = metric.pairs(range(49), range(1, 50))
    assert (distances > 0).all() and np.isfinite(distances).all()


@pytest.mark.parametrize(("dim", "scale"), [(1, 1.0), (2, 0.01), (10, 1024.0)])
def test_distances_are_those_of_the_hyperboloid(dim, scale):
    metric = hyperbolic_points(30, dim, scale=scale, rng=2)
    points = metric.points
    assert points.shape == (30, dim + 1)
    assert np.allclose(points[:, 0] ** 2 - (points[:, 1:] ** 2).sum(axis=1), 1, atol=1e-9 * scale**2)
    i, j = np.triu_indices(30, 1)
    inner = points[i, 0] * points[j, 0] - (points[i, 1:] * points[j, 1:]).sum(axis=1)
    # acosh itself is inexact near 1, hence the loose bound for close points.
    assert np.allclose(metric.pairs(i, j), np.arccosh(np.maximum(inner, 1)), rtol=1e-5, atol=1e-6)


def test_scale_is_that_of_the_coordinates():
    points = hyperbolic_points(20_000, 3, scale=5.0).points
    assert np.allclose(points[:, 1:].std(axis=0), 5, rtol=0.03)


def test_a_seed_is_a_cloud():
    one, same, other = (hyperbolic_points(9, 2, rng=rng).points for rng in (1, np.random.default_rng(1), 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("n", "dim", "scale", "message"),
    [
        (0, 2, 1.0, "^n must be a positive whole number, not 0$"),
        (3, 2.5, 1.0, "^dim must be a positive whole number, not 2.5$"),
        *(
            (3, 2, scale, "^scale must be between")
            for scale in (0.0, 1e-200, 1e160, float("inf"), float("nan"))
        ),
    ],
)
def test_bad_requests(n, dim, scale, message):
    with pytest.raises(ValueError, match=message):
        hyperbolic_points(n, dim, scale=scale)
