"""What tests/docs/test_extending.py runs where the worked example of a method was applied: the method is everywhere."""

import importlib
import re
from pathlib import Path

import pytest

import treerep as tr
from tests.cli.commands import Caller

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_command_line_knows_the_method(call: Caller) -> None:
    mammals = call("data", "path", "sarich").stdout.strip()
    assert re.search(r"\bstar\b", call("fit", "--help").stdout)
    done = call("fit", mammals, "--method", "star", "-o", "star.nwk")
    assert done.returncode == 0, done.stderr
    done = call("compare", mammals, "--methods", "star,upgma", "--csv", "-")
    assert done.returncode == 0, done.stderr
    assert re.search(r"\bstar\b", done.stdout)
    assert "@misc{treerep" in call("cite", "star").stdout


def test_the_documentation_knows_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    assert '"star"' in tr.fit.__doc__
    monkeypatch.syspath_prepend(DOCS)
    assert "| `star` | stars |" in importlib.import_module("method_table").table()
