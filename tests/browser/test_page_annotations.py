"""Data beside the tree, in a real browser: colors, legend, search, genes, tables, strips and cards."""

import io
import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import anndata as ad
import matplotlib as mpl
import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

import treerep as tr
from tests.drawing.page.test_palette import contrast, least_difference
from treerep.drawing.figures._colors import PALETTE
from treerep.drawing.page._palette import THEME_COLORS

pytestmark = pytest.mark.browser

ATTRIBUTE = "treerep.viewer.attribute"
N = 120


def binary(n: int = N) -> tr.Tree:
    tree = tr.datasets.random_tree(n, shape="binary", rng=1)
    return tr.Tree(n, tree.edges, tree.weights, labels=[f"cell {i}" for i in range(n)])


@pytest.fixture(scope="module")
def tree() -> tr.Tree:
    return binary()


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    kinds: list[str | None] = [f"b{i % 12}" for i in range(N)]
    kinds[3] = None
    size = rng.lognormal(size=N)
    size[5] = np.nan
    return {"kind": kinds, "size": size, "change": rng.normal(size=N)}


def hidden(page: Any) -> list[int]:
    return page.evaluate(
        "treerep.viewer.hidden && [...treerep.viewer.hidden].flatMap((f, i) => f ? [i] : [])"
    )


