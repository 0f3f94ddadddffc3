"""The table of the page "Choosing a method": what each one promises, and what was measured on GrQC.

`conf.py` writes it when the pages are built, so that its numbers are those of paper/cells/graphs.json, for the methods
of the paper, and of benchmarks/results/methods.json.
"""

import json
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "methods.json"
CELLS = Path(__file__).parents[1] / "paper" / "cells" / "graphs.json"
GRAPH = "grqc"


class Facts(NamedTuple):
    """What is known without measuring, and how the benchmark calls the method."""

    measured_as: str
    exact: str
    cost: str
    good_at: str


FACTS = {
    "auto": Facts("auto", "trees", "as `backbone`", "distances, neighborhoods and groups, at any size"),
    "treerep": Facts("tr", "trees", "n log n; n", "size: millions of points; few distances are asked for"),
    "neighbor_joining": Facts("nj", "trees", "n²; n²", "neighbourhoods; what phylogeneticists know"),
    "bionj": Facts("BIONJ", "trees", "n²; 2 n²", "the same, where long distances are noisy"),
    "relaxed_neighbor_joining": Facts("relaxed NJ", "trees", "n²; n²", "distances and neighbourhoods alike"),
    "minimum_evolution": Facts(
        "ME balanced", "trees", "n² · depth; n²", "neighbourhoods; `criterion='ols'`: distances"
    ),
    "upgma": Facts("UPGMA", "ultrametrics", "n²; n²", "a dendrogram"),
    "gromov": Facts("Gromov average", "trees", "n²; n²", "distances; a guarantee, with `linkage='single'`"),
    "construct_tree": Facts("ct", "trees", "n²; n", "a guarantee, in little memory"),
    "minimum_spanning_tree": Facts("mst", "", "edges · log n; n", "edges of the graph only, in no time"),
    "bfs": Facts("BFS", "from its root", "edges · log n; n", "the same; distances from one point"),
    "level_tree": Facts("lt", "", "edges; edges", "a guarantee on unweighted graphs"),
    "low_stretch": Facts("ls", "", "edges · log n; n", "edges of the graph that keep their neighbours"),
    "bartal": Facts("Bartal best", "", "n² a tree; n²", "comparison with the paper"),
    "bartal_average": Facts("bartal", "", "n² a tree; n²", "the same; it is no tree"),
    "frt": Facts("FRT", "", "n²; n log n", "theory: a bound for any metric"),
    "backbone": Facts("backbone", "trees", "n · size; n + size²", "a choice of the size"),
}


def measured() -> dict[str, tuple[str, str, str]]:
    """Return distortion after scaling, MAP by rank and seconds by the name of the method in what was measured."""
    cells = json.loads(CELLS.read_text(encoding="utf-8"))
    found = {
        name.partition("/")[2]: (cell["scaled"], cell["map_rank"], cell["seconds"])
        for name, cell in cells.items()
        if name.startswith(f"{GRAPH}/") and "scaled" in cell
    }
    for row in json.loads(RESULTS.read_text(encoding="utf-8"))["tables"][0]["rows"]:
        if row["graph"] == GRAPH:
            found[row["method"]] = (row["scaled"], row["MAP by rank"], row["seconds"])
    return {name: (f"{scaled:.3f}", f"{rank:.3f}", f"{took:.2g}") for name, (scaled, rank, took) in found.items()}


def table() -> str:
    """Return the table as Markdown."""
    lines = [
        "| method | exact on | time; memory | distortion | MAP | seconds | good at |",
        "|---|---|---|---|---|---|---|",
    ]
    numbers = measured()
    for name, facts in FACTS.items():
        cells = [f"`{name}`", facts.exact, facts.cost, *numbers[facts.measured_as], facts.good_at]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
