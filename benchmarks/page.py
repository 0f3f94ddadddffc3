"""Time per frame of the interactive page in headless Chromium."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import treerep as tr

from .common import Table

NODES = (1_000, 10_000, 100_000)

# Drags the tree and times each frame: layout, draw calls, and reading a pixel, which waits until
# everything is drawn. `settled` is the level of detail that the page chose while it moved.
DRAG = """
async (frames) => {
  const { viewer } = window.treerep;
  const { pen } = viewer;
  const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  const next = () => new Promise((done) => requestAnimationFrame(done));
  const measure = async (draw) => {
    const runs = [await run(draw), await run(draw), await run(draw)];
    return runs.reduce((best, one) => (one.whole < best.whole ? one : best));
  };
  const run = async (draw) => {
    const times = { walk: [], paint: [], whole: [] };
    for (let i = 0; i < frames; i++) {
      const turn = (2 * Math.PI * i) / frames;
      viewer.drag([viewer.cx, viewer.cy], [viewer.cx + 14 * Math.cos(turn), viewer.cy + 14 * Math.sin(turn)]);
      cancelAnimationFrame(viewer.waiting); // each frame is drawn once, below
      viewer.waiting = 0;
      const start = performance.now();
      draw();
      pen.getImageData(0, 0, 1, 1);
      times.whole.push(performance.now() - start);
      times.walk.push(viewer.frames.walk);
      times.paint.push(viewer.frames.paint);
      await next();
    }
    return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
  };
  await run(() => viewer.draw());
  const full = await measure(() => viewer.draw());
  const moving = await measure(() => viewer.drawMoving());
  return { full, moving, level: viewer.movingDetail, placed: viewer.frames.drawn };
}
"""


def in_chromium(pages: list[Path]) -> list[dict[str, Any]]:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium not found: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        results = []
        for path in pages:
            tab = browser.new_page(viewport={"width": 1280, "height": 800})
            tab.goto(path.as_uri())
            tab.wait_for_timeout(500)
            results.append(tab.evaluate(DRAG, 60))
            tab.close()
        browser.close()
    return results


def measure() -> list[Table]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        pages = [Path(folder) / f"{nodes}.html" for nodes in NODES]
        for nodes, path in zip(NODES, pages, strict=True):
            tr.page(tr.datasets.random_tree(nodes // 2 + 1, shape="binary"), path)
        for nodes, path, run in zip(NODES, pages, in_chromium(pages), strict=True):
            full, moving = run["full"], run["moving"]
            rows.append(
                {
                    "nodes": nodes,
                    "page, MB": path.stat().st_size / 1e6,
                    "place, ms": full["walk"],
                    "draw calls, ms": full["paint"],
                    "frame in full detail, ms": full["whole"],
                    "frame while moving, ms": moving["whole"],
                    "detail while moving": f"{run['level']} of 4",
                }
            )
    note = (
        "Binary trees colored by clusters, 1280 x 800 pixels, in headless Chromium without a GPU. "
        "Median of 60 frames while dragging, best of three. A frame includes layout, draw calls and "
        "waiting for the pixels. If frames are slow, the page reduces the level of detail until the "
        "tree is at rest."
    )
    return [Table("Time per frame of the page", rows, note)]
