"""The table and the reference of the page "Choosing a method", from the records of the methods.

The numbers were measured on GrQC.

`conf.py` writes it when the pages are built, so that its numbers are those of paper/cells/graphs.json, for the methods
of the paper, and of benchmarks/results/methods.json.
"""

import json
from pathlib import Path

from treerep.methods import FIT

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "methods.json"
CELLS = Path(__file__).parents[1] / "paper" / "cells" / "graphs.json"
GRAPH = "grqc"


# What the stored measurements call a method, if not by its name.
STORED_AS = {
    "treerep": "tr",
    "neighbor_joining": "nj",
    "bionj": "BIONJ",
    "relaxed_neighbor_joining": "relaxed NJ",
    "minimum_evolution": "ME balanced",
    "upgma": "UPGMA",
    "gromov": "Gromov average",
    "construct_tree": "ct",
    "minimum_spanning_tree": "mst",
    "bfs": "BFS",
    "level_tree": "lt",
    "low_stretch": "ls",
    "bartal": "Bartal best",
    "frt": "FRT",
}
NOT_MEASURED = ("-", "-", "-")


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
    return {
        name: (f"{scaled:.3f}", f"{rank:.3f}", f"{took:.2g}")
        for name, (scaled, rank, took) in found.items()
    }


def table() -> str:
    """Return the table as Markdown."""
    lines = [
        "| method | exact on | time; memory | distortion | MAP | seconds | good at |",
        "|---|---|---|---|---|---|---|",
    ]
    numbers = measured()
    for name, method in FIT.items():
        found = numbers.get(STORED_AS.get(name, name), NOT_MEASURED)
        cells = [
            f"`{name}`",
            method.exact,
            f"{method.time}; {method.memory}",
            *found,
            method.good_at,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def details() -> str:
    """Return the docstrings of all methods but TreeRep, which has a page, as directives of Sphinx."""
    names = [f".. autofunction:: treerep.methods.{name}" for name in FIT if name != "treerep"]
    return "\n".join(["```{eval-rst}", *names, "```", ""])
