"""Sums of trees and products of embeddings are drawn in panels."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

import treerep as tr
from treerep import ProductEmbedding, Tree, TreeSum
from treerep.drawing._titles import distance_sum
from treerep.drawing.draw import LAYOUTS
from treerep.drawing.figures._panels import _columns

# All distances of the first tree are 6, and all distances of the second tree are 2.
STARS = TreeSum(Tree(3, [[0, 3], [1, 3], [2, 3]], [length] * 3, labels="abc") for length in (3.0, 1.0))


def random_sum(count: int, points: int = 9) -> TreeSum:
    return TreeSum(tr.datasets.random_tree(points, hidden=0.5, rng=seed) for seed in range(count))


def units_per_pixel(ax: Axes) -> float:
    ax.apply_aspect()
    left, right = ax.get_xlim()
    return (right - left) / ax.get_window_extent().width


def test_titles_by_hand() -> None:
    titles = [ax.get_title() for ax in tr.draw(STARS)]
    assert titles == ["tree 1: 75% of the distance", "tree 2: 25% of the distance"]
    thin = TreeSum([STARS.trees[0], STARS.trees[0].with_weights([0.001] * 3)])
    assert tr.draw(thin)[1].get_title() == "tree 2: under 1% of the distance"
    flat = TreeSum([Tree(2, [[0, 1]], [0.0])] * 2)
    assert [ax.get_title() for ax in tr.draw(flat)] == ["tree 1", "tree 2"]


@given(st.integers(1, 20), st.integers(0, 100))
def test_the_sum_of_distances_is_that_of_the_matrix(points: int, seed: int) -> None:
    tree = tr.datasets.random_tree(points, hidden=0.5, rng=seed)
    expected = tree.distances().sum() / 2
    assert distance_sum(tree) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5, 10])
def test_one_panel_for_each_tree(count: int) -> None:
    axes = tr.draw(random_sum(count), labels=False)
    assert axes.shape == (count,)
    assert axes[0].figure.axes == list(axes)
    grid = axes[0].get_subplotspec().get_gridspec()
    assert grid.ncols == _columns(count)
    for ax, tree in zip(axes, random_sum(count).trees, strict=True):
        (lines,) = (item for item in ax.collections if isinstance(item, LineCollection))
        assert len(lines.get_segments()) == len(tree.edges)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_panels_have_one_scale(layout: str) -> None:
    axes = tr.draw(STARS, layout=layout)
    axes[0].figure.canvas.draw()
    scales = [units_per_pixel(ax) for ax in axes]
    assert scales[0] == pytest.approx(scales[1], rel=0.02)
    for ax in axes:
        assert {text.get_text() for text in ax.texts} == {"a", "b", "c"}
        box = ax.get_window_extent().padded(1.0)
        for text in ax.texts:
            inner = text.get_window_extent()
            assert box.contains(*inner.min) and box.contains(*inner.max)


def test_tiny_trees_keep_their_proportions() -> None:
    tiny = TreeSum(tree.with_weights(tree.weights * 1e-200) for tree in STARS.trees)
    for ax, expected in zip(tr.draw(tiny), (1.0, 1 / 3), strict=True):
        (lines,) = (item for item in ax.collections if isinstance(item, LineCollection))
        first, last = lines.get_segments()[0]
        assert np.linalg.norm(last - first) == pytest.approx(expected)


def test_one_legend() -> None:
    trees = random_sum(5)
    axes = tr.draw(trees, color=list("aabbcabca"))
    assert [ax.get_legend() is not None for ax in axes] == [False, False, True, False, False]
    assert not any(ax.get_legend() for ax in tr.draw(trees, color=list("abc") * 3, legend=False))


@pytest.mark.parametrize("layout", ["rectangular", "circular"])
def test_strips_in_panels(layout: str) -> None:
    strips = {"diet": list("aab"), "a long name": [0.5, 1.5, 2.5]}
    axes = tr.draw(STARS, layout=layout, strips=strips, color=["x", "y", "z"])
    axes[0].figure.canvas.draw()  # warnings are errors
    for ax in axes:
        assert ax.get_window_extent().height > 50
        assert {"diet", "a long name"} <= {text.get_text() for text in ax.texts}


def test_given_axes() -> None:
    figure, grid = plt.subplots(2, 2)
    drawn = tr.draw(STARS, ax=grid, color=["x", "y", "z"])
    assert list(drawn) == [grid[0, 0], grid[0, 1]]
    assert not grid[1, 0].collections
    assert drawn[1].get_legend() is not None
    assert list(tr.draw(STARS, ax=list(grid[1]))) == list(grid[1])
    assert figure is drawn[0].figure


def test_wrong_axes() -> None:
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"ax has 1 axes for 2 panels: .*plt.subplots\(1, 2\)"):
        tr.draw(STARS, ax=ax)
    with pytest.raises(TypeError, match="ax must be one set of matplotlib Axes, got int"):
        tr.draw(STARS, ax=[1, 2])
    ax.set_xscale("log")
    with pytest.raises(ValueError, match="is log, not linear"):
        tr.draw(STARS, ax=[ax, ax])


def test_wrong_options_create_no_figure() -> None:
    before = plt.get_fignums()
    with pytest.raises(ValueError, match="5 colors do not match 3 points"):
        tr.draw(STARS, color=[0.5, 1.5, 2.5, 3.5, 4.5])
    with pytest.raises(ValueError, match="labels='support' needs a tree with support"):
        tr.draw(STARS, labels="support")
    with pytest.raises(ValueError, match="layout must be one of"):
        tr.draw(STARS, layout="round")
    assert plt.get_fignums() == before


def test_support_is_written_in_each_panel() -> None:
    tree = Tree.from_newick("((a:1,b:1)95:1,(c:1,d:2):1);")
    for ax in tr.draw(TreeSum([tree, tree]), labels="support"):
        assert "95" in {text.get_text() for text in ax.texts}


def test_products_have_a_disk_for_each_plane() -> None:
    axes = tr.draw(tr.embed(STARS, scale=0.5))
    titles = [ax.get_title() for ax in axes]
    assert [title.partition(":")[0] for title in titles] == ["plane 1", "plane 2"]
    shares = [int(title.split()[2].rstrip("%")) for title in titles]
    assert sum(shares) == 100 and shares[0] > shares[1]
    with pytest.raises(ValueError, match="layout, root, lengths and collapse apply to trees only"):
        tr.draw(tr.embed(STARS), layout="radial")
    with pytest.raises(ValueError, match="dimension 3: embed in 2 dimensions"):
        tr.draw(ProductEmbedding([tr.embed(STARS.trees[0], dim=3)]))


def test_pages_show_sums() -> None:
    assert repr(tr.page(STARS)).startswith(f"Page({STARS.trees[0]!r}, ")
