"""Near relations of points: neighbors kept, distortion and purity of the default, and without its near stage.

`python -m benchmarks near` takes about two minutes.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treerep as tr
from treerep.refinement.backbone._small_tree import Weighting
from treerep.refinement.backbone._threads import ThreadsEngine
from treerep.refinement.backbone.build import backbone_tree

from .common import Table

# Points of which all are in the sample.
_WHOLE = 2000


def _components(counts: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Return k principal components of cells normalized to the median, after log1p."""
    totals = counts.sum(axis=1, keepdims=True).astype(np.float64).clip(1)
    x = np.log1p(counts / totals * np.median(totals))
    x -= x.mean(axis=0)
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    return (u * s)[:, :k]


def sets() -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return points and classes."""
    from sklearn import datasets

    folder = Path(os.environ["TREEREP_DATA"]) / "single_cell"

    def cells(name: str) -> Any:
        return np.load(folder / f"{name}.npz")

    digits, wine, cancer = (
        load() for load in (datasets.load_digits, datasets.load_wine, datasets.load_breast_cancer)
    )
    blood, marrow, cortex, cord, myeloid = map(
        cells, ("pbmc68k_reduced", "paul15_tradeseq", "zeisel", "cbmc", "krumsiek11")
    )
    several = _components(cord["counts"], 30)
    some = np.sort(np.random.default_rng(0).permutation(len(several))[:3000])
    found = {
        "digits": (digits.data, digits.target),
        "wine, standardized": (wine.data / wine.data.std(axis=0), wine.target),
        "breast cancer, standardized": (cancer.data / cancer.data.std(axis=0), cancer.target),
        "pbmc68k": (blood["X_pca"].astype(float), blood["label_name"]),
        "paul15, 30 components": (_components(marrow["counts"], 30), marrow["label_name"]),
        "Zeisel, 50 components": (_components(cortex["counts"], 50), cortex["level1"]),
        "cbmc, 3,000 cells": (several[some], cord["label_name"][some]),
        "krumsiek11": (myeloid["X"].astype(float), myeloid["trajectory"]),
    }
    for n in (1500, 5000):
        simulated = tr.datasets.branching_cells(n, dim=50, rng=n)
        found[f"branching_cells({n}, dim=50)"] = simulated.points, simulated.branch
    found["cbmc, 8,617 cells"] = several, cord["label_name"]
    return found


def without_near_stage(metric: tr.PointMetric) -> tr.Tree:
    """Return the tree of moves with one power, and of lengths fitted to distances alone."""
    power = 3.0 if len(metric) <= _WHOLE else 1.0
    choice = Weighting((power,), (0.0, 1.0, 2.0), 0.0)
    engine = ThreadsEngine(metric, 1)
    return backbone_tree(engine, choice, rng=np.random.default_rng(0), n_jobs=1)


def default(metric: tr.PointMetric) -> tr.Tree:
    return tr.fit(metric, n_jobs=1)


def measure() -> list[Table]:
    """Return the table."""
    methods: dict[str, Callable[[tr.PointMetric], tr.Tree]] = {
        "distances alone": without_near_stage,
        "default": default,
    }
    rows: list[dict[str, Any]] = []
    scores = []
    for name, (points, classes) in sets().items():
        metric = tr.PointMetric(points)
        row: dict[str, Any] = {"data": name, "points": len(metric)}
        judged = []
        for method, fit in methods.items():
            if not rows:
                fit(metric)  # compiles
            begin = time.process_time()
            tree = fit(metric)
            seconds = time.process_time() - begin
            kept = float(tr.scores.neighbors_kept(tree, metric))
            distortion = float(tr.average_distortion(tree, metric))
            purity = float(tr.scores.dendrogram_purity(tree, classes))
            judged.append((kept, distortion, purity))
            row |= {
                f"{method}: kept": f"{kept:.3f}",
                f"{method}: distortion": f"{distortion:.4f}",
                f"{method}: purity": f"{purity:.3f}",
                f"{method}: CPU s": f"{seconds:.1f}",
            }
        rows.append(row)
        scores.append(judged)
        print(row, flush=True)
    before, after = np.moveaxis(np.array(scores[:10]), 1, 0)
    note = (
        f"Mean of the first ten: kept {before[:, 0].mean():.3f} and {after[:, 0].mean():.3f}, purity "
        f"{before[:, 2].mean():.3f} and {after[:, 2].mean():.3f}, and the ratio of the distortions "
        f"{(after[:, 1] / before[:, 1]).mean():.3f}. Kept: share of the ten nearest neighbors."
    )
    return [Table("Near relations of points", rows, note)]
