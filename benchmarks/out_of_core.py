"""Matrices larger than memory: bytes read, time and memory of a fit."""

import os
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import treerep as tr
from treerep.metric.disk import mapped
from treerep.tree.structure.rooted import preorder

from .common import Table, in_child

POINTS = 100_000
_BAND = 256


def tree_of_small_numbers(n: int, *, rng: Any = 0) -> tr.Tree:
    """Return a random tree with half of its inner points hidden and distances of at most 255."""
    generator = np.random.default_rng(rng)
    tree = tr.datasets.random_tree(n, hidden=0.5, rng=generator)
    return tr.Tree(n, tree.edges, generator.integers(1, 3, len(tree.edges)).astype(float)).canonical()


def rows_of(tree: tr.Tree) -> Iterator[np.ndarray]:
    """Yield the rows of a tree's distances as uint8, each in O(n) time and memory.

    d(i, j) = depth(i) + depth(j) - 2 depth(their lowest common ancestor), and in preorder every
    subtree is a slice.
    """
    view = preorder(tree.edges, tree.weights, 0)
    size, depth = np.ones(tree.n_nodes, np.int64), np.zeros(tree.n_nodes, np.int64)
    for position in range(1, tree.n_nodes):
        depth[position] = depth[view.up[position]] + int(view.length[position])
    for position in range(tree.n_nodes - 1, 0, -1):
        size[view.up[position]] += size[position]
    if 2 * depth.max() > 255:
        raise ValueError(f"the tree is {depth.max()} deep: its distances may not fit into uint8")
    small, up, twice = depth.astype(np.uint8), view.up.tolist(), (2 * depth).astype(np.uint8)
    shared, points = (
        np.empty(tree.n_nodes, np.uint8),
        view.position[: len(tree)].astype(np.int64),
    )
    for point in points.tolist():
        path = [point]
        while path[-1]:
            path.append(up[path[-1]])
        for ancestor in reversed(path):
            shared[ancestor : ancestor + size[ancestor]] = twice[ancestor]
        yield np.take(
            (small + small[point]) - shared, points, mode="clip"
        )  # twice as fast as checking the indices


def write_matrix(tree: tr.Tree, path: Path) -> None:
    """Write a tree's distances as a uint8 npy file, a few rows at a time, and flush it to disk."""
    n = len(tree)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (n, n)})
        band = np.empty((_BAND, n), np.uint8)
        for i, row in enumerate(rows_of(tree)):
            band[i % _BAND] = row
            if (i + 1) % _BAND == 0 or i + 1 == n:
                file.write(memoryview(band[: i % _BAND + 1]))
        file.flush()
        os.fsync(file.fileno())


class AnonymousPeak(threading.Thread):
    """Sampler of the anonymous memory of this process, without file-backed pages."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self._over = 0, threading.Event()

    def run(self) -> None:
        """Sample until stopped."""
        while not self._over.wait(0.01):
            self.look()

    def look(self) -> None:
        """Record the current memory."""
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                self.peak = max(self.peak, int(line.split()[1]) * 1024)

    def stop(self) -> int:
        """Return the peak in bytes."""
        self._over.set()
        self.join()
        self.look()
        return self.peak


def forget(path: Path) -> None:
    """Drop the cached pages of a file, so that it is read from disk."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def bytes_read() -> int:
    """Return the bytes that this process has read from disks."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("read_bytes")).split()[1])


def fit_on_disk(path: str, out: str, large: str) -> dict[str, float]:
    """Open and fit a matrix on disk that is not cached, in its own process."""
    mapped.LARGE = int(large)
    tr.fit(np.zeros((3, 3), np.uint8), method="treerep")  # compile
    watch = AnonymousPeak()
    watch.start()
    figures: dict[str, float] = {}
    forget(Path(path))
    marks, read, faults = (
        [time.perf_counter()],
        [bytes_read()],
        resource.getrusage(resource.RUSAGE_SELF).ru_majflt,
    )
    metric = tr.as_metric(path)
    marks.append(time.perf_counter())
    read.append(bytes_read())
    tree = tr.fit(metric, method="treerep")
    marks.append(time.perf_counter())
    read.append(bytes_read())
    figures["anonymous"], figures["on disk"] = watch.stop(), metric.on_disk
    figures["opening"], figures["fitting"] = np.diff(marks).tolist()
    figures["read opening"], figures["read fitting"] = np.diff(read).tolist()
    figures["major faults"] = resource.getrusage(resource.RUSAGE_SELF).ru_majflt - faults
    tree.save(out)
    return figures


_CHILD = """import json, sys
from benchmarks.out_of_core import fit_on_disk

print(json.dumps(fit_on_disk(*sys.argv[1:])))"""


def measured(folder: Path, n: int = POINTS, *, large: int = mapped.LARGE) -> dict[str, Any]:
    """Write the distances of a tree, fit them in a new process, and compare. Files above `large` are mapped."""
    path = folder / "distances.npy"
    tree = tree_of_small_numbers(n)
    start = time.perf_counter()
    write_matrix(tree, path)
    writing = time.perf_counter() - start
    here = os.pathsep.join(
        [str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    )
    figures = in_child(_CHILD, path, folder / "tree.npz", large, env={"PYTHONPATH": here})
    found = tr.Tree.load(folder / "tree.npz")
    same = np.array_equal(found.edges, tree.edges) and np.array_equal(found.weights, tree.weights)
    return {"writing": writing, "bytes": path.stat().st_size, "same": same, **figures}


def measure() -> list[Table]:
    needed = POINTS * POINTS * 6 // 5
    folder = Path(tempfile.mkdtemp(prefix="treerep-"))
    try:
        if shutil.disk_usage(folder).free < needed:
            raise SystemExit(f"{folder} has less than {needed:,} bytes free: set TMPDIR to a larger disk")
        found = measured(folder)
    finally:
        shutil.rmtree(folder)
    row = {
        "points": POINTS,
        "on disk, GB": found["bytes"] / 1e9,
        "opened, s": found["opening"],
        "read, GB": found["read opening"] / 1e9,
        "fitted, s": found["fitting"],
        "then read, GB": found["read fitting"] / 1e9,
        "anonymous peak, MiB": found["anonymous"] / 2**20,
        "the tree itself": found["same"],
    }
    return [Table("A uint8 matrix of tree distances on disk, none of it in memory before", [row])]
