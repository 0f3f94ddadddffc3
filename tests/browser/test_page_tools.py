"""Tools of the page that change or share the tree: roots, order, support, clusters, links and exports."""

from typing import Any

import numpy as np
import pytest

import treerep as tr
from tests.browser.pages import Tab
from treerep.drawing.page._content import edge_angles
from treerep.embedding.sarkar.construction import sarkar

pytestmark = pytest.mark.browser

TREES = {
    "two points": tr.Tree(2, [[0, 1]], [3.0]),
    "zero lengths": tr.Tree(
        4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [0.0, 1.0, 0.0, 2.0, 0.0]
    ),
    "a star": tr.datasets.random_tree(40, shape="star", rng=1),
    "a caterpillar": tr.datasets.random_tree(30, shape="caterpillar", rng=1),
    "a binary tree": tr.datasets.random_tree(60, shape="binary", rng=1),
    "inner points": tr.datasets.random_tree(80, rng=1),
    "large": tr.datasets.random_tree(2000, rng=2),
}
ROOTED = tr.Tree.from_newick(
    "((a:1,(b:2,c:1)0.75:1)0.9:2,((d:1,e:2)clade:3,(f:1,g:1)0.5:1)1.0:1,h:9);"
)


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
    return tab.page.evaluate(
        "treerep.viewer.tree.newick(new Uint8Array(treerep.viewer.tree.n).fill(1))"
    )


def root_distances(tree: tr.Tree, root: int | None = None) -> np.ndarray:
    return tree.rooted(tree.root if root is None else root).depth[: tree.n_points]


def assert_same_angles(up: Any, got: Any, expected: Any) -> None:
    """Compare the angles around each node as sets: siblings with equally many points may exchange them."""
    by_parent = [np.lexsort([np.round(angles, 6), up]) for angles in (got, expected)]
    sorted_angles = [np.array(angles)[at] for angles, at in zip((got, expected), by_parent)]
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
        half, new = tr.tree.operations.rerooting._split_edge(
            tree, a, b, float(tree.weights[edge]) / 2
        )
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
        np.testing.assert_array_equal(
            np.array(got["angle"])[at], np.array(first["angle"])[was]
        )
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
        assert sorted(got.support[~np.isnan(got.support)]) == sorted(
            read.support[~np.isnan(read.support)]
        )
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
