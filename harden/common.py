"""Shared code of the stress tests: results, storage, and the command as a child process."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import treerep

#: The stress tests, one module each, in the order in which they run.
NAMES = (
    "recovery",
    "twins",
    "parsers",
    "concurrent",
    "limits",
    "kills",
    "writes",
    "hostile",
    "memory",
)
ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(treerep.__file__).resolve().parent  # installed, or in the checkout
RESULTS = Path(__file__).parent / "results.json"
TABLE = Path(__file__).parent / "results.md"
COMMAND = (sys.executable, "-m", "treerep")
#: Hidden files that an interrupted write may leave.
PART = ".treerep-*.part"


class Result(NamedTuple):
    """Description and counts of a stress test, and all faults."""

    what: str
    checked: int
    faults: list[str]
    note: str = ""


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a child process that can import the package and the stress tests."""
    paths = [str(PACKAGE.parent), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


def command(*arguments: object, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `treerep` as a user would."""
    words = [*COMMAND, *map(str, arguments)]
    options = {"env": environment(), "stdin": subprocess.DEVNULL, **options}
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, **options)


def machine() -> dict[str, Any]:
    """Describe the machine."""
    versions = {package: importlib.metadata.version(package) for package in ("numpy", "scipy", "numba")}
    return {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        **versions,
    }


def store(results: dict[str, dict[str, Any]]) -> None:
    """Add results to the stored ones and write the table."""
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    stored.update(results)
    RESULTS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    TABLE.write_text(table(stored))


def table(stored: dict[str, dict[str, Any]]) -> str:
    """Return the results as a table in Markdown."""
    lines = [
        "| name | content | checks | faults | seconds |",
        "|---|---|---:|---:|---:|",
    ]
    for name in filter(stored.get, NAMES):
        row = stored[name]
        what = row["what"] + (f"; {row['note']}" if row["note"] else "")
        lines.append(
            f"| `{name}` | {what} | {row['checked']:,} | {len(row['faults'])} | {row['seconds']:,.0f} |"
        )
    return "\n".join(lines) + "\n"
