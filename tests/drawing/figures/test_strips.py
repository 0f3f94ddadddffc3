"""Strips beside the leaves, rings around them, legends with titles, and color bars."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm, PowerNorm, to_rgba
from matplotlib.legend import Legend

import treerep as tr
from treerep.drawing.figures._colors import MANY_COLORS

TREE = tr.Tree.from_newick("((((a:1,b:2):3,c:4):1,d:6):1,(e:2,f:3):2);")
GROUPS = list("xxxyzz")


def cells_of(ax):
    return [c for c in ax.collections if isinstance(c, PolyCollection)]


def legends_of(ax):
    return [child for child in ax.get_children() if isinstance(child, Legend)]


def test_cells_are_beside_their_leaves():
    ax = tr.draw(TREE, layout="rectangular", strips={"diet": GROUPS}, align=True)
    ax.figure.canvas.draw()
    (cells,) = cells_of(ax)
    across = cells.get_transform()
    boxes = [across.transform(path.vertices[:4]) for path in cells.get_paths()]
    colors = dict(zip("xyz", map(to_rgba, MANY_COLORS), strict=False))
    texts = {text.get_text(): text for text in ax.texts}
    frame = ax.get_window_extent()
    for name, group in zip("abcdef", GROUPS, strict=True):
        label = texts[name].get_window_extent()
        middle = 0.5 * (label.y0 + label.y1)
        (k,) = (k for k, box in enumerate(boxes) if abs(box[:, 1].mean() - middle) < 2)
        assert tuple(cells.get_facecolors()[k]) == colors[group]
        assert boxes[k][:, 0].min() > frame.x1
    assert texts["diet"].get_window_extent().y0 > max(box.max() for box in [boxes[0][:, 1]])


def test_cells_of_the_circle_are_at_the_angles_of_their_leaves():
    ax = tr.draw(TREE, layout="circular", strips={"diet": GROUPS})
    (cells,) = cells_of(ax)
    spots = {text.get_text(): text.xy for text in ax.texts if text.get_text() in "abcdef"}
    order = list(spots)
    for path, name in zip(cells.get_paths(), order, strict=True):
        middle = path.vertices.mean(axis=0)
        leaf = np.array(spots[name])
        cosine = middle @ leaf / np.linalg.norm(middle) / np.linalg.norm(leaf)
        assert cosine > 0.97
        assert np.linalg.norm(path.vertices, axis=1).min() > 7.0
    assert "diet" in {text.get_text() for text in ax.texts}


def test_every_strip_has_its_own_legend_and_colors():
    table = {"diet": GROUPS, "mass": [0.5, 2, 3, 4, 5, 6], "home": list("uuvvww")}
    ax = tr.draw(TREE, layout="slanted", color=list("ppqqrr"), color_label="kind", strips=table)
    assert len(cells_of(ax)) == 3
    titles = {legend.get_title().get_text() for legend in legends_of(ax)}
    assert titles == {"kind", "diet", "home"}
    assert [bar.get_title(loc="left") for bar in ax.child_axes] == ["mass"]
    used = [tuple(row) for cells in cells_of(ax)[::2] for row in cells.get_facecolors()]
    assert len(set(used)) == 6
    ax.figure.canvas.draw()
    boxes = [legend.get_window_extent() for legend in legends_of(ax)]
    boxes += [bar.get_tightbbox() for bar in ax.child_axes]
    for k, box in enumerate(boxes):
        assert box.x1 <= ax.figure.bbox.x1 + 1
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_a_table_is_a_heat_map_on_one_scale():
    table = pd.DataFrame({"gene 1": np.arange(6.0), "gene 2": 10.0 * np.arange(6)}, index=list("fedcba"))
    for layout in ("rectangular", "circular"):
        ax = tr.draw(TREE, layout=layout, strips={"expression": table})
        first, second = cells_of(ax)
        (bar,) = ax.child_axes
        assert bar.get_ylim() == (0.0, 50.0)
        assert {"gene 1", "gene 2"} <= {text.get_text() for text in ax.texts}
        viridis = plt.colormaps["viridis"]
        # Rows are matched by label: a has the last row.
        np.testing.assert_allclose(first.get_facecolors()[0], viridis(5.0 / 50.0))
        np.testing.assert_allclose(second.get_facecolors()[0], viridis(50.0 / 50.0))


def test_a_data_frame_has_a_strip_for_each_column():
    table = pd.DataFrame({"diet": GROUPS, "mass": np.arange(6.0)}, index=list("abcdef"))
    ax = tr.draw(TREE, layout="rectangular", strips=table)
    assert len(cells_of(ax)) == 2
    assert len(ax.child_axes) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"layout": "radial", "strips": {"a": GROUPS}}, "strips need the layout 'rectangular'"),
        ({"layout": "circular", "strips": {"a": GROUPS[:3]}}, "'a' has 3 values for 6 points"),
        ({"layout": "circular", "strips": GROUPS}, "strips must be a dict or a data frame"),
        ({"color": GROUPS, "vmin": 0.0}, "norm, vmin and vmax apply to numbers"),
        ({"color": np.arange(6.0), "vmin": 3.0, "vmax": 1.0}, "are not a range"),
        ({"color": np.arange(6.0), "norm": "cubic"}, "norm must be 'linear', 'log'"),
        ({"color": np.arange(6.0), "norm": LogNorm(), "vmin": 1}, "norm has its own limits"),
    ],
)
def test_wrong_options(options, said):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=said):
        tr.draw(TREE, **options)
    assert plt.get_fignums() == before


def test_color_bars_have_labels_limits_and_norms():
    values = [0.1, 1.0, 10.0, 100.0, 0.0, 1000.0]
    ax = tr.draw(TREE, color=values, norm="log", color_label="mass (kg)")
    (bar,) = ax.child_axes
    assert bar.get_title(loc="left") == "mass (kg)"
    assert bar.get_yscale() == "log" and bar.get_ylim() == pytest.approx((0.1, 1000.0))
    (bar,) = tr.draw(TREE, color=values, vmin=-5.0, vmax=50.0).child_axes
    assert bar.get_ylim() == (-5.0, 50.0)
    (bar,) = tr.draw(TREE, color=values, norm=PowerNorm(0.5)).child_axes
    assert bar.get_ylim() == (0.0, 1000.0)


def test_equal_steps_on_a_logarithmic_scale():
    viridis = plt.colormaps["viridis"]
    ax = tr.draw(TREE, color=[1.0, 10.0, 100.0, 1.0, 1.0, 1.0], norm="log", labels=False)
    drawn = {tuple(color) for color in ax.collections[2].get_facecolors()}
    assert drawn == {viridis(0.0), viridis(0.5), viridis(1.0)}


def test_the_name_of_a_column_is_the_title():
    column = pd.Series(GROUPS, index=list("abcdef"), name="diet")
    assert tr.draw(TREE, color=column).get_legend().get_title().get_text() == "diet"
    legend = tr.draw(TREE, color=column, color_label="food").get_legend()
    assert legend.get_title().get_text() == "food"
    assert tr.draw(TREE, color=GROUPS).get_legend().get_title().get_text() == ""
