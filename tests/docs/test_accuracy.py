"""The takeaways of docs/explanation/accuracy.md hold for the stored results."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FASTME = "FastME, BIONJ + NNI + SPR"
EVOLUTION = "minimum_evolution"
REFINED = "minimum_evolution, then refine"
LIKELIHOOD = "FastTree (likelihood)"


def rows(name: str, title: str) -> list[dict]:
    record = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())
    return next(table["rows"] for table in record["tables"] if table["title"] == title)


def value(entry: str) -> float:
    return float(str(entry).split()[0])


def best(row: dict, methods: tuple[str, ...]) -> str:
    return max(methods, key=lambda method: value(row[method]))


def test_phylogenies() -> None:
    phylogenies = rows("truth", "Wrong splits of phylogenies")
    for row in phylogenies + rows("truth", "Many sequences without a matrix"):
        assert value(row["auto"]) < value(row["neighbor_joining"])
    better = [value(row["minimum_evolution"]) < value(row["auto"]) for row in phylogenies]
    assert (sum(better), len(better)) == (6, 7)
    largest = phylogenies[-1]
    assert (largest["taxa"], largest["sites"]) == (4000, 1000)
    assert (largest["minimum_evolution"], largest["auto"]) == ("0.085", "0.104")
    large = rows("large_phylogenies", "Many points")
    seconds = [row["seconds"] for row in large if row["method"] == "minimum_evolution"]
    assert [round(each) for each in seconds] == [4, 22]


def test_programs_for_phylogenies() -> None:
    """The section on phylogenies of docs/howto/choose_a_method.md."""
    binary = ("neighbor_joining", "bionj", "minimum_evolution", "rapidNJ", FASTME)
    others = (*binary, "FastME, BalME + NNI + SPR", "consensus of 100 treerep", REFINED)
    means = [
        row
        for row in rows("phylogenies", "Wrong splits of simulated phylogenies, by program")
        if row["sites"] == "all"
    ]
    assert [row["taxa"] for row in means] == [50, 200]
    for row in means:
        assert all(value(row["auto"]) < value(row[other]) for other in others)
        assert 0 < value(row["minimum_evolution"]) - value(row[FASTME]) < 0.01
    found = {
        (row["taxa"], row["what"]): {name: value(row[name]) for name in (*others, "auto", LIKELIHOOD)}
        for row in rows("phylogenies", "Missed and false splits and seconds of the same fits")
    }
    seconds, missed, false = (found[200, what] for what in ("seconds", "missed true splits", "false splits"))
    assert 9 < seconds[FASTME] / seconds["minimum_evolution"] < 15
    percents = [f"{100 * row[name]:.0f}" for row in (false, missed) for name in (EVOLUTION, REFINED)]
    assert percents == ["26", "19", "26", "27"]
    smaller = found[50, "missed true splits"]
    assert [f"{100 * smaller[name]:.0f}" for name in (EVOLUTION, REFINED)] == ["27", "26"]
    assert f"{100 * missed[LIKELIHOOD]:.0f}" == "21"
    assert all(row[LIKELIHOOD] == min(row.values()) for row in (smaller, missed))


def test_consensus_of_trials() -> None:
    """The entry `keep` of fit, and docs/howto/support.md."""
    table = rows("consensus", "Wrong splits of simulated phylogenies")
    for row in table:
        if row["sites"] == "all":
            greedy = value(row["treerep, greedy of 100"])
            assert 0.4 < greedy / value(row["treerep, best of 20"]) < 0.55
            assert value(row["default"]) < greedy
            assert (value(row["minimum evolution"]) < greedy) == (row["taxa"] >= 200)


def test_classes() -> None:
    methods = ("average", "ward", "treerep", "relaxed_neighbor_joining", "auto")
    winners = {row["data"]: best(row, methods) for row in rows("truth", "Classes of digits and cells")}
    assert [data for data, method in winners.items() if method == "auto"] == [
        "pbmc68k",
        "paul15, normalized",
    ]
    assert len(winners) == 6 and winners["digits"] == "ward"


def test_groups() -> None:
    methods = ("treerep", "relaxed_neighbor_joining", "minimum_evolution", "auto")
    for row in rows("truth", "Groups in networks"):
        community = max(value(row["walktrap"]), value(row["louvain"]))
        trees = max(value(row[method]) for method in methods)
        assert (trees > community) == (row["network"] == "karate club")
    winners = [best(row, methods) for row in rows("truth", "Groups in networks")]
    assert winners.count("minimum_evolution") == 9 and len(winners) == 9


def test_networks() -> None:
    cells = json.loads((ROOT / "paper" / "cells" / "graphs.json").read_text())
    graphs = (
        "celegans",
        "diseasome",
        "csphd",
        "yeast",
        "grid_worm",
        "grqc",
        "enron",
        "wordnet",
    )
    for k, graph in enumerate(graphs):
        score = {
            method: cells[f"{graph}/{method}"]
            for method in ("auto", "tr_ours", "nj", "pt200", "pm2")
            if f"{graph}/{method}" in cells
        }
        ours = score["auto"]["scaled"]
        assert all(ours < score[m]["scaled"] for m in ("tr_ours", "nj", "pm2") if m in score)
        if k < 6:
            assert score["pt200"]["scaled"] < ours
        else:
            assert abs(score["pt200"]["scaled"] - ours) < 0.005
            assert score["auto"]["map"] > score["pt200"]["map"] + 0.1
    assert "wordnet/nj" not in cells
    assert cells["enron/nj"]["map"] > cells["enron/auto"]["map"]


def test_size() -> None:
    cells = rows("backbone", "Cells around a backbone")
    assert (cells[0]["points"], cells[-1]["points"]) == (700, 1_000_000)
    assert max(value(row["backbone"]) for row in cells) < 0.08
    shares = [value(row["backbone"]) / value(row["TreeRep"]) for row in cells]
    claim = f"It is {min(shares):.0%} to {max(shares):.0%} of TreeRep's distortion."
    assert claim in " ".join(
        (ROOT / "docs" / "explanation" / "accuracy.md").read_text(encoding="utf-8").split()
    )
    last = cells[-1]
    assert 30 < value(last["backbone, seconds"]) / value(last["TreeRep, seconds"]) < 50
