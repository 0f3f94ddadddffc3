"""Run every library on every input, each in its own process with a time limit per run."""

import json
import os
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from .problems import Problem
from .rival import ONE_THREAD, Rival

ROOT = Path(__file__).parents[2]
#: Seconds for unmeasured work: imports, compilation, reading of inputs, scores.
PATIENCE = 240.0


@dataclass
class Results:
    """Results of one library: version (None if missing), start-up seconds, and runs by input."""

    version: str | None
    start: float | None = None
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)


def place(problem: Problem) -> str:
    return f"{problem.family}/{problem.n}"


def contest(rival: Rival, module: str, small: Problem, problems: list[Problem], *, limit: float) -> Results:
    """Run a library on a small input, which is not stored, and on all others with a time limit."""
    version = rival.version()
    results = Results(version)
    if version is None:
        return results
    waiting = list(problems)
    while waiting:
        done = _in_one_child(rival, module, small, waiting, limit, results)
        if results.start is None:  # the library does not work
            return results
        waiting = _left(waiting, done, results)
    return results


def _in_one_child(
    rival: Rival,
    module: str,
    small: Problem,
    waiting: list[Problem],
    limit: float,
    results: Results,
) -> int:
    """Run the waiting inputs until the process ends; return how many have an outcome."""
    with Child(module, rival.name, small, waiting) as child:
        begun = child.answer(PATIENCE, PATIENCE)
        if "start" not in begun or begun["first"]["status"] == "failed":
            why = begun.get("first", begun)
            results.runs.setdefault(place(waiting[0]), {"status": why["status"], "why": why["why"]})
            results.runs.update({place(problem): results.runs[place(waiting[0])] for problem in waiting})
            return len(waiting)
        results.start = results.start or begun["start"]
        for k, problem in enumerate(waiting):
            said = child.answer(limit, PATIENCE)
            results.runs[place(problem)] = said.get("run", said)
            if "run" not in said:
                return k + 1
    return len(waiting)


def _left(waiting: list[Problem], done: int, results: Results) -> list[Problem]:
    """Return the remaining inputs, without larger ones of a family that exceeded the limit."""
    left = []
    over = {
        problem.family for problem in waiting[:done] if results.runs[place(problem)]["status"] == "over time"
    }
    for problem in waiting[done:]:
        if problem.family in over:
            results.runs[place(problem)] = {
                "status": "not tried",
                "why": "a smaller one took too long",
            }
        else:
            left.append(problem)
    return left


class Child:
    """A running process of `child`, and its messages."""

    def __init__(self, module: str, name: str, small: Problem, problems: list[Problem]) -> None:
        arguments = [module, name, str(small.folder), *map(place, [small, *problems])]
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.child", *arguments],
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.complaints: list[str] = []
        self.listeners = [
            threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._hear_complaints, args=(self.process.stderr,), daemon=True),
        ]
        for listener in self.listeners:
            listener.start()

    def _listen(self, pipe: IO[str]) -> None:
        with pipe:
            for line in pipe:
                self.lines.put(line)
        self.lines.put(None)

    def _hear_complaints(self, pipe: IO[str]) -> None:
        with pipe:
            for line in pipe:
                self.complaints = [*self.complaints, line][-5:]

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Stop the process and its children, which form a process group."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
        self.process.wait()
        for listener in self.listeners:
            listener.join()

    def answer(self, limit: float, patience: float) -> dict[str, Any]:
        """Return the next outcome, or "over time" if a computation exceeds the limit."""
        computing = False
        while (words := self._next(limit if computing else patience)) is not None:
            if "now" not in words:
                return words
            computing = words["now"] == "computing"
        return self._ended(limit if computing else patience, computing)

    def _next(self, wait: float) -> dict[str, Any] | None:
        """Return the next message, or None if the process is silent for too long or has ended."""
        while True:
            try:
                line = self.lines.get(timeout=wait)
            except queue.Empty:
                return None
            if line is None:
                return None
            if line.startswith("{"):  # libraries also print
                return json.loads(line)

    def _ended(self, waited: float, computing: bool) -> dict[str, Any]:
        try:
            self.process.wait(0.5)  # it may be about to end
        except subprocess.TimeoutExpired:
            self.end()
            if computing:
                return {"status": "over time", "why": f"more than {waited:g} s"}
            return {
                "status": "failed",
                "why": f"nothing came of it in {waited:g} s, before or after the computation",
            }
        last = self.complaints[-1].strip() if self.complaints else "it says nothing"
        return {
            "status": "failed",
            "why": f"the process ended with {self.process.returncode}: {last}",
        }
