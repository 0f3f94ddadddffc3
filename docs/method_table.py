"""Tables of the documentation that are written from the records of the methods and from stored measurements.

`conf.py` writes them when the pages are built. The numbers are those of GrQC in paper/cells/graphs.json, for the
methods of the paper, and in benchmarks/results/methods.json.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from treerep.methods import FIT

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "methods.json"
CELLS = ROOT / "paper" / "cells" / "graphs.json"
GRAPH = "grqc"

# Names in the stored measurements, if they differ from the name of the method. All options have their defaults.
STORED_AS = {
    "treerep": "tr_ours",
    "neighbor_joining": "nj",
    "bionj": "BIONJ",
    "relaxed_neighbor_joining": "relaxed NJ",
    "minimum_evolution": "ME balanced",
    "upgma": "UPGMA",
    "gromov": "Gromov average",
    "construct_tree": "ct",
    "minimum_spanning_tree": "mst",
    "bfs": "BFS",
    "level_tree": "lt_ours",
    "low_stretch": "ls",
    "bartal": "Bartal best",
}
# Methods that were given the graph. The others were given its matrix of distances.
FROM_GRAPH = (
    "auto",
    "backbone",
    "bfs",
    "minimum_spanning_tree",
    "level_tree",
    "low_stretch",
)
COLUMNS = (
    "method",
    "exact on",
    "distortion, unscaled",
    "distortion, scaled",
    "MAP by definition",
    "MAP by rank",
    "input",
    "seconds",
)


class Scores(NamedTuple):
    """Average distortion, mean average precision, and the seconds of one fit."""

    plain: float
    scaled: float
    definition: float
    rank: float
    seconds: float


def _cells() -> dict[str, Any]:
    """Return what was measured for the paper's tables, by the name of the column."""
    cells = json.loads(CELLS.read_text(encoding="utf-8"))
    return {
        name.partition("/")[2]: cell
        for name, cell in cells.items()
        if name.startswith(f"{GRAPH}/") and "scaled" in cell
    }


def measured() -> dict[str, Scores]:
    """Return the stored scores of GrQC by the name of the measurement."""
    found = {
        name: Scores(cell["plain"], cell["scaled"], cell["map"], cell["map_rank"], cell["seconds"])
        for name, cell in _cells().items()
    }
    for row in json.loads(RESULTS.read_text(encoding="utf-8"))["tables"][0]["rows"]:
        if row["graph"] == GRAPH:
            found[row["method"]] = Scores(
                row["distortion, unscaled"],
                row["distortion, scaled"],
                row["MAP by definition"],
                row["MAP by rank"],
                row["seconds"],
            )
    return found


def matrix_seconds() -> tuple[float, float]:
    """Return the least and the largest time that it took to compute the matrix of GrQC."""
    taken = [_cells()[name]["preparing"] for name in STORED_AS.values() if name in _cells()]
    return min(taken), max(taken)


def table() -> str:
    """Return the table of all methods on GrQC as Markdown, with a note."""
    rule = "|" + "---|" * 2 + "---:|" * 4 + "---|---:|"
    lines = [f"| {' | '.join(COLUMNS)} |", rule]
    numbers = measured()
    for name, method in FIT.items():
        found = numbers.get(STORED_AS.get(name, name))
        scores = [f"{value:.3f}" for value in found[:4]] if found else ["-"] * 4
        cells = [
            f"`{name}`",
            method.exact,
            *scores,
            "graph" if name in FROM_GRAPH else "matrix",
            f"{found.seconds:.2g}" if found else "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    least, largest = matrix_seconds()
    note = (
        "Seconds do not include the time to compute the matrix of distances from the graph, "
        f"{least:.1f} to {largest:.1f} seconds."
    )
    return "\n".join([*lines, "", note, ""])


def details() -> str:
    """Return the docstrings of all methods as directives of Sphinx, one dropdown each."""
    entries = [
        f":::{{dropdown}} `{name}`: {method.title}\n"
        f"```{{eval-rst}}\n.. autofunction:: treerep.methods.{name}\n```\n:::\n"
        for name, method in FIT.items()
    ]
    return "\n".join(entries)
