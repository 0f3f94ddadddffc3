"""Names in the pictures that the page exports: none of a tip is lost, in any layout."""

import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import treerep as tr

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"
LAYOUTS = ("disk", "rectangular", "circular", "unrooted", "tanglegram")
PLACE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)rotate\(([-\d.]+)\)")


def long_names(n: int) -> list[str]:
    rng = np.random.default_rng(n)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"))
    sizes = rng.integers(15, 55, n)
    return [f"{k:03d}_/|" + "".join(rng.choice(letters, size)) for k, size in enumerate(sizes)]


def named_tree(n: int) -> tr.Tree:
    """A tree of an alignment, of which two sequences are equal."""
    tree = tr.datasets.random_alignment(n, sites=300, depth=0.3, rng=1)[1]
    return tr.Tree(n, tree.edges, tree.weights, labels=long_names(n))


def opened(tab: Any, tree: tr.Tree, layout: str, **options: Any) -> Any:
    if layout == "tanglegram":
        options["other"] = tr.fit(tree, method="upgma")
    page = tab.open(tree, layout=layout, **options)
    page.evaluate("treerep.viewer.setLabels(true)")  # they are hidden at first if they are long
    tab.settle()
    return page


def saved(page: Any, button: str) -> bytes:
    if not page.locator("#exports").is_visible():
        page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_bytes()


def written(svg: bytes) -> list[ET.Element]:
    """Return texts without their halos."""
    texts = ET.fromstring(svg).iter(f"{SVG}text")
    return [text for text in texts if text.get("fill") != "none"]


def full_name(text: ET.Element) -> str:
    title = text.find(f"{SVG}title")
    return (text if title is None else title).text or ""


def font_size(text: ET.Element) -> float:
    return float(re.search(r"([\d.]+)px", text.get("style"))[1])


def starts_of(svg: bytes, names: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    """Return where names start, in pixels of the figure: x, y, the direction of the text, and its size."""
    area = next(node for node in ET.fromstring(svg).iter(f"{SVG}svg") if node.get("x"))
    corner = float(area.get("x")), float(area.get("y"))
    found = {}
    for text in written(svg):
        if full_name(text) in names and text.get("transform"):
            x, y, turn = map(float, PLACE.search(text.get("transform")).groups())
            if text.get("text-anchor") == "end":
                turn += 180
            place = corner[0] + x, corner[1] + y, np.radians(turn), font_size(text)
            found[full_name(text)] = place
    return found


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_tip_has_its_name(tab, layout, n):
    tree = named_tree(n)
    page = opened(tab, tree, layout, viewport=(1000, 700))
    svg = saved(page, "Picture as SVG")
    texts = [text for text in written(svg) if full_name(text) in tree.labels]
    assert sorted(map(full_name, texts)) == sorted(tree.labels * (2 if layout == "tanglegram" else 1))
    for text in texts:
        assert text.text == full_name(text) or (
            text.text.endswith("…") and full_name(text).startswith(text.text[:-1])
        )
    assert not page.locator("#exportnote").is_visible()
    # Names do not cover each other: neighbors are a line of text apart.
    places = np.array(list(starts_of(svg, tree.labels).values()))
    apart = np.hypot(*(places[:, None, :2] - places[None, :, :2]).T)
    assert apart[np.triu_indices(n, 1)].min() > 0.9 * places[:, 3].min()
    # The picture shows them: there is ink behind the start of each name.
    image = Image.open(io.BytesIO(saved(page, "Picture as PNG"))).convert("L")
    pixels = np.asarray(image)
    for x, y, turn, size in places:
        at = np.round(2 * np.array([x + 3 * size * np.cos(turn), y + 3 * size * np.sin(turn)]))
        (column, row), reach = at.astype(int), int(np.ceil(2 * size))
        patch = pixels[max(0, row - reach) : row + reach, max(0, column - reach) : column + reach]
        assert patch.size > 0 and patch.min() < 150


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_name_leaves_the_picture(tab, layout):
    tree = named_tree(60)
    page = opened(tab, tree, layout, table={"a": np.arange(60)}, color="a")
    page.evaluate("treerep.viewer.setStrips(treerep.viewer.attributes)")
    svg = saved(page, "Picture as SVG").decode()
    boxes = np.array(
        page.evaluate(
            """text => {
                const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
                const shown = document.body.appendChild(document.importNode(svg, true));
                shown.style = "position: absolute; left: 0; top: 0";
                const at = shown.getBoundingClientRect();
                const boxes = [...shown.querySelectorAll("text")].map((node) => node.getBoundingClientRect());
                const sides = boxes.map((box) => [box.left, box.top, box.right, box.bottom]);
                shown.remove();
                return [[at.left, at.top, at.right, at.bottom], ...sides];
            }""",
            svg,
        )
    )
    assert len(boxes) > 120
    assert (boxes[1:, :2] > boxes[0, :2] - 2).all() and (boxes[1:, 2:] < boxes[0, 2:] + 2).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_view_is_the_same_after_an_export(tab, layout):
    tree = named_tree(60)
    page = opened(tab, tree, layout)
    pixels = "Array.from(treerep.viewer.tree.node, (_, k) => treerep.viewer.pixelOf(k))"
    before = page.evaluate(pixels)
    saved(page, "Picture as SVG")
    tab.settle()
    np.testing.assert_allclose(page.evaluate(pixels), before)


def test_short_names_stay_beside_their_tips(tab, mammals):
    tree, _ = mammals
    for layout in ("circular", "unrooted", "disk"):
        page = opened(tab, tree, layout)
        places = starts_of(saved(page, "Picture as SVG"), tree.labels)
        assert set(places) == (set() if layout == "disk" else set(tree.labels))
        assert page.evaluate("treerep.viewer.figureNames.missing") == 0


def test_the_number_of_missing_names_is_said(tab):
    tree = named_tree(200)
    page = opened(tab, tree, "rectangular")
    page.get_by_role("button", name="Export").click()
    page.locator("#figure-height").fill("200")
    texts = {full_name(text) for text in written(saved(page, "Picture as SVG"))}
    assert not texts & set(tree.labels)
    note = page.locator("#exportnote").inner_text()
    assert note == "200 of 200 names do not fit. Enlarge the figure, or zoom out."
    page.locator("#figure-height").fill("2000")
    saved(page, "Picture as SVG")
    assert not page.locator("#exportnote").is_visible()


@pytest.mark.parametrize("layout", ["circular", "unrooted"])
def test_a_magnified_part_has_names_or_says_how_many_are_missing(tab, layout):
    tree = named_tree(60)
    page = opened(tab, tree, layout)
    page.evaluate("treerep.viewer.zoomBy(3)")
    tab.settle()
    svg = saved(page, "Picture as SVG")
    names = {full_name(text) for text in written(svg)} & set(tree.labels)
    counts = page.evaluate("treerep.viewer.figureNames")
    assert len(names) + counts["missing"] == counts["all"] < 60
    assert len(names) > 5
    note = page.locator("#exportnote").inner_text()
    assert note.startswith(f"{counts['missing']} of ") == (counts["missing"] > 0)


def test_printing_says_how_many_names_are_missing(tab):
    page = opened(tab, named_tree(200), "rectangular")
    page.get_by_role("button", name="Export").click()
    page.locator("#figure-height").fill("200")
    page.evaluate("window.print = () => window.dispatchEvent(new Event('beforeprint'))")
    page.get_by_role("button", name="Print or save as PDF").click()
    note = page.locator("#exportnote").inner_text()
    assert note == "200 of 200 names do not fit. Enlarge the figure, or zoom out."
