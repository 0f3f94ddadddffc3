"""Trees compared with known truth: simulated phylogenies, classes of points, groups in networks.

`python -m benchmarks truth` takes about five minutes.
"""

import time
from typing import Any, NamedTuple

import numpy as np
import scipy.cluster.hierarchy as hierarchy
from numpy.typing import NDArray
from scipy.spatial.distance import squareform
from sklearn.datasets import load_digits

import treerep as tr
from treerep.tree.comparison.splits import inner_splits

from . import networks
from .alignments import Simulation, sequence_metric, simulate
from .common import Table, in_child

SIMULATIONS = (
    Simulation(300, 300, 0.2),
    Simulation(300, 1000, 0.8, 0.6, 4.0),
    Simulation(1000, 300, 1.0, 0.5),
    Simulation(1000, 500, 0.4, 0.3),
    Simulation(1000, 2000, 1.5, 0.0, 4.0),
    Simulation(4000, 500, 0.4, 0.3),
    Simulation(4000, 1000, 0.8, 0.0, 4.0),
)
LARGE = Simulation(16_000, 500, 0.4, 0.3)
MATRIX_METHODS = ("neighbor_joining", "minimum_evolution", "auto")
LABELLED = ("digits", "pbmc68k", "paul15", "paul15, normalized", "zeisel", "zeisel, normalized")
LINKAGES = ("average", "ward")


class Errors(NamedTuple):
    """Errors of the splits A of a tree, given the true splits B. Edges of length 0 do not count."""

    wrong: float  # normalized Robinson-Foulds distance: |A xor B| / (|A| + |B|)
    missed: float  # share of the true splits that the tree lacks: |B - A| / |B|
    false: float  # share of the splits of the tree that are not true: |A - B| / |A|


def split_errors(tree: tr.Tree, truth: tr.Tree) -> Errors:
    """Compare the splits of a tree with the true splits. The points are in the same order."""
    ours, theirs = (set(map(tuple, inner_splits(each).keys.tolist())) for each in (tree, truth))
    return Errors(
        len(ours ^ theirs) / max(1, len(ours) + len(theirs)),
        len(theirs - ours) / max(1, len(theirs)),
        len(ours - theirs) / max(1, len(ours)),
    )


def wrong_splits(tree: tr.Tree, truth: tr.Tree) -> float:
    """Return the normalized Robinson-Foulds distance."""
    return split_errors(tree, truth).wrong


def timed(metric: tr.Metric, method: str) -> tuple[tr.Tree, float]:
    begin = time.perf_counter()
    return tr.fit(metric, method=method), time.perf_counter() - begin


def phylogenies() -> list[dict[str, Any]]:
    rows = []
    for what in SIMULATIONS:
        alignment = simulate(what, rng=0)
        every = np.arange(what.taxa)
        metric = tr.MatrixMetric(
            sequence_metric(alignment.sequences, what.kappa).block(every, every),
            symmetrize="mean",
        )
        row: dict[str, Any] = _described(what)
        for method in MATRIX_METHODS:
            tree, seconds = timed(metric, method)
            row |= {
                method: f"{wrong_splits(tree, alignment.tree):.3f}",
                f"{method}, seconds": f"{seconds:.2f}",
            }
        print(row, flush=True)
        rows.append(row)
    return rows


CHILD = """
import json, time
import treerep as tr
from benchmarks.truth import LARGE, sequence_metric, simulate, wrong_splits
small = simulate(LARGE._replace(taxa=2500), rng=1)
tr.fit(sequence_metric(small.sequences, None))  # compiles
alignment = simulate(LARGE, rng=0)
metric = sequence_metric(alignment.sequences, LARGE.kappa)
def peak():  # in kB, of this process alone: getrusage would begin with the peak of the parent
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
before = peak()
begin = time.perf_counter()
tree = tr.fit(metric)
seconds = time.perf_counter() - begin
beyond = peak() - before
print(json.dumps({"wrong": wrong_splits(tree, alignment.tree), "seconds": seconds, "MB": beyond // 1000}))
"""


