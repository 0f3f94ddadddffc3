"""Stress test: `kill -9` at random moments of every command that writes files.

Each file must be complete or missing, and an existing file must be old or new. Most commands run
in a fork of a process that has loaded everything, so that they are killed while they work. Some
run as a user starts them, including imports.
"""

import contextlib
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import treerep as tr
from treerep.cli import main
from treerep.formats import write_distances, write_tree

from .common import COMMAND, PART, Result, environment

POINTS = 150
_FRESH = 15  # one in this many kills hits a new process
_LOADING = 2.0  # approximate start-up seconds of a new process
_PATIENCE = 30  # seconds per round of all commands; longer rounds count as hanging
_OLD = b"what was here before"


def commands(folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Prepare inputs in a folder and return each command with the files that it writes."""
    truth = tr.datasets.random_tree(POINTS, rng=1)
    write_distances(truth, folder / "d.csv")
    write_tree(truth, folder / "t.nwk")
    few = truth.restrict(range(POINTS - 1))
    write_tree(few, folder / "few.nwk")
    rows = truth.block([POINTS - 1], range(POINTS - 1))
    header = "," + ",".join(map(str, range(POINTS - 1)))
    line = ",".join(map(repr, rows[0].tolist()))
    (folder / "new.csv").write_text(f"{header}\nnew,{line}\n")
    return {
        "fit": (["fit", "d.csv", "-o", "fit.nwk"], ["fit.nwk"]),
        "fit to npz": (["fit", "d.csv", "-o", "fit.npz", "--method", "upgma"], ["fit.npz"]),
        "refine": (
            ["refine", "t.nwk", "d.csv", "-o", "refined.json", "--no-moves"],
            ["refined.json"],
        ),
        "place": (["place", "few.nwk", "new.csv", "-o", "new.jplace"], ["new.jplace"]),
        "embed": (["embed", "t.nwk", "-o", "embedded.npz"], ["embedded.npz"]),
        "embed to csv": (["embed", "t.nwk", "-o", "embedded.csv"], ["embedded.csv"]),
        "draw": (["draw", "t.nwk", "-o", "drawn.png"], ["drawn.png"]),
        "view": (["view", "d.csv", "-o", "page.html"], ["page.html"]),
        "convert": (["convert", "t.nwk", "distances.phy"], ["distances.phy"]),
        "convert to nexus": (["convert", "t.nwk", "tree.nex"], ["tree.nex"]),
        "compare": (
            ["compare", "d.csv", "--methods", "upgma", "--csv", "c.csv"],
            ["c.csv"],
        ),
        "demo": (
            ["demo", "-o", "demo"],
            [f"demo/{name}" for name in ("mammals.nwk", "mammals.json", "cells.nwk", "cells.json")],
        ),
    }


def start(words: list[str], folder: Path, fresh: bool) -> int:
    """Start a command in the folder, in a fork or in a new process, and return its process id."""
    if fresh:
        quiet = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        return subprocess.Popen([*COMMAND, *words], cwd=folder, env=environment(), **quiet).pid
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            silent = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(silent, number)
            main(words)
        except SystemExit as end:
            os._exit(end.code if isinstance(end.code, int) else 1)
        finally:
            os._exit(1)
    return child


def campaign(moments: int = 50) -> Result:
    """Kill every command at random moments, in a separate process that can be forked safely."""
    with tempfile.TemporaryDirectory(prefix="treerep-harden-") as folder:
        words = [sys.executable, "-m", "harden.kills", folder, str(moments)]
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                env=environment(),
                check=False,
                timeout=_PATIENCE * moments,
            )
        except subprocess.TimeoutExpired:
            return Result(
                "kill -9",
                0,
                [f"not done after {_PATIENCE * moments} s: a process waits for one that has ended"],
            )
    if done.returncode:
        return Result(
            "kill -9",
            0,
            [f"the stress test ended with {done.returncode}: {done.stderr[-500:]}"],
        )
    *faults, last = done.stdout.splitlines()
    kills, early, left, count = map(int, last.split())
    what = f"kill -9 at {moments} random moments of {count} commands that write files"
    note = f"{early:,} kills came before the end, and {left:,} left a hidden file `.treerep-*.part`"
    return Result(what, kills, faults, note)


def kill_all(folder: Path, moments: int) -> None:
    """Run the stress test and print its faults, then the counts."""
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # discard the output of the commands
    os.chdir(folder)
    choose, early, left = random.Random(0), 0, 0
    doing = commands(folder)
    for name, (words, outputs) in doing.items():
        paths = [folder / output for output in outputs]
        with contextlib.suppress(SystemExit):
            main(words)  # loads modules before the fork
        marks, length = _undisturbed(lambda words=words: start(words, folder, False), paths)
        if marks is None:
            print(f"{name}: it fails without a kill", file=report)
            continue
        for moment in range(moments):
            fresh = moment % _FRESH == _FRESH - 1
            for path in paths:
                _prepare(path, old=moment % 2 == 0)
            child = start(words, folder, fresh)
            time.sleep(choose.uniform(0, 1.1) * (length + _LOADING * fresh))
            os.kill(child, signal.SIGKILL)
            early += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            for path in paths:
                said = _judged(path, marks[path], old=moment % 2 == 0)
                if said:
                    print(f"{name}: moment {moment}: {path.name} {said}", file=report)
            for part in folder.rglob(PART):
                left += 1
                part.unlink()
    print(moments * len(doing), early, left, len(doing), file=report)


def _undisturbed(begin: Callable[[], int], paths: list[Path]) -> tuple[dict[Path, str] | None, float]:
    """Run a command twice; return hashes of its files ("" if they differ) and the shorter time."""
    runs, times = [], []
    for _ in range(2):
        started = time.perf_counter()
        code = os.waitstatus_to_exitcode(os.waitpid(begin(), 0)[1])
        times.append(time.perf_counter() - started)
        if code:
            return None, min(times)
        runs.append({path: _mark(path) for path in paths})
    return {path: mark if mark == runs[1][path] else "" for path, mark in runs[0].items()}, min(times)


def _prepare(path: Path, old: bool) -> None:
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if old:
        path.write_bytes(_OLD)


def _mark(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


#: Suffixes of files that contain run times, and so differ in every run.
_ENDS = {".json": b"}\n", ".csv": b"\n", ".html": b"</html>\n", ".png": b"IEND\xaeB`\x82"}


def _judged(path: Path, mark: str, old: bool) -> str | None:
    if not path.exists():
        return "is gone, and was there before" if old else None
    content = path.read_bytes()
    if old and content == _OLD:
        return None
    if mark:
        return (
            None
            if hashlib.sha256(content).hexdigest() == mark
            else f"is half written: {len(content):,} bytes"
        )
    return None if content.rstrip().endswith(_ENDS[path.suffix].rstrip()) else f"ends in {content[-40:]!r}"


if __name__ == "__main__":
    kill_all(Path(sys.argv[1]), int(sys.argv[2]))