def channels(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


# Colors.


def test_categories_have_the_colors_of_draw_in_both_themes(tab, tree, table):
    page = tab.open(tree, table=table, color="kind")
    for theme in ("light", "dark"):
        colors = page.evaluate(f"{ATTRIBUTE}.palette('{theme}').slice(1)")
        assert [color.upper() for color in colors] == THEME_COLORS[theme]["categories"]
    assert page.locator("#legend .swatch").first.evaluate(
        "one => getComputedStyle(one).backgroundColor"
    ) == "rgb({}, {}, {})".format(*channels(PALETTE[0]))
    tab.shot("annotations-light")
    page.get_by_role("button", name="Light or dark").click()
    tab.settle()
    tab.shot("annotations-dark")
    page.get_by_role("button", name="Light or dark").click()


def test_the_palette_of_the_user_is_used(tab, tree, table):
    given = {f"b{i}": f"#0000{i:02d}" for i in range(12)}
    page = tab.open(tree, table=table, color="kind", palette=given)
    assert page.evaluate(f"{ATTRIBUTE}.palette('dark').slice(1)") == list(given.values())
    page = tab.open(tree, table=table, color="size", palette="magma")
    assert page.evaluate(f"{ATTRIBUTE}.palette('light').at(1)").upper() == "#000004"


def test_every_category_has_a_color(tab):
    n = 1000
    page = tab.open(binary(n), color=[f"kind {i}" for i in range(n)])
    assert page.evaluate(f"{ATTRIBUTE}.palette('light').length") == 61
    tips = page.evaluate(f"Array.from({{length: {n}}}, (_, i) => {ATTRIBUTE}.classOf(i))")
    assert min(tips) == 1 and len(set(tips)) == 60
    for theme in ("light", "dark"):
        colors = page.evaluate(f"{ATTRIBUTE}.palette('{theme}').slice(1)")
        assert len(set(colors)) == 60
        # Neighbors in the legend differ clearly, and shades of the same color visibly.
        pairs = [colors[i : i + 2] for i in range(59)] + [
            [colors[i], colors[j]] for i in range(60) for j in range(i % 12, i, 12)
        ]
        assert min(least_difference(pair, "normal") for pair in pairs) > 8
    rows = page.locator("#legend .rows")
    assert page.locator("#legend .entry").count() == 300
    assert rows.evaluate("one => one.scrollHeight > one.clientHeight")
    page.get_by_role("button", name="Show 700 more").click()
    assert page.locator("#legend .entry").count() == n
    tab.shot("annotations-thousand-categories")


# Numbers.


def shares(page: Any, values: np.ndarray) -> np.ndarray:
    return np.array(
        page.evaluate(f"values => values.map((v) => {ATTRIBUTE}.scale.share(v))", values.tolist())
    )


def test_scales_place_numbers_as_numpy_does(tab, tree, table):
    page = tab.open(tree, table=table, color="size")
    known = table["size"][~np.isnan(table["size"])]
    low, high = known.min(), known.max()
    scale = page.get_by_label("Color scale")
    expected = {
        "linear": (known - low) / (high - low),
        "log": np.log(known / low) / np.log(high / low),
        "quantile": (rankdata(known) - 1) / (len(known) - 1),
        "diverging": 0.5 + known / (2 * high),
    }
    for kind, wanted in expected.items():
        scale.select_option(kind)
        np.testing.assert_allclose(shares(page, known), wanted, atol=1e-12, err_msg=kind)
        middle = page.evaluate(f"{ATTRIBUTE}.scale.value(0.5)")
        np.testing.assert_allclose(shares(page, np.array([middle])), 0.5, atol=0.005)
        steps = page.evaluate(f"{ATTRIBUTE}.scale.histogram(32)")
        assert sum(steps) == len(known)
        classes = page.evaluate(f"Array.from({{length: {N}}}, (_, i) => {ATTRIBUTE}.classOf(i))")
        assert classes[5] == 0  # missing
        known_classes = np.delete(classes, 5)
        np.testing.assert_array_equal(known_classes, 1 + np.floor(31 * wanted + 0.5))
    tab.shot("annotations-diverging")
    assert page.locator("#legend p").first.inner_text() == "1 point missing"


def test_limits_and_center(tab, tree, table):
    page = tab.open(tree, table=table, color="change")
    page.get_by_label("From").fill("-1")
    page.get_by_label("To", exact=True).fill("1")
    page.keyboard.press("Enter")
    assert page.locator("#legend .ends span").all_inner_texts() == ["-1", "0", "1"]
    np.testing.assert_allclose(shares(page, np.array([-5, -1, 0, 0.5, 9])), [0, 0, 0.5, 0.75, 1])
    page.get_by_label("Fade values outside").check()
    outside = np.flatnonzero(np.abs(table["change"]) > 1)
    assert hidden(page) == outside.tolist()
    assert f"{len(outside)} points filtered out" in page.locator("#legend").inner_text()
    page.get_by_label("From").fill("2")
    page.keyboard.press("Enter")
    assert page.get_by_role("alert").inner_text() == (
        "The first limit must be below the second: change one of them."
    )
    np.testing.assert_allclose(shares(page, np.array([-1, 1])), [0, 1])
    page.get_by_label("From").fill("")
    page.get_by_label("Color scale").select_option("diverging")
    page.get_by_label("Center").fill("0.5")
    page.keyboard.press("Enter")
    assert shares(page, np.array([0.5]))[0] == 0.5
    page.get_by_role("button", name="Show all").click()
    assert hidden(page) is None


def test_negative_numbers_have_no_log_scale(tab, tree):
    page = tab.open(tree, color=-np.arange(1, N + 1) / 2)
    assert page.locator("[aria-label='Color scale'] option").all_inner_texts() == [
        "linear scale",
        "quantile scale",
        "diverging scale",
    ]
    page = tab.open(tree, color=np.full(N, 2.5))  # all equal
    assert shares(page, np.array([2.5]))[0] == 0.5
    page = tab.open(tree, color=np.arange(N) - 0.5)  # some are not positive
    page.get_by_label("Color scale").select_option("log")
    np.testing.assert_allclose(shares(page, np.array([-0.5, 0.5, N - 1.5])), [0, 0, 1])


# The legend.


def test_the_legend_counts_in_natural_order(tab, tree, table):
    page = tab.open(tree, table=table, color="kind")
    assert page.locator("#legend .name").all_inner_texts() == [
        *(f"b{i}" for i in range(12)),
        "missing",
    ]
    counts = [int(text) for text in page.locator("#legend .count").all_inner_texts()]
    assert counts == [table["kind"].count(f"b{i}") for i in range(12)] + [1]
    level = pd.Series(pd.Categorical(["low", "high"] * (N // 2), categories=["low", "none", "high"]))
    page = tab.open(tree, color=level)
    assert page.locator("#legend .name").all_inner_texts() == ["low", "none", "high"]
    assert page.locator("#legend .count").all_inner_texts() == ["60", "0", "60"]


def test_the_legend_hides_isolates_and_selects(tab, tree, table):
    page = tab.open(tree, table=table, color="kind")
    members = {name: [i for i, kind in enumerate(table["kind"]) if kind == name] for name in ("b2", "b7")}
    show = page.locator("#legend .show")
    show.nth(2).click()
    assert hidden(page) == members["b2"]
    assert show.nth(2).get_attribute("aria-pressed") == "false"
    show.nth(2).focus()
    page.keyboard.press("Enter")
    assert hidden(page) is None
    assert show.nth(2).evaluate("one => one === document.activeElement")
    show.nth(7).dblclick()
    assert hidden(page) == [i for i in range(N) if i not in members["b7"]]
    tab.settle()
    tab.shot("annotations-isolated")
    page.locator("#colorby").select_option("size")  # the filter stays
    assert f"{N - len(members['b7'])} points filtered out" in page.locator("#legend").inner_text()
    page.locator("#colorby").select_option("kind")
    show.nth(7).dblclick()
    assert hidden(page) is None
    page.get_by_role("button", name="Select b7").focus()
    page.keyboard.press("Enter")
    assert sorted(tab.state()["selected"]) == sorted(f"cell {i}" for i in members["b7"])
    page.get_by_role("button", name="Show only b2").focus()
    page.keyboard.press("Enter")
    assert hidden(page) == [i for i in range(N) if i not in members["b2"]]
    page.get_by_role("button", name="Show all").click()
    assert hidden(page) is None


@pytest.mark.parametrize("layout", ["disk", "rectangular", "circular", "unrooted"])
def test_filtered_points_are_faint(tab, tree, table, layout):
    page = tab.open(tree, table=table, color="kind", layout=layout)
    before = page.evaluate("treerep.viewer.svg()")
    page.locator("#legend .show").nth(0).click()
    after = page.evaluate("treerep.viewer.svg()")
    color = PALETTE[0].lower()
    assert f'fill="{color}"' in before.lower() and f'fill="{color}"' not in after.lower()
    assert 'opacity="0.16"' in after


# Search.


def matches(page: Any) -> list[int]:
    return sorted(page.evaluate("treerep.viewer.searches.current.nodes"))


def test_queries_find_what_numpy_finds(tab, tree, table):
    page = tab.open(tree, table=table, color="change")
    kinds = np.array([kind or "" for kind in table["kind"]])
    size, change = table["size"], table["change"]
    expected = {
        "kind: b1": np.char.startswith(kinds, "b1"),
        "kind = b1": kinds == "b1",
        "KIND:/^b[12]$/": np.isin(kinds, ["b1", "b2"]),
        "size > 1.5": size > 1.5,
        "size <= 1.5": size <= 1.5,
        "size: missing": np.isnan(size),
        f"change = {float(change[7])!r}": np.arange(N) == 7,
        "> 0.5": change > 0.5,
        "/cell 1[0-3]$/": np.isin(np.arange(N), [10, 11, 12, 13]),
        "cell 11": np.char.find(np.array([f"cell {i}" for i in range(N)]), "cell 11") >= 0,
        "label: cell 7": np.char.find(np.array([f"cell {i}" for i in range(N)]), "cell 7") >= 0,
    }
    for query, wanted in expected.items():
        page.locator("#search").fill(query)
        assert matches(page) == np.flatnonzero(wanted).tolist(), query
        count = f"{wanted.sum()} match{'' if wanted.sum() == 1 else 'es'}"
        assert page.locator("#searches .count").inner_text() == count
    page.locator("#search").fill("b11")  # labels cell 11 have no b11
    assert matches(page) == np.flatnonzero(kinds == "b11").tolist()
    assert page.locator("#found li").first.locator("small").inner_text() == "kind: b11"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("size > large", "Compare size with a number, e.g. size > 2"),
        ("/cell [/", "/cell [/ is not a regular expression: close its brackets"),
        ("nothing: here", "no match"),
    ],
)
def test_wrong_queries_say_what_is_wrong(tab, tree, table, query, message):
    page = tab.open(tree, table=table)
    page.locator("#search").fill(query)
    assert page.locator("#found li").all_inner_texts() == [message]
    assert page.locator("#searches .count").inner_text() == "0 matches"


def test_matches_are_stepped_through_selected_and_kept(tab, tree, table):
    page = tab.open(tree, table=table, layout="rectangular")
    page.locator("#search").fill("kind: b4")
    page.get_by_role("button", name="Next match").click()
    order = page.evaluate(
        "[...treerep.viewer.searches.current.nodes].sort((a, b) =>"
        " treerep.viewer.tree.position[a] - treerep.viewer.tree.position[b])"
    )
    assert tab.state()["chosen"] == order[0]
    assert page.locator("#searches .count").inner_text() == "1 of 10"
    page.locator("#disk").focus()
    page.keyboard.press("n")
    assert tab.state()["chosen"] == order[1]
    for _ in range(3):
        page.keyboard.press("N")
    assert tab.state()["chosen"] == order[-2]
    page.get_by_role("button", name="Select all matches").click()
    assert len(tab.state()["selected"]) == 10
    page.get_by_role("button", name="Keep these matches").click()
    page.locator("#search").fill("kind: b5")
    assert page.locator(".searched").count() == 2
    page.mouse.click(1000, 790)
    tab.settle()
    tab.shot("annotations-two-searches")
    svg = page.evaluate("treerep.viewer.svg()")
    assert 'stroke="#b8005c"' in svg and 'stroke="#00705a"' in svg
    for _ in range(2):
        page.get_by_role("button", name="Remove search").first.click()
    assert page.locator(".searched").count() == 0
    assert page.locator("#search").input_value() == ""
    assert 'stroke="#b8005c"' not in page.evaluate("treerep.viewer.svg()")


def test_the_search_box_is_a_combobox(tab, tree, table):
    page = tab.open(tree, table=table)
    box = page.get_by_role("combobox", name="Search labels and attributes")
    box.fill("cell 1")
    assert box.get_attribute("aria-expanded") == "true"
    assert page.locator(f"#{box.get_attribute('aria-controls')}").get_attribute("role") == "listbox"
    page.keyboard.press("ArrowDown")
    active = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-selected") == "true" and active.get_attribute("role") == "option"
    assert active.inner_text() == "cell 10"
    page.keyboard.press("Escape")
    assert box.get_attribute("aria-expanded") == "false"


# Genes and AnnData.


def test_a_gene_is_found_by_name_and_decoded_when_chosen(tab, tmp_path):
    rng = np.random.default_rng(2)
    adata = ad.AnnData(rng.poisson(0.4, (60, 30)).astype(np.float32))
    adata.obs_names = [f"c{i}" for i in range(60)]
    adata.var_names = [f"GENE{i}" for i in range(30)]
    adata.obs["louvain"] = pd.Categorical([str(i % 3) for i in range(60)])
    adata.uns["louvain_colors"] = ["#123456", "#234567", "#345678"]
    tree = tr.datasets.random_tree(60, rng=2)
    labels = list(adata.obs_names)
    tr.tl.set_tree(adata, tr.Tree(60, tree.edges, tree.weights, labels=labels))
    path = tmp_path / "cells.html"
    tr.pl.page(adata, path, color="louvain", genes="all")
    page = tab.page = tab.pages.take((1280, 800), {})
    tab.urls.add(path.as_uri())
    page.goto(path.as_uri())
    tab.settle()
    assert page.evaluate(f"{ATTRIBUTE}.palette('light').slice(1)") == [
        "#123456",
        "#234567",
        "#345678",
    ]
    assert page.locator("#colorby option").all_inner_texts()[:2] == ["nothing", "louvain"]
    assert "GENE7" not in page.locator("#colorby").inner_text()
    page.locator("#gene").fill("gene7")
    page.keyboard.press("Enter")
    assert page.evaluate(f"{ATTRIBUTE}.name") == "GENE7"
    np.testing.assert_array_equal(page.evaluate(f"[...{ATTRIBUTE}.values]"), adata.X[:, 7])
    page.evaluate("treerep.viewer.choose(treerep.viewer.tree.position[4])")
    assert f"GENE7\n{adata.X[4, 7]:g}" in page.locator("#details").inner_text()
    assert "GENE8" not in page.locator("#details").inner_text()
    page.locator("#search").fill("GENE9 > 1")
    assert matches(page) == np.flatnonzero(adata.X[:, 9] > 1).tolist()
    page.locator("#gene").fill("TP53")
    page.keyboard.press("Enter")
    assert page.locator("#gene").evaluate("one => one.validationMessage") == (
        "No gene of this page is named TP53"
    )
    page.keyboard.press("Escape")


# Tables.


def give(page: Any, text: str, name: str = "more.csv") -> str:
    page.locator("#tablefile").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    )
    page.wait_for_timeout(100)
    return page.locator("#tablenote").text_content()


def test_a_table_annotates_the_points(tab, tree):
    page = tab.open(tree)
    rows = "".join(f'"cell {i}",run {i % 11},{i / 8},{i}\n' for i in range(100))
    said = give(page, f"\ufeffname,batch,score,rank\n{rows}cell 500,run 3,1,2\n")
    assert said == "more.csv: 100 of 120 points matched, 1 row unused, 3 columns added."
    assert page.locator("#colorby option:checked").inner_text() == "batch"
    assert page.locator("#legend .name").all_inner_texts() == [
        *(f"run {i}" for i in range(11)),
        "missing",
    ]
    page.locator("#colorby").select_option("score")
    values = np.array(page.evaluate(f"[...{ATTRIBUTE}.values].map((v) => Number.isNaN(v) ? null : v)"), float)
    np.testing.assert_array_equal(values[:100], np.arange(100) / 8)
    assert np.isnan(values[100:]).all()
    assert page.evaluate("treerep.viewer.attributes.at(-1).kind") == "number"
    tab.shot("annotations-table")
    # Labels may be in another column, and cells may be quoted. A second column of this name gets a number.
    said = give(page, 'batch\tid\nx\tcell 4\n"a\t""b"""\tcell 5\n', "two.tsv")
    assert said == "two.tsv: 2 of 120 points matched, 1 column added."
    assert page.evaluate(f"{ATTRIBUTE}.name") == "batch (2)"
    assert page.evaluate(f"{ATTRIBUTE}.text(5)") == 'a\t"b"'


def test_a_dropped_file_annotates_the_points(tab, tree):
    page = tab.open(tree)
    page.evaluate(
        "() => { const data = new DataTransfer();"
        " data.items.add(new File(['id,kind\\ncell 1,x\\ncell 2,y\\n'], 'drop.csv'));"
        " const send = (type) => document.dispatchEvent("
        "   new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));"
        " send('dragover'); window.shown = !document.getElementById('droparea').hidden; send('drop'); }"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.shown") and not page.locator("#droparea").is_visible()
    assert page.locator("#tablenote").inner_text() == "drop.csv: 2 of 120 points matched, 1 column added."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the table is empty: add a header and a row for each point"),
        (
            "id,kind\nx,1\n",
            "no cell is a label of the tree: put the labels into the first column",
        ),
        ("id,kind\ncell 1,1\ncell 1,2\n", "two rows have the label cell 1: remove one of them"),
        ("id,kind\ncell 1\n", "row 2 has 1 cells, but the header has 2: add or remove cells"),
        ("id\ncell 1\n", "the table has only labels: add a column of attributes"),
        ('id,kind\ncell 1,"x\n', "row 2 has an unclosed quote: close it"),
    ],
)
def test_wrong_tables_say_what_is_wrong(tab, tree, text, message):
    page = tab.open(tree)
    assert give(page, text) == f"more.csv: {message}"
    assert page.evaluate("treerep.viewer.attributes.length") == 1


