"""The circular and slanted layouts, and the default root."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treerep as tr
from tests.tree.strategies import trees
from treerep.drawing.layouts.circular import circular, polar_corners
from treerep.drawing.layouts.rectangular import rectangular
from treerep.drawing.layouts.slanted import slanted


@given(trees(), st.floats(0, 1))
def test_the_radius_is_the_distance_from_the_root(tree, opening):
    spots = circular(tree, root=0, opening=opening)
    depth = tree.rooted(0).depth
    np.testing.assert_allclose(np.linalg.norm(spots, axis=1), depth, atol=1e-9)
    np.testing.assert_array_equal(slanted(tree, root=0), rectangular(tree, root=0))


def test_leaves_have_equal_angles_clockwise_from_the_top():
    star = tr.Tree(8, [[k, 8] for k in range(8)], np.arange(1.0, 9.0))
    spots = circular(star, root=8)
    angles = np.degrees(np.arctan2(spots[:8, 1], spots[:8, 0]))
    np.testing.assert_allclose(np.mod(90 - angles, 360), 22.5 + 45 * np.arange(8))
    spots = circular(star, root=8, opening=np.pi / 2)
    angles = np.mod(90 - np.degrees(np.arctan2(spots[:8, 1], spots[:8, 0])), 360)
    np.testing.assert_allclose(np.diff(angles), 270 / 8)
    assert angles.max() < 270


@given(trees())
def test_lines_are_arcs_and_rays(tree):
    spots = circular(tree, root=0)
    view = tree.rooted(0)
    child = np.flatnonzero(view.parent >= 0)
    for k, line in enumerate(polar_corners(spots, view.parent[child], child)):
        np.testing.assert_allclose(line[0], spots[view.parent[child[k]]], atol=1e-9)
        np.testing.assert_allclose(line[-1], spots[child[k]], atol=1e-9)
        around = np.linalg.norm(line[:-1], axis=1)
        np.testing.assert_allclose(around, view.depth[view.parent[child[k]]], atol=1e-9)
        # The last part points away from the center.
        a, b = line[-2:]
        assert a[0] * b[1] - a[1] * b[0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("layout", ["rectangular", "slanted", "circular"])
def test_trees_are_drawn_from_their_root(layout):
    tree = tr.Tree.from_newick("(((a:1,b:1):1,c:2):1,d:9);")
    ax = tr.draw(tree, layout=layout)
    depth = {
        text.get_text(): np.linalg.norm(text.xy) if layout == "circular" else text.xy[0] for text in ax.texts
    }
    assert depth == pytest.approx({"a": 3.0, "b": 3.0, "c": 3.0, "d": 9.0})
    ax = tr.draw(tree, layout=layout, root="d")
    depth = {
        text.get_text(): np.linalg.norm(text.xy) if layout == "circular" else text.xy[0] for text in ax.texts
    }
    assert depth == pytest.approx({"a": 12.0, "b": 12.0, "c": 12.0, "d": 0.0})
