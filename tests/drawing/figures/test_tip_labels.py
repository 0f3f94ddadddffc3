"""Labels of many leaves do not collide."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

import treerep as tr
from treerep.drawing.draw import LAYOUTS
from treerep.drawing.figures.parts.tip_labels import _spread_around
from treerep.drawing.layouts._turned_places import Turned, overlaps


def named(tree, names):
    return tr.Tree(tree.n_points, tree.edges, tree.weights, labels=names)


@pytest.fixture(scope="module")
def sixty():
    points = tr.datasets.hyperbolic_points(60, 3, scale=4.0)
    tree = tr.fit(points, method="neighbor_joining")
    return named(tree, [f"Specimen {'abcdef'[k % 6] * 9} {k:03d}" for k in range(60)])


def corners_of(text):
    """Return the corners of a rotated text in pixels."""
    turn = np.radians(text.get_rotation())
    text.set_rotation(0)
    box = Text.get_window_extent(text)
    text.set_rotation(np.degrees(turn))
    offset = np.array(text.get_position()) * text.figure.dpi / 72
    start = text.axes.transData.transform(text.xy) + offset
    if text.get_ha() == "right":
        turn += np.pi
    elif text.get_ha() == "center":
        start = start - [0.5 * box.width, 0.0]
    return Turned(start[None], np.array([turn])).corners(np.array([box.size]))[0]


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sixty_names_of_22_characters(sixty, layout, align):
    assert {len(name) for name in sixty.labels} == {22}
    ax = tr.draw(sixty, layout=layout, align=align)
    ax.figure.canvas.draw()
    corners = np.array([corners_of(text) for text in ax.texts])
    assert len(corners) == 60
    shared = overlaps(corners, corners)
    np.fill_diagonal(shared, 0.0)
    assert shared.max() < 0.5
    frame = ax.get_window_extent()
    assert corners[..., 0].min() >= frame.x0 - 1 and corners[..., 0].max() <= frame.x1 + 1
    assert corners[..., 1].min() >= frame.y0 - 1 and corners[..., 1].max() <= frame.y1 + 1
    # The picture keeps at least a fifth of the axes.
    spots = np.array([ax.transData.transform(text.xy) for text in ax.texts])
    assert max(np.ptp(spots, axis=0) / frame.size) > 0.2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_names_can_be_read_from_left_to_right(sixty, layout):
    for text in tr.draw(sixty, layout=layout).texts:
        turn = (text.get_rotation() + 180) % 360 - 180
        assert -90 - 1e-6 <= turn <= 90 + 1e-6


def test_aligned_names_start_in_one_column_with_dotted_lines(sixty):
    ax = tr.draw(sixty, layout="rectangular", align=True)
    ax.figure.canvas.draw()
    starts = [Text.get_window_extent(text).x0 for text in ax.texts]
    assert np.ptp(starts) < 1.5
    dotted = [text.arrow_patch is not None for text in ax.texts]
    assert 50 < sum(dotted) < 60  # the deepest leaf needs no line
    plain = tr.draw(sixty, layout="rectangular")
    assert not any(text.arrow_patch for text in plain.texts)


def test_support_does_not_cover_names():
    tree = tr.Tree.from_newick("(((a:1,b:1)95:0.1,(c:1,d:1)80:0.1)99:0.1,(e:1,f:1)70:0.2);")
    for layout in ("rectangular", "slanted", "circular"):
        ax = tr.draw(tree, layout=layout, labels="support")
        ax.figure.canvas.draw()
        corners = np.array([corners_of(text) for text in ax.texts])
        shared = overlaps(corners, corners)
        np.fill_diagonal(shared, 0.0)
        assert not shared.any()
        assert {text.get_text() for text in ax.texts} == {*"abcdef", "95", "80", "99", "70"}


def test_names_of_clades():
    tree = tr.Tree.from_newick("((a:1,b:1)Canidae:1,(c:1,d:1):1);")
    assert "Canidae" not in {text.get_text() for text in tr.draw(tree).texts}
    texts = {text.get_text() for text in tr.draw(tree, labels="clades").texts}
    assert texts == {*"abcd", "Canidae"}
    with pytest.raises(ValueError, match="labels='clades' needs a tree"):
        tr.draw(tr.embed(tree), labels="clades")


@given(st.lists(st.floats(-np.pi, np.pi), min_size=1, max_size=30))
def test_angles_are_spread_around_the_circle(angles):
    least = 0.2
    spread = np.sort(np.mod(_spread_around(np.array(angles), least), 2 * np.pi))
    gaps = np.diff(spread, append=spread[0] + 2 * np.pi)
    assert gaps.min() >= least - 1e-9


def test_overlaps_of_turned_boxes():
    wide = np.array([[4.0, 1.0]])
    here = Turned(np.zeros((1, 2)), np.zeros(1)).corners(wide)
    for start, turn, met in (
        ((2.0, 2.0), -np.pi / 2, True),
        ((2.0, 0.9), np.pi / 4, False),
        ((4.1, 0.0), np.pi / 2, True),
        ((4.6, 0.0), np.pi / 2, False),
    ):
        there = Turned(np.array([start]), np.array([turn])).corners(wide)
        assert bool(overlaps(here, there)[0, 0] > 0) == met
        assert bool(overlaps(there, here)[0, 0] > 0) == met
    plt.close("all")
