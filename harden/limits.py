"""Stress test: limits of memory (`ulimit -v`) and file size (RLIMIT_FSIZE).

If a limit is too low, a command must end with a one-line error and without partial files.
"""

import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .common import PART, Result, command
from .kills import commands

#: Address space in MB, from just enough to load numba to enough for the large inputs.
MEMORY = (560, 620, 700, 800, 950, 1150)
#: Largest file size in bytes.
ROOM = (0, 100, 5000)
POINTS = 30_000
FEWER = 5000  # points, whose written distances take 200 MB


def starved(folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return commands that need memory, with the files that they write."""
    cloud = np.random.default_rng(0).standard_normal((POINTS, 3)).astype(np.float32)
    np.save(folder / "points.npy", cloud)
    np.save(folder / "fewer.npy", cloud[:FEWER])
    points = ["points.npy", "--kind", "points"]
    return {
        "fit": (["fit", *points, "-o", "large.nwk", "--trials", "1"], ["large.nwk"]),
        "neighbor_joining": (
            ["fit", *points, "-o", "nj.nwk", "--method", "neighbor_joining"],
            ["nj.nwk"],
        ),
        "view": (["view", *points, "-o", "large.html"], ["large.html"]),
        "convert": (["convert", "fewer.npy", "--kind", "points", "large.npy"], ["large.npy"]),
    }


def limited(
    words: list[str], outputs: list[str], folder: Path, what: int, limit: int
) -> tuple[bool, str | None]:
    """Run a command under a limit; return whether it succeeded, and its fault if any."""
    paths = [folder / output for output in outputs]
    for path in paths:
        path.unlink(missing_ok=True)

    def set_limit() -> None:
        resource.setrlimit(what, (limit, limit))

    try:
        done = command(*words, cwd=folder, preexec_fn=set_limit, timeout=600)
    except subprocess.TimeoutExpired:
        return False, "not done after 600 s"
    there = [path.name for path in paths if path.exists()]
    parts = [path.name for path in folder.rglob(PART)]
    if parts:
        return False, f"left {parts}"
    if done.returncode == 0:
        return True, None if len(there) == len(paths) else "all well, but a file is missing"
    lines = done.stderr.splitlines()
    # All files of a command are written together or not at all.
    if (
        done.returncode == 2
        and lines
        and lines[-1].startswith("treerep: error: ")
        and "Traceback" not in done.stderr
    ):
        return False, None if not there else f"an error, but {there} exist"
    return False, f"ended with {done.returncode}: {' '.join(done.stderr.split())[-300:]}"


def campaign(commands_tried: int = 12) -> Result:
    """Run the commands under every limit."""
    faults, runs, through = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="treerep-harden-") as name:
        folder = Path(name)
        memory = [(resource.RLIMIT_AS, mb << 20, f"ulimit -v {mb << 10}") for mb in MEMORY]
        room = [(resource.RLIMIT_FSIZE, size, f"files of {size} bytes") for size in ROOM]
        hungry = list(starved(folder).items())[: max(1, commands_tried // 3)]
        writers = list(commands(folder).items())[:commands_tried]
        for doing, limits in ((hungry, memory), (writers, room)):
            for title, (words, outputs) in doing:
                command(*words, cwd=folder) if limits is room else None  # stores the compiled kernels
                for what, limit, said in limits:
                    well, fault = limited(words, outputs, folder, what, limit)
                    runs, through = runs + 1, through + well
                    if fault:
                        faults.append(f"{title} with {said}: {fault}")
    what = f"{len(hungry)} commands with {len(MEMORY)} memory limits, {len(writers)} with {len(ROOM)} file-size limits"
    return Result(what, runs, faults, f"{through} runs had enough")
