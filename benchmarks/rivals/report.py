"""The generated parts of docs/developers/rivals.md, from the stored results: tables, pictures, and who wins where."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from treerep._core.io.files import atomic_write

from ..common import RESULTS, cell
from .wins import wins

DOCS = Path(__file__).parents[2] / "docs"
LADDER = "noisy tree"
#: A run shorter than this says nothing about growth.
LEAST_SECONDS = 1e-3

Row = dict[str, Any]


def write(
    record: dict[str, Any], folder: Path = RESULTS, pictures: Path = DOCS / "pictures"
) -> None:
    """Write rivals_*.md, which docs/developers/rivals.md includes, and the pictures."""
    from .pictures import draw

    for name, text in parts(record).items():
        with atomic_write(folder / name) as file:
            file.write(text)
        print(text)
    draw(record["rivals"], pictures)


def parts(record: dict[str, Any]) -> dict[str, str]:
    """Return the text of each file."""
    rivals = record["rivals"]
    texts = {
        "about": about(record),
        "present": present(rivals),
        "wins": wins(rivals),
        "time": growth(rivals),
        "quality": quality(rivals),
        "graphs": graphs(rivals),
        "embeddings": embeddings(rivals),
    }
    return {f"rivals_{name}.md": f"{text}\n" for name, text in texts.items()}


def about(record: dict[str, Any]) -> str:
    """Say on what machine this was measured, how, and what could not be."""
    of = record["machine"]
    least, most = min(record["limits"].values()), max(record["limits"].values())
    limit = f"{least:g} s" + f", an embedding {most:g} s" * (most > least)
    lines = [
        f"Measured with {record['plan']} in {record['took']:,} s on {of['processor']} with {of['cores']} cores, one "
        f"thread each; Python {of['python']}, NumPy {of['numpy']}, SciPy {of['scipy']}, numba {of['numba']}. One "
        f"computation may take {limit}."
    ]
    lines += [
        f"- Left out, as the data is not there: {why}" for why in record["missing"].values()
    ]
    return "\n".join(lines)


def table(columns: list[str], rows: list[list[Any]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join([*lines, *("| " + " | ".join(map(cell, row)) + " |" for row in rows)])


def present(rivals: list[Row]) -> str:
    """List everybody, with what went wrong."""
    rows = []
    for rival in rivals:
        if rival["version"] is None:
            rows.append([rival["name"], rival["kind"], "absent", "-", f"`{rival['install']}`"])
            continue
        start = "-" if rival["start"] is None else f"{rival['start']:.1f}"
        rows.append([rival["name"], rival["kind"], rival["version"], start, _troubles(rival)])
    return table(
        ["rival", "computes", "version", "start, s", "what went wrong, or how to get it"], rows
    )


def _troubles(rival: Row) -> str:
    """Say which runs have no right result, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for place, run in rival["runs"].items():
        if run["status"] not in ("right", "not tried"):
            reasons.setdefault(f"{run['status']}: {run['why']}", []).append(
                place.replace("/", ", n = ")
            )
    return "; ".join(
        f"{' and '.join(places)}: {why}" for why, places in reasons.items()
    ).replace("|", "\\|")


def runs_of(rivals: list[Row], task: str) -> Iterator[tuple[Row, str, Row]]:
    """Yield every rival of a task with the places and outcomes of its runs."""
    for rival in rivals:
        if rival["task"] == task:
            yield from ((rival, place, run) for place, run in rival["runs"].items())


def places(rivals: list[Row], task: str) -> list[str]:
    """Return the inputs of a task, in the order of the plan."""
    return list(dict.fromkeys(place for _, place, _ in runs_of(rivals, task)))


def ladder(rival: Row) -> tuple[np.ndarray, np.ndarray]:
    """Return sizes and seconds of the right runs on the noisy tree."""
    found = [
        (int(place.split("/")[1]), run["seconds"])
        for place, run in rival["runs"].items()
        if place.startswith(LADDER + "/") and run["status"] == "right"
    ]
    return np.array([n for n, _ in found]), np.array([seconds for _, seconds in found])


