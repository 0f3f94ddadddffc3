"""Numbers on the pages about methods are those of the stored measurements."""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import methods as measured_methods
from benchmarks.common import Table, markdown
from paper.methods import METHODS as PAPER_METHODS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RESULTS = ROOT / "benchmarks" / "results"
STORED = [path.stem for path in sorted(RESULTS.glob("*.json")) if (RESULTS / f"{path.stem}.md").exists()]


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def tables(name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table of a benchmark by its title."""
    record = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return {table["title"]: table["rows"] for table in record["tables"]}


def table_below(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table after a line."""
    rows = re.search(r"(?:^\|.*\n)+", text[text.index(heading) :], re.MULTILINE)
    assert rows
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[0].splitlines()[2:]]


@pytest.mark.parametrize("name", STORED)
def test_text_is_written_from_the_stored_numbers(name: str) -> None:
    record = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    command = record.get("command", "")
    text = "\n".join(markdown(name, Table(**table), command) for table in record["tables"])
    assert (RESULTS / f"{name}.md").read_text(encoding="utf-8") == text


@pytest.fixture
def method_table(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DOCS))
    monkeypatch.delitem(sys.modules, "method_table", raising=False)
    return importlib.import_module("method_table")


def test_the_table_names_the_input_of_each_method(method_table: Any) -> None:
    ours = {method.column: method for method in measured_methods.METHODS}
    for name in method_table.FIT:
        stored = method_table.STORED_AS.get(name, name)
        if stored in ours:
            from_graph = ours[stored].options["method"] in measured_methods._OF_GRAPHS
        elif stored in PAPER_METHODS:
            from_graph = PAPER_METHODS[stored].of_graph
        else:
            continue
        assert (name in method_table.FROM_GRAPH) == from_graph


def test_scores_of_the_table_are_those_of_their_columns(method_table: Any) -> None:
    cells = json.loads(method_table.CELLS.read_text(encoding="utf-8"))["grqc/nj"]
    (row,) = [line for line in method_table.table().splitlines() if "| `neighbor_joining`" in line]
    shown = dict(zip(method_table.COLUMNS, row.strip("| ").split(" | "), strict=True))
    for column, key in (
        ("distortion, unscaled", "plain"),
        ("distortion, scaled", "scaled"),
        ("MAP by definition", "map"),
        ("MAP by rank", "map_rank"),
    ):
        assert shown[column] == f"{cells[key]:.3f}"


def test_sizes() -> None:
    (rows,) = tables("sizes").values()
    named = re.findall(r"`(\w+)`", page("howto/choose_a_method.md"))
    assert {row["method"].strip("`") for row in rows} <= {*named, "relaxed_neighbor_joining"}
    assert all(row["n = 1,000"] != "-" and row["n = 10,000"] != "-" for row in rows)
    able = [row["method"] for row in rows if row["n = 1,000,000"] != "-"]
    assert able == ["`auto`", "`treerep`"]


def test_embeddings_of_two_networks() -> None:
    rows = table_below(page("howto/embed.md"), "## Compare the methods")
    trees = {
        row["graph"]: (row["distortion, scaled"], row["MAP by definition"])
        for (found,) in [tables("methods").values()]
        for row in found
        if row["method"] == "auto"
    }
    flat = {
        row["data"]: (row["distortion, unscaled"], row["MAP"])
        for row in tables("hmds")["h-MDS of graphs and cells"]
        if row["dim"] == 2
    }
    for cells, graph in zip(rows, ("celegans", "diseasome"), strict=True):
        expected = [f"{scores[graph][0]:.3f} / {scores[graph][1]:.3f}" for scores in (trees, flat)]
        assert cells[1:3] == expected  # the other columns are of a benchmark that was deleted


def test_hyperbolicity_of_networks() -> None:
    stored = tables("hyperbolicity")
    exact = {row["graph"]: row for row in stored["Exact hyperbolicity of graphs"]}
    (enron,) = [
        row
        for row in stored["Large graphs"]
        if (row["graph"], row["method"], row["time limit"]) == ("enron", "exact", 40)
    ]
    found = [
        (exact[name]["n"], exact[name]["delta"], exact[name]["seconds"])
        for name in ("celegans", "grqc", "wordnet")
    ]
    found.append((enron["n"], float(enron["delta"].strip("[]").split(",")[0]), enron["seconds"]))
    rows = table_below(page("howto/hyperbolicity.md"), "Exact values for graphs")
    for (_, n, delta, seconds), (true_n, true_delta, true_seconds) in zip(rows, found, strict=True):
        assert (n, float(delta)) == (f"{true_n:,}", true_delta)
        assert float(seconds) == float(f"{true_seconds:.1g}")


def test_treerep_of_the_graph_itself() -> None:
    (row,) = [
        row
        for row in tables("backbone")["Graphs around a backbone"]
        if row["data"] == "grqc" and row["size"] == "default"
    ]
    assert f"TreeRep takes {row['TreeRep, seconds']} s" in page("developers/methods_measured.md")


def test_errata() -> None:
    cells = json.loads((ROOT / "paper" / "cells" / "graphs.json").read_text(encoding="utf-8"))
    assert f"Our MAP is {cells['celegans/bartal']['map']:.3f}" in page("developers/errata.md")


def test_refined_trees_are_better_than_their_start() -> None:
    for row in tables("refinement")["Refined trees of the paper's graphs"]:
        start, distances, both = (
            [float(score) for score in row[column].split(" / ")]
            for column in ("TreeRep", "refined, balance=0", "refined, balance=0.5")
        )
        assert distances[0] < both[0] < start[0]
        assert both[1] > max(start[1], distances[1])
