import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import treerep as tr
from treerep.drawing.figures.distortion_picture import distortion_picture
from treerep.drawing.figures.parts.tip_labels import spread_out


def counted(ax):
    """Pairs in the histogram."""
    return ax.collections[0].get_array().sum()


def test_every_pair_is_in_the_distortion_picture():
    mammals = tr.datasets.sarich()
    ax = distortion_picture(tr.fit(mammals), mammals)
    assert counted(ax) == 8 * 7 / 2
    ax.figure.canvas.draw()


def test_a_perfect_tree_is_on_the_line():
    tree = tr.datasets.random_tree(30, rng=1)
    cells = distortion_picture(tree, tree.distances(), bins=10).collections[0].get_array().reshape(10, 10)
    assert np.trace(cells) == cells.sum() == 30 * 29 / 2


def test_many_pairs_are_sampled_and_repeatable():
    points = np.random.default_rng(0).normal(size=(100, 3))
    tree = tr.fit(points, metric="euclidean")
    first, second = (distortion_picture(tree, points, metric="euclidean", pairs=500, rng=3) for _ in range(2))
    assert counted(first) == 500
    np.testing.assert_array_equal(*(ax.collections[0].get_array() for ax in (first, second)))


def test_whole_distances_have_columns_of_their_own():
    path = tr.Tree(4, [[0, 1], [1, 2], [2, 3]], [1.0, 1.0, 1.0])
    cells = distortion_picture(path, path.distances()).collections[0].get_array()
    assert cells.shape == (4, 4)  # 0, 1, 2 and 3 in both directions
    assert np.diag(cells).tolist() == [0, 3, 2, 1]


def test_the_distortion_picture_takes_axes_and_refuses_other_points():
    tree = tr.Tree(2, [[0, 1]], [1.0])
    ax = Figure().subplots()
    assert distortion_picture(tree, tree.distances(), ax=ax) is ax
    assert plt.get_fignums() == []
    with pytest.raises(ValueError, match="the tree has 2 points and the data has 3"):
        distortion_picture(tree, np.ones((3, 3)) - np.eye(3))
    with pytest.raises(ValueError, match="a single point has no distances"):
        distortion_picture(tr.Tree(1, np.empty((0, 2), int), []), np.zeros((1, 1)))


def test_points_that_are_all_at_one_place():
    tree = tr.Tree(2, [[0, 1]], [0.0])
    ax = distortion_picture(tree, tree.distances())
    ax.figure.canvas.draw()
    assert all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]))


def test_one_line_for_what_is_no_tree_and_no_plane():
    tree = tr.Tree(2, [[0, 1]], [1.0])
    with pytest.raises(
        TypeError, match="a tree, an embedding or another metric, got ndarray: fit a tree first"
    ):
        distortion_picture(np.zeros((2, 2)), tree)
    ax = plt.figure().subplots()
    ax.set_xscale("log")
    with pytest.raises(ValueError, match="the x axis of ax is log, not linear"):
        distortion_picture(tree, tree, ax=ax)
    with pytest.raises(TypeError, match="ax must be one set of matplotlib Axes, got Figure"):
        distortion_picture(tree, tree, ax=ax.figure)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12))
def test_heights_are_spread_out(heights):
    places = spread_out(heights, 3.0)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(places[order]) >= 3.0 - 1e-9).all()
    np.testing.assert_allclose(places.mean(), np.mean(heights), atol=1e-9)
    if (np.diff(np.sort(heights)) >= 3.0).all():
        np.testing.assert_allclose(places, heights, atol=1e-9)
