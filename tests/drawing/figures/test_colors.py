import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from treerep.drawing.figures._colors import (
    GREY,
    MANY_COLORS,
    MARKERS,
    PALETTE,
    categories,
    color_values,
)


def test_one_color_for_all():
    np.testing.assert_array_equal(color_values(None, 2, None).rgba, [to_rgba(PALETTE[0])] * 2)
    np.testing.assert_array_equal(color_values("red", 3, None).rgba, [(1, 0, 0, 1)] * 3)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
def test_categories_have_colors_and_missing_ones_are_gray(missing):
    colors = color_values(np.array(["b", missing, "a", "b"], object), 4, None)
    np.testing.assert_array_equal(
        colors.rgba, [to_rgba(c) for c in (PALETTE[1], GREY, PALETTE[0], PALETTE[1])]
    )
    assert [name for name, *_ in colors.legend] == ["a", "b"]
    assert colors.scale is None


def test_whole_numbers_of_few_values_and_truth_values_are_categories():
    assert [name for name, *_ in color_values(np.array([2, 0, 10, 2]), 4, None).legend] == [
        "0",
        "2",
        "10",
    ]
    assert [name for name, *_ in color_values([True, False], 2, None).legend] == [
        "False",
        "True",
    ]
    assert color_values(np.arange(21), 21, None).scale is not None


def test_a_categorical_keeps_its_order():
    grades = pd.Series(pd.Categorical(["low", "high", None], categories=["low", "middle", "high"]))
    names, codes = categories(grades)
    assert names == ["low", "middle", "high"]
    assert codes.tolist() == [0, 2, -1]
    numbers = pd.Categorical([3, 1], categories=[3, 2, 1])
    assert categories(numbers)[0] == ["3", "2", "1"]


def test_things_of_several_kinds_are_categories():
    names, codes = categories([1, "a", (2, 3)])
    assert sorted(names) == ["(2, 3)", "1", "a"]
    assert sorted(codes) == [0, 1, 2]


def test_numbers_have_a_scale_and_missing_ones_are_gray():
    colors = color_values([0.0, 5.0, float("nan"), float("inf")], 4, None)
    assert colors.legend == []
    assert colors.scale.get_clim() == (0.0, 5.0)
    np.testing.assert_array_equal(colors.rgba[2:], [to_rgba(GREY)] * 2)
    assert not np.array_equal(colors.rgba[0], colors.rgba[1])


def test_numbers_that_are_all_missing():
    np.testing.assert_array_equal(color_values([float("nan")], 1, None).rgba, [to_rgba(GREY)])


def test_thirty_six_categories_have_different_colors_and_three_markers():
    values = [f"class {k}" for k in range(37)]
    colors = color_values(values, len(values), None)
    assert len({color for _, color, _ in colors.legend}) == 36
    assert colors.legend[12] == ("class 12", MANY_COLORS[12], MARKERS[1])
    assert colors.legend[36] == ("class 36", PALETTE[0], MARKERS[3])
    assert colors.kind.tolist() == [k // 12 for k in range(37)]


def test_a_palette_of_ones_own():
    for palette in ({"b": "red", "a": "blue"}, ["blue", "red"]):
        np.testing.assert_array_equal(
            color_values(["b", "a"], 2, palette).rgba, [to_rgba("red"), to_rgba("blue")]
        )
    assert len(color_values(["b", "a", "c"], 3, "viridis").legend) == 3
    with pytest.raises(ValueError, match="no color for 'b'"):
        color_values(["b"], 1, {"a": "red"})
    with pytest.raises(ValueError, match="palette is empty"):
        color_values(["b"], 1, [])


def test_the_palette_is_told_apart_by_all_kinds_of_vision():
    # What people without green (D) or red (P) cones see, after Viénot, Brettel and Mollon (1999), in linear light.
    cones = np.array(
        [
            [17.8824, 43.5161, 4.11935],
            [3.45565, 27.1554, 3.86714],
            [0.0299566, 0.184309, 1.46709],
        ]
    )
    blind = {
        "D": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
        "P": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
    }
    light = np.array([to_rgba(color)[:3] for color in PALETTE]) ** 2.2
    for change in (np.eye(3), *blind.values()):
        seen = np.clip(light @ (np.linalg.inv(cones) @ change @ cones).T, 0, 1) ** (1 / 2.2)
        apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)
        assert apart[np.triu_indices(len(PALETTE), 1)].min() > 0.1


def test_colors_themselves():
    np.testing.assert_array_equal(
        color_values(np.eye(3), 3, None).rgba, [(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)]
    )
    with pytest.raises(ValueError, match=r"color has shape \(2, 5\)"):
        color_values(np.zeros((2, 5)), 2, None)
    with pytest.raises(ValueError, match="'cell_type' is not a color"):
        color_values("cell_type", 2, None)


def test_colors_that_are_missing_are_gray():
    np.testing.assert_array_equal(color_values(np.full((2, 3), np.nan), 2, None).rgba, [to_rgba(GREY)] * 2)


def test_masked_values_are_missing():
    masked = [False, True, False]
    colors = color_values(np.ma.masked_array([0.5, 99.0, 1.5], masked), 3, None)
    assert colors.scale.get_clim() == (0.5, 1.5)
    np.testing.assert_array_equal(colors.rgba[1], to_rgba(GREY))
    assert [name for name, *_ in color_values(np.ma.masked_array([1, 9, 2], masked), 3, None).legend] == [
        "1",
        "2",
    ]


def test_a_legend_has_no_key_for_what_does_not_occur():
    values = pd.Categorical(["high", "low"], categories=["low", "middle", "high"])
    assert color_values(values, 2, None).legend == [
        ("low", PALETTE[0], "o"),
        ("high", PALETTE[2], "o"),
    ]


def test_color_maps_as_palettes():
    viridis = mpl.colormaps["viridis"]
    for palette in ("viridis", viridis):
        np.testing.assert_array_equal(color_values(["a", "b"], 2, palette).rgba, viridis([0.0, 1.0]))
        assert color_values([0.5, 1.5], 2, palette).scale.get_cmap() == viridis


def test_text_that_says_nan_is_a_category():
    assert categories(["nan", float("nan")])[0] == ["nan"]


def test_numbers_with_gaps():
    for values in (pd.Series([0.5, None, 2.0], dtype="Float64"), [0.5, None, 2.0]):
        colors = color_values(values, 3, None)
        assert colors.scale.get_clim() == (0.5, 2.0)
        np.testing.assert_array_equal(colors.rgba[1], to_rgba(GREY))
    whole = color_values(pd.Series([1, None, 2], dtype="Int64"), 3, None)
    assert [name for name, *_ in whole.legend] == ["1", "2"]
    for many in ([*range(21), None], pd.Series([*range(21), None], dtype="Int64")):
        assert color_values(many, 22, None).scale.get_clim() == (0.0, 20.0)
