"""Trees of single cells: types, order, and the effect of refinement.

`python -m benchmarks.biology.cells` takes about ten minutes. It stores its tables in
benchmarks/results/cells.md and .json. Leiden, diffusion pseudotime and PAGA are those of scanpy
(with igraph).
"""

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score

import treerep as tr

from .. import truth
from ..common import Table, store

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # scanpy's dependencies
    import anndata as ad
    import scanpy as sc

FOLDER = Path(os.environ["TREEREP_DATA"]) / "single_cell"
#: Progenitors of bone marrow come before all other cells, and GMP before their offspring.
MARROW = (
    ("Multipotent progenitors", "*"),
    ("GMP", "Monocytes"),
    ("GMP", "Neutrophils"),
    ("GMP", "Basophils"),
)
SEEDS = 3
#: Resolutions of Leiden. The one whose number of clusters is nearest to the number of types counts.
RESOLUTIONS = np.geomspace(0.02, 3, 16)

Vector = NDArray[Any]


class Labeled(NamedTuple):
    """Cells after scanpy's preprocessing, with known types and, if known, an order."""

    name: str
    adata: ad.AnnData  # X_pca and neighbors
    types: Vector  # (n,) integers
    pairs: Callable[[Vector], float] | None = None  # share of ordered pairs of a pseudotime
    root: int = 0

    @property
    def n_types(self) -> int:
        """Number of types."""
        return int(self.types.max()) + 1


def prepared(name: str) -> Labeled:
    """Load cells, normalize counts, and compute 50 components and 15 neighbors, as scanpy does."""
    if name.startswith("simulation"):
        cells = tr.datasets.branching_cells(2000, noise=float(name.split()[-1]), rng=3)
        adata = ad.AnnData(cells.points)
        types = cells.branch
        pairs, root = _order_of_numbers(cells.pseudotime), int(cells.pseudotime.argmin())
        return Labeled(name, _neighbors(adata), _codes(types), pairs, root)
    stored = np.load(FOLDER / f"{name}.npz")
    if name == "krumsiek11":
        late = stored["time"] >= 80
        types = np.where(late, stored["trajectory"] + 1, 0)
        pairs = _order_of_numbers(stored["time"])
        return Labeled(name, _neighbors(ad.AnnData(stored["X"])), _codes(types), pairs)
    if name == "pbmc68k_reduced":
        adata = ad.AnnData(stored["X"], obsm={"X_pca": stored["X_pca"]})
        return Labeled(name, _neighbors(adata), _codes(stored["label_name"]))
    adata = ad.AnnData(stored["counts"].astype(np.float32))
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    if adata.n_vars > 2000:
        sc.pp.highly_variable_genes(adata, n_top_genes=2000)
    names = stored["level1_name" if name == "zeisel" else "label_name"]
    cells = Labeled(name, _neighbors(adata), _codes(names))
    if not name.startswith("paul15"):
        return cells
    young = np.flatnonzero(names == MARROW[0][0])
    distances = tr.PointMetric(adata.obsm["X_pca"]).block(young, young)
    root = int(young[distances.sum(axis=1).argmin()])
    return cells._replace(pairs=_order_of_types(names), root=root)


def _neighbors(adata: ad.AnnData) -> ad.AnnData:
    if "X_pca" not in adata.obsm:
        sc.pp.pca(adata, n_comps=min(50, adata.n_vars - 1))
    # Exact neighbors. The approximate search of scanpy 1.11 fails with new versions of SciPy.
    sc.pp.neighbors(adata, transformer="sklearn")
    return adata


def _codes(names: Vector) -> Vector:
    return np.unique(names, return_inverse=True)[1]


def _order_of_numbers(stage: Vector) -> Callable[[Vector], float]:
    from treerep.adapters.scverse._roots import order_agreement

    return lambda time: order_agreement(stage, time)


def _order_of_types(names: Vector) -> Callable[[Vector], float]:
    """Return the share of pairs in the order of `MARROW`, as a function of pseudotime."""
    from scipy.stats import rankdata

    def share(time: Vector) -> float:
        right = 0.0
        count = 0
        for early, late in MARROW:
            first = time[names == early]
            second = time[(names != early) if late == "*" else (names == late)]
            ranks = rankdata(np.concatenate([first, second]))[len(first) :]
            right += ranks.sum() - len(second) * (len(second) + 1) / 2
            count += len(first) * len(second)
        return right / count

    return share


