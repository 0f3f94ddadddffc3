"""Scale bars, distance axes and drawn lengths."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

import treerep as tr
from treerep.drawing.draw import LAYOUTS
from treerep.drawing.figures.parts.scale_bar import round_length

EXACT = [layout for layout in LAYOUTS if layout != "hyperbolic"]
TREE = tr.Tree.from_newick("(((a:1,b:2):3,c:4):1,d:6);")


def bars_of(ax):
    return [artist for artist in ax.artists if isinstance(artist, AnchoredSizeBar)]


def bar_of(ax):
    """Return the number at the scale bar, and its width in pixels."""
    ax.figure.canvas.draw()
    (bar,) = bars_of(ax)
    return float(bar.txt_label.get_text()), bar.size_bar.get_window_extent().width


def lines_of(ax):
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    return lines.get_segments()


@pytest.mark.parametrize("unit", [1.0, 1e-200, 3e150, 0.037])
@pytest.mark.parametrize("layout", EXACT)
def test_the_bar_is_as_long_as_it_says(layout, unit):
    tree = TREE.with_weights(unit * TREE.weights)
    ax = tr.draw(tree, layout=layout)
    length, pixels = bar_of(ax)
    # The path from a to b has length 3 in the tree; its straight parts are measured in pixels.
    for line, weight in zip(lines_of(ax), tree.weights, strict=True):
        ends = ax.transData.transform(line[[-2, -1]])
        if layout in ("rectangular", "circular"):
            drawn = np.linalg.norm(ends[1] - ends[0])
        elif layout == "slanted":
            drawn = abs(ends[1, 0] - ends[0, 0])
        else:
            drawn = np.linalg.norm(ends[1] - ends[0])
        assert pixels / drawn == pytest.approx(length / weight, rel=0.02)


@given(st.floats(1e-290, 1e290))
def test_round_lengths(longest):
    length = round_length(longest)
    assert longest / 2.5 * (1 - 1e-9) <= length <= longest * (1 + 1e-9)
    assert f"{length:e}"[0] in "125" and float(f"{length:.0e}") == length


def test_bars_only_if_lengths_are_shown():
    assert not bars_of(tr.draw(TREE, layout="hyperbolic"))
    assert not bars_of(tr.draw(TREE, lengths="equal"))
    assert not bars_of(tr.draw(TREE, scale_bar=False))
    assert not bars_of(tr.draw(TREE, layout="rectangular", axis=True))
    assert bars_of(tr.draw(TREE, layout="rectangular", axis=True, scale_bar=True))
    assert not bars_of(tr.draw(tr.embed(TREE)))
    for options in ({"layout": "hyperbolic"}, {"lengths": "equal"}):
        with pytest.raises(ValueError, match="the picture does not show edge lengths"):
            tr.draw(TREE, scale_bar=True, **options)


def test_the_bar_is_below_the_labels():
    for layout in EXACT:
        ax = tr.draw(TREE, layout=layout)
        ax.figure.canvas.draw()
        (bar,) = bars_of(ax)
        box = bar.get_window_extent()
        assert box.y0 >= ax.get_window_extent().y0 - 1
        assert all(not box.overlaps(text.get_window_extent()) for text in ax.texts)
        spots = ax.transData.transform(np.concatenate(lines_of(ax)))
        assert spots[:, 1].min() > box.y1
        plt.close(ax.figure)


def test_panels_have_one_bar():
    axes = tr.draw(tr.TreeSum([TREE, TREE]))
    assert [len(bars_of(ax)) for ax in axes] == [1, 0]


@pytest.mark.parametrize("unit", [1.0, 1e-200])
def test_the_axis_is_the_distance_from_the_root(unit):
    ax = tr.draw(TREE.with_weights(unit * TREE.weights), layout="rectangular", axis=True)
    ax.figure.canvas.draw()
    names = [float(tick.get_text()) for tick in ax.get_xticklabels()]
    np.testing.assert_allclose(names, unit * np.array([0.0, 2.0, 4.0, 6.0]))
    deepest = np.concatenate(lines_of(ax))[:, 0].max()
    np.testing.assert_allclose(ax.get_xticks() / deepest, np.array(names) / (6 * unit))
    assert ax.get_xlabel() == "distance from the root"
    for options in ({"layout": "circular"}, {"layout": "slanted", "lengths": "equal"}):
        with pytest.raises(ValueError, match="axis=True needs the layout 'rectangular'"):
            tr.draw(TREE, axis=True, **options)


def depths(lengths):
    ax = tr.draw(TREE, layout="slanted", lengths=lengths)
    found = {text.get_text(): text.xy[0] for text in ax.texts}
    return [found[name] for name in "abcd"]


def test_lengths_by_hand():
    assert depths("original") == [5.0, 6.0, 5.0, 6.0]
    assert depths("equal") == [3.0, 3.0, 2.0, 1.0]
    assert depths("cladogram") == [3.0, 3.0, 3.0, 3.0]
    np.testing.assert_allclose(depths("square root")[0], 1 + 3**0.5 + 1)
    with pytest.raises(ValueError, match="lengths must be one of 'original', .* not 'none'"):
        tr.draw(TREE, lengths="none")