def without_a_matrix() -> dict[str, Any]:
    """Compare with neighbor joining, which needs a matrix, on many sequences."""
    ours = in_child(CHILD)
    alignment = simulate(LARGE, rng=0)
    joined, seconds = timed(sequence_metric(alignment.sequences, LARGE.kappa), "neighbor_joining")
    return _described(LARGE) | {
        "auto": f"{ours['wrong']:.3f}",
        "auto, seconds": f"{ours['seconds']:.1f}",
        "auto, additional MB": ours["MB"],
        "neighbor_joining": f"{wrong_splits(joined, alignment.tree):.3f}",
        "neighbor_joining, seconds": f"{seconds:.1f}",
        "matrix, MB": 8 * LARGE.taxa**2 // 1_000_000,
    }


def _described(what: Simulation) -> dict[str, Any]:
    model = "JC69" if what.kappa is None else "K2P"
    shape = "birth-death" if what.extinction else "Yule"
    return {
        "taxa": what.taxa,
        "sites": what.sites,
        "depth": what.depth,
        "model": f"{shape}, {model}",
    }


def labeled(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return points and their labels."""
    if name == "digits":
        return load_digits(return_X_y=True)
    cells = tr.datasets.load(name.partition(",")[0])
    points = np.asarray(cells.metric.points, float)
    if name.endswith("normalized"):  # normalized counts per cell, logarithms and 50 components
        counts = np.expm1(points)
        points = np.log1p(counts / counts.sum(axis=1, keepdims=True) * np.median(counts.sum(axis=1)))
        points = points - points.mean(axis=0)
        points = points @ np.linalg.svd(points, full_matrices=False)[2][:50].T
    return points, np.asarray(cells.classes)


def linkage_tree(merges: NDArray[np.float64]) -> tr.Tree:
    """Return the rooted tree of SciPy's linkage matrix."""
    n = len(merges) + 1
    height = np.concatenate([np.zeros(n), merges[:, 2] / 2])
    parent = np.repeat(np.arange(n, 2 * n - 1), 2)
    child = merges[:, :2].astype(int).ravel()
    edges = np.column_stack([child, parent])
    return tr.Tree(n, edges, height[parent] - height[child], root=2 * n - 2)


def purity(tree: tr.Tree, classes: NDArray[np.int64]) -> float:
    """Return the purity over pairs. Large classes weigh more."""
    return float(tr.scores.dendrogram_purity(tree, classes, mean="pairs"))


def groups(name: str) -> dict[str, Any]:
    points, labels = labeled(name)
    classes = np.unique(labels, return_inverse=True)[1]
    metric = tr.PointMetric(points)
    every = np.arange(len(points))
    table = np.array(metric.block(every, every), float)
    np.fill_diagonal(table, 0.0)
    condensed = squareform(table, checks=False)
    row: dict[str, Any] = {
        "data": name,
        "points": len(points),
        "classes": int(classes.max()) + 1,
    }
    for linkage in LINKAGES:
        tree = linkage_tree(hierarchy.linkage(condensed, linkage))
        row[linkage] = f"{purity(tree, classes):.3f}"
    for method in ("treerep", "relaxed_neighbor_joining", "auto"):
        tree, seconds = timed(metric, method)
        score = f"{purity(tree, classes):.3f} ({tr.average_distortion(tree, metric):.4f})"
        row |= {method: score, f"{method}, seconds": f"{seconds:.2f}"}
    print(row, flush=True)
    return row


def measure() -> list[Table]:
    warm = tr.datasets.branching_cells(2500, dim=5, rng=0).points
    for method in (*MATRIX_METHODS, "relaxed_neighbor_joining", "treerep"):
        tr.fit(warm, metric="euclidean", method=method)
        tr.fit(tr.PointMetric(warm[:300]).block(range(300), range(300)), method=method)
    return [
        Table(
            "Wrong splits of phylogenies",
            phylogenies(),
            "Normalized Robinson-Foulds distance to the true tree: splits in only one of two trees, "
            "divided by the splits of both. Edges of length 0 are not splits. Lower is better.",
        ),
        Table(
            "Many sequences without a matrix",
            [without_a_matrix()],
            "Distances are computed on request.",
        ),
        Table(
            "Classes of digits and cells",
            [groups(name) for name in LABELLED],
            "Dendrogram purity of trees rooted at the midpoint, with average distortion in "
            "parentheses. Higher purity is better.",
        ),
        Table(
            "Groups in networks",
            [networks.measured(name) for name in networks.NETWORKS],
            networks.NOTE,
        ),
    ]
