"""The scripts of the page on Dask run, and print what they say. Those for clusters that are not here are left out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_examples import blocks
from tests.shown import is_printed

PAGE = "scaling_dask.md"
SCRIPTS = [block for block in blocks(PAGE) if "__main__" in block]


def test_the_page_has_both_scripts() -> None:
    assert len(SCRIPTS) == 2


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("number", range(2))
def test_scripts_run(number: int, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPTS[number], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-2000:]
    printed = done.stdout.splitlines()
    shown = re.findall(r"^ +print\(.*\)  # (.*)$", SCRIPTS[number], flags=re.MULTILINE)
    assert len(printed) == len(shown)
    for one, two in zip(shown, printed, strict=True):
        assert is_printed(one, two), f"the page shows {shown}, and the script prints {printed}"


def test_cells_in_chunks() -> None:
    namespace: dict[str, object] = {}
    code = next(block for block in blocks(PAGE) if "chunks=250_000" in block)
    exec("import treerep as tr\n" + code + "chunks = cells.points.chunks", namespace)
    assert namespace["chunks"] == ((250_000,) * 4, (20,))
