"""Generated parts of docs/developers/rivals.md: tables and charts of the stored results."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from treerep._core.io.files import atomic_write

from ..common import RESULTS
from .tables import emphasize, table
from .wins import wins

DOCS = Path(__file__).parents[2] / "docs"
LADDER = "noisy tree"
#: Shorter runs are not used to fit the growth of time with n.
LEAST_SECONDS = 1e-3
#: Names of the outcomes of a run in the tables.
OUTCOMES = {"over time": "timeout", "not tried": "skipped", "wrong": "invalid"}

Row = dict[str, Any]


def write(record: dict[str, Any], folder: Path = RESULTS, pictures: Path = DOCS / "pictures") -> None:
    """Write rivals_*.md, which docs/developers/rivals.md includes, and the charts."""
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
    """Describe the machine, the versions and the time limits, and list missing data."""
    of = record["machine"]
    least, most = min(record["limits"].values()), max(record["limits"].values())
    limit = f"{least:g} s" + f" ({most:g} s for an embedding)" * (most > least)
    lines = [
        f"Measured with {record['plan']} in {record['took']:,} s on {of['processor']} with "
        f"{of['cores']} cores, one thread per computation. Python {of['python']}, NumPy "
        f"{of['numpy']}, SciPy {of['scipy']}, numba {of['numba']}. The time limit of one "
        f"computation is {limit}."
    ]
    lines += [f"- Left out because the data is missing: {why}" for why in record["missing"].values()]
    return "\n".join(lines)


def present(rivals: list[Row]) -> str:
    """List all libraries, with their failures."""
    rows = []
    for rival in rivals:
        if rival["version"] is None:
            install = f"`{rival['install']}`"
            rows.append([rival["name"], rival["kind"], "not installed", "-", install])
            continue
        start = "-" if rival["start"] is None else f"{rival['start']:.1f}"
        rows.append([rival["name"], rival["kind"], rival["version"], start, _troubles(rival)])
    head = ["library", "computes", "version", "start-up, s", "failures, or how to install"]
    return table(head, rows, left=(0, 1, 2, 4))


def _troubles(rival: Row) -> str:
    """Return the runs without a valid result, grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for place, run in rival["runs"].items():
        if run["status"] not in ("right", "not tried"):
            status = OUTCOMES.get(run["status"], run["status"])
            reasons.setdefault(f"{status}: {run['why']}", []).append(titled(place))
    return "; ".join(f"{' and '.join(places)}: {why}" for why, places in reasons.items()).replace("|", "\\|")


def runs_of(rivals: list[Row], task: str) -> Iterator[tuple[Row, str, Row]]:
    """Yield every library of a task with the inputs and outcomes of its runs."""
    for rival in rivals:
        if rival["task"] == task:
            yield from ((rival, place, run) for place, run in rival["runs"].items())


def titled(place: str) -> str:
    """Return the name and size of an input."""
    family, n = place.split("/")
    return f"{family}, n = {int(n):,}"


def places(rivals: list[Row], task: str) -> list[str]:
    """Return the inputs of a task, in the order of the plan."""
    return list(dict.fromkeys(place for _, place, _ in runs_of(rivals, task)))


def ladder(rival: Row) -> tuple[np.ndarray, np.ndarray]:
    """Return sizes and seconds of the valid runs on the noisy tree."""
    found = [
        (int(place.split("/")[1]), run["seconds"])
        for place, run in rival["runs"].items()
        if place.startswith(LADDER + "/") and run["status"] == "right"
    ]
    return np.array([n for n, _ in found]), np.array([seconds for _, seconds in found])


def exponent(rival: Row) -> float | None:
    """Return k if time grows like n^k, or None if fewer than three runs are long enough."""
    n, seconds = ladder(rival)
    kept = seconds >= LEAST_SECONDS
    if np.count_nonzero(kept) < 3:
        return None
    return float(np.polyfit(np.log(n[kept]), np.log(seconds[kept]), 1)[0])


def entry(run: Row | None, key: str, digits: str = ".3f", factor: float = 1.0) -> str:
    """Return a number of a run, or its outcome if it has no such number."""
    if run is None:
        return "-"
    if run["status"] in ("right", "wrong") and key in run:
        return f"{factor * run[key]:{digits}}" + " (invalid)" * (run["status"] == "wrong")
    return "-" if run["status"] == "right" else OUTCOMES.get(run["status"], run["status"])


