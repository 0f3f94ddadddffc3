"""Run the cells of every tutorial without a data folder and without a network."""

import re
import socket
from pathlib import Path

import pytest

from tests.docs.test_examples import DOCS, run

_CELL = re.compile(
    r"^```\{code-cell\} ipython3\n(?::tags:[^\n]*\n)?(.*?)^```", flags=re.DOTALL | re.MULTILINE
)
TUTORIALS = sorted(
    path.relative_to(DOCS).as_posix() for path in (DOCS / "tutorials").glob("*.md") if path.stem != "index"
)


def refuse(*_: object) -> None:
    """Stand in for a connection."""
    raise AssertionError("a tutorial uses the network")


@pytest.mark.filterwarnings("ignore:Observation names are not unique")  # while scanpy reads a file
@pytest.mark.parametrize("page", TUTORIALS)
def test_every_reader_can_run_it(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TREEREP_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    namespace: dict[str, object] = {"__name__": "page"}
    cells = _CELL.findall((DOCS / page).read_text(encoding="utf-8"))
    assert cells
    for cell in cells:
        run(page, cell, namespace)