def tree_methods(cells: Labeled) -> dict[str, tuple[tr.Metric, dict[str, Any]]]:
    """Return the metric and the options of each tree."""
    points = tr.PointMetric(cells.adata.obsm["X_pca"])
    graph = neighbor_metric(cells.adata)
    return {
        "default": (points, {}),
        "treerep": (points, {"method": "treerep"}),
        "neighbor joining": (points, {"method": "neighbor_joining"}),
        "spanning tree": (points, {"method": "minimum_spanning_tree"}),
        "default, graph": (graph, {}),
        "treerep, graph": (graph, {"method": "treerep"}),
        "balance 1, graph": (graph, {"balance": 1.0}),
    }


def neighbor_metric(adata: ad.AnnData) -> tr.Metric:
    """Return shortest paths in the neighbor graph. Shortest edges join its components."""
    from treerep.fitting.spanning._graphs import _connected

    edges = adata.obsp["distances"].tocoo()
    ends = (edges.row.astype(np.int64), edges.col.astype(np.int64))
    points = tr.PointMetric(adata.obsm["X_pca"])
    return tr.GraphMetric(_connected(points, *ends, edges.data.astype(float)))


class Score(NamedTuple):
    """Agreement of one tree with the types and the order."""

    ari: float
    purity: float
    order: float | None
    seconds: float


def tree_score(cells: Labeled, metric: tr.Metric, options: dict[str, Any], rng: int) -> Score:
    begin = time.process_time()
    tree = tr.fit(metric, rng=rng, **options)
    seconds = time.process_time() - begin
    ari = adjusted_rand_score(cells.types, tree.cut(cells.n_types))
    purity = truth.purity(tree, cells.types)
    if cells.pairs is None:
        return Score(ari, purity, None, seconds)
    times = tree.block([cells.root], np.arange(len(tree)))[0]
    return Score(ari, purity, cells.pairs(times), seconds)


def tree_rows(cells: Labeled) -> dict[str, dict[str, str]]:
    """Return the median of each score of each tree."""
    columns: dict[str, dict[str, str]] = {name: {} for name in Score._fields}
    for name, (metric, options) in tree_methods(cells).items():
        fixed = name in ("neighbor joining", "spanning tree")
        runs = [tree_score(cells, metric, options, seed) for seed in range(1 if fixed else SEEDS)]
        for score, column in columns.items():
            values = [getattr(run, score) for run in runs]
            column[name] = "" if None in values else f"{np.median(values):.2f}"
        print(cells.name, name, runs, flush=True)
    return columns


def clusterings(cells: Labeled) -> dict[str, str]:
    """Return the agreement of Ward's method, k-means and Leiden with the types."""
    points = cells.adata.obsm["X_pca"]
    k = cells.n_types
    found = {
        "Ward": AgglomerativeClustering(k).fit_predict(points),
        "k-means": KMeans(k, n_init=10, random_state=0).fit_predict(points),
        "Leiden": _leiden(cells.adata, k),
    }
    return {name: f"{adjusted_rand_score(cells.types, label):.2f}" for name, label in found.items()}


def _leiden(adata: ad.AnnData, k: int) -> Vector:
    """Return the clusters of the resolution with the number of clusters nearest to k."""
    found = []
    for resolution in RESOLUTIONS:
        sc.tl.leiden(adata, resolution=resolution, flavor="igraph", n_iterations=2)
        found.append(adata.obs["leiden"].cat.codes.to_numpy())
    return min(found, key=lambda label: abs(int(label.max()) + 1 - k))


def pseudotimes(cells: Labeled) -> dict[str, str]:
    """Return the order of the cells by other pseudotimes from the same root cell."""
    assert cells.pairs is not None
    adata = cells.adata
    adata.uns["iroot"] = cells.root
    sc.tl.diffmap(adata)
    sc.tl.dpt(adata)
    everyone = np.arange(adata.n_obs)
    points = tr.PointMetric(adata.obsm["X_pca"])
    times = {
        "distance from root": points.block([cells.root], everyone)[0],
        "path in graph": neighbor_metric(adata).block([cells.root], everyone)[0],
        "PAGA": _paga(adata, cells.root),
        "diffusion (dpt)": adata.obs["dpt_pseudotime"].to_numpy(),
    }
    return {name: f"{cells.pairs(time):.2f}" for name, time in times.items()}


