"""TreeRep on a GPU: time, memory and bandwidth of the waves, and the time of `fit`."""

import time
from collections.abc import Callable
from typing import Any

import torch

import treerep as tr
from treerep.backends.torch.fit import fit_on_device

from .common import Table

# Without a GPU, everything runs on the CPU with a thousandth of the points, as a test.
GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")
PART = 1 if GPU else 1000
NAME = torch.cuda.get_device_name() if GPU else "the CPU (no GPU was found)"
SIZES = (
    (1_000_000, 50, torch.float32),
    (10_000_000, 50, torch.float32),
    (100_000_000, 50, torch.float32),
    (1_000_000_000, 8, torch.float16),
    (1_000_000_000, 16, torch.float16),
)
# Numbers per point that a wave reads and writes besides coordinates: index, zone, two distances,
# bin.
STATE_BYTES = 4 + 4 + 2 * 8 + 2 * 8 + 1


def blobs(n: int, k: int, dtype: Any) -> Any:
    """Return points around the leaves of a tree of depth eight, created on the device."""
    random = torch.Generator(device=DEVICE).manual_seed(1)
    centers = torch.zeros(1, k, device=DEVICE)
    for level in range(8):
        steps = torch.randn(len(centers), 3, k, device=DEVICE, generator=random) * (3 * 0.75**level)
        centers = (centers[:, None] + steps).reshape(-1, k)
    points = torch.empty(n, k, device=DEVICE, dtype=dtype)
    for part in points.split(10_000_000):
        noise = torch.randn(part.shape, device=DEVICE, generator=random) * 0.3
        part.copy_(
            noise + centers[torch.randint(len(centers), (len(part),), device=DEVICE, generator=random)]
        )
    return points


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    if GPU:
        torch.cuda.synchronize()
    begin = time.perf_counter()
    result = work()
    if GPU:
        torch.cuda.synchronize()
    return time.perf_counter() - begin, result


def bandwidth() -> float:
    """Return the bytes read and written per second by a large copy."""
    one = torch.zeros((1 << 30) // PART, device=DEVICE)
    two = torch.empty_like(one)
    two.copy_(one)
    return 2 * one.nbytes / min(timed(lambda: two.copy_(one))[0] for _ in range(10))


def waves() -> Table:
    """Run the algorithm on the device, where edges and weights remain."""
    ceiling = bandwidth()
    rows = []
    for n, k, dtype in SIZES:
        points = blobs(n // PART, k, dtype)
        cold = timed(lambda points=points: fit_on_device(points, metric="euclidean", device=DEVICE))[0]
        if GPU:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        runs = []
        for _ in range(3):
            took, found = timed(
                lambda points=points: fit_on_device(points, metric="euclidean", device=DEVICE)
            )
            runs.append(took)
            visits, steps, edges = found.visits, found.waves, len(found.edges)
            del found
        # Every visit reads the coordinates and numbers of a point, and writes the numbers.
        least = visits * (k * points.element_size() + STATE_BYTES) / ceiling
        rows.append(
            {
                "points": len(points),
                "dimensions": k,
                "dtype": str(dtype).removeprefix("torch."),
                "first": cold,
                "seconds": sorted(runs)[1],
                "best": min(runs),
                "waves": steps,
                "visits per point": visits / len(points),
                "edges": edges,
                "share of bandwidth": least / min(runs),
                "GB": torch.cuda.max_memory_allocated() / 1e9 if GPU else 0.0,
            }
        )
        del points
        if GPU:
            torch.cuda.empty_cache()
    note = (
        f"On an {NAME}, whose copy bandwidth is {ceiling / 1e12:.2f} TB/s. `first` includes "
        "compilation and memory allocation; `seconds` is the median of three later runs. The share "
        "of bandwidth counts one read of the coordinates and 41 bytes per visit."
    )
    return Table("TreeRep on one GPU, with input and output on the GPU", rows, note)


def whole() -> Table:
    """Measure `fit` from points to a `Tree` in main memory, compared with threads."""
    rows = []
    for n in (1_000_000, 10_000_000):
        points = blobs(n // PART, 50, torch.float32)
        host = points.numpy(force=True)
        runs: dict[str, Callable[[], Any]] = {
            "tensor": lambda points=points: tr.fit(
                points, metric="euclidean", device=DEVICE, method="treerep"
            ),
            "array": lambda host=host: tr.fit(host, metric="euclidean", device=DEVICE, method="treerep"),
            "threads": lambda host=host: tr.fit(host, metric="euclidean", method="treerep"),
        }
        row: dict[str, Any] = {"points": len(host)}
        trees = []
        for name, work in runs.items():
            work()
            row[name], tree = timed(work)
            trees.append(tree)
        same = all(
            (trees[0].edges == tree.edges).all() and (trees[0].weights == tree.weights).all()
            for tree in trees
        )
        rows.append({**row, "times faster": row["threads"] / row["tensor"], "same tree": same})
    note = (
        f"On an {NAME} and {torch.get_num_threads()} cores. Seconds after a warm-up run, from a "
        "tensor on the GPU and from an array."
    )
    return Table('From points to a Tree: tr.fit(X, metric="euclidean", device="cuda")', rows, note)


def measure() -> list[Table]:
    return [waves(), whole()]
