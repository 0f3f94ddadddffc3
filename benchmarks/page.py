"""Time per frame of the interactive page in headless Chromium, dragged with the mouse."""

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import treerep as tr

from .common import Table

LAYOUTS = ("disk", "rectangular")
STEPS = 90  # moves of the mouse in a drag

# Records the time of every frame of the browser.
WATCH_CLOCK = """() => {
  window.clock = [];
  const next = (time) => { clock.push(time); window.ticking = requestAnimationFrame(next); };
  window.ticking = requestAnimationFrame(next);
}"""
# Records the time that every frame takes: layout, draw calls, and reading a pixel, which waits until
# everything is drawn.
WATCH_FRAMES = """() => {
  cancelAnimationFrame(window.ticking);
  window.costs = [];
  const { viewer } = window.treerep;
  const draw = Object.getPrototypeOf(viewer).draw;
  viewer.draw = (detail) => {
    const start = performance.now();
    draw.call(viewer, detail);
    viewer.pen.getImageData(0, 0, 1, 1);
    costs.push(performance.now() - start);
  };
}"""
FULL_DETAIL = "() => { costs.length = 0; for (let i = 0; i < 15; i++) treerep.viewer.draw(); return costs; }"


def labeled_tree(nodes: int) -> tuple[tr.Tree, dict[str, Any]]:
    """Return a random tree of points with labels and three attributes."""
    tree = tr.datasets.random_tree(nodes, rng=1)
    labels = [f"cell_{i:06d}" for i in range(nodes)]
    rng = np.random.default_rng(0)
    table = {
        "cluster": [f"cluster {number}" for number in tree.cut(30)],
        "depth": rng.normal(size=nodes),
        "batch": rng.integers(0, 6, nodes),
    }
    named = tr.Tree(nodes, tree.edges, tree.weights, labels=labels)
    return named, {"table": table, "color": "cluster"}


def zeisel() -> tuple[tr.Tree, dict[str, Any]]:
    cells = tr.datasets.load("zeisel")
    tree = tr.fit(cells, method="neighbor_joining")
    return tree, {"table": {"cell type": cells.classes}, "color": "cell type"}


TREES: dict[str, Callable[[], tuple[tr.Tree, dict[str, Any]]]] = {
    "mammals": lambda: (tr.fit(tr.datasets.load("sarich")), {}),
    "Zeisel cells": zeisel,
    "GrQC": lambda: (tr.fit(tr.datasets.load("grqc")), {}),
    "WordNet": lambda: (tr.fit(tr.datasets.load("wordnet")), {}),
    "random, labels": lambda: labeled_tree(100_000),
    "random": lambda: (tr.datasets.random_tree(1_000_000, rng=1), {}),
}


def drag(tab: Any) -> None:
    """Drag the tree around a circle with the left button."""
    tab.mouse.move(780, 400)
    tab.mouse.down()
    for i in range(STEPS):
        turn = 2 * math.pi * i / STEPS
        tab.mouse.move(780 + 80 * math.sin(turn), 400 + 60 * (1 - math.cos(turn)))
    tab.mouse.up()


def measured(tab: Any, layout: str) -> dict[str, Any]:
    """Return the times of one page in one layout."""
    tab.evaluate("kind => treerep.viewer.setLayout(kind)", layout)
    tab.wait_for_timeout(1000)
    drag(tab)  # the page chooses its level of detail
    tab.evaluate(WATCH_CLOCK)
    drag(tab)
    between = np.diff(tab.evaluate("clock"))
    tab.evaluate(WATCH_FRAMES)
    drag(tab)
    moving = np.array(tab.evaluate("costs"))
    level = tab.evaluate("treerep.viewer.movingDetail")
    full = np.array(tab.evaluate(FULL_DETAIL))
    return {
        "frame while moving, ms": float(np.median(moving)),
        "95% of frames, ms": float(np.quantile(moving, 0.95)),
        "between frames, ms": float(np.median(between)),
        "95% between frames, ms": float(np.quantile(between, 0.95)),
        "level of detail": level,
        "frame in full detail, ms": float(np.median(full)),
    }


def in_chromium(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the times of a page in each layout."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium not found: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for layout in LAYOUTS:
            tab = browser.new_page(viewport={"width": 1280, "height": 800})
            tab.goto(path.as_uri())
            tab.wait_for_timeout(1000)
            yield layout, measured(tab, layout)
            tab.close()
        browser.close()


def measure() -> list[Table]:
    rows = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for name, build in TREES.items():
            tree, options = build()
            path = Path(folder) / "tree.html"
            tr.page(tree, path, **options)
            size = {
                "tree": name,
                "nodes": tree.n_nodes,
                "page, MB": path.stat().st_size / 1e6,
            }
            for layout, times in in_chromium(path):
                rows.append({**size, "layout": layout, **times})
    note = (
        f"1280 x 800 pixels, headless Chromium without a GPU, {os.cpu_count()} CPU cores. Load "
        f"average at the start: {load:.1f}. The tree is dragged with the mouse. A frame "
        "includes layout, draw calls and waiting for the pixels (median). "
        "The browser shows at most one frame in 16.7 ms. If frames are slow, the page reduces "
        "the level of detail until the tree is at rest (0 is full detail)."
    )
    return [Table("Time per frame of the page", rows, note)]
