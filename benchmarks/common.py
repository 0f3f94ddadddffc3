"""Shared code of the benchmarks: timing, child processes, stored tables."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).parents[2] / "shared" / "data"

if "TREEREP_DATA" not in os.environ and DATA.is_dir():
    os.environ["TREEREP_DATA"] = str(DATA)


class Table(NamedTuple):
    """Rows to print, in order. The keys of the first row are the columns."""

    title: str
    rows: list[dict[str, Any]]
    note: str = ""


def seconds(work: Callable[[], Any], repeat: int = 3) -> float:
    """Return the shortest of a few times. Noise on a shared machine only adds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def in_child(script: str, *arguments: object, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Run a script in a new process and return the JSON object in its last line."""
    result = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(env or {})},
    )
    return json.loads(result.stdout.splitlines()[-1])


def cell(value: Any) -> str:
    """Format a value, numbers with three or four significant digits."""
    if isinstance(value, float):
        return f"{value:.3g}" if value and (abs(value) < 1e-3 or abs(value) >= 1e5) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def markdown(name: str, table: Table, command: str = "") -> str:
    columns = list(table.rows[0])
    lines = [f"**{table.title}** (`{command or f'python -m benchmarks {name}'}`)", ""]
    rule = ("---:|" if _numeric(table.rows, column) else "---|" for column in columns)
    lines += ["| " + " | ".join(columns) + " |", "|" + "".join(rule)]
    lines += ["| " + " | ".join(cell(row[column]) for column in columns) + " |" for row in table.rows]
    return "\n".join([*lines, "", *([table.note, ""] if table.note else [])])


def _numeric(rows: list[dict[str, Any]], column: str) -> bool:
    """Return whether a column holds numbers, possibly with units, intervals or gaps."""
    texts = [str(row[column]) for row in rows]
    return all(text in ("", "-") or text[0] in "0123456789-.±" for text in texts)


def _processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def machine() -> dict[str, Any]:
    """Describe the machine and the versions of Python, NumPy, SciPy and numba."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in ("numpy", "scipy", "numba")},
    }


def store(name: str, tables: list[Table], command: str = "") -> None:
    """Print the tables and store them with a description of the machine.

    `command` is the command that measured them, if it is not `python -m benchmarks <name>`.
    """
    text = "\n".join(markdown(name, table, command) for table in tables)
    print(text, flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text)
    record = {"machine": machine(), "tables": [table._asdict() for table in tables]}
    if command:
        record["command"] = command
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
