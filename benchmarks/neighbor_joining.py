"""Compare exact neighbor joining with scikit-bio and other programs, in one run on the same matrices.

NJ_RIVALS lists programs as `name=command`, separated by `;`. A command gets the path of an .npy
matrix as its last argument, and prints the seconds of joining, without reading, in its last line.
"""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import treerep as tr

from .common import Table, seconds

SIZES = (1000, 2000, 4000, 8000)
# scikit-bio takes minutes beyond this size
LARGEST_FOR_SKBIO = 4200
# A program that took longer than this on one size is not run on larger ones.
PATIENCE = 60.0


def noisy_tree(n: int) -> np.ndarray:
    """Return distances in a random tree, each increased by up to 10%."""
    d = tr.datasets.random_tree(n, rng=0).block(np.arange(n), np.arange(n))
    u = np.random.default_rng(0).random((n, n))
    d = d * (1 + 0.05 * (u + u.T))
    return (d + d.T) / 2


def skbio_seconds(d: np.ndarray) -> float:
    from skbio import DistanceMatrix
    from skbio.tree import nj

    matrix = DistanceMatrix(d)
    return seconds(lambda: nj(matrix, neg_as_zero=False), 1)


def rival_seconds(command: str, path: Path, repeat: int = 3) -> float:
    def once() -> float:
        lines = subprocess.run(
            [*shlex.split(command), str(path)], capture_output=True, text=True, check=True
        ).stdout
        return float(lines.split()[-1])

    first = once()
    return first if first > 10 else min(first, *(once() for _ in range(repeat - 1)))


def rivals() -> dict[str, str]:
    named = [entry.split("=", 1) for entry in os.environ.get("NJ_RIVALS", "").split(";") if entry.strip()]
    return {name.strip(): command for name, command in named}


def measure() -> list[Table]:
    matrices: list[tuple[str, np.ndarray]] = [(f"noisy tree, n = {n:,}", noisy_tree(n)) for n in SIZES]
    grqc = tr.datasets.load("grqc").metric
    matrices.append(("GrQC, n = 4,158", grqc.block(np.arange(len(grqc)), np.arange(len(grqc)))))
    tr.fit(matrices[0][1], method="neighbor_joining")  # compiles
    tired: set[str] = set()
    rows, times = [], []
    for name, d in matrices:
        metric = tr.MatrixMetric(d)
        ours = seconds(lambda metric=metric: tr.fit(metric, method="neighbor_joining"), 5)
        times.append(ours)
        row: dict[str, Any] = {
            "matrix": name,
            "treerep": ours,
            "treerep / one pass": ours / seconds(d.sum, 5),
            "scikit-bio": skbio_seconds(d) if len(d) <= LARGEST_FOR_SKBIO else "-",
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "d.npy"
            np.save(path, d)
            for rival, command in rivals().items():
                row[rival] = rival_seconds(command, path) if rival not in tired else "-"
                if row[rival] != "-" and row[rival] > PATIENCE:
                    tired.add(rival)
        rows.append(row)
    sizes = np.log(SIZES)
    exponent = np.polyfit(sizes, np.log(times[: len(SIZES)]), 1)[0]
    note = (
        f"Seconds, the least of five runs. The time of treerep includes a copy of the matrix, and grows like "
        f"n^{exponent:.2f} from n = {SIZES[0]:,} to {SIZES[-1]:,}. One pass is `d.sum()`."
    )
    return [Table("Exact neighbor joining", rows, note)]
