"""Rules for the next pivot of a zone on an edge. The default was chosen from these results."""

from unittest.mock import Mock

import numpy as np

import treerep as tr
from treerep._core.parallel import Workers
from treerep.fitting.treerep._settings import PIVOT_RULES
from treerep.fitting.treerep.algorithm import TreeRep

from .common import Table

SEEDS = 60
GRAPHS = ("celegans", "diseasome", "csphd", "yeast", "grid_worm", "grqc")


def metrics() -> dict[str, tuple[tr.Metric, tr.GraphMetric | None]]:
    found: dict[str, tuple[tr.Metric, tr.GraphMetric | None]] = {}
    for name in GRAPHS:
        graph = tr.datasets.load(name).metric
        every = np.arange(len(graph))
        found[name] = tr.MatrixMetric(graph.block(every, every).astype(np.uint8)), graph
    for name, points in (
        ("zeisel", tr.datasets.load("zeisel").metric.points),
        (
            "cbmc, 3,000 cells",
            np.random.default_rng(0).permutation(tr.datasets.load("cbmc").metric.points)[:3000],
        ),
    ):
        cells = tr.PointMetric(points)
        every = np.arange(len(cells))
        found[name] = tr.MatrixMetric(cells.block(every, every)), None
    found["H^2, 1,000 points"] = tr.datasets.hyperbolic_points(1000, 2, rng=0), None
    return found


def visits(tree: tr.Tree, rule: str) -> float:
    """Return the number of times each point is sorted."""
    priority = np.random.default_rng(0).permutation(len(tree)).astype(np.int32)
    with Workers() as workers:
        run = TreeRep(tree, priority, None, PIVOT_RULES.index(rule), workers, Mock())
        run.run()
    return run.visits / len(tree)


def measure() -> list[Table]:
    rows = []
    for name, (metric, graph) in metrics().items():
        row: dict[str, object] = {"data": name}
        for rule in PIVOT_RULES:
            trees = [tr.fit(metric, rng=seed, pivot=rule, method="treerep") for seed in range(SEEDS)]
            values = [tr.average_distortion(tree, metric, scale="optimal") for tree in trees]
            row[rule] = f"{np.mean(values):.3f} ± {np.std(values) / SEEDS**0.5:.3f}"
            precision = np.mean([tr.mean_average_precision(tree, graph) for tree in trees]) if graph else None
            row[f"MAP {rule}"] = "-" if precision is None else f"{precision:.3f}"
        rows.append(row)
    work = []
    for n in (1000, 8000, 64_000):
        path = tr.datasets.random_tree(n, shape="path", rng=0)
        rules = PIVOT_RULES if n <= 8000 else ("random", "near")
        work.append(
            {
                "path of": n,
                **{rule: visits(path, rule) if rule in rules else "-" for rule in PIVOT_RULES},
            }
        )
    return [
        Table(
            f"Scaled average distortion by pivot rule, mean of {SEEDS} seeds ± standard error",
            rows,
        ),
        Table(
            "Number of times each point is sorted, on a path",
            work,
            "The default must stay near log n.",
        ),
    ]
