"""Start-up times: imports, the first compilation, and the next process."""

import subprocess
import sys
import tempfile

from .common import Table, in_child, seconds

FIRST_FIT = """
import json, time
start = time.perf_counter()
import treerep as tr
imported = time.perf_counter()
tr.fit(tr.datasets.sarich())
print(json.dumps({"import": imported - start, "fit": time.perf_counter() - start}))
"""


def measure() -> list[Table]:
    with tempfile.TemporaryDirectory() as cache:
        env = {"NUMBA_CACHE_DIR": cache}
        cold = in_child(FIRST_FIT, env=env)
        warm = min((in_child(FIRST_FIT, env=env) for _ in range(3)), key=lambda run: run["fit"])
    help_page = [sys.executable, "-m", "treerep", "--help"]
    shell = seconds(lambda: subprocess.run(help_page, check=True, capture_output=True))
    rows = [
        {"measurement": "`import treerep`", "target": "-", "seconds": warm["import"]},
        {
            "measurement": "first ever `tr.fit` on an 8 x 8 matrix, compiling, with import",
            "target": "< 10",
            "seconds": cold["fit"],
        },
        {
            "measurement": "the same in the next process (compiled code from disk)",
            "target": "< 1.5",
            "seconds": warm["fit"],
        },
        {
            "measurement": "`treerep --help`, the whole process",
            "target": "< 0.3",
            "seconds": shell,
        },
    ]
    return [Table("Start-up", rows)]
