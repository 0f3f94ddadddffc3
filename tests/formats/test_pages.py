"""The examples of the page on tree files run."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats_trees.md"


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in re.findall(
        r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
    ):
        exec(compile(block, PAGE.name, "exec"), namespace)
    names = [
        "mammals.auspice.json",
        "mammals.itol.nwk",
        "mammals.labels.tsv",
        "mammals.metadata.tsv",
        "mammals.nex",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*names, "mammals.nwk"]
