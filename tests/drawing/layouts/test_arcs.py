import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treerep.drawing.layouts._arcs import geodesic_arcs
from treerep.embedding.embedding import Embedding

inside = st.tuples(st.just(0.0) | st.floats(1e-6, 0.999), st.floats(-np.pi, np.pi)).map(
    lambda polar: [polar[0] * np.cos(polar[1]), polar[0] * np.sin(polar[1])]
)


def circle_through(a, b):
    """Center of the circle through a and b that meets the unit circle at right angles: c . x = (1 + |x|^2) / 2."""
    return np.linalg.solve([a, b], [(1 + a @ a) / 2, (1 + b @ b) / 2])


@given(inside, inside)
@settings(max_examples=100)
def test_arcs_are_geodesics(first, second):
    (arc,) = geodesic_arcs(np.array([first]), np.array([second]))
    np.testing.assert_array_equal(arc[[0, -1]], [first, second])
    assert np.linalg.norm(arc, axis=1).max() < 1
    if not arc.any():
        return  # all at the origin, of which an embedding makes nothing
    # On a geodesic, distances add up.
    metric = Embedding.from_poincare(arc)
    steps = metric.pairs(np.arange(len(arc) - 1), np.arange(1, len(arc)))
    np.testing.assert_allclose(steps.sum(), metric.pairs(0, len(arc) - 1), atol=1e-6)


@given(inside, inside)
@settings(max_examples=100)
def test_arcs_meet_the_edge_of_the_disk_at_right_angles(first, second):
    a, b = np.array(first), np.array(second)
    (arc,) = geodesic_arcs(a[None], b[None])
    if abs(a[0] * b[1] - a[1] * b[0]) < 1e-3:
        return  # nearly through the center: nearly a straight line, whose circle is too large to compute with
    center = circle_through(a, b)
    radius = np.sqrt(center @ center - 1)  # at right angles: |c|^2 = 1 + r^2
    np.testing.assert_allclose(np.linalg.norm(arc - center, axis=1), radius, rtol=1e-6)
    # The chain is as near to the arc as the eye can tell.
    middle = 0.5 * (arc[1:] + arc[:-1])
    assert np.abs(np.linalg.norm(middle - center, axis=1) - radius).max() < 6e-4


def test_lines_through_the_center_are_straight():
    arcs = geodesic_arcs(
        np.array([[-0.5, -0.5], [0.0, 0.0], [0.1, 0.2]]),
        np.array([[0.3, 0.3], [0.9, 0.1], [0.1, 0.2]]),
    )
    assert [len(arc) for arc in arcs] == [2, 2, 2]


def test_no_edges_no_arcs():
    assert geodesic_arcs(np.empty((0, 2)), np.empty((0, 2))) == []


def test_points_on_the_edge_of_the_disk_have_arcs_within_it():
    turn = np.exp(1j * np.array([0.0, 1e-12, 1.0, np.pi]))
    edge = np.column_stack([turn.real, turn.imag])
    pairs = np.array([(i, j) for i in range(4) for j in range(4)])
    for arc in geodesic_arcs(edge[pairs[:, 0]], edge[pairs[:, 1]]):
        assert np.isfinite(arc).all()
        assert np.linalg.norm(arc, axis=1).max() <= 1 + 1e-12
