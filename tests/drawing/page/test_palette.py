"""The colors of a page: safe for color-blind readers, visible, and chosen by the user."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import treerep as tr
from tests.drawing.page.test_write import STAR, attribute, numbers, stored
from treerep.drawing.figures._colors import PALETTE
from treerep.drawing.page._palette import THEME_COLORS
from treerep.drawing.page.write import _source

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = TO_XYZ.sum(axis=1)
GROUND = {"light": "#ffffff", "dark": "#181d29"}


def linear(color):
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b* of linear RGB. Euclidean distances of these are delta E (CIE76)."""
    share = TO_XYZ @ rgb / WHITE
    root = np.where(share > (6 / 29) ** 3, np.cbrt(share), share * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def luminance(color):
    return float(TO_XYZ[1] @ linear(color))


def contrast(one, two):
    dark, light = sorted([luminance(one), luminance(two)])
    return (light + 0.05) / (dark + 0.05)


def least_difference(colors, vision):
    seen = [lab(np.clip(np.array(VISION[vision]) @ linear(color), 0, 1)) for color in colors]
    return min(np.linalg.norm(seen[i] - seen[j]) for i in range(len(seen)) for j in range(i))


def script_theme(name):
    """The colors of a theme in the script, by name."""
    body = _source("painting/colors.js").split(f"  {name}: {{", 1)[1].split("  },", 1)[0]
    return {line.split(":")[0].strip(): line.split('"')[1] for line in body.splitlines() if '"#' in line}


def test_color_differences_are_those_of_the_literature():
    # White against black, and the two closest colors of the old page for protanopia.
    assert least_difference(["#ffffff", "#000000"], "normal") == pytest.approx(100, abs=0.01)
    assert least_difference(["#3366cc", "#7b57c8"], "protanopia") < 5
    assert contrast("#ffffff", "#767676") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_first_eight_colors_differ_for_everyone(theme, vision):
    assert least_difference(THEME_COLORS[theme]["categories"][:8], vision) >= 10


def test_the_page_has_the_palette_of_draw():
    assert tuple(THEME_COLORS["light"]["categories"]) == PALETTE
    kept = [one == two for one, two in zip(THEME_COLORS["dark"]["categories"], PALETTE, strict=True)]
    assert sum(kept) == 8
    assert stored(tr.page(STAR))["theme_colors"] == THEME_COLORS


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_is_visible_on_its_background(theme):
    colors = script_theme(theme)
    ground = GROUND[theme]
    assert colors["disk"] == ground
    assert contrast(colors["text"], ground) >= 4.5
    assert all(contrast(colors[name], ground) >= 3 for name in ("edge", "plain", "missing"))
    for name in ("ramp", "diverging"):
        assert all(contrast(color, ground) >= 3 for color in THEME_COLORS[theme][name])
    if theme == "dark":
        assert all(contrast(color, ground) >= 3 for color in THEME_COLORS[theme]["categories"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_ramps_get_lighter_or_darker_evenly(theme):
    ramp = [lab(linear(color))[0] for color in THEME_COLORS[theme]["ramp"]]
    assert (np.diff(ramp) > 0).all() and ramp[-1] - ramp[0] > 35
    wings = [lab(linear(color))[0] for color in THEME_COLORS[theme]["diverging"]]
    toward = 1 if theme == "light" else -1
    assert (toward * np.diff(wings[:3]) > 0).all() and (toward * np.diff(wings[2:]) < 0).all()


def css_variables(theme):
    start = ":root {" if theme == "light" else ':root[data-theme="dark"] {'
    body = _source("styles/page.css").split(start, 1)[1].split("}", 1)[0]
    return dict(
        (part.strip() for part in line.strip("; ").split(":", 1))
        for line in body.splitlines()
        if line.strip().startswith("--")
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_of_the_panel_is_readable(theme):
    colors = css_variables(theme)
    for ground in ("--card", "--ground", "--hover"):
        for text in ("--text", "--soft", "--accent", "--path"):
            assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)


def test_palettes_as_in_draw():
    letters = ["x", "y", "x"]
    red_blue = attribute(tr.page(STAR, color=letters, palette=["#ff0000", "blue"]), "color")
    assert red_blue["colors"] == ["#FF0000", "#0000FF"]
    mapped = tr.page(STAR, color=letters, palette={"y": (0, 1, 0), "x": "#12345678"})
    assert attribute(mapped, "color")["colors"] == ["#123456", "#00FF00"]
    assert attribute(mapped, "clusters (1)")["colors"] is None  # it does not have category 1
    ramp = attribute(tr.page(STAR, color=[0.5, 1, 2], palette="magma"), "color")["ramp"]
    assert ramp[0] == mpl.colors.to_hex(mpl.colormaps["magma"](0.0)).upper()
    assert ramp[-1] == mpl.colors.to_hex(mpl.colormaps["magma"](1.0)).upper()
    plain = attribute(tr.page(STAR, color=letters), "color")
    assert plain["colors"] is None


def test_palettes_of_several_columns():
    table = {"kind": ["x", "y", "x"], "size": [0.5, 1, 2], "other": ["p", "q", "r"]}
    page = tr.page(STAR, table=table, palette={"kind": {"x": "#111111", "y": "#222222"}, "size": "magma"})
    assert attribute(page, "kind")["colors"] == ["#111111", "#222222"]
    assert attribute(page, "size")["ramp"][0] == "#000004"
    assert attribute(page, "other")["colors"] is None


@pytest.mark.parametrize(
    ("palette", "color", "message"),
    [
        ({"x": "red"}, ["x", "y", "x"], "palette has no color for 'y': add one"),
        (
            ["no color"],
            ["x", "y", "x"],
            "'no color' in palette is not a color: use colors such",
        ),
        ("no map", [0.5, 1, 2], "matplotlib has no color map 'no map'"),
        (["red"], [0.5, 1, 2], "numbers need a matplotlib color map"),
        ([], ["x", "y", "x"], "palette is empty"),
    ],
)
def test_wrong_palettes_are_refused(palette, color, message):
    with pytest.raises(ValueError, match=message):
        tr.page(STAR, color=color, palette=palette)


def test_sparse_columns_stay_sparse():
    tree = tr.datasets.random_tree(1000, shape="star")
    dense = np.zeros(1000)
    dense[[3, 70, 999]] = [1.5, 2, 4]
    column = pd.Series(pd.arrays.SparseArray(dense, fill_value=0))
    page = tr.page(tree, table={"gene": column})
    entry = attribute(page, "gene")
    assert entry["kind"] == "number"
    assert entry["types"] == ["u2", "f4"]
    assert numbers(entry["rows"], "<u2").tolist() == [3, 70, 999]
    assert numbers(entry["values"], "<f4").tolist() == [1.5, 2, 4]
    assert stored(page)["color"] == 1  # clusters
    with pytest.raises(ValueError, match="column 'gene' has shape"):
        tr.page(STAR, table={"gene": column})
    dense[0] = np.inf
    with pytest.raises(ValueError, match="column 'gene' is not finite"):
        tr.page(tree, table={"gene": pd.Series(pd.arrays.SparseArray(dense, fill_value=0))})


def test_counts_take_one_byte_each():
    dense = np.zeros(70_000)
    dense[[3, 69_999]] = [1, 255]
    tree = tr.datasets.random_tree(70_000, shape="star")
    column = pd.Series(pd.arrays.SparseArray(dense, fill_value=0))
    entry = attribute(tr.page(tree, table={"gene": column}), "gene")
    assert entry["types"] == ["i4", "u1"]
    assert numbers(entry["rows"], "<i4").tolist() == [3, 69_999]
    assert numbers(entry["values"], "<u1").tolist() == [1, 255]
