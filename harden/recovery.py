"""Stress test: recover random tree metrics of every shape, scale and dtype."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import treerep as tr
from tests.strategies import SHAPES, parents

from .common import Result

LARGEST = 300
SCALES = (1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9)
INTEGERS = ("uint8", "int16", "int32", "int64", "float32", "float64")
#: "decimals" and "dyadic" look like rounded tables but are exact: long leaves, short inner edges.
KINDS = ("float64", "float32", "integers", "decades", "decimals", "dyadic")
#: Every n-th metric is also given to other methods that are exact on tree metrics.
OTHERS = {
    "neighbor_joining": 5,
    "bionj": 23,
    "relaxed_neighbor_joining": 19,
    "gromov": 17,
    "minimum_evolution": 29,
}


class Case(NamedTuple):
    """Given distances, the true tree, and the allowed error relative to the largest distance."""

    distances: NDArray[Any]
    truth: tr.Tree
    error: float
    name: str


def case(number: int) -> Case:
    """Draw a tree, hide some nodes, repeat some points, shuffle, and return distances of some dtype."""
    rng = np.random.default_rng([17, number])
    shape = SHAPES[number % len(SHAPES)]
    n = int(np.exp(rng.uniform(0, np.log(LARGEST + 1))))
    nodes = n + int(rng.integers(0, n + 1))
    kind = KINDS[number // len(SHAPES) % len(KINDS)]
    step = {"decimals": 10.0 ** -int(rng.integers(1, 7)), "dyadic": 2.0**-9}.get(kind, 0.0)
    lengths, dtype, error = _lengths(kind, nodes - 1, step, rng)
    edges = np.column_stack([np.arange(1, nodes), parents(shape, nodes, rng)])
    whole = tr.Tree(nodes, edges.reshape(-1, 2), lengths)
    truth = whole.restrict(rng.permutation(nodes)[:n])
    if rng.random() < 0.3 and n < LARGEST:
        truth = _repeated(truth, rng)
    if step:
        truth = _with_long_leaves(truth, step, rng)
    distances = truth.distances(n_jobs=1)
    if step:  # sums of decimals differ from decimals in the last digit
        distances = np.round(distances / step) / np.round(1 / step)
    if kind == "integers":
        fits = [name for name in INTEGERS if _holds(name, distances.max(initial=0.0))]
        dtype = fits[int(rng.integers(len(fits)))]
    given = distances.astype(dtype)
    return Case(given, truth, error, f"metric {number}: {shape}, n = {len(truth)}, {kind}, {dtype}")


def _lengths(
    kind: str, count: int, step: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], str, float]:
    if kind == "integers":
        return (
            (rng.integers(1, 9, count) * 10 ** int(rng.integers(0, 8))).astype(float),
            "int64",
            1e-12,
        )
    if kind == "decades":
        return 10.0 ** rng.uniform(-8, 2, count), "float64", 1e-12
    if step:
        return rng.integers(1, 30, count) * step, "float64", 1e-12
    scale = SCALES[int(rng.integers(len(SCALES)))]
    # float32 keeps 1e-7 of the largest distance. Shorter edges are lost in the data.
    least, error = (0.05, 1e-9) if kind == "float64" else (0.3, 1e-5)
    return rng.uniform(least, 1.0, count) * scale, kind, error


def _holds(dtype: str, largest: float) -> bool:
    kind = np.dtype(dtype)
    return largest <= (2**23 if dtype == "float32" else 2**53 if kind.kind == "f" else np.iinfo(kind).max)


def _repeated(tree: tr.Tree, rng: np.random.Generator) -> tr.Tree:
    """Attach copies of some points by edges of length 0, and shuffle all points."""
    n = len(tree)
    origin = rng.integers(0, n, int(rng.integers(1, 1 + min(n, LARGEST - n))))
    copied = _with_leaves(tree, origin, np.zeros(len(origin)))
    return copied.restrict(rng.permutation(len(copied)))


def _with_long_leaves(tree: tr.Tree, step: float, rng: np.random.Generator) -> tr.Tree:
    """Attach every point by an edge of 500 steps or more, so that inner edges look like noise."""
    n = len(tree)
    return _with_leaves(tree, np.arange(n), rng.integers(500, 3000, n) * step).restrict(np.arange(n, 2 * n))


def _with_leaves(tree: tr.Tree, origin: NDArray[np.int64], lengths: NDArray[np.float64]) -> tr.Tree:
    """Attach a new point to each of these points, numbered after the others."""
    n = len(tree)
    edges = np.where(tree.edges >= n, tree.edges + len(origin), tree.edges)
    edges = np.concatenate([edges, np.column_stack([origin, n + np.arange(len(origin))])])
    return tr.Tree(n + len(origin), edges, np.concatenate([tree.weights, lengths]))


def fault(found: Case, tree: tr.Tree, method: str = "treerep") -> str | None:
    """Return the fault of a fitted tree, or None."""
    largest = float(found.distances.max(initial=0))
    off = float(np.abs(tree.distances(n_jobs=1) - found.truth.distances(n_jobs=1)).max(initial=0.0))
    if off > found.error * largest:
        return f"{method}, {found.name}: a distance is off by {off / largest:.2g} of the largest"
    if method == "treerep" and tree.n_nodes != found.truth.n_nodes:
        return f"{found.name}: {tree.n_nodes} nodes, and {found.truth.n_nodes} are right"
    return None


def campaign(metrics: int = 10_000) -> Result:
    """Fit random tree metrics and compare each tree with the true one."""
    faults, fits = [], 0
    for number in range(metrics):
        found = case(number)
        methods = ["treerep", *(name for name, every in OTHERS.items() if number % every == 0)]
        for method in methods:
            options = {"rng": number} if method == "treerep" else {}
            wrong = fault(found, tr.fit(found.distances, method=method, **options), method)
            fits += 1
            if wrong:
                faults.append(wrong)
    drawn = (
        "scales 1e-9 to 1e9, lengths over ten orders of magnitude, few digits, every dtype, with duplicates"
    )
    what = f"{metrics:,} random tree metrics, n up to {LARGEST}, {drawn}"
    return Result(what, fits, faults, f"{fits - metrics:,} of the fits use {', '.join(OTHERS)}")