def milliseconds(run: Row | None) -> str:
    """Return the time of a run."""
    return entry(run, "seconds", ",.1f", 1e3)


def growth(rivals: list[Row]) -> str:
    """Return times on the noisy tree by n, the fitted exponent, and the memory of the largest run."""
    trees = sorted((rival for rival in rivals if rival["task"] == "tree" and rival["runs"]), key=_order)
    steps = [place for place in places(rivals, "tree") if place.startswith(LADDER + "/")]
    rows = []
    for kind in dict.fromkeys(rival["kind"] for rival in trees):
        group = [_growth_row(rival, steps) for rival in trees if rival["kind"] == kind]
        for column in range(2, 2 + len(steps)):
            emphasize(group, column)
        rows += group
    sizes = [f"n = {int(step.split('/')[1]):,}" for step in steps]
    head = ["computes", "library", *sizes, "exponent", "memory / matrix"]
    return table(head, rows, left=(0, 1))


def _growth_row(rival: Row, steps: list[str]) -> list[str]:
    power, size = exponent(rival), ladder(rival)[0]
    memory = "-"
    if len(size):
        used = rival["runs"][f"{LADDER}/{size[-1]}"]["memory"] / (8 * int(size[-1]) ** 2)
        smaller = f"{LADDER}/{size[-1]}" != steps[-1]
        memory = f"{used:.2f}" + f" (n = {size[-1]:,})" * smaller
    times = [milliseconds(rival["runs"].get(step)) for step in steps]
    return [
        rival["kind"],
        rival["name"],
        *times,
        "-" if power is None else f"{power:.2f}",
        memory,
    ]


def _order(rival: Row) -> tuple[str, bool, str]:
    return rival["kind"], not rival["ours"], rival["name"]


def quality(rivals: list[Row]) -> str:
    """Return average distortion on the largest input of each family, and MAP on graphs."""
    largest = {place.split("/")[0]: place for place in places(rivals, "tree")}
    trees = sorted((rival for rival in rivals if rival["task"] == "tree" and rival["runs"]), key=_order)
    graphs = [place for place in largest.values() if any("map" in r["runs"].get(place, {}) for r in trees)]
    head = [
        "computes",
        "library",
        *(titled(place) for place in largest.values()),
    ]
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
    for column in range(2, len(head)):
        emphasize(rows, column, largest=column >= 2 + len(largest))
    return table(head, rows, left=(0, 1))


def graphs(rivals: list[Row]) -> str:
    """Return times of hyperbolicity and of all distances, graph by graph."""
    parts = []
    for task, title in (
        ("delta", "Exact hyperbolicity, milliseconds"),
        ("paths", "All distances, milliseconds"),
    ):
        where = places(rivals, task)
        rows = [
            [rival["name"], *(milliseconds(rival["runs"].get(place)) for place in where)]
            for rival in rivals
            if rival["task"] == task and rival["runs"]
        ]
        for column in range(1, 1 + len(where)):
            emphasize(rows, column)
        head = ["library", *(titled(place) for place in where)]
        parts += [f"**{title}**", "", table(head, rows), ""]
        if task == "delta":
            parts += [agreement(rivals), ""]
    return "\n".join(parts)


def agreement(rivals: list[Row]) -> str:
    """Say whether all libraries agree on delta."""
    found: dict[str, set[float]] = {}
    for _, place, run in runs_of(rivals, "delta"):
        if run["status"] == "right":
            found.setdefault(place, set()).add(run["delta"])
    differ = [place for place, deltas in found.items() if len(deltas) > 1]
    if differ:
        return f"The libraries disagree about delta on {', '.join(differ)}."
    return "All libraries agree about delta."


def embeddings(rivals: list[Row]) -> str:
    """Return MAP, distortion and seconds."""
    rows = [
        [
            place.split("/")[0],
            rival["name"],
            entry(run, "map"),
            entry(run, "scaled"),
            entry(run, "seconds", ".2f"),
        ]
        for rival, place, run in runs_of(rivals, "embedding")
    ]
    if len({row[0] for row in rows}) == 1:
        emphasize(rows, 2, largest=True)
        emphasize(rows, 3)
        emphasize(rows, 4)
    head = ["graph", "library", "MAP", "average distortion, best scale", "seconds"]
    return table(head, rows, left=(0, 1))
