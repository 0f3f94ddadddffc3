"""Every example of the documentation runs: cells of the tutorials when it is built, blocks of the pages in a test."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

# Pages whose blocks other tests run, because they look at what comes out, too.
ELSEWHERE = {
    "index.md": "tests/test_front_door.py",
    "place.md": "tests/test_front_door.py",
    "sklearn.md": "tests/test_front_door.py",
    "drawing.md": "tests/drawing/test_pages.py",
    "formats_trees.md": "tests/formats/test_pages.py",
    "scaling_dask.md": "tests/backends/dask/test_page.py",
    "scaling_out_of_core.md": "tests/backends/test_out_of_core.py",
    "single_cell.md": "tests/adapters/scverse/test_tools.py",
}
PLAIN = (
    "extending_metric.md",
    "formats.md",
    "hyperbolicity.md",
    "methods.md",
    "page.md",
    "refinement.md",
)
WITH_DATA = ("datasets.md", "tutorial_network.md")
WITH_TORCH = ("embeddings.md", "scaling_gpu.md", "tutorial_learning.md")


def blocks(page: str) -> list[str]:
    """Return the Python of a page, cells of a notebook and plain blocks alike, in their order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(
        r"^```(?:python|\{code-cell\} ipython3)\n(.*?)^```",
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    return [re.sub(r"^:tags:.*\n", "", block) for block in found]


def run(page: str, code: list[str]) -> None:
    """Run pieces of code one after the other in one namespace, as a reader would type them."""
    namespace: dict[str, object] = {}
    for block in code:
        exec(compile(block, page, "exec"), namespace)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_no_page_is_forgotten():
    with_blocks = {
        path.name
        for path in DOCS.glob("*.md")
        if "```python\n" in path.read_text(encoding="utf-8")
    }
    assert with_blocks == {*ELSEWHERE, *PLAIN, *WITH_DATA, *WITH_TORCH}
    for page, test in ELSEWHERE.items():
        assert page in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PLAIN)
def test_blocks_run(page):
    run(page, blocks(page))


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("page", WITH_DATA)
def test_blocks_run_where_the_data_is(page):
    # Debian's WordNet is not everywhere; its reader has tests of its own.
    run(page, [block for block in blocks(page) if "/usr/share/wordnet" not in block])


@pytest.mark.torch
@pytest.mark.parametrize("page", WITH_TORCH)
def test_blocks_run_where_torch_is(page):
    run(page, blocks(page))
