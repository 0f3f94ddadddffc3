"""Programs that read a PHYLIP matrix and print a tree.

The matrix is written to a pipe, and timing starts after the last byte. Programs parse while they
read, so the remaining time is computation and printing. Programs that need a file get its name in
place of {}, and timing starts when they print an agreed message.
"""

import contextlib
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from .answers import of_newick
from .problems import Problem
from .rival import Rival, Timed, program_version

_CHUNK = 1 << 20


def run(command: list[str], path: Path, mark: str | None = None) -> Timed:
    """Run a program on a file; return its output, the seconds since reading, and its peak memory."""
    piped = "{}" not in command
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [str(path) if word == "{}" else word for word in command],
            stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.PIPE,
        )
        start = time.perf_counter()
        peak, words = _Peak(process.pid), _Words(process.stderr, mark)
        if process.stdin is not None:
            start = _feed(process.stdin, path)
        code = process.wait()
        end = time.perf_counter()
        peak.stop()
        said = words.last()
        if code:
            raise RuntimeError(f"{command[0]} ended with {code}: {said}")
        if mark and words.heard is None:  # otherwise the time would include reading
            raise RuntimeError(f"{command[0]} never said {mark!r}, but: {said}")
        printed.seek(0)
        return Timed(printed.read().decode(), end - (words.heard or start), peak.bytes)


def _feed(pipe: IO[bytes], path: Path) -> float:
    """Write the file to the program and return the time at the end."""
    with (
        contextlib.suppress(BrokenPipeError),
        pipe,
        path.open("rb") as source,
    ):  # broken pipe: the exit code tells why
        while chunk := source.read(_CHUNK):
            pipe.write(chunk)
    return time.perf_counter()


class _Words:
    """Messages of a program on standard error, and the time of the expected message."""

    def __init__(self, pipe: IO[bytes] | None, mark: str | None) -> None:
        assert pipe is not None
        self.heard: float | None = None
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._listen, args=(pipe, mark), daemon=True)
        self._thread.start()

    def _listen(self, pipe: IO[bytes], mark: str | None) -> None:
        with pipe:
            for line in pipe:
                if mark and mark.encode() in line:
                    self.heard = time.perf_counter()
                self._lines = [*self._lines, line.decode(errors="replace").strip()][-3:]

    def last(self) -> str:
        """Return the last line after the end of the output."""
        self._thread.join(1)
        return next((line for line in reversed(self._lines) if line), "it says nothing")


class _Peak:
    """Peak memory of a process, sampled from /proc, because the kernel's value includes the parent."""

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self._status = Path(f"/proc/{pid}/status")
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            self.bytes = max(self.bytes, peak_memory(self._status))

    def stop(self) -> None:
        self._done.set()
        self._thread.join()


def peak_memory(status: Path = Path("/proc/self/status")) -> int:
    """Return the peak of resident memory in bytes, or 0 if unknown."""
    try:
        lines = status.read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def program(
    name: str,
    kind: str,
    command: list[str],
    *,
    version: list[str],
    install: str,
    mark: str | None = None,
) -> Rival:
    """Describe a program that reads standard input, or a file in place of {}, and prints Newick."""
    return Rival(
        name,
        "tree",
        kind,
        program_version(command[0], *version),
        install,
        prepare=Problem.phylip,
        compute=lambda path: run(command, path, mark),
        convert=of_newick,
    )