def exponent(rival: Row) -> float | None:
    """Return k of seconds like n^k, fitted to the runs that are long enough; None of fewer than three."""
    n, seconds = ladder(rival)
    kept = seconds >= LEAST_SECONDS
    if np.count_nonzero(kept) < 3:
        return None
    return float(np.polyfit(np.log(n[kept]), np.log(seconds[kept]), 1)[0])


def entry(run: Row | None, key: str) -> Any:
    """Return a number of a run, or a word where there is none."""
    if run is None:
        return "-"
    if run["status"] in ("right", "wrong") and key in run:
        return f"{run[key]:.3g}" + " (wrong)" * (run["status"] == "wrong")
    return run["status"] if run["status"] != "right" else "-"


def growth(rivals: list[Row]) -> str:
    """Seconds on the noisy tree by n, the fitted exponent, and the memory of the largest run."""
    trees = sorted(
        (rival for rival in rivals if rival["task"] == "tree" and rival["runs"]), key=_order
    )
    steps = [place for place in places(rivals, "tree") if place.startswith(LADDER + "/")]
    rows = []
    for rival in trees:
        power, size = exponent(rival), ladder(rival)[0]
        last = rival["runs"].get(f"{LADDER}/{size[-1]}") if len(size) else None
        rows.append(
            [
                rival["kind"],
                rival["name"],
                *(entry(rival["runs"].get(step), "seconds") for step in steps),
                "-" if power is None else f"{power:.2f}",
                "-"
                if last is None
                else f"{last['memory'] / (8 * int(size[-1]) ** 2):.2g} (n = {size[-1]:,})",
            ]
        )
    head = [
        "computes",
        "rival",
        *(f"n = {int(step.split('/')[1]):,}" for step in steps),
        "k in n^k",
        "memory / matrix",
    ]
    return table(head, rows)


def _order(rival: Row) -> tuple[str, bool, str]:
    return rival["kind"], not rival["ours"], rival["name"]


def quality(rivals: list[Row]) -> str:
    """Average distortion on the largest input of each family, and MAP on graphs."""
    largest = {place.split("/")[0]: place for place in places(rivals, "tree")}
    trees = sorted(
        (rival for rival in rivals if rival["task"] == "tree" and rival["runs"]), key=_order
    )
    graphs = [
        place
        for place in largest.values()
        if any("map" in r["runs"].get(place, {}) for r in trees)
    ]
    head = ["computes", "rival", *(place.replace("/", ", n = ") for place in largest.values())]
    head += [f"MAP, {place.split('/')[0]}" for place in graphs]
    rows = [
        [
            rival["kind"],
            rival["name"],
            *(entry(rival["runs"].get(place), "distortion") for place in largest.values()),
            *(entry(rival["runs"].get(place), "map") for place in graphs),
        ]
        for rival in trees
    ]
    return table(head, rows)


def graphs(rivals: list[Row]) -> str:
    """Seconds of hyperbolicity and of all distances, graph by graph."""
    parts = []
    for task, title in (
        ("delta", "Seconds for the exact hyperbolicity"),
        ("paths", "Seconds for all distances"),
    ):
        where = places(rivals, task)
        rows = [
            [rival["name"], *(entry(rival["runs"].get(place), "seconds") for place in where)]
            for rival in rivals
            if rival["task"] == task and rival["runs"]
        ]
        head = ["rival", *(place.replace("/", ", n = ") for place in where)]
        parts += [f"**{title}**", "", table(head, rows), ""]
        if task == "delta":
            parts += [agreement(rivals), ""]
    return "\n".join(parts)


def agreement(rivals: list[Row]) -> str:
    """Say whether all who computed a delta found the same."""
    found: dict[str, set[float]] = {}
    for _, place, run in runs_of(rivals, "delta"):
        if run["status"] == "right":
            found.setdefault(place, set()).add(run["delta"])
    differ = [place for place, deltas in found.items() if len(deltas) > 1]
    return f"They disagree on {', '.join(differ)}." if differ else "All found the same delta."


def embeddings(rivals: list[Row]) -> str:
    """MAP and distortion beside seconds."""
    rows = [
        [
            place.split("/")[0],
            rival["name"],
            *(entry(run, key) for key in ("map", "scaled", "seconds")),
        ]
        for rival, place, run in runs_of(rivals, "embedding")
    ]
    return table(["graph", "rival", "MAP", "average distortion, best scale", "seconds"], rows)
