"""The measurements on the pages about large data and sums of trees are those of benchmarks/results."""

import json
from typing import Any

import pytest

from tests.docs.test_examples import DOCS, ROOT


def rows(name: str, title: str) -> list[dict[str, Any]]:
    """Return the rows of a stored table, by the beginning of its title."""
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return next(table["rows"] for table in tables if table["title"].startswith(title))


def short(value: object) -> str:
    """Return a number with two significant digits, or "-" if it was not measured."""
    if value in (None, "", "-"):
        return "-"
    number = float(str(value))
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def fitting_times() -> list[str]:
    """The backbone, from a tensor on the GPU to a tree in memory."""
    return [
        f"| {row['points']:,} | {short(row['tensor'])} | {short(row.get('threads'))} |"
        for row in rows("gpu_backbone", "Branching cells")
    ]


def memory() -> list[str]:
    """GPU memory of the backbone."""
    return [
        f"| {row['points']:,} | 50 (float32) | {short(row['GB'])} GB |"
        for row in rows("gpu_backbone", "Branching cells")
    ]


def one_machine() -> list[str]:
    """The default method and TreeRep on two cores: seconds and average distortion."""
    cells = {row["points"]: row for row in rows("backbone", "Cells around a backbone")}
    graphs = {row["data"]: row for row in rows("backbone", "Graphs around a backbone")}
    measured = {
        **{f"{n:,} points, 50 dimensions": cells[n] for n in (20_000, 100_000, 1_000_000)},
        **{
            f"`{name}`, a graph with {graphs[name]['points']:,} nodes": graphs[name]
            for name in ("enron", "wordnet")
        },
    }
    return [
        f"| {what} | "
        + " | ".join(
            f"{short(row[f'{method}, seconds'])} s, error {short(row[method].split()[0])}"
            for method in ("backbone", "TreeRep")
        )
        + " |"
        for what, row in measured.items()
    ]


def memory_of_one_machine() -> list[str]:
    """Memory of the default method beyond the points."""
    beyond = {row["points"]: row["additional, MB"] for row in rows("backbone", "Memory of a fit")}
    return [f"{beyond[n]:.0f} MB for" for n in (20_000, 100_000, 1_000_000)]


def sums_of_trees() -> list[str]:
    """Sums of trees, and the bound for one tree: distortion / precision."""

    def both(row: dict[str, Any]) -> str:
        return f"{row['distortion']:.3f} / {row['MAP']:.2f}"

    sums = {(row["graph"], row["trees"]): row for row in rows("sums", "Sums of trees")}
    bounds = {row["graph"]: row for row in rows("lower_bounds", "Lower bounds of the average")}
    names = {"celegans": "C. elegans", "diseasome": "Diseasome", "csphd": "CS PhD"}
    return [
        f"| {name} | "
        + " | ".join(both(sums[graph, count]) for count in (1, 2, 5, 10))
        + f" | {bounds[graph]['default']:.3f} |"
        for graph, name in names.items()
    ]


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        pytest.param("howto/gpu.md", fitting_times, id="times on a GPU"),
        pytest.param("howto/gpu.md", memory, id="memory of a GPU"),
        pytest.param("howto/large_data.md", one_machine, id="times on one machine"),
        pytest.param("howto/large_data.md", memory_of_one_machine, id="memory of one machine"),
        pytest.param("howto/sums.md", sums_of_trees, id="sums of trees"),
    ],
)
def test_numbers_are_those_that_were_measured(page: str, lines: Any) -> None:
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())  # sentences may be wrapped
    for line in lines():
        assert line in text, f"{page} lacks {line!r}"
