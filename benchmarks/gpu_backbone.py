"""Backbone trees on a GPU: time and memory from points to a `Tree`, compared with threads."""

import time
from typing import Any

import numpy as np
import torch

import treerep as tr
from treerep.refinement.backbone import build as refinement
from treerep.refinement.backbone._limits import LIMITS, Limits

from .common import Table

# Without a GPU, everything runs on the CPU with a thousandth of the points, as a test.
GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
PART = 1 if GPU else 1000
NAME = torch.cuda.get_device_name() if GPU else "the CPU (no GPU was found)"
SIZES = (1_000_000, 10_000_000, 100_000_000)
COMPARED = 10_000_000  # largest number of points for threads and scores
ROWS = 64


def timed(*given: Any, **options: Any) -> tuple[float, tr.Tree]:
    if GPU:
        torch.cuda.synchronize()
    begin = time.perf_counter()
    tree = tr.fit(*given, metric="euclidean", method="backbone", rng=0, **options)
    return time.perf_counter() - begin, tree


def refining() -> float:
    """Return the seconds for the tree of the sample, which is fitted on the CPU."""
    points = np.asarray(tr.datasets.branching_cells(LIMITS.sample, dim=50, rng=0).points)
    return min(timed(points)[0] for _ in range(2))


def row_of(n: int) -> dict[str, Any]:
    """Fit points from a tensor on the device, and from an array in main memory."""
    host = np.asarray(tr.datasets.branching_cells(n // PART, dim=50, rng=0).points)
    points = torch.from_numpy(host).to(DEVICE)
    if GPU:
        torch.cuda.reset_peak_memory_stats()
    runs = [timed(points, device=DEVICE) for _ in range(2)]
    found: dict[str, Any] = {
        "points": len(host),
        "tensor": min(seconds for seconds, _ in runs),
        "GB": torch.cuda.max_memory_allocated() / 1e9 if GPU else 0.0,
    }
    del points
    tree = runs[0][1]
    runs.clear()
    if GPU:
        torch.cuda.empty_cache()
    print(found, flush=True)
    if n > COMPARED:
        return {
            **found,
            "array": "",
            "threads": "",
            "same tree": "",
            "average distortion": "",
        }
    found["array"] = timed(host, device=DEVICE)[0]
    found["threads"], theirs = timed(host)
    found["same tree"] = bool((tree.edges == theirs.edges).all() and (tree.weights == theirs.weights).all())
    score = tr.average_distortion(tree, tr.PointMetric(host), rows=ROWS, rng=1)
    print(found, score, flush=True)
    return {**found, "average distortion": f"{score:.4f} ± {score.high - score:.4f}"}


def measure() -> list[Table]:
    # Edge lengths of small inputs are fitted on the CPU, which is not measured here.
    refinement.LIMITS = Limits(fitted_points=0)
    few = np.asarray(tr.datasets.branching_cells(30_000, dim=50, rng=0).points)
    for options in ({}, {"device": DEVICE}):
        timed(few, **options)
    alone = refining()
    note = (
        f"On an {NAME} and {torch.get_num_threads()} cores. Seconds after a warm-up run, from a "
        "tensor on the GPU (better of two runs) and from an array in main memory (one run). A fit "
        f"of the {LIMITS.sample:,} points of the sample takes {alone:.2g} s on the CPU. Average "
        f"distortion from {ROWS} rows, with a 95% interval."
    )
    title = (
        'Branching cells in 50 dimensions: tr.fit(X, metric="euclidean", method="backbone", device="cuda")'
    )
    return [Table(title, [row_of(n) for n in SIZES], note)]
