"""A page of a tree in a real browser, and what tests read from it.

Pictures are kept in the folder that TREEREP_SCREENSHOTS names, or else in pytest's own temporary folder.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treerep as tr

#: Small trees of all shapes.
TREES = {
    "one point": tr.Tree(1, np.empty((0, 2), int), []),
    "two points": tr.Tree(2, [[0, 1]], [3.0]),
    "zero lengths": tr.Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [0.0, 1.0, 0.0, 2.0, 0.0]),
    "a star": tr.datasets.random_tree(40, shape="star"),
    "a path": tr.datasets.random_tree(12, shape="path"),
    "a caterpillar": tr.datasets.random_tree(30, shape="caterpillar"),
    "a binary tree": tr.datasets.random_tree(60, shape="binary"),
    "inner points": tr.datasets.random_tree(80),
}


class Tab:
    """A page opened in the browser; at the end there must have been no error and no request but for itself."""

    def __init__(self, pages: "Pages", folder: Path) -> None:
        self.pages, self.folder = pages, folder
        self.urls: set[str] = set()

    def open(
        self,
        tree: tr.Tree,
        *,
        viewport: tuple[int, int] = (1280, 800),
        context: Any = None,
        **options: Any,
    ) -> Any:
        path = self.folder / f"tree-{len(self.urls)}.html"
        tr.page(tree, path, **options)
        self.urls.add(path.as_uri())
        self.page = self.pages.take(viewport, context or {})
        self.page.goto(path.as_uri())
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until nothing moves. The page forbids the `eval` that Playwright's own waiting needs."""
        for _ in range(400):
            if self.page.evaluate("window.treerep && !treerep.state().flying && !treerep.viewer.waiting"):
                return
            self.page.wait_for_timeout(20)
        pytest.fail("the page does not come to rest")

    def state(self) -> dict[str, Any]:
        return self.page.evaluate("treerep.state()")

    def positions(self) -> np.ndarray:
        return np.array(self.page.evaluate("treerep.positions()"))

    def pixel(self, node: int) -> list[float]:
        return self.page.evaluate("node => treerep.pixel(node)", node)

    def shot(self, name: str) -> None:
        folder = Path(os.environ.get("TREEREP_SCREENSHOTS", self.folder))
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(folder / f"{name}.png"))

    def check(self) -> None:
        requests, errors = self.pages.seen()
        assert errors == []
        assert {url for url in requests if not url.startswith(("data:", "blob:"))} == self.urls


class Pages:
    """The pages of the browser, one for each kind of screen: opening a new one takes longer than most tests."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.kept: dict[str, Any] = {}
        self.errors: list[str] = []
        self.requests: list[str] = []

    def take(self, viewport: tuple[int, int], options: dict[str, Any]) -> Any:
        size = {"width": viewport[0], "height": viewport[1]}
        wanted = {"viewport": size, "reduced_motion": "reduce", **options}
        if repr(wanted) not in self.kept:
            page = self.kept[repr(wanted)] = self.browser.new_context(**wanted).new_page()
            page.on("pageerror", lambda error: self.errors.append(str(error)))
            page.on(
                "console",
                lambda said: self.errors.append(said.text) if said.type != "log" else None,
            )
            page.on("request", lambda request: self.requests.append(request.url))
        page = self.kept[repr(wanted)]
        page.mouse.move(1, 1)  # the last test may have left it over a node
        return page

    def seen(self) -> tuple[list[str], list[str]]:
        """Requests and errors since the last time."""
        seen = self.requests, self.errors
        self.requests, self.errors = [], []
        return seen


def apart(places: np.ndarray) -> np.ndarray:
    """Hyperbolic distances of all points of the disk."""
    z = places[:, 0] + 1j * places[:, 1]
    room = np.sqrt(1 - np.abs(z) ** 2)
    return 2 * np.arcsinh(np.abs(z[:, None] - z) / (room[:, None] * room))


def downloaded(page: Any, button: Any) -> str:
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_text(encoding="utf-8")
