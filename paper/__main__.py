"""The command `python -m paper`: recompute stored cells and compare them.

With `--write`, it computes missing cells and writes the report.
"""

import argparse
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from . import report
from .cells import FOLDER, LIMIT, Key, Store, Values, Worker, compute
from .command import experiment

HERE = Path(__file__).parent
CHECK = HERE / "check"
#: Cells that took longer than this are only recomputed on request.
WITHIN = 5.0
#: Allowed difference of recomputed scores. Processors round differently, and a placement may
#: change.
TOLERANCE = 0.005
SCORES = ("scaled", "plain", "map_rank", "map", "delta", "error", "right")


def main(arguments: list[str] | None = None) -> int:
    """Check or write, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m paper", description="The paper's tables and figures.")
    parser.add_argument("--write", action="store_true", help="compute missing cells and write the report")
    parser.add_argument("--report", action="store_true", help="write the report from the stored cells")
    parser.add_argument(
        "--within",
        type=float,
        default=WITHIN,
        metavar="SECONDS",
        help="check cells that took at most this long (default 5)",
    )
    given = parser.parse_args(arguments)
    try:
        if given.write or given.report:
            return write(missing=given.write)
        return check(given.within)
    except KeyboardInterrupt:
        return 130


def write(missing: bool, folder: Path = HERE, cells: Path = FOLDER) -> int:
    """Compute missing cells, if requested, and write the report; fail on unexplained differences."""
    for name in report.EXPERIMENTS if missing else ():
        compute(Store(name, cells), experiment(name).keys(), limit=LIMIT)
    without = report.write(folder, cells)
    for place in without:
        print(f"worse than the paper without an explanation: {place}", file=sys.stderr)
    print(f"wrote {folder / 'report.md'} and {folder / 'report.html'}")
    return 1 if without else 0


def check(within: float, only: Iterable[Key] | None = None, folder: Path = CHECK) -> int:
    """Recompute cells, compare them with the stored ones, and compare the report."""
    with Worker() as worker:
        checked = [_check_one(name, within, only, folder, worker) for name in report.EXPERIMENTS]
    wrong = [line for one in checked for line in one.wrong]
    ratios = [ratio for one in checked for ratio in one.ratios]
    folder.mkdir(exist_ok=True)
    report.write(folder, FOLDER)
    if (folder / "report.md").read_text() != (HERE / "report.md").read_text():
        wrong.append("report.md is not what the stored cells say: python -m paper --report")
    for line in wrong:
        print(f"differs: {line}", file=sys.stderr)
    speed = f", in {statistics.median(ratios):.2g} times the time" if ratios else ""
    same, left = sum(one.same for one in checked), sum(one.left for one in checked)
    print(
        f"{same} recomputed cells agree with the stored ones{speed}; {len(wrong)} differences; {left} cells not checked"
    )
    print(f"the report is {folder / 'report.html'}")
    return 1 if wrong else 0


class _Checked(NamedTuple):
    same: int
    left: int  # cells that were not recomputed
    wrong: list[str]
    ratios: list[float]  # of the seconds


def _check_one(
    name: str, within: float, only: Iterable[Key] | None, folder: Path, worker: Worker
) -> _Checked:
    """Recompute the cells of one experiment and compare them."""
    stored, anew = Store(name), Store(name, folder / "cells")
    known = [key for key in experiment(name).keys() if key in stored]  # noqa: SIM118 (a module, not a dict)
    quick = [key for key in known if _here(stored[key]) and stored[key]["took"] <= within]
    quick = quick if only is None else [key for key in quick if key in set(only)]
    compute(anew, quick, worker=worker)
    wrong = {key: compare(stored[key], anew[key]) for key in quick}
    timed = [key for key in quick if "seconds" in stored[key]]
    return _Checked(
        same=sum(not lines for lines in wrong.values()),
        left=len(known) - len(quick),
        wrong=[f"{name} {key}: {line}" for key, lines in wrong.items() for line in lines],
        ratios=[anew[key]["seconds"] / stored[key]["seconds"] for key in timed],
    )


def _here(cell: Values) -> bool:
    """Return whether a cell can be checked on this device within the time limit."""
    return "took" in cell and "NVIDIA" not in cell["machine"]


def compare(stored: Values, anew: Values) -> list[str]:
    """Return the scores that differ."""
    return [
        f"{score} was {stored[score]} and is {anew.get(score)}"
        for score in SCORES
        if score in stored and not (score in anew and abs(anew[score] - stored[score]) <= TOLERANCE)
    ]


if __name__ == "__main__":
    sys.exit(main())
