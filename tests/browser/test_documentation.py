"""The built documentation in a browser: no page is too long or too wide, and pictures are visible in dark mode.

`make docs` builds the pages. Pictures of them are kept in the folder that TREEREP_SCREENSHOTS names.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

BUILT = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
#: Pixels on a desktop. The index of the API, generated pages and pages for developers may be longer.
TALLEST = 6_000
NOT_FOR_USERS = ("developers/", "_modules/", "reference/generated/")
MAY_BE_LONG = ("reference/index.html", "reference/command_line.html", "reference/methods.html")
NO_PROSE = ("genindex.html", "py-modindex.html", "search.html")


def built_pages() -> list[str]:
    found = (path.relative_to(BUILT).as_posix() for path in sorted(BUILT.rglob("*.html")))
    return [page for page in found if not page.startswith("_static") and page not in NO_PROSE]


@pytest.fixture(scope="module")
def pages() -> list[str]:
    if not (BUILT / "index.html").exists():
        pytest.skip("the documentation is not built: make docs")
    return built_pages()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    with browser.new_context(viewport=DESKTOP) as context:
        yield context.new_page()


def keep_picture(tab: Any, page: str, kind: str) -> None:
    folder = os.environ.get("TREEREP_SCREENSHOTS")
    if folder:
        name = page.replace("/", "-").removesuffix(".html")
        tab.screenshot(path=f"{folder}/{kind}-{name}.png", full_page=True)


def test_user_pages_are_short(tab: Any, pages: list[str]) -> None:
    heights = {}
    for page in pages:
        if not page.startswith(NOT_FOR_USERS):
            tab.goto((BUILT / page).as_uri())
            heights[page] = tab.evaluate("document.documentElement.scrollHeight")
            keep_picture(tab, page, "desktop")
    tall = {page: px for page, px in heights.items() if px > TALLEST and page not in MAY_BE_LONG}
    assert len(heights) > 30
    assert tall == {}


def test_phones_do_not_scroll_sideways(tab: Any, pages: list[str]) -> None:
    tab.set_viewport_size(PHONE)
    wide = []
    for page in pages:
        if not page.startswith("_modules/"):
            tab.goto((BUILT / page).as_uri())
            if tab.evaluate("document.documentElement.scrollWidth") > PHONE["width"] + 1:
                wide.append(page)
            if not page.startswith(NOT_FOR_USERS):
                keep_picture(tab, page, "phone")
    assert wide == []


#: Pictures of the page that are loaded, and those that a filter dims.
PICTURES = """() => {
    const shown = [...document.querySelectorAll("article img")];
    return {
        broken: shown.filter(image => image.complete && image.naturalWidth === 0).map(image => image.src),
        dimmed: shown.filter(image => getComputedStyle(image).filter !== "none").map(image => image.src),
        count: shown.length,
    };
}"""


def test_pictures_are_readable_in_dark_mode(browser: Any, pages: list[str]) -> None:
    count = 0
    with browser.new_context(viewport=DESKTOP, color_scheme="dark") as context:
        tab = context.new_page()
        for page in pages:
            if page.startswith(("_modules/", "reference/generated/")):
                continue
            tab.goto((BUILT / page).as_uri())
            found = tab.evaluate(PICTURES)
            assert found["broken"] == [], page
            assert found["dimmed"] == [], page
            count += found["count"]
            if not page.startswith(NOT_FOR_USERS):
                keep_picture(tab, page, "dark")
    assert count > 10