def test_nothing_in_a_table_is_taken_for_code(tab, tree):
    page = tab.open(tree)
    bad = "<img src=x onerror='window.hacked=1'>"
    said = give(page, f"id,{bad}\ncell 1,{bad}\n", f"{bad}.csv")
    assert said.startswith(f"{bad}.csv: 1 of 120")
    assert page.locator("#legend .name").first.inner_text() == bad
    assert page.locator("img").count() == 0 and page.evaluate("window.hacked") is None


# Strips.


def rectangles(svg: str) -> dict[str, list[list[float]]]:
    """Boxes of the filled rectangles of an SVG picture, by color."""
    boxes: dict[str, list[list[float]]] = {}
    for path in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}path"):
        for part in re.findall(r"M([\d.-]+) ([\d.-]+)h13v([\d.]+)h-13Z", path.get("d", "")):
            boxes.setdefault(path.get("fill", ""), []).append([float(value) for value in part])
    return boxes


def test_strips_are_beside_their_tips(tab, tree, table):
    page = tab.open(tree, table=table, color="kind", layout="rectangular")
    page.locator("#strips summary").click()
    page.locator("#striplist").get_by_label("kind").check()
    page.locator("#striplist").get_by_label("size").check()
    tab.settle()
    tab.shot("annotations-strips")
    svg = page.evaluate("treerep.viewer.svg()")
    boxes = [
        (left, top, top + high, color)
        for color, found in rectangles(svg).items()
        for left, top, high in found
    ]
    lefts = sorted({box[0] for box in boxes})
    assert len(lefts) == 2
    for node in range(N):
        x, y = tab.pixel(node)
        for left, name in zip(lefts, ("kind", "size"), strict=True):
            assert left > x
            attribute = f"treerep.viewer.attributes.find((one) => one.name === '{name}')"
            wanted = page.evaluate(f"{attribute}.palette('light')[{attribute}.classOf({node})]")
            shown = [box[3] for box in boxes if box[0] == left and box[1] <= y <= box[2]]
            assert wanted in shown, (node, name)
    texts = [one.text for one in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert {"kind", "size"} <= set(texts)
    page.locator("#striplist").get_by_label("size").uncheck()
    assert (
        len({box[0] for found in rectangles(page.evaluate("treerep.viewer.svg()")).values() for box in found})
        == 1
    )


@pytest.mark.parametrize("layout", ["rectangular", "circular"])
def test_a_strip_tells_its_tip(tab, tree, table, layout):
    page = tab.open(tree, table=table, color="kind", layout=layout)
    page.evaluate("treerep.viewer.setStrips(treerep.viewer.attributes.slice(0, 2))")
    tab.settle()
    line = page.evaluate("treerep.viewer.layout.tipLine()")
    room = page.evaluate("treerep.viewer.layout.labelRoom")
    for node in (0, 17, 63, N - 1):
        x, y = tab.pixel(node)
        if layout == "circular":
            turn = page.evaluate(f"treerep.viewer.layout.angleAt(treerep.viewer.tree.position[{node}])")
            radius = line["r"] + room - 8
            x = line["cx"] + radius * np.cos(turn)
            y = line["cy"] + radius * np.sin(turn)
        else:
            x = line["x"] + room - 8
        page.mouse.move(x, y)
        assert page.locator("#tip strong").inner_text() == f"cell {node}"
        assert f"kind: {table['kind'][node]}" in page.locator("#tip").inner_text()


def test_rings_are_around_the_circle(tab, tree, table):
    page = tab.open(tree, table=table, color="kind", layout="circular")
    page.evaluate("treerep.viewer.setStrips(treerep.viewer.attributes.slice(0, 3))")
    tab.settle()
    tab.shot("annotations-rings")
    line, room = page.evaluate("[treerep.viewer.layout.tipLine(), treerep.viewer.window.room]")
    outer = page.evaluate("treerep.viewer.layout.labelRoom") + line["r"]
    assert line["cx"] + outer <= room["right"] + 1 and line["cy"] - outer >= room["top"] - 1
    kinds = {f"b{i}": color for i, color in enumerate(PALETTE)}
    radius = line["r"] + page.evaluate("treerep.viewer.layout.labelRoom") - 3 * 16 + 6
    turns = page.evaluate(
        "Array.from(treerep.viewer.tree.position.slice(0, treerep.viewer.tree.nPoints),"
        " (k) => treerep.viewer.layout.angleAt(k))"
    )
    picture = 255 * mpl.image.imread(io.BytesIO(page.screenshot()))
    pixels = [
        picture[int(line["cy"] + radius * np.sin(turn)), int(line["cx"] + radius * np.cos(turn))]
        for turn in turns
    ]
    right = sum(
        kind is not None and np.abs(np.array(pixel[:3]) - channels(kinds[kind])).max() < 8
        for pixel, kind in zip(pixels, table["kind"], strict=True)
    )
    assert right >= 110


def test_strips_of_many_tips_are_drawn_by_pixel(tab):
    n = 20_000
    page = tab.open(tr.datasets.random_tree(n, shape="binary", rng=1), layout="rectangular")
    page.evaluate("treerep.viewer.setStrips([treerep.viewer.attribute])")
    tab.settle()
    svg = page.evaluate("treerep.viewer.svg()")
    assert 1 < sum(map(len, rectangles(svg).values())) <= 800
    tab.shot("annotations-strips-many")
    page.evaluate("treerep.viewer.filters.toggle(treerep.viewer.attribute, 0)")
    assert 'opacity="0.16"' in page.evaluate("treerep.viewer.svg()")


# Cards, focus and names.

MARKED = (
    "() => { const {viewer} = treerep; viewer.choose(5); viewer.showPath(5, 40); viewer.selectBranch(0); }"
)
VIEWPORTS = [(1280, 800), (1280, 420), (844, 390), (390, 844), (320, 568), (720, 500)]


@pytest.mark.parametrize("viewport", VIEWPORTS)
def test_no_card_covers_a_button(tab, viewport):
    n = 300
    phone = min(viewport) < 500
    names = {f"column {i}": np.arange(n) / 7 for i in range(12)}
    context = {"has_touch": True, "is_mobile": True} if phone else {}
    page = tab.open(
        binary(n),
        viewport=viewport,
        context=context,
        table={
            **names,
            "kind": [f"a rather long name of a category {i % 60}" for i in range(n)],
        },
        color="kind",
        data=None,
    )
    page.evaluate(MARKED)
    page.locator("#search").fill("cell 1")
    page.locator("#search").blur()
    tab.settle()
    tab.shot(f"annotations-cards-{viewport[0]}x{viewport[1]}")
    covered = page.evaluate(
        "() => [...document.querySelectorAll('button')].filter((one) => {"
        " one.scrollIntoView({block: 'nearest'});"
        " const box = one.getBoundingClientRect(); const style = getComputedStyle(one.closest('.minis') ?? one);"
        " if (!one.checkVisibility()) return false;"
        " if (box.width === 0 || style.opacity === '0' || one.closest('dialog')) return false;"
        " const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);"
        " return !hit || !(one === hit || one.contains(hit)); }).map((one) => one.textContent || one.title)"
    )
    assert covered == []
    facts = page.locator("#details dd")
    for i in range(facts.count()):
        facts.nth(i).scroll_into_view_if_needed()
        box = facts.nth(i).bounding_box()
        hit = page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y).tagName",
            [box["x"] + box["width"] - 3, box["y"] + box["height"] / 2],
        )
        assert hit == "DD"
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport[0]


