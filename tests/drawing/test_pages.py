import re
from pathlib import Path

import pytest

import treerep as tr

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "drawing.md").read_text(encoding="utf-8")


def test_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "drawing.md", "exec"), namespace)
    assert isinstance(namespace["tree"], tr.Tree)
    assert (tmp_path / "mammals.pdf").stat().st_size > 0


@pytest.mark.parametrize("picture", re.findall(r"\]\((pictures/.*?)\)", PAGE))
def test_pictures_of_the_page_are_there_and_small(picture):
    assert 1_000 < (DOCS / picture).stat().st_size < 100_000
