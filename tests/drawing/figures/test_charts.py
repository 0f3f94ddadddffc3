import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import treerep as tr
from treerep.drawing.figures._colors import PALETTE
from treerep.drawing.figures.comparison_chart import comparison_chart
from treerep.drawing.figures.curves import curves, spread_out
from treerep.drawing.figures.distortion_picture import distortion_picture

ROWS = [
    {"method": "treerep", "distortion": 0.12, "map": 0.8, "seconds": 0.002, "nodes": 14},
    {"method": "a$b$", "distortion": 0.08, "map": None, "seconds": 0.2, "nodes": 14},
    {"method": "mst", "distortion": float("nan"), "map": 0.5, "seconds": 0.0001, "nodes": 8},
]


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


def test_a_comparison_has_a_panel_for_each_measure_and_marks_the_best():
    panels = comparison_chart(ROWS)
    assert [panel.get_xlabel() for panel in panels] == [
        "average distortion",
        "mean average precision",
        "seconds",
    ]
    assert [text.get_text() for text in panels[0].get_yticklabels()] == [
        "treerep",
        r"a\$b\$",
        "mst",
    ]
    best = to_rgba(PALETTE[3])
    for panel, winner in zip(panels, (1, 0, 2), strict=True):
        (dots,) = (c for c in panel.collections if isinstance(c, PathCollection))
        assert [tuple(color) == best for color in dots.get_facecolors()] == [k == winner for k in range(3)]
    assert [panel.get_xscale() for panel in panels] == ["linear", "linear", "log"]
    assert comparison_chart([*ROWS, {"method": "bad", "distortion": 5.0}])[0].get_xscale() == "log"
    panels[0].figure.canvas.draw()


@pytest.mark.parametrize(
    "values",
    [(0.021, 0.034, 0.064), (0.002, 0.2, 9.0), (1e-5, 1e-4, 300.0), (31.0, 32.0, 33.0)],
)
def test_ticks_of_a_comparison_do_not_overlap(values):
    rows = [
        {"method": f"m{k}", "distortion": value, "seconds": value, "nodes": value}
        for k, value in enumerate(values)
    ]
    panels = comparison_chart(rows, measures=["distortion", "seconds", "nodes"])
    panels[0].figure.canvas.draw()
    for panel in panels:
        ticks = [*panel.get_xticklabels(), *panel.get_xticklabels(minor=True)]
        low, high = panel.get_xlim()
        boxes = [
            text.get_window_extent()
            for text in ticks
            if text.get_text() and low <= text.get_position()[0] <= high
        ]
        assert len(boxes) >= 2
        for k, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:k])


def test_the_best_value_is_explained():
    panels = comparison_chart(ROWS, measures=["distortion", "seconds", "nodes"])
    assert [panel.get_title(loc="right") for panel in panels] == ["", "orange: best", ""]


def test_a_comparison_on_axes_and_what_it_refuses():
    axes = Figure().subplots(1, 2)
    assert comparison_chart(ROWS, measures=["seconds", "nodes"], axes=axes) == list(axes)
    with pytest.raises(ValueError, match="2 axes do not match 1 measures"):
        comparison_chart(ROWS, measures=["nodes"], axes=axes)
    with pytest.raises(ValueError, match="unknown measure 'speed'"):
        comparison_chart(ROWS, measures=["speed"])
    with pytest.raises(ValueError, match="no rows"):
        comparison_chart([])
    with pytest.raises(ValueError, match="no row has a number for map"):
        comparison_chart([ROWS[1]], measures=["map"])


def test_curves_are_named_at_their_ends():
    x = [2, 4, 8]
    ax = curves(
        x,
        {"one": [0.1, 0.2, 0.3], "$two": [0.3, 0.2, np.nan]},
        xlabel="dimension",
        ylabel="distortion",
    )
    assert [text.get_text() for text in ax.texts] == ["one", r"\$two"]
    assert ax.get_xscale() == "log"
    assert [line.get_xdata().tolist() for line in ax.lines] == [x, x]
    assert ax.get_xlabel() == "dimension" and ax.get_ylabel() == "distortion"
    assert curves(x, {"one": [1, 2, 3]}, log_y=True).get_yscale() == "log"
    ax.figure.canvas.draw()


def test_names_of_curves_that_end_together_do_not_collide():
    ax = curves([1, 10], {name: [0.0, 0.5 + 1e-3 * k] for k, name in enumerate("abcdef")})
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(box.overlaps(other) for k, box in enumerate(boxes) for other in boxes[:k])


def test_curves_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="x must be a sequence of positive numbers"):
        curves([0, 1], {"a": [1, 2]})
    with pytest.raises(ValueError, match=r"a has \(3,\) values for 2 values of x"):
        curves([1, 2], {"a": [1, 2, 3]})
    assert len(curves([1, 2], {"nothing": [np.nan, np.nan]}).texts) == 0


def test_curves_that_end_at_zero_on_a_logarithmic_axis_are_named_where_they_are_seen():
    ax = curves([1, 2, 3], {"a": [1.0, 0.1, 0.0], "b": [0.0, 0.0, 0.0]}, log_y=True)
    ax.figure.canvas.draw()
    assert [(text.get_text(), text.xy[1]) for text in ax.texts] == [("a", 0.1)]


def test_a_comparison_leaves_out_what_is_not_finite_and_cuts_long_names():
    rows = [
        {"method": "x" * 100, "distortion": float("inf")},
        {"method": "b", "distortion": 2.0},
    ]
    (panel,) = comparison_chart(rows)
    panel.figure.canvas.draw()
    assert panel.get_xlim()[1] < 3
    assert panel.get_yticklabels()[0].get_text() == "x" * 44 + "…"
    with pytest.raises(ValueError, match="row 1 has no 'method'"):
        comparison_chart([*rows[:1], {"distortion": 1.0}])


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
        curves([1, 2], {"a": [1, 2]}, ax=ax.figure)
    with pytest.raises(ValueError, match="x must be a sequence of positive numbers"):
        curves([1, np.inf], {"a": [1, 2]})


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12))
def test_heights_are_spread_out(heights):
    places = spread_out(heights, 3.0)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(places[order]) >= 3.0 - 1e-9).all()
    np.testing.assert_allclose(places.mean(), np.mean(heights), atol=1e-9)
    if (np.diff(np.sort(heights)) >= 3.0).all():
        np.testing.assert_allclose(places, heights, atol=1e-9)
