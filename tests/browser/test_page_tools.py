"""Tools of the page that change or share the tree: roots, order, support, clusters, links and exports."""

import io
import os
import re
import struct
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import treerep as tr
from tests.browser.pages import Tab, downloaded
from treerep.drawing.page._content import edge_angles
from treerep.embedding.sarkar.construction import sarkar

pytestmark = pytest.mark.browser

TREES = {
    "two points": tr.Tree(2, [[0, 1]], [3.0]),
    "zero lengths": tr.Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [0.0, 1.0, 0.0, 2.0, 0.0]),
    "a star": tr.datasets.random_tree(40, shape="star", rng=1),
    "a caterpillar": tr.datasets.random_tree(30, shape="caterpillar", rng=1),
    "a binary tree": tr.datasets.random_tree(60, shape="binary", rng=1),
    "inner points": tr.datasets.random_tree(80, rng=1),
    "large": tr.datasets.random_tree(2000, rng=2),
}
ROOTED = tr.Tree.from_newick("((a:1,(b:2,c:1)0.75:1)0.9:2,((d:1,e:2)clade:3,(f:1,g:1)0.5:1)1.0:1,h:9);")


def arrange(tab: Tab, command: str, *nodes: int) -> None:
    """Run a command of the arrangement at the positions of nodes."""
    script = (
        "([name, nodes]) => { const { viewer } = treerep; const { position } = viewer.tree;"
        " viewer.arrangement[name](...nodes.map((node) => position[node])); }"
    )
    tab.page.evaluate(script, [command, list(nodes)])
    tab.settle()


def rooting(tab: Tab) -> dict[str, Any]:
    """The tree that the page shows, by preorder position."""
    return tab.page.evaluate(
        "() => { const { node, up, length, support, angle, collapsed } = treerep.viewer.tree;"
        " const arrays = { node, up, length, support, angle, collapsed };"
        " for (const name in arrays) arrays[name] = Array.from(arrays[name], (x) => x !== x ? null : x);"
        " return arrays; }"
    )


def written(tab: Tab) -> str:
    return tab.page.evaluate("treerep.viewer.tree.newick(new Uint8Array(treerep.viewer.tree.n).fill(1))")


def root_distances(tree: tr.Tree, root: int | None = None) -> np.ndarray:
    return tree.rooted(tree.root if root is None else root).depth[: tree.n_points]


