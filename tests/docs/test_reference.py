"""Every public name is in the reference, and says what it costs, when it is exact, and whose it is."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import treerep as tr
import treerep.citations
import treerep.formats
import treerep.sklearn
from treerep.methods import FIT as METHODS

DOCS = Path(__file__).resolve().parents[2] / "docs"
HOMES = (tr, tr.datasets, tr.tl, tr.pl, tr.formats, tr.sklearn, tr.citations)
PUBLIC = {
    f"{home.__name__}.{name}": getattr(home, name)
    for home in HOMES
    for name in home.__all__
    if callable(getattr(home, name)) and name != "register"
}
FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]
# What needs files that are not everywhere cannot have an example that runs.
WITHOUT_EXAMPLE = {"treerep.datasets.paper_points", "treerep.datasets.wordnet_nouns"}


@pytest.mark.parametrize("name", PUBLIC)
def test_it_is_in_the_reference(name):
    pages = [
        (DOCS / page).read_text(encoding="utf-8")
        for page in ("reference/index.md", "reference/citing.md")
    ]
    assert any(
        re.search(rf"^\.\. auto\w+:: {re.escape(name)}$", page, flags=re.MULTILINE)
        for page in pages
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_notes_and_an_example(name):
    text = inspect.getdoc(PUBLIC[name])
    assert "\nNotes\n-----\n" in text
    assert ("\nExamples\n--------\n" in text) != (name in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("method", METHODS)
def test_methods_say_cost_exactness_and_reference(method):
    text = inspect.getdoc(METHODS[method].load())
    assert "O(" in text
    assert re.search(r"\b[Ee]xact(ly)?\b", text)
    assert re.search(r"\b(19|20)\d\d\b", text)


@pytest.fixture
def method_table(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    monkeypatch.delitem(sys.modules, "method_table", raising=False)
    return importlib.import_module("method_table")


def test_methods_are_on_their_pages(method_table):
    measured = (DOCS / "developers" / "methods_measured.md").read_text(encoding="utf-8")
    assert "```{include} ../_build/method_table.md" in measured
    reference = (DOCS / "reference" / "methods.md").read_text(encoding="utf-8")
    assert "```{include} ../_build/method_details.md" in reference
    described = re.findall(
        r"^\.\. autofunction:: treerep\.methods\.(\w+)$", method_table.details(), re.MULTILINE
    )
    assert described == list(METHODS)


def test_every_method_is_in_the_measured_table(method_table):
    head, _, *rows = [line for line in method_table.table().splitlines() if line[:1] == "|"]
    assert head.count("|") == 9 and all(row.count("|") == 9 for row in rows)
    assert [re.match(r"\| `(\w+)`", row)[1] for row in rows] == list(METHODS)
    numbers = r"(\| [\d.]+ ){4}\| (graph|matrix) \| [\d.]+ \|$"
    measured = [bool(re.search(numbers, row)) for row in rows]
    # A method that was just added is listed before it is measured.
    assert all(
        found or "| - | - | - | - |" in row for row, found in zip(rows, measured, strict=True)
    )
    assert sum(measured) >= 16
