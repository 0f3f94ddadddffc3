"""What fuzzers once found, tried again: each file under corpus/ broke a parser."""

from pathlib import Path

import pytest

from harden.targets import TARGETS

FILES = sorted(Path(__file__).with_name("corpus").glob("*/*"))


def test_there_are_some() -> None:
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name[-8:]}")
def test_a_former_failure(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())
