"""Where a rival is faster than ours, closer to the data or smaller, in sentences."""

from math import hypot
from typing import Any

Row = dict[str, Any]
#: Timings scatter: less than a fifth is no difference. The same for memory.
FASTER = 0.8
#: Average distortion and MAP: less is no difference. Nor is less than so many standard errors of random methods.
CLOSER, ERRORS = 1e-3, 2.0


def wins(rivals: list[Row]) -> str:
    """Return a list: for every kind, the inputs on which a rival of that kind is faster, better or smaller."""
    lines = []
    for kind in dict.fromkeys(
        rival["kind"] for rival in rivals if rival["ours"] and rival["runs"]
    ):
        ours = next(rival for rival in rivals if rival["kind"] == kind and rival["ours"])
        for rival in rivals:
            if rival["kind"] == kind and not rival["ours"] and rival["runs"]:
                lines += _sentence(ours, rival)
    lines += _closest(rivals)
    return "\n".join(f"- {line}" for line in lines)


def _both_right(ours: Row, rival: Row) -> dict[str, tuple[Row, Row]]:
    return {
        place: (run, rival["runs"][place])
        for place, run in ours["runs"].items()
        if run["status"] == "right" and rival["runs"].get(place, {}).get("status") == "right"
    }


def _sentence(ours: Row, rival: Row) -> list[str]:
    """Say where a rival wins, or that it does not; nothing of one without right results."""
    shared = _both_right(ours, rival)
    if not shared:
        return []
    faster = [
        f"{_at(place)} ({theirs['seconds'] / mine['seconds']:.2g} of our time)"
        for place, (mine, theirs) in shared.items()
        if theirs["seconds"] < FASTER * mine["seconds"]
    ]
    score = "scaled" if rival["task"] == "embedding" else "distortion"
    better = [
        f"{_at(place)} ({name} {theirs[key]:.3f}, ours {mine[key]:.3f})"
        for place, (mine, theirs) in shared.items()
        for name, key, sign in (("distortion", score, -1), ("MAP", "map", 1))
        if key in mine
        and sign * (theirs[key] - mine[key]) > _least_difference(mine, theirs, key)
    ]
    said = []
    if faster:
        said.append(f"**{rival['name']} is faster** than {ours['name']} on {', '.join(faster)}")
    if better:
        said.append(f"**{rival['name']} is better** than {ours['name']} on {', '.join(better)}")
    if not said:
        said.append(
            f"{rival['name']}: neither faster nor better than {ours['name']} on any of {len(shared)} inputs"
        )
    said += _smaller(ours, rival, shared)
    return [f"{line}." for line in said]


def _least_difference(mine: Row, theirs: Row, key: str) -> float:
    """Return what counts as a difference of two scores; those of random methods are means, and know how far off."""
    return max(
        CLOSER,
        ERRORS * hypot(*(run.get("scatter", {}).get(key, 0.0) for run in (mine, theirs))),
    )


def _smaller(ours: Row, rival: Row, shared: dict[str, tuple[Row, Row]]) -> list[str]:
    """Say whether a rival needs less memory on the largest tree."""
    if rival["task"] != "tree":
        return []
    place = max(shared, key=lambda place: int(place.split("/")[1]))
    mine, theirs = (run["memory"] for run in shared[place])
    if theirs >= FASTER * mine:
        return []
    return [
        f"**{rival['name']} needs less memory** than {ours['name']}: {theirs / mine:.2g} of ours on {_at(place)}"
    ]


def _closest(rivals: list[Row]) -> list[str]:
    """Say whose tree is the best of all on each input of the largest size of its family."""
    largest: dict[str, str] = {}
    for rival in rivals:
        largest.update(
            {place.split("/")[0]: place for place in rival["runs"] if rival["task"] == "tree"}
        )
    lines = []
    for place in largest.values():
        trees = [
            r
            for r in rivals
            if r["task"] == "tree" and r["runs"].get(place, {}).get("status") == "right"
        ]
        if not trees:
            continue
        best = min(trees, key=lambda rival: rival["runs"][place]["distortion"])
        least = best["runs"][place]["distortion"]
        same = [r for r in trees if r["runs"][place]["distortion"] <= least + CLOSER]
        who = f"by {best['name']}" + f" and {len(same) - 1} more within 0.001" * (len(same) > 1)
        among = (
            "" if best["ours"] else f", {sum(r['ours'] for r in same) or 'none'} of them ours"
        )
        lines.append(f"Least distortion of all on {_at(place)}: {least:.2g}, {who}{among}.")
    return lines


def _at(place: str) -> str:
    family, n = place.split("/")
    return f"{family} with n = {int(n):,}"
