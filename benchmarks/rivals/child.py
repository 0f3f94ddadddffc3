"""The process of one rival: `python -m benchmarks.rivals.child MODULE NAME FOLDER FAMILY/N ...`.

Says what it does, one JSON object a line, so that whoever waits can tell a slow computation from a slow preparation.
"""

import contextlib
import ctypes
import gc
import json
import os
import sys
import time
import warnings
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from .answers import SCORES, Wrong
from .problems import Problem
from .program import peak_memory
from .rival import Rival, Timed, find

#: Timings are repeated while they have taken less than this, in seconds, and at most so often.
ENOUGH, MOST = 0.2, 5
#: Those of random methods: the answers differ.
ENOUGH_OF_RANDOM = 2.0


class Measured(NamedTuple):
    """The least seconds, the bytes beyond what was there before, and the last answer or, of a random rival, all."""

    seconds: float
    memory: int
    results: list[Any]


def say(**words: Any) -> None:
    print(json.dumps(words), flush=True)


def measure(rival: Rival, problem: Problem) -> Measured:
    """Prepare and compute, again and again if it is quick."""
    best, spent, memory = float("inf"), 0.0, 0
    results: list[Any] = []
    enough = ENOUGH_OF_RANDOM if rival.random else ENOUGH
    for turn in range(MOST):
        given = rival.prepare(problem)  # each time, for some write into what they get
        results = results if rival.random else []
        gc.collect()
        before = _reset_peak()
        say(now="computing")
        start = time.perf_counter()
        result = rival.compute(given)
        taken = time.perf_counter() - start
        say(now="computed")
        used = peak_memory() - before
        if isinstance(result, Timed):
            taken, used, result = result.seconds, result.memory, result.result
        results.append(result)
        best, spent = min(best, taken), spent + taken
        memory = (
            memory if turn else used
        )  # later ones find memory that was freed and not given back
        if spent >= enough:
            break
    return Measured(best, max(memory, 0), results)


def _reset_peak() -> int:
    """Give back what is free, make the peak of memory that of now, and return it."""
    with contextlib.suppress(OSError, AttributeError):  # of another C library
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):  # then what was used before hides what is used now
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def outcome(rival: Rival, problem: Problem) -> dict[str, Any]:
    """Return the seconds, memory and scores of one run, or why there are none."""
    try:
        seconds, memory, results = measure(rival, problem)
    except (Exception, SystemExit) as error:
        return {"status": "failed", "why": _one_line(error)}
    run = {"seconds": seconds, "memory": memory}
    try:
        scores = [
            SCORES[rival.task](rival.convert(result, problem), problem) for result in results
        ]
        return {"status": "right", **run, **_together(scores)}
    except Wrong as verdict:
        return {"status": "wrong", "why": str(verdict), **run}
    except Exception as error:
        return {
            "status": "failed",
            "why": f"its answer could not be read: {_one_line(error)}",
            **run,
        }


def _together(scores: list[dict[str, float]]) -> dict[str, Any]:
    """Return the means; where there are several answers, also how far these are off: their standard errors."""
    columns = {key: [one[key] for one in scores] for key in scores[0]}
    means = {key: mean(column) for key, column in columns.items()}
    if len(scores) == 1:
        return means
    return {
        **means,
        "scatter": {key: stdev(column) / len(column) ** 0.5 for key, column in columns.items()},
    }


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _stay_on_one_core() -> None:
    """Move this process to one core: all threads that it starts share it."""
    with contextlib.suppress(AttributeError):  # of another system
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main(module: str, name: str, folder: str, *problems: str) -> None:
    warnings.simplefilter("ignore")  # of rivals; our own are errors in the tests
    start = time.perf_counter()
    rival = find(module, name)
    if rival.ours:  # a matrix is checked, and a graph searched, on all cores, whatever n_jobs says of the rest
        _stay_on_one_core()
    family, n = problems[0].rsplit("/", 1)
    # The first input is small. Whatever is imported, loaded or compiled when first used, is so with it.
    first = outcome(rival, Problem(family, int(n), Path(folder)))
    say(start=time.perf_counter() - start, first=first)
    for place in problems[1:]:
        family, n = place.rsplit("/", 1)
        say(run=outcome(rival, Problem(family, int(n), Path(folder))), problem=place)


if __name__ == "__main__":
    main(*sys.argv[1:])
