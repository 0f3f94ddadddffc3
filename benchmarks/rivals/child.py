"""Process of one library: `python -m benchmarks.rivals.child MODULE NAME FOLDER FAMILY/N ...`.

It prints one JSON object per line, so that the parent can tell computation from preparation.
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

#: Timings are repeated up to this many seconds in total, and at most this often.
ENOUGH, MOST = 0.2, 5
#: The same for random methods, whose results differ.
ENOUGH_OF_RANDOM = 2.0


class Measured(NamedTuple):
    """Shortest time, additional bytes, and the last result (all results of a random method)."""

    seconds: float
    memory: int
    results: list[Any]


def say(**words: Any) -> None:
    print(json.dumps(words), flush=True)


def measure(rival: Rival, problem: Problem) -> Measured:
    """Prepare and compute, repeatedly if it is fast."""
    best, spent, memory = float("inf"), 0.0, 0
    results: list[Any] = []
    enough = ENOUGH_OF_RANDOM if rival.random else ENOUGH
    for turn in range(MOST):
        given = rival.prepare(problem)  # every time, because some libraries write into their input
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
        memory = memory if turn else used  # later runs reuse freed memory
        if spent >= enough:
            break
    return Measured(best, max(memory, 0), results)


def _reset_peak() -> int:
    """Free unused memory, reset the peak of memory, and return it."""
    with contextlib.suppress(OSError, AttributeError):  # other C libraries
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):  # without it, earlier peaks hide the current one
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def outcome(rival: Rival, problem: Problem) -> dict[str, Any]:
    """Return the seconds, memory and scores of one run, or the reason why there are none."""
    try:
        seconds, memory, results = measure(rival, problem)
    except (Exception, SystemExit) as error:
        return {"status": "failed", "why": _one_line(error)}
    run = {"seconds": seconds, "memory": memory}
    try:
        scores = [SCORES[rival.task](rival.convert(result, problem), problem) for result in results]
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
    """Return the means and, for several results, the standard errors."""
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
    """Restrict this process and its threads to one core."""
    with contextlib.suppress(AttributeError):  # other systems
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main(module: str, name: str, folder: str, *problems: str) -> None:
    warnings.simplefilter("ignore")  # of other libraries
    start = time.perf_counter()
    rival = find(module, name)
    if rival.ours:  # n_jobs does not restrict validation of a matrix or searches in a graph
        _stay_on_one_core()
    family, n = problems[0].rsplit("/", 1)
    # The first input is small. It covers imports and compilation.
    first = outcome(rival, Problem(family, int(n), Path(folder)))
    say(start=time.perf_counter() - start, first=first)
    for place in problems[1:]:
        family, n = place.rsplit("/", 1)
        say(run=outcome(rival, Problem(family, int(n), Path(folder))), problem=place)


if __name__ == "__main__":
    main(*sys.argv[1:])
