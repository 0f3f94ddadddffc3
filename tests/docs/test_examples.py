"""Run every example of the documentation, and compare the results that it shows.

Blocks of one page run one after the other in one namespace, as a reader would type them. A comment behind an
expression is its result: `tree.n_nodes  # 14`, `print(score)  # 0.0234`. tests/docs/test_tutorials.py runs the cells of
notebooks. A line `% not run: reason` above a block leaves it out.
"""

import ast
import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tests.shown import is_printed

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_BLOCK = re.compile(
    r"^(?P<left_out>% not run: [^\n]+\n)?```(?:python|\{code-cell\} ipython3)\n(?P<code>.*?)^```",
    flags=re.DOTALL | re.MULTILINE,
)
# Most of the cluster's examples are scripts, each with its own processes.
_SCRIPT = 'if __name__ == "__main__"'
WITH_TORCH = {"howto/embed.md", "howto/gpu.md", "tutorials/machine_learning.md"}


def pages() -> list[str]:
    """Return the pages with blocks of Python, and the README, by their paths from docs/."""
    found = [path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts]
    texts = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in found}
    plain = [page for page, text in texts.items() if "```python\n" in text]
    return ["../README.md", *plain, *sorted(WITH_TORCH - set(plain))]


def blocks(page: str) -> list[str]:
    """Return the Python of a page, cells of a notebook and plain blocks alike, in their order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = [match["code"] for match in _BLOCK.finditer(text) if not match["left_out"]]
    return [re.sub(r"^:tags:.*\n", "", code) for code in found]


def run(page: str, code: str, namespace: dict[str, object]) -> None:
    """Run a block, statement by statement, and compare the results behind expressions."""
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        remark = lines[statement.end_lineno - 1][statement.end_col_offset :].partition("#")[2]
        if not isinstance(statement, ast.Expr) or not remark:
            exec(compile(ast.Module([statement], []), page, "exec"), namespace)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = eval(compile(ast.Expression(statement.value), page, "eval"), namespace)
        found = printed.getvalue() if value is None else repr(value)
        assert is_printed(remark.strip(), found), (
            f"{page}: {lines[statement.end_lineno - 1]!r} gives {found!r}"
        )


def run_script(code: str, folder: Path) -> None:
    """Run a block as a program, and compare what it prints."""
    (folder / "script.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, timeout=300, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-2000:]
    shown = re.findall(r"^ *print\(.*\)  # (.*)$", code, flags=re.MULTILINE)
    assert len(shown) == len(done.stdout.splitlines())
    for one, two in zip(shown, done.stdout.splitlines(), strict=True):
        assert is_printed(one, two), f"the page shows {one!r}, and the script prints {two!r}"


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.torch if page in WITH_TORCH else []) for page in pages()],
)
def test_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    code = blocks(page)
    assert code
    try:
        for block in code:
            if _SCRIPT in block:
                run_script(block, tmp_path)
            else:
                run(page, block, namespace)
    finally:
        plt.close("all")


def test_a_wrong_result_is_found() -> None:
    run("page", "x = 2\nx + 1  # 3\nprint(0.12345)  # 0.1234\n", {})
    with pytest.raises(AssertionError, match="gives '3'"):
        run("page", "1 + 2  # 4\n", {})
