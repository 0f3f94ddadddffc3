"""Every promise of the documentation names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "explanation" / "promises.md").read_text(encoding="utf-8")


def test_every_promise_names_a_test() -> None:
    promised = PAGE.partition("## Not guaranteed")[0]
    promises = re.split(r"^- ", promised, flags=re.MULTILINE)[1:]
    assert len(promises) > 20
    for promise in promises:
        assert re.search(r"`tests/[\w/]+\.py::test_\w+`", promise), promise


def test_the_named_tests_exist() -> None:
    for path, name in re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, flags=re.MULTILINE), f"{path} has no {name}"
