"""The pages about drawings and the interactive page."""

import json
import re
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import treerep as tr

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "howto" / "draw.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("picture", re.findall(r"\]\(\.\./(pictures/.*?)\)", PAGE))
def test_pictures_of_the_page_exist_and_are_small(picture):
    assert 1_000 < (DOCS / picture).stat().st_size < 100_000


def test_sizes_and_times_of_the_interactive_page_are_the_measured_ones():
    page = (DOCS / "howto" / "explore.md").read_text(encoding="utf-8")
    results = json.loads((ROOT / "benchmarks" / "results" / "page.json").read_text("utf-8"))
    rows = results["tables"][0]["rows"]
    for disk, plane in zip(rows[::2], rows[1::2], strict=True):
        assert (disk["layout"], plane["layout"]) == ("disk", "rectangular")
        times = [f"{row['frame while moving, ms']:.1f} ms" for row in (disk, plane)]
        cells = [disk["tree"], f"{disk['nodes']:,}", f"{disk['page, MB']:.2f} MB", *times]
        assert f"| {' | '.join(cells)} |" in page


def test_the_rectangular_layout_shows_labels_of_the_axes():
    def pixels(axes):
        canvas = FigureCanvasAgg(axes.figure)
        canvas.draw()
        return bytes(canvas.buffer_rgba())

    tree = tr.fit(tr.datasets.sarich(), method="upgma")
    axes = tr.draw(tree, layout="rectangular", ax=Figure().add_subplot())
    before = pixels(axes)
    axes.set_xlabel("immunological distance")
    assert pixels(axes) != before
    axes.set_xlabel("")
    assert pixels(axes) == before
