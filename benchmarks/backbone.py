"""Backbone trees: quality and time on cells and graphs beside TreeRep, and how time grows with the points."""

import time
from typing import Any

import treerep as tr

from .common import Table

JUDGED_ROWS = 1000  # drawn with another seed than the rows of a fit
GRAPHS = (("grqc", 500), ("grqc", 1500), ("wordnet", 1000), ("enron", 500))
CELLS = (("zeisel", 300), ("cbmc", 500))
SIZES = (20_000, 100_000, 1_000_000)


def cells(n: int) -> tr.Metric:
    return tr.as_metric(tr.datasets.branching_cells(n, dim=50, rng=0).points, metric="euclidean")


def row_of(name: str, metric: tr.Metric, size: int) -> dict[str, Any]:
    """Fit by TreeRep and around a backbone, and judge both on the same rows."""
    rows: Any = "all" if len(metric) <= 5000 else JUDGED_ROWS
    found: dict[str, Any] = {"data": name, "points": len(metric), "size": size}
    for column, options in (("TreeRep", {}), ("backbone", {"method": "backbone", "size": size})):
        begin = time.perf_counter()
        tree = tr.fit(metric, **options)
        seconds = time.perf_counter() - begin
        distortion = tr.average_distortion(tree, metric, rows=rows, rng=5)
        score = f"{distortion:.4f}" if distortion.exact else f"{distortion:.4f} ± {distortion.high - distortion:.4f}"
        if isinstance(metric, tr.GraphMetric):
            score += f" / {tr.mean_average_precision(tree, metric, rows=rows, rng=5):.3f}"
        found |= {column: score, f"{column}, seconds": f"{seconds:.2f}"}
    print(found, flush=True)
    return found


def measure() -> list[Table]:
    for metric in (cells(2000), tr.datasets.load("celegans").metric, tr.as_metric(tr.datasets.load("pbmc68k"))):
        tr.fit(metric)
        tr.fit(metric, method="backbone", size=100)
    note = (
        "Average distortion as it is, and for graphs mean average precision behind it; all pairs up to 5,000 points, "
        f"{JUDGED_ROWS:,} rows beyond, with their 95% interval. Compiled before; one run each."
    )
    graphs = []
    for name, size in GRAPHS:
        metric = tr.datasets.load(name).metric
        _ = metric.oracle  # hub labels are no part of a fit
        graphs.append(row_of(name, metric, size))
    points = [row_of(name, tr.as_metric(tr.datasets.load(name)), size) for name, size in CELLS]
    branching = [row_of("branching cells, 50 dimensions", cells(n), 1000) for n in SIZES]
    return [
        Table("Cells around a backbone", points + branching, note),
        Table("Graphs around a backbone", graphs, note),
    ]
