"""Run the cells of every notebook without a data folder and without a network, and show their results."""

import re
import socket
from pathlib import Path

import pytest

from tests.docs.test_examples import DOCS, run

_CELL = re.compile(
    r"^```\{code-cell\} ipython3\n(?::tags:[^\n]*\n)?(.*?)^```", flags=re.DOTALL | re.MULTILINE
)
NOTEBOOKS = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.md")
    if "_build" not in path.parts and "```{code-cell}" in path.read_text(encoding="utf-8")
)


def refuse(*_: object) -> None:
    """Stand in for a connection."""
    raise AssertionError("a notebook uses the network")


@pytest.mark.filterwarnings("ignore:Observation names are not unique")  # while scanpy reads a file
@pytest.mark.parametrize("page", NOTEBOOKS)
def test_every_reader_can_run_it(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TREEREP_DATA", raising=False)
    # Not XDG_CACHE_HOME, which is also the folder of compiled kernels.
    monkeypatch.setattr("treerep.datasets._finding.user_cache", lambda kind: tmp_path / "empty" / kind)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    namespace: dict[str, object] = {"__name__": "page"}
    cells = _CELL.findall((DOCS / page).read_text(encoding="utf-8"))
    assert cells
    for cell in cells:
        run(page, cell, namespace)
