"""The command `python -m benchmarks rivals [--full] [--docs]`.

It measures and stores the results, and writes the generated parts of docs/developers/rivals.md.
With `--docs` it only writes these parts, from the stored results.
"""

import importlib
import json
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from treerep._core.io.files import atomic_write

from ..common import RESULTS, machine
from . import ADAPTERS
from .contest import contest
from .plans import BENCH, FULL, SMALL, Plan
from .problems import Problem, make

STORE = RESULTS / "rivals.json"


def run(options: list[str]) -> None:
    """Run the command."""
    unknown = set(options) - {"--full", "--docs"}
    if unknown:
        raise SystemExit(f"unknown options: {', '.join(sorted(unknown))}; use --full or --docs")
    if "--docs" not in options:
        record = measure(FULL if "--full" in options else BENCH)
        with atomic_write(STORE) as file:
            file.write(json.dumps(record, indent=1) + "\n")
    from .report import write

    write(json.loads(STORE.read_text()))


def measure(plan: Plan, adapters: tuple[str, ...] = ADAPTERS) -> dict[str, Any]:
    """Run every library on the inputs of its task and return the record to store."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        inputs = Inputs(Path(folder))
        rivals = [row for adapter in adapters for row in _adapter(f"{__package__}.{adapter}", plan, inputs)]
    return {
        "plan": plan.name,
        "limits": plan.limits,
        "machine": machine(),
        "took": round(time.perf_counter() - begin),
        "missing": inputs.missing,
        "rivals": rivals,
    }


class Inputs:
    """Inputs, made at their first use, and the reasons why some cannot be made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: dict[tuple[str, int], Problem] = {}
        self.missing: dict[str, str] = {}

    def get(self, family: str, n: int) -> Problem | None:
        """Return an input, or None if it cannot be made."""
        if family not in self.missing and (family, n) not in self.made:
            try:
                self.made[family, n] = make(family, n, self.folder)
            except FileNotFoundError as error:
                self.missing[family] = str(error)
        return self.made.get((family, n))


def _adapter(module: str, plan: Plan, inputs: Inputs) -> list[dict[str, Any]]:
    rows = []
    for rival in importlib.import_module(module).RIVALS:
        problems = [made for wanted in plan.inputs[rival.task] if (made := inputs.get(*wanted)) is not None]
        small = inputs.get(*SMALL[rival.task])
        if not problems or small is None:
            continue
        found = contest(rival, module, small, problems, limit=plan.limits[rival.task])
        said = {name: getattr(rival, name) for name in ("name", "task", "kind", "install", "ours")}
        rows.append({**said, **_rounded(asdict(found))})
        print(f"{rival.name}: {summary(rows[-1])}", flush=True)
    return rows


def summary(row: dict[str, Any]) -> str:
    """Return one line about one library."""
    if row["version"] is None:
        return f"not installed: {row['install']}"
    by_status: dict[str, int] = {}
    for one in row["runs"].values():
        by_status[one["status"]] = by_status.get(one["status"], 0) + 1
    return ", ".join(f"{count} {status}" for status, count in by_status.items())


def _rounded(value: Any) -> Any:
    """Return the value with all floats rounded to six digits."""
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value