def _paga(adata: ad.AnnData, root: int) -> Vector:
    """Return the path length of each cell's Leiden cluster from the root cluster in PAGA's graph."""
    sc.tl.leiden(adata, flavor="igraph", n_iterations=2)
    sc.tl.paga(adata)
    graph = adata.uns["paga"]["connectivities"].copy()
    graph.data = 1 / graph.data
    clusters = adata.obs["leiden"].cat.codes.to_numpy()
    return dijkstra(graph, directed=False, indices=clusters[root])[clusters]


def refinements(name: str) -> list[dict[str, Any]]:
    """Compare the default tree with its refinements and with least-squares lengths."""
    points = tr.PointMetric(prepared(name).adata.obsm["X_pca"])
    rows = []

    def add(method: str, work: Callable[[], tr.Tree]) -> tr.Tree:
        begin = time.process_time()
        tree = work()
        seconds = time.process_time() - begin
        error = f"{float(tr.average_distortion(tree, points)):.4f}"
        row = {"cells": name, "tree": method, "distortion": error, "seconds": f"{seconds:.1f}"}
        rows.append(row)
        print(row, flush=True)
        return tree

    for method in ("auto", "treerep"):
        tree = add(method, lambda method=method: tr.fit(points, method=method))
        add(
            f"{method}, least squares",
            lambda tree=tree: tr.refine(tree, points, weights="l2", moves=False),
        )
        add(f"{method}, refine", lambda tree=tree: tr.refine(tree, points))
    return rows


SETS = (
    "pbmc68k_reduced",
    "zeisel",
    "cbmc",
    "paul15_tradeseq",
    "krumsiek11",
    "simulation 0.3",
    "simulation 1.0",
)
REFINED = ("zeisel", "paul15_tradeseq")


def rows_of(name: str) -> dict[str, dict[str, Any]]:
    """Return the rows of one data set in the tables of types, purity, order and seconds."""
    cells = prepared(name)
    about = {"cells": name, "n": cells.adata.n_obs, "types": cells.n_types}
    found = tree_rows(cells)
    rows = {
        "types": {**about, **found["ari"], **clusterings(cells)},
        "purity": {**about, **found["purity"]},
        "seconds": {**about, **found["seconds"]},
    }
    if cells.pairs is not None:
        rows["order"] = {**about, **found["order"], **pseudotimes(cells)}
    return rows


def measure() -> list[Table]:
    compile_kernels()
    rows = [rows_of(name) for name in SETS]
    refined = [row for name in REFINED for row in refinements(name)]
    return tables(rows, refined)


def compile_kernels() -> None:
    """Run everything once on few cells."""
    cells = prepared("krumsiek11")
    for metric, options in tree_methods(cells).values():
        tree = tr.fit(metric, **options)
    tr.refine(tree, tr.PointMetric(cells.adata.obsm["X_pca"]))


def tables(rows: list[dict[str, dict[str, Any]]], refined: list[dict[str, Any]]) -> list[Table]:
    types, purities, orders, seconds = (
        [row[kind] for row in rows if kind in row] for kind in ("types", "purity", "order", "seconds")
    )
    return [
        Table(
            "Types of cells",
            types,
            "Adjusted Rand index of known types and as many clusters (1 is perfect, 0 is chance). "
            f"Median of {SEEDS} seeds. `graph`: shortest paths in scanpy's graph of 15 neighbors; "
            "other trees, Ward and k-means use 50 principal components. Leiden uses the "
            "resolution with the nearest number of clusters.",
        ),
        Table(
            "Purity of trees of cells",
            purities,
            "Mean share of a type below the last common ancestor of two cells of the type. "
            "Trees are rooted at the midpoint.",
        ),
        Table(
            "Order of cells",
            orders,
            "Share of pairs of cells in the known order (1 is perfect, 0.5 is chance), by distance "
            "from the same root cell.",
        ),
        Table("Processor seconds of the same trees", seconds),
        Table(
            "Refinement",
            refined,
            "Average distortion of principal components, and processor seconds of the step. "
            "`refine` also counts the precision of neighborhoods, so its distortion can exceed "
            "that of least squares.",
        ),
    ]


if __name__ == "__main__":
    store("cells", measure(), command="python -m benchmarks.biology.cells")
