"""Scores, weights and hyperbolicity of all pairs on a GPU, compared with threads."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

import treerep as tr
from treerep._core.parallel import Workers
from treerep.backends.torch.refine import DevicePairs
from treerep.refinement.lengths._pairs import Pairs
from treerep.refinement.lengths._path_sum_kernels import SQUARES
from treerep.refinement.lengths._splits import find_tree_splits
from treerep.refinement.lengths.weights import fit_weights

from .common import Table

# Without a GPU, everything runs on the CPU with a fiftieth of the points, as a test.
GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")
PART = 1 if GPU else 50
NAME = torch.cuda.get_device_name() if GPU else "the CPU, as there is no GPU"
NOTE = f"On an {NAME}; `threads` is the time of the CPU threads of the same machine."
DIMENSIONS = 50


def on_device(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the seconds of the second call, the peak memory in GiB, and the result."""
    work()
    if GPU:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    result = work()
    if GPU:
        torch.cuda.synchronize()
    took = time.perf_counter() - begin
    return took, torch.cuda.max_memory_allocated() / 2**30 if GPU else 0.0, result


def on_threads(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def cells(n: int) -> tuple[tr.Tree, tr.PointMetric]:
    points = np.asarray(tr.datasets.branching_cells(n, dim=DIMENSIONS, rng=0).points)
    return tr.fit(points, metric="euclidean", rng=0, method="treerep"), tr.PointMetric(points)


def row(
    n: int, device: tuple[float, float, Any], threads: tuple[float, Any] | None, work: float
) -> dict[str, Any]:
    took, memory, result = device
    return {
        "points": n,
        "device": took,
        "threads": threads[0] if threads else "-",
        "times faster": threads[0] / took if threads else "-",
        "work per second": work / took,
        "GiB": memory,
        "difference": abs(float(result) - float(threads[1])) / (abs(float(threads[1])) or 1.0)
        if threads
        else "-",
    }


def scores() -> Table:
    rows = []
    for n, compare in (
        (50_000 // PART, True),
        (100_000 // PART, False),
        (200_000 // PART, False),
    ):
        tree, metric = cells(n)
        tr.average_distortion(tree, metric, rows=4)  # compile

        def value(device: Any, tree: Any = tree, metric: Any = metric) -> float:
            return tr.average_distortion(tree, metric, rows="all", device=device)

        device = on_device(lambda value=value: value(DEVICE))
        rows.append(
            row(
                n,
                device,
                on_threads(lambda value=value: value(None)) if compare else None,
                n * (n - 1) / 2,
            )
        )
    return Table(
        f"Average distortion of all pairs: a tree vs points in {DIMENSIONS} dimensions",
        rows,
        NOTE,
    )


def precision() -> Table:
    n = 50_000 // PART
    tree, _ = cells(n)
    rng = np.random.default_rng(0)
    i = np.concatenate([np.arange(n - 1), rng.integers(n, size=4 * n)])
    j = np.concatenate([np.arange(1, n), rng.integers(n, size=4 * n)])
    apart = i != j
    graph = tr.GraphMetric(_joined(n, i[apart], j[apart]))

    def value(device: Any) -> float:
        return tr.mean_average_precision(tree, graph, rows="all", device=device)

    tr.mean_average_precision(tree, graph, rows=4)  # compile
    device, threads = on_device(lambda: value(DEVICE)), on_threads(lambda: value(None))
    return Table(
        "Mean average precision of all points: a tree vs ten neighbors each",
        [row(n, device, threads, n**2)],
        NOTE,
    )


def _joined(n: int, i: np.ndarray, j: np.ndarray) -> csr_array:
    graph = csr_array((np.ones(2 * len(i)), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n))
    graph.data[:] = 1.0
    return graph


def passes() -> Table:
    """Compute one sum of errors over the paths through every edge; "l1" needs hundreds of these."""
    n = 50_000 // PART
    tree, metric = cells(n)
    splits = find_tree_splits(tree)
    length = np.random.default_rng(0).uniform(size=len(splits.up))
    with Workers() as workers:
        there = DevicePairs(splits, metric, 0.0, workers, DEVICE, with_zeros=False)
        here = Pairs(splits, metric, None, 0.0, workers)
        here.sums(SQUARES, length)  # compile and cache the distances
        device = on_device(lambda: there.sums(SQUARES, length)[0])
        threads = on_threads(lambda: here.sums(SQUARES, length)[0])
    return Table(
        "One pass over all pairs when fitting weights",
        [row(n, device, threads, n * (n - 1) / 2)],
        NOTE,
    )


def weights() -> Table:
    rows = []
    for n, compare in ((50_000 // PART, True), (100_000 // PART, False)):
        tree, metric = cells(n)

        def there(tree: Any = tree, metric: Any = metric) -> float:
            return tr.refine(tree, metric, weights="l2", moves=False, device=DEVICE).refinement.objective

        device = on_device(there)
        threads = (
            on_threads(lambda tree=tree, metric=metric: fit_weights(tree, metric).value) if compare else None
        )
        rows.append(row(n, device, threads, n * (n - 1) / 2))
    note = NOTE + " The GPU also scores the tree before and after."
    return Table('Exact least squares of all pairs: refine(weights="l2", moves=False)', rows, note)


def measure() -> list[Table]:
    return [scores(), precision(), passes(), weights()]
