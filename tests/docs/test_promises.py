"""Every promise of the documentation names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")


def test_every_promise_names_a_test() -> None:
    rows = re.findall(r"^\| (?!promise)(.+) \| (.+) \|$", PAGE, flags=re.MULTILINE)
    assert len(rows) > 20
    for promise, checks in rows:
        assert "::test_" in checks, promise


def test_the_named_tests_exist() -> None:
    for path, name in re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, flags=re.MULTILINE), f"{path} has no {name}"
