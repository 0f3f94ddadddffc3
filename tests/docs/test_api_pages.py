"""The Sphinx extension of the reference: members, signatures, attributes and columns of numbers."""

import importlib
import sys
from pathlib import Path

import pytest

import treerep as tr

pytest.importorskip("sphinx")
from docutils import frontend, nodes, utils

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    monkeypatch.delitem(sys.modules, "api_pages", raising=False)
    return importlib.import_module("api_pages")


def test_members_of_a_class(pages):
    found = pages.members("treerep.Tree")
    assert found["properties"] == [
        *("n_nodes", "degrees", "total_length", "root", "root_length", "clade_names"),
    ]
    assert {"cut", "newick", "from_newick", "pairs", "load"} <= set(found["methods"])


@pytest.mark.parametrize("name", ["Tree", "Embedding", "TreeEmbedding", "GraphMetric", "Metric"])
def test_internals_are_not_listed(pages, name):
    found = pages.members(f"treerep.{name}")
    assert not pages.HIDDEN & {*found["properties"], *found["methods"]}


def test_named_tuples_list_properties_but_not_fields(pages):
    assert pages.members("treerep.datasets.DataSet") == {
        "properties": ["graph", "labels"],
        "methods": [],
    }


def signature(pages, what, name, obj):
    return pages.written_signature(None, what, name, obj, None, "()", None)


def test_signatures_have_the_annotations_of_the_source(pages):
    arguments, result = signature(pages, "function", "treerep.tl.tree", tr.tl.tree)
    assert arguments.startswith("(adata: AnnData, *, use_rep: str | None=None")
    assert "method: str='auto'" in arguments  # the value of a constant
    assert "rng: int | Generator | None=0" in arguments  # an alias, written out
    assert result == "AnnData | None"


def test_signatures_of_classes_and_methods_have_no_self(pages):
    arguments, _ = signature(pages, "class", "treerep.Tree", tr.Tree)
    assert arguments.startswith("(n_points: int, edges: ArrayLike")
    arguments, result = signature(pages, "method", "treerep.Tree.cut", tr.Tree.cut)
    assert (arguments, result) == ("(k: int)", "NDArray")


def test_results_have_no_signature(pages):
    assert signature(pages, "class", "treerep.Score", tr.Score) == ("", None)


def test_types_of_attributes_are_beside_their_names(pages):
    lines = [".. attribute:: low, high", "", "   Bounds.", "", "   :type: float"]
    pages.compact_attributes(None, "class", "x", None, None, lines)
    assert lines[:3] == [".. attribute:: low", "               high", "   :type: float"]
    assert lines[3:] == ["", "   Bounds.", ""]


def test_bars_are_kept_outside_code(pages):
    lines = ["|x| and `|y|`", ">>> a | b"]
    pages.keep_bars(None, "function", "x", None, None, lines)
    assert lines == [r"\|x\| and `|y|`", ">>> a | b"]


def test_columns_of_numbers_are_marked(pages):
    document = utils.new_document("x", frontend.get_default_settings())
    group = nodes.tgroup()
    document += nodes.table("", group)
    for part, texts in (
        (nodes.thead(), [["method", "seconds"]]),
        (nodes.tbody(), [["bfs", "1,234"], ["upgma", "0.5"]]),
    ):
        group += part
        for row in texts:
            cells = [nodes.entry("", nodes.paragraph(text, text)) for text in row]
            part += nodes.row("", *cells)
    pages.mark_numbers(None, document, "x")
    marked = [entry.astext() for entry in document.findall(nodes.entry) if entry["classes"]]
    assert marked == ["seconds", "1,234", "0.5"]
