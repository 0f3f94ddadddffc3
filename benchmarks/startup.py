"""Start-up times: imports, compilation from an empty cache, and the next process."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .common import Table, in_child, seconds

FIRST_FIT = """
import json, time
start = time.perf_counter()
import treerep as tr
imported = time.perf_counter()
tr.fit(tr.datasets.sarich())
print(json.dumps({"import": imported - start, "fit": time.perf_counter() - start}))
"""

# Kernels that the demo compiles, by the time they take in one process.
KERNELS = """
import json, runpy, sys, time
from numba.core import event
begun, spent = [], {}
class Listener(event.Listener):
    def on_start(self, found):
        begun.append(time.process_time())
    def on_end(self, found):
        taken = time.process_time() - begun.pop()
        name = found.data["dispatcher"].py_func.__qualname__
        if begun:  # a helper, which the time of its kernel includes
            spent["helpers"] = spent.get("helpers", 0) + 1
        else:
            spent.setdefault("kernels", []).append((taken, name))
event.register("numba:compile", Listener())
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core: the demo compiles in one process
sys.argv = ["treerep", "demo", "--output", sys.argv[1]]
sys.stdout, out = sys.stderr, sys.stdout
try:
    runpy.run_module("treerep", run_name="__main__")
except SystemExit:
    pass
print(json.dumps(spent), file=out)
"""


def _command(*arguments: str, cache: str) -> float:
    """Return the seconds that a command takes, as a whole process."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "treerep", *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )
    return time.perf_counter() - start


def measure() -> list[Table]:
    return [
        Table("Start-up", _times()),
        Table("Kernels that `treerep demo` compiles", _kernels()),
    ]


def _times() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        env = {"NUMBA_CACHE_DIR": f"{folder}/fit"}
        cold = in_child(FIRST_FIT, env=env)
        warm = min((in_child(FIRST_FIT, env=env) for _ in range(3)), key=lambda run: run["fit"])
        demo = ("demo", "--output", f"{folder}/output")
        first_demo = _command(*demo, cache=f"{folder}/demo")
        next_demo = _command(*demo, cache=f"{folder}/demo")
        warm_up = _command("warm-up", cache=f"{folder}/warm-up")
        stored = [*Path(folder, "warm-up").rglob("*.nbc")]
        size = sum(path.stat().st_size for path in stored) / 1e6
    help_page = [sys.executable, "-m", "treerep", "--help"]
    shell = seconds(lambda: subprocess.run(help_page, check=True, capture_output=True))
    rows = [
        ("`import treerep`", "-", warm["import"]),
        ("`treerep --help`, the whole process", "< 0.3", shell),
        ("first ever `tr.fit` on an 8 x 8 matrix, compiling, with import", "< 10", cold["fit"]),
        ("the same in the next process (compiled code from disk)", "< 1.5", warm["fit"]),
        ("first ever `treerep demo`, the whole process", "< 12, goal 5", first_demo),
        ("the next `treerep demo`", "-", next_demo),
        (
            f"`treerep warm-up`: {len(stored)} specializations of kernels, {size:.0f} MB",
            "< 60",
            warm_up,
        ),
    ]
    return [{"measurement": name, "target": target, "seconds": value} for name, target, value in rows]


def _kernels() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        env = {"NUMBA_CACHE_DIR": folder}
        spent = in_child(KERNELS, f"{folder}/output", env=env)
    slowest = sorted(spent["kernels"], reverse=True)
    total = sum(taken for taken, _ in slowest)
    rows = [{"kernel": f"`{name}`", "seconds": taken} for taken, name in slowest[:8]]
    rest = {"kernel": f"{len(slowest) - 8} others", "seconds": sum(t for t, _ in slowest[8:])}
    count = f"all {len(slowest)}, with {spent['helpers']} helpers"
    return [*rows, rest, {"kernel": count, "seconds": total}]
