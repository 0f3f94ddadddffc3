"""The page in a real browser: headless Chromium, driven by Playwright."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treerep as tr
from tests.browser.pages import TREES, apart, downloaded

pytestmark = pytest.mark.browser

HOSTILE = [
    "it's",
    'say "hi"',
    "<b>bold</b>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<!-- <script>",
    "🦊 fox",
    "a & b; (c, d): [e] {{data}}",
]


def test_nodes_are_where_python_places_them(tab):
    for name, tree in TREES.items():
        scale = 8 / max(float(tree.rooted().depth.max()), 1)
        tab.open(tree, scale=scale)
        expected = tr.embed(tree, dim=2, scale=scale).coordinates("poincare")
        np.testing.assert_allclose(tab.positions(), expected, rtol=0, atol=1e-6, err_msg=name)


def test_ten_thousand_nodes_are_where_python_places_them(tab):
    tree = tr.datasets.random_tree(5001, shape="binary")
    assert tree.n_nodes == 10_000
    page = tab.open(tree)
    tab.shot("ten-thousand")
    scale = tab.state()["scale"]
    expected = tr.embed(tree, dim=2, scale=scale).coordinates("poincare")
    np.testing.assert_allclose(tab.positions(), expected, rtol=0, atol=1e-6)
    # After any number of moves all distances near the focus are still those of the embedding.
    for dx, dy in [(250, 40), (-90, 210), (30, -300), (200, 0)]:
        page.mouse.move(748, 400)
        page.mouse.down()
        page.mouse.move(748 + dx, 400 + dy, steps=3)
        page.mouse.up()
    tab.settle()
    places = tab.positions()
    near = np.argsort(np.hypot(*places.T))[:60]
    embedded = scale * tr.embed(tree, dim=2, scale=scale).block(near, near)
    np.testing.assert_allclose(apart(places[near]), embedded, rtol=1e-6, atol=1e-6)
    page.mouse.move(748, 400)
    page.mouse.wheel(0, -600)
    tab.settle()
    assert tab.state()["zoom"] > 1.3
    tab.shot("ten-thousand-zoomed")


def test_precision_does_not_run_out_at_depth(tab):
    # Global coordinates have no digits left at 37.
    tree = tr.datasets.random_tree(2000, shape="caterpillar")
    scale = 8 / float(tree.weights.max())
    tab.open(tree, scale=scale)
    deepest = int(np.argmax(tree.rooted(int(tab.state()["anchor"])).depth))
    tab.page.evaluate("node => treerep.viewer.center(treerep.viewer.tree.position[node])", deepest)
    tab.settle()
    assert tab.state()["anchor"] == deepest
    embedding = tr.embed(tree, dim=2, scale=scale)
    assert embedding.radii[deepest] > 1000
    near = np.argsort(tree.block([deepest], np.arange(tree.n_nodes))[0])[:8]
    places, wanted = tab.positions()[near], scale * embedding.block([deepest], near)[0]
    np.testing.assert_allclose(np.hypot(*places.T), np.tanh(wanted / 2), rtol=0, atol=1e-6)
    inner = wanted < 8
    assert inner.sum() >= 3
    np.testing.assert_allclose(
        apart(places[inner]),
        scale * embedding.block(near[inner], near[inner]),
        rtol=1e-6,
        atol=1e-6,
    )


def test_a_flight_over_a_long_way_arrives(tab):
    tree = tr.datasets.random_tree(300, shape="caterpillar")
    tab.open(tree, scale=20 / float(tree.weights.max()), context={"reduced_motion": "no-preference"})
    far = int(np.argmax(tree.rooted(int(tab.state()["anchor"])).depth))
    tab.page.evaluate("node => treerep.viewer.center(treerep.viewer.tree.position[node])", far)
    assert tab.state()["flying"]
    tab.settle()
    assert tab.state()["anchor"] == far
    np.testing.assert_allclose(tab.positions()[far], 0, atol=1e-12)


def test_a_drag_moves_the_point_under_the_mouse_along(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    before = tab.pixel(0)
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(before[0] + 40, before[1] - 30, steps=4)
    page.mouse.up()
    tab.settle()
    np.testing.assert_allclose(tab.pixel(0), [before[0] + 40, before[1] - 30], atol=0.5)
    assert tab.state()["chosen"] is None  # a drag is no click


def test_a_flight_home_turns_the_picture_back_on_the_way(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree, context={"reduced_motion": "no-preference"})
    home = tab.positions()
    for dx, dy in [
        (200, 0),
        (0, 200),
        (-200, 0),
        (0, -200),
    ] * 3:  # going around turns the picture
        page.evaluate("([x, y]) => treerep.viewer.drag([748, 400], [748 + x, 400 + y])", [dx, dy])
    # The test calls every frame, so that frames are 20 ms apart on any machine.
    flight = """() => {
      const { viewer } = treerep;
      const later = window.requestAnimationFrame;
      window.requestAnimationFrame = () => 1;
      const seen = [];
      viewer.home();
      for (let time = 0; viewer.flight; time += 20) {
        viewer.frame(time);
        seen.push(treerep.pixel(0));
      }
      window.requestAnimationFrame = later;
      viewer.waiting = 0;
      return seen;
    }"""
    steps = np.hypot(*np.diff(page.evaluate(flight), axis=0).T)
    np.testing.assert_allclose(tab.positions(), home, atol=1e-12)
    assert len(steps) > 10
    assert steps[-1] < 10 < steps.max()


def test_a_tree_dragged_out_of_sight_comes_home(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    home = tab.positions()
    page.evaluate(
        "for (let i = 0; i < 60; i++) { treerep.viewer.drag([400, 400], [1090, 380]); treerep.viewer.draw(); }"
    )
    assert np.isfinite(tab.positions()).all()
    page.keyboard.press("h")
    tab.settle()
    np.testing.assert_allclose(tab.positions(), home, atol=1e-12)


def test_the_largest_jumps_keep_the_tree_together(tab):
    tree = tr.datasets.random_tree(3000, shape="binary")
    page = tab.open(tree)
    jumps = "for (let i = 0; i < 40; i++) { treerep.viewer.drag([748 + 370 * Math.cos(i), 400 + 370 * Math.sin(i)],"
    page.evaluate(jumps + " [748 - 370 * Math.cos(i), 400 - 370 * Math.sin(i)]); treerep.viewer.draw(); }")
    scale, places = tab.state()["scale"], tab.positions()
    near = np.argsort(np.hypot(*places.T))[:40]
    assert tab.state()["anchor"] == near[0]
    embedded = scale * tr.embed(tree, dim=2, scale=scale).block(near, near)
    close = embedded < 12
    # The focus may have left the tree, and coordinates near the rim have few digits.
    np.testing.assert_allclose(apart(places[near])[close], embedded[close], rtol=1e-3, atol=1e-4)


def test_a_thousand_moves_and_back_lose_nothing(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    home = tab.positions()
    page.evaluate(
        "() => { const {viewer} = treerep; const middle = [748, 400];"
        " const moves = Array.from({length: 1000}, (_, i) => [748 + 40 * Math.cos(0.7 * i), 400 + 30 * Math.sin(i)]);"
        " for (const to of moves) viewer.drag(middle, to); viewer.draw();"
        " for (const from of moves.reverse()) viewer.drag(from, middle); viewer.draw(); }"
    )
    np.testing.assert_allclose(tab.positions(), home, atol=1e-9)


def test_full_detail_comes_back_after_a_move(tab):
    page = tab.open(tr.datasets.random_tree(300, shape="binary"), context={"locale": "en"})
    page.clock.install()  # no time passes while a frame is drawn: the page goes back to finer detail at once
    page.clock.pause_at(2e9)
    drawn = page.evaluate_handle(
        "() => { const {viewer} = treerep; const seen = []; const draw = viewer.draw.bind(viewer);"
        " viewer.draw = (detail) => { seen.push(detail ? detail.cell : 1); draw(detail); };"
        " viewer.movingDetail = 1; viewer.drag([700, 400], [720, 400]); return seen; }"
    )
    page.clock.run_for(600)
    assert drawn.json_value() == [1.5, 1]
    page.clock.resume()


def test_of_very_many_edges_of_a_node_those_are_drawn_that_hide_the_others(tab):
    n = 6000
    tree = tr.datasets.random_tree(n, shape="star")
    page = tab.open(tree)
    hub = page.evaluate("treerep.viewer.tree.node[treerep.viewer.painter.fans.hubs[0]]")
    hidden = np.array(
        page.evaluate(
            "() => { const { viewer } = treerep; viewer.drag([748, 400], [900, 330]); viewer.draw();"
            " return Array.from(viewer.tree.position, (k) => viewer.painter.fans.hidden[k]); }"
        )
    )
    disk, z = page.evaluate("treerep.viewer.layout.radius"), tab.positions() @ [1, 1j]
    kept = np.flatnonzero((hidden == 0) & (np.arange(tree.n_nodes) != hub))
    lost = np.flatnonzero(hidden)
    assert 500 < len(kept) < 2 * np.pi * disk + 1 and len(lost) > 1000
    # Where the geodesic comes to the rim: straight on, where the hub is the origin.
    moved = (z - z[hub]) / (1 - np.conj(z[hub]) * z)
    with np.errstate(invalid="ignore"):
        ahead = moved / np.abs(moved)
        rim = (ahead + z[hub]) / (1 + np.conj(z[hub]) * ahead)
    for k in lost[::7]:
        over = kept[np.abs(rim[kept] - rim[k]) * disk < 1.01]
        assert (np.abs(moved[over]) >= np.abs(moved[k]) - 1e-12).any()
    # Most of them outside the window.
    zoomed = (
        "treerep.viewer.layout.zoom = 40; treerep.viewer.draw();"
        " treerep.viewer.painter.fans.hidden.reduce((s, f) => s + f)"
    )
    assert page.evaluate(zoomed) > n / 2
    tab.shot("star")


def test_lengths_are_drawn_as_chosen(tab):
    tree = tr.datasets.random_tree(60, shape="binary")
    page = tab.open(tree)
    for choice, power in [("square root", 0.5), ("equal", 0.0), ("original", 1.0)]:
        page.locator("#lengths").select_option(choice)
        tab.settle()
        scale = tab.state()["scale"]
        drawn = tree.with_weights(tree.weights**power)
        embedding = tr.embed(drawn, dim=2, scale=scale, root=tab.state()["anchor"])
        np.testing.assert_allclose(
            apart(tab.positions()),
            scale * embedding.block(range(tree.n_nodes), range(tree.n_nodes)),
            rtol=1e-6,
            atol=1e-6,
        )


def test_the_wheel_zooms_about_the_mouse(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    before = tab.pixel(4)
    page.mouse.move(*before)
    page.mouse.wheel(0, -300)
    tab.settle()
    assert tab.state()["zoom"] > 1.3
    np.testing.assert_allclose(tab.pixel(4), before, atol=1)  # mice count in whole pixels
    page.mouse.wheel(0, 300)
    tab.settle()
    assert tab.state()["zoom"] == pytest.approx(1)


def test_a_click_says_what_a_node_is_and_a_double_click_centers_it(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree, table={"legs": [4, 4, 4, 4, 0, 0, 4, 2]})
    seal = tree.labels.index("seal")
    home = tab.positions()
    page.mouse.click(*tab.pixel(seal))
    tab.settle()
    assert tab.state()["chosen"] == seal
    np.testing.assert_array_equal(tab.positions(), home)
    page.mouse.dblclick(*tab.pixel(seal))
    tab.settle()
    assert tab.state()["chosen"] == seal
    np.testing.assert_allclose(tab.positions()[seal], 0, atol=1e-12)
    card = page.locator("#details").inner_text()
    assert "seal" in card and "legs" in card and "0" in card


def test_hovering_shows_label_and_attributes(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree, table={"mass": [30.5, 200, 8, 0.2, 90, 250, 4, 7]}, color="mass")
    bear = tree.labels.index("bear")
    page.mouse.move(*tab.pixel(bear))
    tab.settle()
    tip = page.locator("#tip")
    assert tip.is_visible() and "bear" in tip.inner_text() and "mass: 200" in tip.inner_text()
    assert tab.state()["hover"] == bear
    box = page.locator("#ring").bounding_box()
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    np.testing.assert_allclose(middle, tab.pixel(bear), atol=0.6)
    tab.shot("hover")
    page.keyboard.press("ArrowLeft")  # the node goes away
    assert not tip.is_visible() and not page.locator("#ring").is_visible()
    tab.settle()
    page.mouse.move(*tab.pixel(bear))
    assert tip.is_visible()
    page.mouse.move(10, 780)
    assert not tip.is_visible()


def test_search_finds_a_label_and_flies_there(tab):
    tree = tr.datasets.random_tree(5001, shape="binary")
    labels = [f"cell {i:04d}" for i in range(5001)]
    page = tab.open(tree, labels=labels, context={"reduced_motion": "no-preference"})
    page.keyboard.press("/")
    page.keyboard.type("cell 123")
    assert page.locator("#found li").all_inner_texts() == [
        *(f"cell 123{i}" for i in range(8)),
        "2 more matches",
    ]
    tab.shot("search")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    tab.settle()
    assert tab.state()["chosen"] == 1231
    np.testing.assert_allclose(tab.positions()[1231], 0, atol=1e-12)
    page.keyboard.press("/")
    page.locator("#search").fill("nothing like it")
    assert page.locator("#found").inner_text() == "no match"
    page.keyboard.press("Escape")
    assert not page.locator("#found").is_visible()


@pytest.mark.parametrize("stored", [True, False])
def test_a_path_has_its_length_beside_the_true_distance(tab, mammals, stored):
    tree, data = mammals
    page = tab.open(tree, data=data if stored else None)
    dog, cat = tree.labels.index("dog"), tree.labels.index("cat")
    page.mouse.click(*tab.pixel(dog))
    tab.settle()
    page.keyboard.down("Shift")
    page.mouse.click(*tab.pixel(cat))
    page.keyboard.up("Shift")
    tab.settle()
    path = tab.state()["path"]
    assert path["nodes"] == tree.path(dog, cat).tolist()
    assert path["length"] == pytest.approx(float(tree.pairs(dog, cat)), rel=1e-12)
    shown = float(page.locator("#tree-length").inner_text())
    assert shown == pytest.approx(float(tree.pairs(dog, cat)), rel=1e-5)
    truth = page.locator("#true-distance").all_inner_texts()
    assert truth == ([f"{float(data.pairs(dog, cat)):g}"] if stored else [])
    page.mouse.move(5, 790)
    tab.shot("path")


def test_every_true_distance_is_the_right_one(tab, mammals):
    tree, data = mammals
    page = tab.open(tree, data=data)
    read = "n => Array.from({length: n}, (_, i) => Array.from({length: n}, (_, j) => {const t = treerep.viewer.tree; "
    read += "return t.trueDistance(t.position[i], t.position[j])}))"
    np.testing.assert_array_equal(page.evaluate(read, 8), data.block(range(8), range(8)))


def test_a_path_from_the_button_and_by_search(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    page.mouse.click(*tab.pixel(tree.labels.index("dog")))
    tab.settle()
    page.get_by_role("button", name="Path from here").click()
    page.locator("#search").fill("monkey")
    page.keyboard.press("Enter")
    tab.settle()
    assert tab.state()["path"]["nodes"] == tree.path("dog", "monkey").tolist()


def test_a_branch_is_selected_and_exported(tab):
    tree = tr.datasets.random_tree(200, rng=3)
    labels = [f"it's {i}" for i in range(200)]
    page = tab.open(tree, labels=labels)
    sizes = "Array.from(treerep.viewer.tree.pointsBelow)"
    below = np.array(page.evaluate(sizes))
    position = int(np.argmin(np.abs(below - 30)))
    page.evaluate("k => treerep.viewer.selectBranch(k)", position)
    chosen = tab.state()["selected"]
    assert len(chosen) == below[position] > 1
    assert (
        downloaded(page, page.locator("#selection").get_by_role("button", name="Labels")).split("\n")[:-1]
        == chosen
    )
    got = tr.Tree.from_newick(
        downloaded(page, page.locator("#selection").get_by_role("button", name="Newick"))
    )
    labeled = tr.Tree(200, tree.edges, tree.weights, labels=labels)
    assert got.restrict(sorted(got.labels)).isclose(labeled.restrict(sorted(chosen)))


def test_a_lasso_selects_what_it_goes_around(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    x, y = tab.pixel(tree.labels.index("seal"))
    page.keyboard.press("l")
    page.mouse.move(x - 18, y - 18)
    page.mouse.down()
    for px, py in [(x + 18, y - 18), (x + 18, y + 18), (x - 18, y + 18)]:
        page.mouse.move(px, py, steps=3)
    page.mouse.up()
    tab.settle()
    assert tab.state()["selected"] == ["seal"]
    page.keyboard.press("Escape")
    assert tab.state()["selected"] == []


def test_a_lasso_takes_what_is_too_near_to_the_rim_to_be_placed(tab):
    tree = tr.datasets.random_tree(400, shape="caterpillar")
    page = tab.open(tree, scale=8 / float(tree.weights.max()))
    everything = "treerep.viewer.selectInside([[0, 0], [1280, 0], [1280, 800], [0, 800]])"
    page.evaluate(everything)
    assert page.evaluate("treerep.viewer.layout.count") < tree.n_nodes / 2
    assert len(tab.state()["selected"]) == 400
    page.evaluate("treerep.viewer.center(300)")  # seen from elsewhere
    tab.settle()
    page.evaluate(everything)
    assert len(tab.state()["selected"]) == 400
    left, right = (
        page.evaluate(f"treerep.viewer.selectInside({half}); treerep.state().selected")
        for half in (
            "[[0, 0], [748, 0], [748, 800], [0, 800]]",
            "[[748, 0], [1280, 0], [1280, 800], [748, 800]]",
        )
    )
    assert left and right and len(left) + len(right) == 400


def test_the_whole_tree_comes_out_as_newick(tab):
    tree = tr.datasets.random_tree(50, rng=1)
    page = tab.open(tree)
    page.get_by_role("button", name="Export").click()
    got = tr.Tree.from_newick(downloaded(page, page.get_by_role("button", name="Whole tree as Newick")))
    assert got.isclose(tree)


def test_pictures_are_exported(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree, labels=HOSTILE)
    page.get_by_role("button", name="Export").click()
    svg = ET.fromstring(downloaded(page, page.get_by_role("button", name="Picture as SVG")))
    texts = {node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert set(HOSTILE) <= texts
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}path"))) > 3
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Picture as PNG").click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


STRANGE = [
    "",
    "nul\0 esc\x1b \ud800",
    "a\u2028b",
    "שלום",
    "x" * 10_000,
    "  two  ",
    "line\nbreak",
    "__proto__",
]


def test_strange_labels_are_named_and_exported(tab, mammals):
    labeled = tr.Tree(8, mammals[0].edges, mammals[0].weights, labels=STRANGE)
    page = tab.open(labeled, table={"__proto__": STRANGE, "constructor": range(8)}, color="constructor")
    page.evaluate("treerep.viewer.choose(treerep.viewer.tree.position[0])")
    tab.settle()
    assert page.locator("#details h2").inner_text() == "Point 0"
    page.evaluate("treerep.viewer.choose(treerep.viewer.tree.position[4])")
    tab.settle()
    page.mouse.move(*tab.pixel(4))
    assert page.locator("#tip").bounding_box()["height"] < 300
    assert page.locator("#details").get_by_role("button", name="Select branch").bounding_box()["y"] < 780
    svg = page.evaluate("treerep.viewer.svg()")
    assert "nul� esc� �" in {
        node.text for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    }
    got = tr.Tree.from_newick(page.evaluate("treerep.viewer.tree.newick(new Uint8Array(99).fill(1))"))
    assert got.restrict(sorted(STRANGE)).isclose(labeled.restrict(sorted(STRANGE)))


def test_colors_switch_with_their_legend(tab, mammals):
    tree, _ = mammals
    table = {
        "family": ["dogs", "bears", None, "weasels", "seals", "seals", "cats", "apes"],
        "size": np.arange(8) / 7,
    }
    page = tab.open(tree, table=table, color="family")
    assert page.locator("#legend .name").all_inner_texts() == [
        "apes",
        "bears",
        "cats",
        "dogs",
        "seals",
        "weasels",
        "missing",
    ]
    page.locator("#colorby").select_option("size")
    assert page.locator("#legend .ends span").all_inner_texts() == ["0", "0.5", "1"]
    page.locator("#colorby").select_option("nothing")
    assert not page.locator("#legend").is_visible()


def test_hostile_labels_are_shown_as_text_and_do_nothing(tab, mammals):
    tree, _ = mammals
    page = tab.open(
        tree,
        labels=HOSTILE,
        title=HOSTILE[3],
        table={"<i>column</i>": HOSTILE},
        color="<i>column</i>",
    )
    assert page.title() == HOSTILE[3]
    assert page.locator("h1").inner_text() == HOSTILE[3]
    for i, label in enumerate(HOSTILE):
        page.evaluate("node => treerep.viewer.choose(treerep.viewer.tree.position[node])", i)
        tab.settle()
        assert page.locator("#details h2").inner_text() == label
        page.mouse.move(*tab.pixel(i))
        assert page.locator("#tip strong").inner_text() == label
    assert sorted(page.locator("#legend .name").all_inner_texts()) == sorted(HOSTILE)
    page.locator("#search").fill("<img")
    assert page.locator("#found li").all_inner_texts() == [HOSTILE[4]]
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, b, i").count() == 0
    tab.shot("hostile")


# Each would set window.hacked, or be shown as something else, in a page that takes labels for HTML, CSS, a URL or code.
CODE = [
    "</textarea></style></title><svg onload=window.hacked=1>",
    "&lt;b&gt; &amp;amp; &#60;script&#62; &quot;",
    "');window.hacked=1;//`${window.hacked=1}`",
    "javascript:window.hacked=1",
    "</style><style>body{display:none}</style>",
    "right\u202eto left\u202c \u200f\u2067x\u2069",
    "]]><script>window.hacked=1</script><![CDATA[",
    '" onmouseover="window.hacked=1" x="',
]


@pytest.mark.parametrize("place", ["labels", "columns", "title"])
def test_no_text_of_the_user_is_taken_for_code(tab, mammals, place):
    tree, _ = mammals
    named = tr.Tree(8, tree.edges, tree.weights, labels=CODE if place == "labels" else None)
    table = dict.fromkeys(CODE, CODE) if place == "columns" else None
    title = " ".join(CODE) + "\0" if place == "title" else None
    page = tab.open(named, table=table, title=title, color=CODE[0] if place == "columns" else None)
    for i in range(8):
        page.evaluate("node => treerep.viewer.choose(treerep.viewer.tree.position[node])", i)
        tab.settle()
        page.mouse.move(*tab.pixel(i))
        if place == "labels":
            assert page.locator("#details h2").text_content() == CODE[i]
            assert page.locator("#tip strong").text_content() == CODE[i]
        elif place == "columns":
            shown = page.locator("#details").text_content()
            assert all(text in shown for text in CODE)
    if place == "columns":
        assert sorted(page.locator("#legend .name").all_text_contents()) == sorted(CODE)
    if place == "title":
        assert page.locator("h1").text_content().startswith(" ".join(CODE))
    assert page.locator("body").is_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("#details svg, #details style, #details script, #tip script, h1 *").count() == 0
    ET.fromstring(page.evaluate("treerep.viewer.svg()"))
    got = tr.Tree.from_newick(page.evaluate("treerep.viewer.tree.newick(new Uint8Array(99).fill(1))"))
    assert len(got) >= 8 and (place != "labels" or set(CODE) <= set(got.labels))


def test_the_keyboard_is_enough(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    home = tab.positions()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "disk"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowRight")
    tab.settle()
    moved = tab.positions()
    assert moved[tab.page.evaluate("treerep.viewer.tree.node[0]"), 0] < -0.05
    page.keyboard.press("+")
    tab.settle()
    assert tab.state()["zoom"] > 1
    page.keyboard.press("-")
    page.keyboard.press("h")
    tab.settle()
    np.testing.assert_allclose(tab.positions(), home, atol=1e-12)
    page.keyboard.press("Enter")
    assert tab.state()["chosen"] is not None
    page.keyboard.press("p")
    page.keyboard.press("/")
    page.keyboard.type("cat")
    page.keyboard.press("Enter")
    tab.settle()
    assert tab.state()["path"]["nodes"][-1] == tree.labels.index("cat")
    page.keyboard.press("u")
    page.keyboard.press("b")
    assert "cat" in tab.state()["selected"]
    page.keyboard.press("?")
    assert page.locator("#help").is_visible() and "show the whole tree" in page.locator("#help").inner_text()
    tab.shot("help")
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert tab.state()["chosen"] is None and tab.state()["path"] is None


def test_the_focus_stays_where_the_keyboard_left_it(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    page.keyboard.press("Enter")
    active = "document.activeElement.textContent || document.activeElement.id"
    button = page.locator("#details").get_by_role("button", name="Path from here")
    button.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(active) == "Path from here"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate(active) == "Select branch"
    page.locator("#details .close").focus()
    page.keyboard.press("Enter")
    assert page.evaluate(active) == "disk"


def test_the_picture_follows_the_window_and_its_pixels(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree, context={"device_scale_factor": 1})
    screen = page.context.new_cdp_session(page)
    for width, height, pixels in [(1280, 800, 2), (1280, 800, 1), (700, 500, 1)]:
        metrics = {
            "width": width,
            "height": height,
            "deviceScaleFactor": pixels,
            "mobile": False,
        }
        screen.send("Emulation.setDeviceMetricsOverride", metrics)
        page.wait_for_timeout(100)
        page.keyboard.press("+")
        tab.settle()
        assert page.evaluate("[disk.width, disk.height]") == [pixels * width, pixels * height]
    screen.send("Emulation.clearDeviceMetricsOverride")


def test_dark_follows_the_system_and_the_switch(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree, context={"color_scheme": "dark"})
    assert tab.state()["theme"] == "dark"
    tab.shot("dark")
    for chosen, theme in [(False, "light"), (True, "dark")]:
        if chosen:
            page.get_by_role("button", name="Light or dark").click()
        for system in ("dark", "light"):
            page.emulate_media(color_scheme=system)
            page.wait_for_timeout(100)
        assert tab.state()["theme"] == theme
    page.emulate_media(color_scheme="dark")


def test_a_phone_is_enough(tab, mammals):
    tree, data = mammals
    context = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    page = tab.open(tree, viewport=(390, 760), context=context, data=data)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    seal = tree.labels.index("seal")
    page.touchscreen.tap(*tab.pixel(seal))
    tab.settle()
    assert tab.state()["chosen"] == seal
    tab.shot("phone")
    buttons = page.locator("#tools button")
    for i in range(buttons.count()):
        box = buttons.nth(i).bounding_box()
        assert box["width"] >= 36 and box["height"] >= 36 and box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.get_by_role("button", name="Settings").click()
    assert page.locator("#colorby").is_visible()


def touch(page: Any) -> Callable[..., None]:
    """Fingers on the screen: their event and their places."""
    session = page.context.new_cdp_session(page)

    def fingers(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.evaluate("new Promise(requestAnimationFrame)")  # what comes within a frame is one event

    return fingers


def test_a_finger_draws_a_lasso(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree, viewport=(390, 760), context={"has_touch": True, "is_mobile": True})
    fingers, lasso = touch(page), page.get_by_role("button", name="Lasso")
    resting = page.evaluate("getComputedStyle(document.querySelector('[data-run=home]')).backgroundColor")
    x, y = tab.pixel(tree.labels.index("seal"))
    lasso.tap()
    fingers("touchStart", (x - 18, y - 18))
    for place in [(x + 18, y - 18), (x + 18, y + 18), (x - 18, y + 18)]:
        fingers("touchMove", place)
    fingers("touchEnd")
    tab.settle()
    assert tab.state()["selected"] == ["seal"]
    assert (
        lasso.evaluate("button => getComputedStyle(button).backgroundColor") == resting
    )  # not as if pressed
    page.keyboard.press("l")
    fingers("touchStart", (100, 300))
    fingers("touchMove", (200, 300))
    fingers("touchMove", (200, 400))
    drawn = page.evaluate("treerep.viewer.lasso.length")
    frames = page.evaluate_handle(
        "() => { const seen = [0]; const {viewer} = treerep, draw = viewer.draw.bind(viewer);"
        " viewer.draw = (detail) => { seen[0]++; draw(detail); }; return seen; }"
    )
    fingers("touchCancel")  # such as by a call
    tab.settle()
    assert drawn == 3 and tab.state()["selected"] == ["seal"] and frames.json_value()[0] > 0


def test_two_fingers_pinch(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree, viewport=(390, 760), context={"has_touch": True, "is_mobile": True})
    fingers = touch(page)
    fingers("touchStart", (150, 350))
    fingers("touchStart", (150, 350), (240, 350))
    for step in range(1, 6):
        fingers("touchMove", (150 - 8 * step, 350), (240 + 8 * step, 350))
    fingers("touchEnd")
    tab.settle()
    assert tab.state()["zoom"] == pytest.approx(170 / 90, rel=0.05)


def test_a_notebook_shows_the_page_in_a_frame(tab, mammals):
    tree, _ = mammals
    page = tab.open(tree)
    page.set_content(tree._repr_html_())
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "Tree of 8 points"
    assert frame.locator("#colorby").is_visible()
    frame.get_by_role("button", name="Export").click()
    got = tr.Tree.from_newick(downloaded(page, frame.get_by_role("button", name="Whole tree as Newick")))
    assert got.restrict(sorted(got.labels)).isclose(tree.restrict(sorted(tree.labels)))
    page.set_content(tree._repr_html_() + tr.page(TREES["a star"])._repr_html_())  # two in one notebook
    titles = [page.frame_locator("iframe").nth(i).locator("h1").inner_text() for i in range(2)]
    assert titles == ["Tree of 8 points", "Tree of 40 points"]