def test_cards_and_help_are_opaque(tab, tree):
    page = tab.open(tree)
    page.evaluate("treerep.viewer.choose(0)")
    for name in ("#details", "#help", "#tip", "#found"):
        color = page.locator(name).evaluate("one => getComputedStyle(one).backgroundColor")
        assert re.fullmatch(r"rgb\(\d+, \d+, \d+\)", color), name


def test_the_ring_around_the_tree_is_for_the_tab_key(tab, tree):
    page = tab.open(tree)
    outline = "getComputedStyle(document.getElementById('disk')).outlineStyle"
    page.locator("#search").fill("cell 7")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "disk"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(outline) == "none"
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.id") == "disk"
    assert page.evaluate(outline) == "solid"


TEXTS = """() => [...document.querySelectorAll('body *')].filter((one) => {
  const box = one.getBoundingClientRect();
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  return own && box.width > 0 && !['SCRIPT', 'STYLE', 'OPTION'].includes(one.tagName);
}).map((one) => {
  let ground = one;
  const isClear = (color) => color === 'transparent' || /, 0\\)$/.test(color);
  while (ground && isClear(getComputedStyle(ground).backgroundColor)) ground = ground.parentElement;
  const below = getComputedStyle(ground ?? document.body).backgroundColor;
  return [one.outerHTML.slice(0, 90), getComputedStyle(one).color, below];
})"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_text_has_enough_contrast(tab, tree, table, theme):
    page = tab.open(tree, table=table, color="kind", context={"color_scheme": theme})
    page.locator("#legend .show").nth(2).click()
    page.evaluate(MARKED)
    page.locator("#search").fill("cell 1")
    page.keyboard.press("ArrowDown")
    texts = page.evaluate(TEXTS)
    assert len(texts) > 60
    for what, text, ground in texts:
        colors = [
            "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", one)[:3])
            for one in (text, ground)
        ]
        assert contrast(*colors) >= 4.5, (what, text, ground)


def test_every_control_has_a_name_and_every_id_is_unique(tab, tree, table):
    page = tab.open(tree, table=table, color="size", layout="rectangular")
    page.locator("#search").fill("cell 1")
    page.evaluate("treerep.viewer.choose(0)")
    unnamed = page.evaluate(
        "() => [...document.querySelectorAll('button, input, select')].filter((one) => !(one.hidden"
        " || one.textContent.trim() && one.tagName === 'BUTTON' || one.getAttribute('aria-label')"
        " || one.labels?.length > 0)).map((one) => one.outerHTML)"
    )
    assert unnamed == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    for name in ("aria-controls", "aria-labelledby", "aria-describedby"):
        targets = page.evaluate(
            f"[...document.querySelectorAll('[{name}]')].map((one) => one.getAttribute('{name}'))"
        )
        assert set(targets) <= set(ids), json.dumps(targets)