def assert_same_angles(up: Any, got: Any, expected: Any) -> None:
    """Compare the angles around each node as sets: siblings with equally many points may exchange them."""
    by_parent = [np.lexsort([np.round(angles, 6), up]) for angles in (got, expected)]
    sorted_angles = [np.array(angles)[at] for angles, at in zip((got, expected), by_parent, strict=True)]
    np.testing.assert_allclose(*np.exp(1j * np.array(sorted_angles)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", TREES)
def test_any_node_becomes_the_root_with_the_angles_of_python(tab, name):
    tree = TREES[name]
    tab.open(tree)
    for root in {0, tree.n_nodes // 2, tree.n_nodes - 1}:
        arrange(tab, "rerootAt", root)
        got = rooting(tab)
        embedding = sarkar(tree, dim=2, scale=1.0, root=root)
        assert got["node"][0] == root
        node, up = np.array(got["node"]), np.array(got["up"])
        assert (up[1:] < np.arange(1, len(up))).all()
        np.testing.assert_array_equal(tree.pairs(node[1:], node[up[1:]]), got["length"][1:])
        expected = edge_angles(embedding)[embedding.oracle.position[node]]
        assert_same_angles(up, got["angle"], expected)
        assert tr.Tree.from_newick(written(tab)).isclose(tree)


@pytest.mark.parametrize("name", TREES)
def test_the_angles_of_the_first_root_are_those_that_python_stored(tab, name):
    page = tab.open(TREES[name])
    before = rooting(tab)
    page.evaluate("treerep.viewer.arrangement.rerootAt(0)")  # computes the angles again
    after = rooting(tab)
    assert after["node"] == before["node"]
    assert_same_angles(before["up"], after["angle"], before["angle"])


def test_a_root_in_the_middle_of_an_edge_is_written_to_newick(tab):
    tree = TREES["a binary tree"]
    tab.open(tree)
    for edge in (3, 40, 77):
        arrange(tab, "resetRoot")
        a, b = tree.edges[edge].tolist()
        lower = max(a, b, key=rooting(tab)["node"].index)
        arrange(tab, "rerootAbove", lower)
        half, new = tr.tree.operations.rerooting._split_edge(tree, a, b, float(tree.weights[edge]) / 2)
        got = tr.Tree.from_newick(written(tab))
        assert got.isclose(tree)
        wanted = root_distances(half, new)
        order = [got.labels.index(str(i)) for i in range(60)] if got.labels else range(60)
        np.testing.assert_allclose(root_distances(got)[order], wanted, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in TREES if name != "large"])
def test_the_midpoint_is_that_of_python(tab, name):
    tree = TREES[name]
    tab.open(tree)
    arrange(tab, "rerootAtMidpoint")
    expected, root = tree.root_at_midpoint()
    farthest = root_distances(expected, root).max()
    got = rooting(tab)
    depth = [0.0]
    for k in range(1, len(got["up"])):
        depth.append(depth[got["up"][k]] + got["length"][k])
    points = [depth[k] for k, node in enumerate(got["node"]) if node < len(tree)]
    assert max(points) == pytest.approx(farthest, rel=1e-12)


def test_ladderizing_sorts_children_by_their_number_of_points(tab):
    tree = TREES["inner points"]
    tab.open(tree)
    first = rooting(tab)
    for order, sign in (("ascending", 1), ("descending", -1)):
        tab.page.evaluate("order => treerep.viewer.arrangement.setOrder(order)", order)
        got = rooting(tab)
        below = np.array(tab.page.evaluate("Array.from(treerep.viewer.tree.pointsBelow)"))
        for parent in range(len(below)):
            children = np.flatnonzero(np.array(got["up"]) == parent)
            assert (np.diff(sign * below[children]) >= 0).all()
        at = np.argsort(got["node"])
        was = np.argsort(first["node"])
        np.testing.assert_array_equal(np.array(got["angle"])[at], np.array(first["angle"])[was])
        assert tr.Tree.from_newick(written(tab)).isclose(tree)
    tab.page.evaluate("treerep.viewer.arrangement.setOrder('original')")
    assert rooting(tab) == first


def test_rotating_a_node_reverses_its_children_only(tab):
    tree = TREES["a binary tree"]
    tab.open(tree)
    before = rooting(tab)
    hub = before["node"][1]
    children = [before["node"][k] for k, up in enumerate(before["up"]) if up == 1]
    arrange(tab, "rotate", hub)
    after = rooting(tab)
    k = after["node"].index(hub)
    turned = [after["node"][i] for i, up in enumerate(after["up"]) if up == k]
    assert turned == children[::-1] and len(children) > 1
    arrange(tab, "rotate", hub)
    assert rooting(tab) == before


def test_marks_stay_on_their_nodes_when_the_root_moves(tab):
    tree = TREES["inner points"]
    page = tab.open(tree)
    page.evaluate(
        "() => { const { viewer } = treerep; const { position } = viewer.tree;"
        " viewer.selectBranch(viewer.tree.up[position[5]]); viewer.showPath(position[3], position[9]);"
        " viewer.choose(position[7]); }"
    )
    tab.settle()
    before = tab.state()
    arrange(tab, "rerootAt", 30)
    after = tab.state()
    assert after["chosen"] == 7
    assert sorted(after["selected"]) == sorted(before["selected"])
    assert after["path"] == before["path"]


def test_support_and_clade_names_survive_a_change_of_the_root(tab):
    page = tab.open(ROOTED)
    assert sorted(x for x in rooting(tab)["support"] if x is not None) == [0.5, 0.75, 0.9, 1.0]
    for root in ("b", "e", "h"):
        arrange(tab, "rerootAt", ROOTED.labels.index(root))
        got = tr.Tree.from_newick(written(tab))
        same = ROOTED.contracted()
        assert got.restrict(sorted(got.labels)).isclose(ROOTED.restrict(sorted(got.labels)))
        expected = same.newick(root=root)
        read = tr.Tree.from_newick(expected)
        assert sorted(got.support[~np.isnan(got.support)]) == sorted(read.support[~np.isnan(read.support)])
        assert "clade" in got.clade_names.values()
    assert page.evaluate("treerep.viewer.tree.clades") != {}


@pytest.mark.parametrize("name", ["a star", "a binary tree", "inner points", "large", "zero lengths"])
def test_clusters_are_those_of_cut(tab, name):
    tree = TREES[name]
    page = tab.open(tree)
    for k in (2, 3, 4, 7, 20, 50):
        if k <= len(tree):
            got = page.evaluate("k => Array.from(treerep.viewer.arrangement.clusters(k))", k)
            np.testing.assert_array_equal(got, tree.cut(k))


def test_clades_collapse_and_expand(tab):
    page = tab.open(ROOTED)
    names = page.evaluate("treerep.viewer.tree.clades")
    (clade,) = map(int, names)
    arrange(tab, "toggleCollapse", clade)
    got = rooting(tab)
    assert [got["node"][k] for k, flag in enumerate(got["collapsed"]) if flag] == [clade]
    page.evaluate("treerep.viewer.arrangement.collapseUnsupported(0.8)")
    flags = np.array(rooting(tab)["collapsed"], bool)
    support = np.array([np.nan if x is None else x for x in got["support"]])
    assert sorted(support[flags]) == [0.5, 0.75]
    page.evaluate("treerep.viewer.arrangement.expandAll()")
    assert not any(rooting(tab)["collapsed"])


def test_a_link_restores_the_whole_view(tab, mammals):
    tree, _ = mammals
    table = {"legs": [4, 4, 4, 4, 0, 0, 4, 2], "mass": np.arange(8) / 7}
    page = tab.open(tree, table=table)
    assert page.evaluate("location.hash") == ""
    arrange(tab, "rerootAbove", tree.labels.index("monkey"))
    inner = page.evaluate(
        "() => { const { viewer } = treerep; const { tree, arrangement } = viewer;"
        " const k = tree.pointsBelow.findIndex((count, i) => i > 0 && count === 2);"
        " arrangement.setOrder('descending'); arrangement.rotate(0);"
        " arrangement.toggleCollapse(viewer.tree.pointsBelow.indexOf(2));"
        " viewer.setShape(1); viewer.setSpread(1.5); viewer.colorBy(1); viewer.setLeastSupport(0.4);"
        " const { position } = viewer.tree; viewer.showPath(position[0], position[6]);"
        " viewer.selectBranch(viewer.tree.pointsBelow.indexOf(3)); viewer.mark(position[4]);"
        " viewer.zoomBy(1.7, [700, 300]); viewer.drag([700, 400], [640, 460]); return viewer.viewState(); }"
    )
    page.keyboard.press("d")
    page.wait_for_timeout(600)
    tab.settle()
    state, places = page.evaluate("treerep.viewer.viewState()"), tab.positions()
    assert set(state) >= {*inner, "theme"}
    url = page.evaluate("location.href")
    assert "color=mass" in url and len(url.split("#")[1]) < 300
    page.goto("about:blank")
    page.goto(url)
    tab.settle()
    assert {**page.evaluate("treerep.viewer.viewState()"), "at": state["at"]} == state
    assert page.locator("#colorby option:checked").inner_text() == "mass"
    # Five digits of the camera.
    np.testing.assert_allclose(tab.positions(), places, atol=1e-3)
    tab.shot("restored")


def test_a_link_keeps_strips_filters_scales_and_searches(tab, mammals):
    tree, _ = mammals
    table = {"legs": [4, 4, 4, 4, 0, 0, 4, 2], "mass": [30.5, 200, 8, 0.2, 90, 250, 4, 7]}
    page = tab.open(tree, table=table, color="mass", layout="rectangular")
    page.evaluate(
        "() => { const { viewer } = treerep; const [legs, mass] = viewer.attributes;"
        " viewer.setStrips([mass, legs]); mass.setScale({ kind: 'log', limits: [1, null] });"
        " viewer.filters.toggle(legs, 0); viewer.searches.setCurrent('sea'); viewer.searches.keep(); }"
    )
    tab.settle()
    page.wait_for_timeout(150)
    state, url = page.evaluate("treerep.viewer.viewState()"), page.evaluate("location.href")
    assert {"strips", "scale", "filter", "search"} <= set(state) and "strips=1,0" in url
    page.goto("about:blank")
    page.goto(url)
    tab.settle()
    assert page.evaluate("treerep.viewer.viewState()") == state
    assert page.evaluate("treerep.viewer.hidden.reduce((sum, flag) => sum + flag)") == 2
    assert page.locator(".searched").count() == 1
    tab.shot("restored-attributes")


def test_back_and_forward_walk_through_choices(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    page.evaluate("treerep.viewer.mark(3)")
    page.wait_for_timeout(80)
    page.evaluate("treerep.viewer.drag([700, 400], [640, 460])")
    page.wait_for_timeout(500)
    page.evaluate("treerep.viewer.arrangement.rerootAt(2)")
    page.wait_for_timeout(80)
    first = page.evaluate("treerep.viewer.tree.node[0]")
    steps = [page.evaluate("treerep.viewer.viewState({ camera: false })")]
    for _ in range(2):
        page.go_back()
        page.wait_for_timeout(80)
        steps.append(page.evaluate("treerep.viewer.viewState({ camera: false })"))
    assert set(steps[0]) == {"root", "chosen"} and set(steps[1]) == {"chosen"} and steps[2] == {}
    for step in reversed(steps[:2]):
        page.go_forward()
        page.wait_for_timeout(80)
        assert page.evaluate("treerep.viewer.viewState({ camera: false })") == step
    assert page.evaluate("treerep.viewer.tree.node[0]") == first


@pytest.mark.parametrize(
    "fragment",
    [
        "root=999&order=up&chosen=$-4&path=5&selected=*0-99999999&collapsed=$7&rotated=zz",
        "at=1,2&color=%E0%A4%A&clusters=$1e9&theme=red&spread=$-1&support=$7&labels",
        "root=0,1,0.5&lengths=none&at=0,NaN,0,0,0,1&selected=-&chosen=x&__proto__=$1",
    ],
)
def test_a_broken_link_opens_the_page(tab, mammals, fragment):
    page = tab.open(mammals[0])
    page.goto("about:blank")
    page.goto(f"{next(iter(tab.urls))}#{fragment}")
    tab.settle()
    assert page.evaluate("treerep.viewer.tree.n") == mammals[0].n_nodes
    assert page.locator("#title").is_visible()


def test_a_page_in_a_notebook_has_no_address(tab, mammals):
    path = tab.folder / "notebook.html"
    path.write_text(tr.page(mammals[0])._repr_html_())
    tab.urls.add(path.as_uri())
    page = tab.pages.take((1280, 800), {})
    page.goto(path.as_uri())
    page.wait_for_timeout(500)
    frame = page.frames[1]
    frame.evaluate("treerep.viewer.arrangement.rerootAt(3)")
    frame.get_by_role("button", name="Export").click()
    frame.get_by_role("button", name="Copy link").click()
    page.wait_for_timeout(100)
    assert frame.locator("#note").inner_text() == "This page has no address to copy"


def save(tab: Tab, button: str, name: str) -> bytes:
    """Click a button of the export card and keep the file beside the screenshots."""
    if not tab.page.locator("#exports").is_visible():
        tab.page.get_by_role("button", name="Export").click()
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name=button).click()
    content = Path(download.value.path()).read_bytes()
    folder = Path(os.environ.get("TREEREP_SCREENSHOTS", tab.folder))
    (folder / name).write_bytes(content)
    return content


@pytest.mark.parametrize("layout", ["disk", "rectangular", "circular", "unrooted"])
def test_figures_have_a_title_a_legend_and_a_scale(tab, mammals, layout):
    tree, _ = mammals
    families = ["dogs", "bears", "raccoons", "weasels", "seals", "seals", "cats", "apes"]
    tab.open(
        tree,
        layout=layout,
        lengths="original",
        table={"family": families},
        color="family",
        title="Carnivores, naïve",
    )
    svg = ET.fromstring(save(tab, "Picture as SVG", f"figure-{layout}.svg"))
    texts = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {*tree.labels, *families, "family", "Carnivores, naïve"} <= set(texts)
    scales = [text for text in texts if re.fullmatch(r"[125]0*|0\.0*[125]", text or "")]
    assert bool(scales) == (layout != "disk")
    png = save(tab, "Picture as PNG", f"figure-{layout}.png")
    width, height = struct.unpack(">II", png[16:24])
    assert width == 2 * float(svg.get("width")) and height == 2 * float(svg.get("height"))


def test_a_figure_has_the_chosen_size_and_background(tab, mammals):
    page = tab.open(mammals[0], layout="disk", table={"size": np.arange(8) / 7}, color="size")
    page.get_by_role("button", name="Export").click()
    page.locator("#figure-width").fill("600")
    page.locator("#figure-height").fill("450")
    page.locator("#figure-background").select_option("transparent")
    image = np.asarray(Image.open(io.BytesIO(save(tab, "Large PNG", "figure-clear.png"))))
    assert image.shape == (1800, 2400, 4)
    alpha = image[..., 3]
    assert alpha[:40].max() == 0 and alpha[900].max() == 255
    page.get_by_role("button", name="Export").click()
    page.locator("#figure-background").select_option("white")
    for label in ("title", "legend"):
        page.locator("#figure").get_by_label(label).uncheck()
    page.evaluate("treerep.viewer.setLabels(false)")  # names may be outside the disk
    image = np.asarray(Image.open(io.BytesIO(save(tab, "Picture as PNG", "figure-white.png"))).convert("L"))
    assert image.shape == (900, 1200) and image[0, 0] == 255
    # The disk is in the middle.
    dark = np.argwhere(image < 250)
    assert abs(dark[:, 1].min() + dark[:, 1].max() - 1200) < 8
    assert abs(dark[:, 0].min() + dark[:, 0].max() - 900) < 8
    # The page itself has not changed.
    assert page.evaluate("treerep.viewer.layout.window.width") == 1280


def test_the_browser_prints_one_page_with_any_labels(tab):
    labels = ["a(b", "β-globin", "日本猿", "naïve", "x" * 300, "<&>", "%", "ﬁn"]
    page = tab.open(tr.Tree(8, mammal_edges(), np.ones(13), labels=labels), layout="rectangular", title="(((")
    page.evaluate("treerep.viewer.setLabels(true)")  # they are hidden at first if one is long
    read = "() => (window.printed = document.getElementById('print').textContent)"
    page.evaluate(f"window.addEventListener('beforeprint', {read})")
    content = page.pdf()
    (tab.folder / "printed.pdf").write_bytes(content)
    assert content.startswith(b"%PDF-") and re.search(rb"/Type\s*/Pages\s*/Count 1\b", content)
    printed = page.evaluate("window.printed")
    assert all(label in printed for label in [*labels, "((("])


def mammal_edges() -> np.ndarray:
    return tr.fit(tr.datasets.sarich()).edges


def test_printing_shows_the_picture_only(tab, mammals):
    page = tab.open(mammals[0], title="Mammals <b>")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#print > svg").is_visible()
    assert not page.locator("#panel").is_visible() and not page.locator("#tools").is_visible()
    assert "Mammals <b>" in page.locator("#print").inner_text()
    tab.shot("printed")
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#print > svg").count() == 0


def test_selected_points_are_exported_with_their_attributes(tab, mammals):
    tree, _ = mammals
    table = {
        "legs": [4, 4, 4, 4, 0, 0, 4, 2],
        "note": ['say "x"', "a,b", None, "c\nd", "e", "f", "g", "h"],
    }
    page = tab.open(tree, table={**table, "mass": [30.5, np.nan, 8, 0.2, 90, 250, 4, 7]})
    page.evaluate("treerep.viewer.selectBranch(0)")
    text = downloaded(page, page.locator("#selection").get_by_role("button", name="Table"))
    got = pd.read_csv(io.StringIO(text), index_col=0).loc[list(tree.labels)]
    assert got["legs"].tolist() == table["legs"]
    assert got["note"].fillna("").tolist() == [note or "" for note in table["note"]]
    np.testing.assert_array_equal(got["mass"], [30.5, np.nan, 8, 0.2, 90, 250, 4, 7])


def test_exported_tables_hold_no_formulas_and_are_read_back(tab):
    labels = ['=HYPERLINK("http://x","y")', "+a", "-b", "@c", "'=d", "it's", "-1.5", "e"]
    table = {"=note": ["=1+1", "-2", "-x", "'+y", "\t=z", "@w", "v", None]}
    tree = tr.fit(tr.as_metric(tr.datasets.sarich().distances, labels=labels))
    page = tab.open(tree, table={**table, "mass": [-1.0, 2, 3, 4, 5, 6, 7, 8]})
    page.evaluate("treerep.viewer.selectBranch(0)")
    text = downloaded(page, page.locator("#selection").get_by_role("button", name="Table"))
    found = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    safe = ["'" + labels[0], "'+a", "'-b", "'@c", "''=d", "it's", "-1.5", "e"]
    assert set(found["label"]) == set(safe)
    assert list(found.columns)[:3] == ["label", "'=note", "mass"]
    rows = found.set_index("label").loc[safe]
    assert rows["'=note"].tolist() == ["'=1+1", "-2", "'-x", "''+y", "'\t=z", "'@w", "v", ""]
    assert rows["mass"].astype(float).tolist() == [-1, 2, 3, 4, 5, 6, 7, 8]
    page.locator("#tablefile").set_input_files(
        {"name": "again.csv", "mimeType": "text/csv", "buffer": text.encode()}
    )
    page.wait_for_timeout(100)
    said = page.locator("#tablenote").text_content()
    assert said == "again.csv: 8 of 8 points matched, 3 columns added."


def test_the_scale_bar_is_as_long_as_it_says(tab):
    tree = TREES["a binary tree"]
    for layout in ("rectangular", "circular", "unrooted"):
        page = tab.open(tree, layout=layout, lengths="original")
        for zoom in (1, 3.7):
            page.evaluate("zoom => treerep.viewer.zoomBy(zoom, [700, 400], 'both')", zoom)
            tab.settle()
            page.wait_for_timeout(50)
            text = page.locator("#scalebar").inner_text()
            assert re.fullmatch(r"[125]0*|0\.0*[125]", text)
            width = page.locator("#scalebar").bounding_box()["width"]
            assert 40 < width <= 121
            # Independent: pixels between a tip and its parent along the edge.
            edge = int(np.argmax(tree.weights))
            (x, y), (u, v) = (tab.pixel(int(node)) for node in tree.edges[edge])
            if layout == "unrooted":
                pixels = np.hypot(u - x, v - y)
            elif layout == "rectangular":
                pixels = abs(u - x)
            else:
                root = tab.pixel(rooting(tab)["node"][0])
                pixels = abs(np.hypot(u - root[0], v - root[1]) - np.hypot(x - root[0], y - root[1]))
            assert width / float(text) == pytest.approx(pixels / tree.weights[edge], rel=0.01)
    page.locator("#lengths").select_option("equal")
    tab.settle()
    assert not page.locator("#scalebar").is_visible()


def test_dates_make_a_time_axis(tab):
    rng = np.random.default_rng(0)
    tree = tr.datasets.random_tree(30, shape="binary", rng=3)
    root = tree.n_nodes - 1
    depth = tree.rooted(root).depth[:30]
    years = 2000 + 2 * depth / depth.max() * 10
    page = tab.open(tree, layout="rectangular", lengths="original", root=root, dates=years)
    line = page.evaluate("treerep.viewer.calendar()")
    assert line["fit"] == pytest.approx(1) and line["start"] == pytest.approx(2000)
    assert page.locator("#timeaxis").is_visible() and not page.locator("#scalebar").is_visible()
    ticks = page.locator("#timeaxis span")
    boxes = [ticks.nth(i).bounding_box() for i in range(ticks.count())]
    texts = [float(text) for text in ticks.all_inner_texts()]
    middles = [box["x"] + box["width"] / 2 for box in boxes]
    assert len(texts) > 3
    for node in (0, 7, 19):  # every tip is at its date
        assert np.interp(years[node], texts, middles) == pytest.approx(tab.pixel(node)[0], abs=1)
    tab.shot("time-axis")
    noisy = years + rng.normal(0, 3, 30)
    page = tab.open(tree, layout="rectangular", lengths="original", root=root, dates=noisy)
    fit = np.corrcoef(depth, noisy)[0, 1] ** 2
    assert f"R² = {fit:.2f}" in page.locator("#summary").inner_text()
    page = tab.open(tree, layout="rectangular", lengths="original", root=root, dates=-years)
    assert not page.locator("#timeaxis").is_visible()
    assert "choose another root" in page.locator("#summary").inner_text()


def test_support_is_shown_filtered_and_collapsed(tab):
    page = tab.open(ROOTED, layout="rectangular", lengths="original")
    svg = page.evaluate("treerep.viewer.svg()")
    for text in ("75", "90", "50", "100"):
        assert f">{text}</text>" in svg
    page.locator("#treetools summary").click()
    page.locator("#support").fill("0.8")
    tab.settle()
    assert tab.page.evaluate("treerep.viewer.viewState()")["support"] == 0.8
    classes = page.evaluate(
        "() => { const s = treerep.viewer.scene(); return Array.from(s.classes, (c) => c === s.palette.length - 1); }"
    )
    support = [x is not None and x < 0.8 for x in rooting(tab)["support"]]
    assert classes == support
    tab.shot("support")
    page.get_by_label("collapse these clades").check()
    tab.settle()
    assert sum(rooting(tab)["collapsed"]) == 2
    tab.shot("support-collapsed")
    page.get_by_label("collapse these clades").uncheck()
    tab.settle()
    assert sum(rooting(tab)["collapsed"]) == 0


def test_the_tools_of_the_panel_and_the_card_work(tab):
    tree = TREES["a binary tree"]
    page = tab.open(tree, layout="rectangular")
    page.locator("#treetools summary").click()
    page.locator("#clusters").fill("5")
    tab.settle()
    assert page.locator("#colorby option:checked").inner_text() == "clusters (5)"
    assert page.locator("#legend .entry").count() == 5
    tab.shot("clusters")
    page.locator("#order").select_option("ascending")
    assert page.evaluate("treerep.viewer.viewState()")["order"] == "ascending"
    page.locator("#collapse-depth").fill("0.5")
    assert sum(rooting(tab)["collapsed"]) > 1
    tab.shot("collapsed-by-depth")
    page.get_by_role("button", name="Expand all").click()
    assert sum(rooting(tab)["collapsed"]) == 0
    page.get_by_role("button", name="Midpoint root").click()
    assert "root" in page.evaluate("treerep.viewer.viewState()")
    page.get_by_role("button", name="Original root").click()
    first = rooting(tab)["node"][0]
    page.evaluate("treerep.viewer.choose(5)")
    node = rooting(tab)["node"][5]
    page.locator("#details").get_by_role("button", name="Re-root here").click()
    assert rooting(tab)["node"][0] == node
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Original root").click()
    assert rooting(tab)["node"][0] == first


def noisy_pair(n: int, noise: float) -> tuple[tr.Tree, tr.Tree]:
    """A tree, and the tree of its distances with noise."""
    rng = np.random.default_rng(n)
    labels = [f"taxon {i}" for i in range(n)]
    first = tr.datasets.random_tree(n, shape="binary", rng=1)
    first = tr.Tree(n, first.edges, first.weights, labels=labels)
    errors = np.triu(rng.normal(0, noise, (n, n)), 1)
    square = np.abs(first.distances() + errors + errors.T)
    np.fill_diagonal(square, 0)
    return first, tr.fit(tr.MatrixMetric(square, labels=labels), method="neighbor_joining")


PAIRS = {
    "equal": (ROOTED, ROOTED.restrict(list(reversed(ROOTED.labels)))),
    "noisy": noisy_pair(40, 0.7),
    "inner points": (TREES["inner points"], tr.datasets.random_tree(80, rng=5)),
    "zero lengths": (
        TREES["zero lengths"],
        tr.Tree(4, [[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]], [1.0, 1.0, 2.0, 1.0, 0.0]),
    ),
    "a leaf of length 0": (
        tr.Tree.from_newick("((a:0,b:1):1,c:1,d:1);"),
        tr.Tree.from_newick("((a:1,b:1):1,c:1,d:1);"),
    ),
    "large": noisy_pair(500, 2.0),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_tanglegram_counts_the_splits_of_one_tree_only(tab, name):
    first, second = PAIRS[name]
    page = tab.open(first, other=second)
    expected = first.difference(second, path=False).robinson_foulds
    assert page.evaluate("treerep.viewer.layout.splits.distance") == expected
    assert f": {expected}." in page.locator("#summary").inner_text()
    tab.shot(f"tanglegram-{name.replace(' ', '-')}")
    # Also from another root.
    arrange(tab, "rerootAt", 1)
    assert page.evaluate("treerep.viewer.layout.splits.distance") == expected


def test_the_colored_edges_are_the_splits_that_the_other_tree_lacks(tab):
    first, second = PAIRS["noisy"]
    page = tab.open(first, other=second)
    got = rooting(tab)
    flags = page.evaluate("Array.from(treerep.viewer.layout.splits.missing)")

    def sides(tree: tr.Tree) -> set[frozenset[str]]:
        found = set()
        for u, v in tree.edges[tree.weights > 0].tolist():
            nearer = tree.block([u], range(len(tree)))[0] < tree.block([v], range(len(tree)))[0]
            side = frozenset(np.array(tree.labels)[nearer].tolist())
            found |= {side, frozenset(tree.labels) - side}
        return found

    theirs = sides(second)
    for k in range(1, len(flags)):
        u, v = got["node"][k], got["node"][got["up"][k]]
        if max(u, v) >= first.n_nodes:
            continue
        nearer = first.block([u], range(40))[0] < first.block([v], range(40))[0]
        split = frozenset(np.array(first.labels)[nearer].tolist())
        is_split = 2 <= len(split) <= 38 and first.block([u], [v])[0, 0] > 0
        assert bool(flags[k]) == (is_split and split not in theirs)


def test_a_tanglegram_has_few_crossings(tab):
    first, second = PAIRS["noisy"]
    page = tab.open(first, other=second)
    assert page.evaluate("treerep.viewer.viewState()") == {}

    def crossings() -> int:
        script = (
            "() => { const { layout } = treerep.viewer; const { tree, other } = layout;"
            " const order = (t) => Array.from(t.node).filter((id) => id < t.nPoints);"
            " return [order(tree), order(other)]; }"
        )
        left, right = (np.array(order) for order in page.evaluate(script))
        ranks = np.argsort(right)[left]
        return int(np.sum(np.triu(ranks[:, None] > ranks, 1)))

    aligned = crossings()
    page.evaluate("treerep.viewer.arrangement.setOrder('original')")
    assert aligned <= crossings()
    random = 40 * 39 / 4
    assert aligned < 0.2 * random
    # The same tree has no crossings.
    page = tab.open(*PAIRS["equal"][:1], other=PAIRS["equal"][1])
    assert crossings() == 0
    assert page.evaluate("treerep.viewer.layout.splits.distance") == 0


def test_labels_of_a_tanglegram_do_not_cover_each_other(tab):
    # In the tree on the right, the points b and c are inside, in the row of their child.
    first = tr.Tree.from_newick("(alpha:1,(beta:1,(gamma:1,(delta:1,epsilon:1):1):1):1);")
    second = tr.Tree(5, [[0, 1], [1, 2], [2, 3], [2, 4]], [0.01, 0.01, 2.0, 3.0], labels=first.labels)
    page = tab.open(first, other=second)
    script = (
        "() => { const found = []; const pen = CanvasRenderingContext2D.prototype; const { fillText } = pen;"
        " pen.fillText = function (text, x, y) { if (this.textAlign === 'right')"
        " found.push([text, x - this.measureText(text).width, x, y]); fillText.call(this, text, x, y); };"
        " treerep.viewer.draw(); pen.fillText = fillText; return found; }"
    )
    boxes = page.evaluate(script)
    assert {"delta", "epsilon"} <= {name for name, *_ in boxes}
    for k, (_, left, right, row) in enumerate(boxes):
        assert all(abs(row - y) > 8 or right <= a or b <= left for _, a, b, y in boxes[:k])


def test_the_trees_of_a_sum_are_compared_and_exported(tab, mammals):
    trees = tr.fit(mammals[1], trees=3)
    page = tab.open(trees, title="Sum")
    page.locator("#treetools summary").click()
    page.locator("#other").select_option("tree 3")
    tab.settle()
    expected = trees.trees[0].difference(trees.trees[2], path=False).robinson_foulds
    assert page.evaluate("treerep.viewer.layout.splits.distance") == expected
    page.evaluate("treerep.viewer.selectBranch(3)")
    tab.settle()
    page.wait_for_timeout(200)
    assert "compare=1" in page.evaluate("location.hash")
    svg = ET.fromstring(save(tab, "Picture as SVG", "figure-tanglegram.svg"))
    texts = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text") if node.get("fill") != "none"]
    assert all(texts.count(label) >= 2 for label in mammals[0].labels)
    tab.shot("tanglegram-sum")
    page.reload()
    tab.settle()
    assert page.evaluate("treerep.viewer.layout.splits.distance") == expected
    page.locator("#layout").select_option("disk")
    tab.settle()
