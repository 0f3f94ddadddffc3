"""Tables of the inputs on which another library is faster, more accurate or smaller than treerep."""

from math import hypot
from typing import Any

from .tables import table

Row = dict[str, Any]
Pairs = dict[str, tuple[Row, Row]]
#: Timings vary, so smaller differences in time or memory do not count.
FASTER = 0.8
#: Smaller differences in distortion or MAP do not count, nor do differences of random methods
#: below this number of standard errors.
CLOSER, ERRORS = 1e-3, 2.0


def wins(rivals: list[Row]) -> str:
    """Return two tables: where other libraries win, and the best tree of each input."""
    parts = [advantages(rivals), best_trees(rivals)]
    return "\n\n".join(part for part in parts if part)


def advantages(rivals: list[Row]) -> str:
    """Return a table with one row for each library that computes the same as one of our methods."""
    rows = []
    for ours in _first_of_each_kind(rivals):
        for rival in rivals:
            shared = _both_right(ours, rival)
            if rival["kind"] == ours["kind"] and not rival["ours"] and shared:
                rows.append(
                    [
                        rival["name"],
                        ours["name"],
                        len(shared),
                        _faster(shared),
                        "; ".join(_better(rival["task"], shared)) or "-",
                        _smaller(rival["task"], shared),
                    ]
                )
    head = [
        "library",
        "compared with",
        "inputs",
        "faster on",
        "more accurate on",
        "less memory",
    ]
    return table(head, rows, left=(0, 1, 3, 4, 5))


def _first_of_each_kind(rivals: list[Row]) -> list[Row]:
    kinds: dict[str, Row] = {}
    for rival in rivals:
        if rival["ours"] and rival["runs"]:
            kinds.setdefault(rival["kind"], rival)
    return list(kinds.values())


def _both_right(ours: Row, rival: Row) -> Pairs:
    return {
        place: (run, rival["runs"][place])
        for place, run in ours["runs"].items()
        if run["status"] == "right" and rival["runs"].get(place, {}).get("status") == "right"
    }


def _faster(shared: Pairs) -> str:
    """Return the number of inputs on which the other library is faster, and by how much."""
    ratios = [theirs["seconds"] / mine["seconds"] for mine, theirs in shared.values()]
    faster = [ratio for ratio in ratios if ratio < FASTER]
    if not faster:
        return "-"
    low, high = f"{min(faster):.2f}", f"{max(faster):.2f}"
    span = low if low == high else f"{low} to {high}"
    return f"{len(faster)} of {len(shared)} ({span} of our time)"


def _better(task: str, shared: Pairs) -> list[str]:
    """Return the inputs on which the other library has a better score, with both scores."""
    score = "scaled" if task == "embedding" else "distortion"
    return [
        f"{place.split('/')[0]}: {name} {theirs[key]:.3f} vs {mine[key]:.3f}"
        for place, (mine, theirs) in shared.items()
        for name, key, sign in (("distortion", score, -1), ("MAP", "map", 1))
        if key in mine and sign * (theirs[key] - mine[key]) > _least_difference(mine, theirs, key)
    ]


def _least_difference(mine: Row, theirs: Row, key: str) -> float:
    """Return the difference from which two scores count as different."""
    errors = hypot(*(run.get("scatter", {}).get(key, 0.0) for run in (mine, theirs)))
    return max(CLOSER, ERRORS * errors)


def _smaller(task: str, shared: Pairs) -> str:
    """Compare the memory on the largest tree."""
    if task != "tree":
        return "-"
    place = max(shared, key=lambda place: int(place.split("/")[1]))
    mine, theirs = (run["memory"] for run in shared[place])
    return "-" if theirs >= FASTER * mine else f"{theirs / mine:.2f} of ours"


def best_trees(rivals: list[Row]) -> str:
    """Return a table of the lowest distortion on the largest input of each family."""
    trees = [rival for rival in rivals if rival["task"] == "tree"]
    largest = {place.split("/")[0]: place for rival in trees for place in rival["runs"]}
    rows = []
    for place in largest.values():
        found = [r for r in trees if r["runs"].get(place, {}).get("status") == "right"]
        if not found:
            continue
        best = min(found, key=lambda rival: rival["runs"][place]["distortion"])
        least = best["runs"][place]["distortion"]
        same = [r for r in found if r["runs"][place]["distortion"] <= least + CLOSER]
        family, n = place.split("/")
        mine = sum(r["ours"] for r in same)
        rows.append([family, int(n), f"{least:.3f}", best["name"], f"{mine} of {len(same)} are ours"])
    head = ["input", "n", "lowest distortion", "method", "methods within 0.001"]
    return table(head, rows, left=(0, 3, 4))
