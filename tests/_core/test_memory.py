"""How much memory there is, and the line that says that it is not enough."""

import os
import resource
import sys
from pathlib import Path

import pytest

from treerep._core import memory


def test_a_container_has_less_than_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path)
    free = memory.available_memory()  # no files: no limit
    assert 2**20 < free < sys.maxsize
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    assert memory.available_memory() == 2_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_memory() > 2**20


def test_systems_that_do_not_tell_have_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> str:
        raise OSError

    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.delattr(os, "sysconf")
    assert memory.available_memory() == sys.maxsize
    memory.check_memory(2**60, "anything", "nothing to do")


def test_a_limit_of_the_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (used + 2**30, used + 2**30))
    assert 2**29 < memory.available_memory() <= 2**30 + 2**28
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**20, 2**20))
    assert memory.available_memory() == 0
    with pytest.raises(MemoryError, match="but 0.0 GiB are available"):
        memory.check_memory(2**20, "anything", "nothing to do")
