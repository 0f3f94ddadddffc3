import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treerep.drawing.layouts._label_places import Scene, _length_inside, place_labels

NOTHING = Scene(np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 2)))


def overlaps(centers, sizes):
    room = 0.5 * (sizes[:, None] + sizes[None]) - np.abs(centers[:, None] - centers[None])
    both = (room > 1e-9).all(axis=2)
    return int(np.triu(both, 1).sum())


def test_a_name_alone_is_where_it_is_wished():
    centers = place_labels(
        np.array([[5.0, 5.0]]), np.array([[20.0, 10.0]]), np.array([[1.0, 0.0]]), 3.0, NOTHING
    )
    np.testing.assert_allclose(centers, [[5.0 + 3.0 + 10.0, 5.0]])


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_names_do_not_collide(count, seed):
    rng = np.random.default_rng(seed)
    anchors = rng.uniform(0, 300, (count, 2))
    sizes = np.column_stack([rng.uniform(10, 50, count), np.full(count, 10.0)])
    turn = rng.uniform(0, 2 * np.pi, count)
    away = np.column_stack([np.cos(turn), np.sin(turn)])
    scene = Scene(anchors, np.empty((0, 2)), np.empty((0, 2)))
    centers = place_labels(anchors, sizes, away, 4.0, scene)
    assert overlaps(centers, sizes) == 0
    np.testing.assert_array_equal(centers, place_labels(anchors, sizes, away, 4.0, scene))


def test_names_of_points_at_one_place_part():
    sizes = np.full((6, 2), [30.0, 10.0])
    centers = place_labels(np.zeros((6, 2)), sizes, np.tile([0.0, 1.0], (6, 1)), 4.0, NOTHING)
    assert overlaps(centers, sizes) == 0


def test_a_name_avoids_points_and_edges():
    anchor, size = np.array([[0.0, 0.0]]), np.array([[20.0, 10.0]])
    wish = np.array([[1.0, 0.0]])
    for scene in (
        Scene(np.array([[14.0, 0.0]]), np.empty((0, 2)), np.empty((0, 2))),
        Scene(np.empty((0, 2)), np.array([[0.0, 0.0]]), np.array([[100.0, 0.0]])),
    ):
        (center,) = place_labels(anchor, size, wish, 3.0, scene)
        assert np.abs(center - [13.0, 0.0]).max() > 4  # not where it would be alone
        for x, y in (*scene.points, *scene.ends):
            assert not (abs(x - center[0]) < 10 and abs(y - center[1]) < 5)


def test_length_of_lines_inside_boxes():
    starts, ends = (
        np.array([[-10.0, 0.0], [0.0, -10.0], [3.0, 3.0]]),
        np.array([[10.0, 0.0], [0.0, 10.0], [4.0, 3.0]]),
    )
    inside = _length_inside(
        starts, ends, np.array([[0.0, 0.0], [5.0, 0.0], [50.0, 50.0]]), np.array([4.0, 2.0])
    )
    np.testing.assert_allclose(inside, [4.0 + 2.0, 4.0, 0.0])


def test_thousands_of_names_are_where_they_are_wished():
    anchors, sizes, away = (
        np.zeros((5_000, 2)),
        np.full((5_000, 2), [30.0, 10.0]),
        np.tile([1.0, 0.0], (5_000, 1)),
    )
    assert (place_labels(anchors, sizes, away, 5.0, NOTHING) == [20.0, 0.0]).all()
