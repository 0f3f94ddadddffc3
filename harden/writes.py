"""Stress test: `kill -9` before and after every file operation of every writer.

Each file must be old or new, and complete. `kills` chooses random moments. Here a profiler counts
the calls that open, write, rename or remove files, and a fork kills itself at each of them.
"""

import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import treerep as tr
from treerep._core.io.archive import write_archive
from treerep.cli._outputs import write_outputs
from treerep.formats import TREE_FORMATS, write_distances, write_tree

from .common import PART, Result, environment

_PATIENCE = 1800  # seconds for all writers
_OPERATIONS = {
    "open",
    "close",
    "fchmod",
    "fchown",
    "link",
    "rename",
    "replace",
    "remove",
    "unlink",
    "truncate",
}
_OF_FILES = {"write", "writelines", "flush", "close", "truncate"}
_FILES = (io.FileIO, io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper)
_DISTANCES = ("npy", "csv", "tsv.gz", "phy")

Writer = Callable[[Path], object]


def writers(points: int) -> dict[str, Writer]:
    """Return every way to write files into a given folder."""
    tree = tr.datasets.random_tree(points, rng=1)
    groups = {"group": [k % 3 for k in range(points)]}
    made: dict[str, Writer] = {}
    for name, known in TREE_FORMATS.items():
        options = {"attributes": groups} if "attributes" in known.takes else {}
        made[name] = lambda folder, suffix=known.suffixes[0], options=options: write_tree(
            tree, folder / f"t{suffix}", **options
        )
    made["newick.gz"] = lambda folder: write_tree(tree, folder / "t.nwk.gz")
    for suffix in _DISTANCES:
        made[f"distances.{suffix}"] = lambda folder, suffix=suffix: write_distances(
            tree, folder / f"d.{suffix}"
        )
    embedding = tr.embed(tree)
    made["Tree.save"] = lambda folder: tree.save(folder / "t.npz")
    made["Embedding.save"] = lambda folder: embedding.save(folder / "e.npz")
    made["archive"] = lambda folder: write_archive(folder / "a.npz", {"format": "x"}, {"labels": None})
    made["page"] = lambda folder: tr.page(tree, folder / "p.html")
    made["several outputs"] = lambda folder: write_outputs(
        [(str(folder / name), name * points) for name in "abc"]
    )
    return made


def faults_of(name: str, write: Writer, folder: Path) -> tuple[int, list[str]]:
    """Kill a writer at each operation, with and without existing files; return kills and faults."""
    work = folder / "work"
    work.mkdir()
    write(work)  # loads modules before the fork
    new = {path.name: path.read_bytes() for path in work.iterdir()}
    old = {file: content[:9] + b"old" for file, content in new.items()}  # iTOL only replaces its own tables
    kills, faults = 0, []
    for before in ({}, old):
        for moment in range(10_000):
            _prepare(work, before)
            if not _killed(write, work, moment):
                break
            kills += 1
            faults += [f"{name}: killed at operation {moment}: {said}" for said in _judged(work, before, new)]
        else:
            faults.append(f"{name}: it does not end")
    _prepare(work, {})
    return kills, faults


def _prepare(folder: Path, files: dict[str, bytes]) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _killed(write: Writer, folder: Path, moment: int) -> bool:
    """Run a writer in a fork that kills itself at one moment; return whether it was reached."""
    child = os.fork()
    if child == 0:
        try:
            os.fsync = lambda _: None  # slow, and only needed after a power failure
            sys.setprofile(_Killer(moment))
            write(folder)
            sys.setprofile(None)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


class _Killer:
    """Profiler that ends the process before or after the given file operation."""

    def __init__(self, moment: int) -> None:
        self.left = moment

    def __call__(self, _: FrameType, event: str, function: Any) -> None:
        if event not in ("c_call", "c_return") or not _is_operation(function):
            return
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


def _is_operation(function: Any) -> bool:
    if isinstance(getattr(function, "__self__", None), _FILES):
        return function.__name__ in _OF_FILES
    return function.__name__ in _OPERATIONS and function.__module__ in ("posix", "io", "_io")


def _judged(folder: Path, old: dict[str, bytes], new: dict[str, bytes]) -> list[str]:
    said = []
    for name, content in new.items():
        path = folder / name
        if not path.exists():
            said += [f"{name} is gone"] if name in old else []
        elif path.read_bytes() not in (content, old.get(name)):
            said.append(f"{name} is half written: {path.stat().st_size:,} of {len(content):,} bytes")
    others = [path.name for path in folder.iterdir() if path.name not in new and not path.match(PART)]
    return [*said, *(f"left {name}" for name in others)]


def campaign(points: int = 12) -> Result:
    """Kill every writer of a tree, in a separate process that can be forked safely."""
    with tempfile.TemporaryDirectory(prefix="treerep-harden-") as folder:
        words = [sys.executable, "-m", "harden.writes", folder, str(points)]
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
            timeout=_PATIENCE,
        )
    if done.returncode:
        return Result(
            "kill -9 at every write",
            0,
            [f"the stress test ended with {done.returncode}: {done.stderr[-500:]}"],
        )
    *faults, last = done.stdout.splitlines()
    kills, count = map(int, last.split())
    return Result(f"kill -9 before and after every file operation of {count} writers", kills, faults)


def kill_all(folder: Path, points: int, names: list[str]) -> None:
    """Run the stress test for all writers, or those named, and print faults and counts."""
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    total, doing = (
        0,
        {name: write for name, write in writers(points).items() if not names or name in names},
    )
    for name, write in doing.items():
        place = folder / name
        place.mkdir()
        kills, faults = faults_of(name, write, place)
        total += kills
        for fault in faults:
            print(fault, file=report)
    print(total, len(doing), file=report, flush=True)


if __name__ == "__main__":
    kill_all(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
