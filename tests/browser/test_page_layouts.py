"""The layouts of the page in a real browser, compared with those of Python."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import treerep as tr
from tests.browser.pages import TREES
from treerep.drawing.layouts._arcs import geodesic_arcs
from treerep.drawing.layouts.radial import radial
from treerep.drawing.layouts.rectangular import rectangular

pytestmark = pytest.mark.browser

PLANE = ("rectangular", "circular", "unrooted")
ALL = ("disk", *PLANE)
SVG = "{http://www.w3.org/2000/svg}"


def powered(tree: tr.Tree, power: float) -> tr.Tree:
    return tree.with_weights(np.where(tree.weights > 0, tree.weights**power, 0.0))


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(("lengths", "power"), [("original", 1), ("square root", 0.5)])
def test_the_rectangular_layout_is_that_of_python(tab, name, lengths, power):
    tree = TREES[name]
    root = 0 if tree.n_nodes < 3 else tree.n_nodes - 1
    tab.open(tree, layout="rectangular", lengths=lengths, root=root)
    places = tab.positions()
    expected = rectangular(powered(tree, power), root=root)
    depth = powered(tree, power).rooted(root).depth
    np.testing.assert_allclose(places[:, 0], depth, atol=1e-9)
    np.testing.assert_allclose(places[:, 0], expected[:, 0], atol=1e-9)
    np.testing.assert_allclose(places[:, 1] - 0.5, -expected[:, 1], atol=1e-9)


@pytest.mark.parametrize("name", TREES)
def test_the_circular_layout_has_the_same_depths_around_the_root(tab, name):
    tree = TREES[name]
    tab.open(tree, layout="circular", lengths="original", root=0)
    z = tab.positions() @ [1, 1j]
    np.testing.assert_allclose(np.abs(z), tree.rooted(0).depth, atol=1e-9)
    # Tips are at equal angles, in the order of their rows.
    tips = np.flatnonzero(np.bincount(tree.edges.ravel(), minlength=tree.n_nodes) == 1)
    tips = tips[tips != 0]
    rows = -rectangular(tree, root=0)[tips, 1]
    seen = np.abs(z[tips]) > 0
    if len(tips) > 1:
        angles = (rows[seen] + 0.5) * 2 * np.pi * 0.98 / len(tips)
        np.testing.assert_allclose(z[tips][seen] / np.abs(z[tips][seen]), np.exp(1j * angles))


@pytest.mark.parametrize("name", TREES)
def test_the_unrooted_layout_is_that_of_python(tab, name):
    tree = TREES[name]
    tab.open(tree, layout="unrooted", lengths="original", root=0)
    z = tab.positions() @ [1, 1j]
    expected = radial(tree, root=0) @ [1, 1j]
    # The pictures may be rotated and mirrored.
    wanted = np.abs(expected[:, None] - expected)
    np.testing.assert_allclose(np.abs(z[:, None] - z), wanted, atol=1e-9 * (1 + wanted.max()))


@pytest.mark.parametrize("kind", ALL)
def test_options_choose_the_first_view(tab, kind):
    tree = tr.datasets.random_tree(50, shape="binary")
    page = tab.open(tree, layout=kind, lengths="equal", root=7)
    state = tab.state()
    assert (state["layout"], state["lengths"]) == (kind, "equal")
    assert page.locator("#layout").input_value() == kind
    assert page.evaluate("treerep.viewer.tree.node[0]") == 7
    assert page.locator("#spread").is_visible() == (kind == "disk")


@pytest.mark.parametrize("kind", ALL)
def test_every_layout_keeps_choice_and_selection_and_is_exported(tab, kind):
    tree = tr.fit(tr.datasets.sarich(), trials=20)
    page = tab.open(tree)
    seal, bear = tree.labels.index("seal"), tree.labels.index("bear")
    page.mouse.click(*tab.pixel(seal))
    page.evaluate("treerep.viewer.selectBranch(3)")
    selected = tab.state()["selected"]
    page.locator("#layout").select_option(kind)
    tab.settle()
    assert tab.state()["chosen"] == seal and tab.state()["selected"] == selected
    page.evaluate(
        "([a, b]) => treerep.viewer.showPath(treerep.viewer.tree.position[a],"
        " treerep.viewer.tree.position[b])",
        [seal, bear],
    )
    tab.settle()
    tab.shot(f"layout-{kind}")
    svg = ET.fromstring(page.evaluate("treerep.viewer.svg()"))
    assert {node.text for node in svg.iter(f"{SVG}text")} - {"100"} == set(tree.labels)
    strokes = [path.get("stroke") for path in svg.iter(f"{SVG}path")]
    assert "#d6004b" in strokes  # the path
    size = page.evaluate("treerep.png().then((blob) => blob.size)")
    assert size > 10_000


@pytest.mark.parametrize("kind", PLANE)
def test_a_click_and_a_lasso_hit_what_is_drawn(tab, kind):
    tree = tr.fit(tr.datasets.sarich(), trials=20)
    page = tab.open(tree, layout=kind)
    seal = tree.labels.index("seal")
    x, y = tab.pixel(seal)
    before = tab.pixel(0)
    page.mouse.click(x, y)
    tab.settle()
    assert tab.state()["chosen"] == seal
    assert tab.pixel(0) == before  # the view does not move
    page.keyboard.press("l")
    page.mouse.move(x - 15, y - 15)
    page.mouse.down()
    for px, py in [(x + 15, y - 15), (x + 15, y + 15), (x - 15, y + 15)]:
        page.mouse.move(px, py, steps=3)
    page.mouse.up()
    tab.settle()
    assert tab.state()["selected"] == ["seal"]


@pytest.mark.parametrize("kind", PLANE)
def test_a_drag_moves_the_tree_and_the_wheel_zooms_about_the_mouse(tab, kind):
    tree = tr.datasets.random_tree(3000, shape="binary")
    page = tab.open(tree, layout=kind)
    k = int(np.argmin([np.hypot(*(np.array(tab.pixel(i)) - (780, 400))) for i in range(300)]))
    before = np.array(tab.pixel(k))
    page.mouse.move(*before)
    page.mouse.wheel(0, -500)
    tab.settle()
    assert tab.state()["zoom"] > 1.3
    after = np.array(tab.pixel(k))
    np.testing.assert_allclose(after, before, atol=1)
    page.mouse.down()
    page.mouse.move(after[0] + 60, after[1] - 45, steps=4)
    page.mouse.up()
    tab.settle()
    np.testing.assert_allclose(np.array(tab.pixel(k)) - after, [60, -45], atol=1)
    page.keyboard.press("h")
    tab.settle()
    assert tab.state()["zoom"] == pytest.approx(1)


def test_rows_and_lengths_are_zoomed_separately(tab):
    tree = tr.datasets.random_tree(500, shape="binary")
    page = tab.open(tree, layout="rectangular", lengths="original")
    scale = "[treerep.viewer.layout.sx, treerep.viewer.layout.sy]"
    start = page.evaluate(scale)
    page.mouse.move(700, 400)
    page.mouse.wheel(0, -400)
    tab.settle()
    rows = page.evaluate(scale)
    assert rows[0] == start[0] and rows[1] > 1.4 * start[1]
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Shift")
    tab.settle()
    both = page.evaluate(scale)
    assert both[0] > 1.4 * rows[0] and both[1] == pytest.approx(rows[1])
    assert page.evaluate("treerep.viewer.layout.lengthPerPixel") == pytest.approx(1 / both[0])


def test_labels_appear_when_rows_are_tall_enough_and_do_not_overlap(tab):
    tree = tr.datasets.random_tree(2000, shape="binary")
    labels = [f"cell {i}" for i in range(2000)]
    page = tab.open(tree, labels=labels, layout="rectangular")

    def texts() -> list[ET.Element]:
        svg = ET.fromstring(page.evaluate("treerep.viewer.svg()"))
        return [node for node in svg.iter(f"{SVG}text") if node.get("fill") != "none"]

    assert texts() == []
    page.evaluate("treerep.viewer.zoomBy(60)")
    tab.settle()
    shown = texts()
    assert 20 < len(shown) < 100
    rows = sorted(float(node.get("transform").split()[1].split(")")[0]) for node in shown)
    assert np.diff(rows).min() >= 8
    tab.shot("rectangular-labels")


@pytest.mark.parametrize("kind", PLANE)
def test_thin_subtrees_of_a_large_tree_are_drawn_as_one_line(tab, kind):
    tree = tr.datasets.random_tree(50_000, shape="binary")
    page = tab.open(tree, layout=kind, lengths="original")
    drawn = page.evaluate("treerep.viewer.layout.count")
    assert 500 < drawn < 20_000
    # Everything drawn has a placed parent, and everything left out is thinner than a pixel.
    check = """() => {
      const { layout, tree } = treerep.viewer;
      let [orphans, thick] = [0, 0];
      for (let k = 1; k < tree.n; k++) {
        const parent = tree.up[k];
        if (layout.isPlaced(k) && !layout.isPlaced(parent)) orphans++;
        const open = layout.isPlaced(parent) && !layout.isBundle(parent);
        if (open && !layout.isPlaced(k) && layout.thickness(k) >= 1) thick++;
      }
      return [orphans, thick];
    }"""
    assert page.evaluate(check) == [0, 0]
    page.evaluate("treerep.viewer.center(treerep.viewer.tree.position[123])")
    tab.settle()
    assert page.evaluate("treerep.viewer.layout.count") < 20_000
    np.testing.assert_allclose(tab.pixel(123), page.evaluate("treerep.viewer.middle"), atol=30)
    tab.shot(f"large-{kind}")


@pytest.mark.parametrize("kind", ALL)
def test_a_path_is_brought_into_view(tab, kind):
    tree = tr.datasets.random_tree(400, shape="binary", rng=2)
    page = tab.open(tree, layout=kind)
    page.evaluate("treerep.viewer.center(treerep.viewer.tree.position[5])")
    page.evaluate("for (let i = 0; i < 3; i++) treerep.viewer.zoomBy(2)")
    page.evaluate(
        "treerep.viewer.showPath(treerep.viewer.tree.position[9], treerep.viewer.tree.position[300])"
    )
    tab.settle()
    for node in (9, 300):
        x, y = tab.pixel(node)
        assert 276 < x < 1280 and 0 < y < 800


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (None, False),  # numbers
        ([f"cell {i}" for i in range(100)], True),
        ([f"ACGTACGTACGTAC-{i}" for i in range(100)], False),
    ],
)
def test_labels_that_would_hide_the_tree_are_off_at_first(tab, labels, shown):
    page = tab.open(tr.datasets.random_tree(100, shape="binary"), labels=labels)
    assert page.evaluate("treerep.viewer.showLabels") is shown
    page.keyboard.press("t")
    assert page.evaluate("treerep.viewer.showLabels") is not shown


@pytest.mark.parametrize("kind", ALL)
def test_a_position_comes_back(tab, kind):
    tree = tr.datasets.random_tree(300, shape="binary")
    page = tab.open(tree, layout=kind)
    page.evaluate("treerep.viewer.drag([700, 400], [620, 350]); treerep.viewer.zoomBy(1.7)")
    tab.settle()
    before = [tab.pixel(node) for node in range(20)]
    position = page.evaluate("treerep.viewer.layout.position()")
    page.keyboard.press("h")
    tab.settle()
    assert not np.allclose([tab.pixel(node) for node in range(20)], before, atol=1)
    page.evaluate(
        "at => { const { viewer } = treerep; viewer.layout.flightToPosition(at).step(1); viewer.draw(); }",
        position,
    )
    np.testing.assert_allclose([tab.pixel(node) for node in range(20)], before, atol=1e-3)


@pytest.mark.parametrize("kind", ALL)
def test_collapsed_subtrees_are_triangles_with_a_count(tab, kind):
    tree = tr.datasets.random_tree(300, shape="binary")
    page = tab.open(tree, layout=kind)
    below = page.evaluate(
        "() => { const { viewer } = treerep; const { tree } = viewer; let k = 1;"
        " while (tree.pointsBelow[k] > 90 || tree.pointsBelow[k] < 20) k++;"
        " tree.collapsed = new Uint8Array(tree.n); tree.collapsed[k] = 1; viewer.rearrange();"
        " viewer.draw(); viewer.choose(k); return [k, tree.size[k], tree.pointsBelow[k]]; }"
    )
    tab.settle()
    k, size, points = below
    placed = page.evaluate(
        "Array.from({length: treerep.viewer.layout.count}, (_, i) => treerep.viewer.layout.shown[i])"
    )
    assert k in placed and not any(k < other < k + size for other in placed)
    svg = ET.fromstring(page.evaluate("treerep.viewer.svg()"))
    assert str(points) in {node.text for node in svg.iter(f"{SVG}text")}
    tab.shot(f"collapsed-{kind}")


@pytest.mark.parametrize("kind", ALL)
def test_filtered_points_are_faint(tab, kind):
    tree = tr.datasets.random_tree(300, shape="binary")
    page = tab.open(tree, layout=kind)
    page.evaluate("treerep.viewer.hidden = new Uint8Array(300).fill(1, 0, 150); treerep.viewer.redraw()")
    tab.settle()
    svg = ET.fromstring(page.evaluate("treerep.viewer.svg()"))
    assert any(path.get("opacity") == "0.16" for path in svg.iter(f"{SVG}path"))


def test_the_tree_is_never_dragged_out_of_sight(tab):
    tree = tr.fit(tr.datasets.sarich(), trials=20)
    page = tab.open(tree)
    room = page.evaluate("treerep.viewer.window.room")
    for kind in ALL:
        page.evaluate("kind => treerep.viewer.setLayout(kind)", kind)
        for target in ([400, 120], [1150, 700], [1150, 100]):
            page.evaluate(
                "to => { for (let i = 0; i < 40; i++)"
                " { treerep.viewer.drag([780, 400], to); treerep.viewer.draw(); } }",
                target,
            )
            tab.settle()
            nodes = np.array([tab.pixel(node) for node in range(tree.n_nodes)])
            inside = (nodes > [room["left"], room["top"]]) & (nodes < [room["right"], room["bottom"]])
            assert inside.all(axis=1).any()
            if kind == "disk":  # at most 1.8 hyperbolic units from the nearest edge
                places = tab.positions()
                arcs = geodesic_arcs(places[tree.edges[:, 0]], places[tree.edges[:, 1]])
                assert np.hypot(*np.concatenate(arcs).T).min() < np.tanh(0.9) + 0.01


def test_an_arrow_at_the_rim_leads_home(tab):
    tree = tr.datasets.random_tree(2000, shape="binary")
    page = tab.open(tree, layout="disk")
    home, compass = tab.positions(), page.get_by_role("button", name="Back to the tree")
    assert not compass.is_visible()
    far = int(np.argmax(np.hypot(*home.T)))
    page.evaluate("node => treerep.viewer.center(treerep.viewer.tree.position[node])", far)
    tab.settle()
    assert compass.is_visible()
    # The arrow is in the direction of the root.
    box = compass.bounding_box()
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    root = tab.positions()[page.evaluate("treerep.viewer.tree.node[0]")] * [1, -1]
    arrow = middle - page.evaluate("[treerep.viewer.layout.cx, treerep.viewer.layout.cy]")
    assert arrow @ root / np.hypot(*arrow) / np.hypot(*root) == pytest.approx(1, abs=1e-3)
    tab.shot("compass")
    compass.click()
    tab.settle()
    np.testing.assert_allclose(tab.positions(), home, atol=1e-12)
    assert not compass.is_visible()


@pytest.mark.parametrize("kind", PLANE)
def test_a_map_shows_where_the_view_is_and_a_click_goes_there(tab, kind):
    tree = tr.datasets.random_tree(2000, shape="binary")
    page = tab.open(tree, layout=kind)
    small = page.locator("#map")
    assert not small.is_visible()
    page.evaluate("treerep.viewer.zoomBy(8)")
    tab.settle()
    assert small.is_visible()
    tab.shot(f"map-{kind}")
    before = page.evaluate("treerep.viewer.layout.position()")
    box = small.bounding_box()
    page.mouse.click(box["x"] + 0.55 * box["width"], box["y"] + 0.3 * box["height"])
    tab.settle()
    after = page.evaluate("treerep.viewer.layout.position()")
    assert after["v"] < before["v"] and after["zy"] == before["zy"]
    if kind == "rectangular":
        assert after["v"] == pytest.approx(0.3, abs=0.05)
