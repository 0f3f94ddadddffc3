"""Every public name is in the reference, with its parameters, cost, exactness and related names."""

import importlib
import inspect
import operator
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
HOMES = (tr, tr.datasets, tr.tl, tr.pl, tr.formats, tr.scores, tr.sklearn, tr.citations)
PUBLIC = {
    f"{home.__name__}.{name}": getattr(home, name)
    for home in HOMES
    for name in home.__all__
    if callable(getattr(home, name)) and name != "register"
}
FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]
# Functions, and classes that users make. Other classes are results or base classes.
RESULTS = (
    "Page",
    "Placements",
    "RefinedTree",
    "Metric",
    "MetricError",
    "Score",
    "Hyperbolicity",
    "LowerBound",
    "Refinement",
    "Alignment",
    "Cells",
    "DataSet",
)
DESCRIBED = [name for name in PUBLIC if name.rpartition(".")[2] not in RESULTS]
# Their data are not on every machine, so they have no example.
WITHOUT_EXAMPLE = {"treerep.datasets.paper_points", "treerep.datasets.wordnet_nouns"}


# Sections of numpydoc with a list of parameters or names.
SECTION = re.compile(
    r"\n(?P<title>[A-Z][A-Za-z ]+)\n-+\n(?P<body>.*?)(?=\n\n[A-Z][A-Za-z ]+\n-+\n|\Z)",
    re.DOTALL,
)


def sections(value: object) -> dict[str, str]:
    text = inspect.getdoc(value) or ""
    return {found["title"]: found["body"] for found in SECTION.finditer(text)}


def find(name: str) -> object:
    """Return the object of a name as See Also sections write it: `fit`, `Tree.cut`, `tl.tree`."""
    return operator.attrgetter(name.removeprefix("treerep."))(tr)


@pytest.mark.parametrize("name", PUBLIC)
def test_it_is_in_the_reference(name):
    page = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    assert re.search(rf"^   {re.escape(name)}$", page, flags=re.MULTILINE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_notes_and_an_example(name):
    found = sections(PUBLIC[name])
    assert "Notes" in found
    assert ("Examples" in found) != (name in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("name", [*PUBLIC, *(f"treerep.methods.{name}" for name in METHODS)])
def test_related_names_exist(name):
    this = find(name)
    related = sections(this).get("See Also", "")
    names = re.findall(r"^([\w.]+) : [A-Z].*\.$", related, flags=re.MULTILINE)
    assert names, "no See Also section"
    assert len(names) == len([line for line in related.splitlines() if line.strip()])
    assert len(names) <= 5
    for other in names:
        assert find(other) is not this


@pytest.mark.parametrize("name", DESCRIBED)
def test_every_parameter_is_described(name):
    value = PUBLIC[name]
    listed = sections(value).get("Parameters", "")
    described = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .*)?$", listed, flags=re.MULTILINE)
    names = {part.strip("* ") for line in described for part in line.split(",")}
    assert names == set(inspect.signature(value).parameters)


@pytest.mark.parametrize("name", PUBLIC)
def test_summaries_are_one_sentence_or_two(name):
    summary, _, rest = (inspect.getdoc(PUBLIC[name]) or "").partition("\n")
    assert summary.endswith(".")
    assert not rest or rest.startswith("\n")


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
    assert all(found or "| - | - | - | - |" in row for row, found in zip(rows, measured, strict=True))
    assert sum(measured) >= 15
