"""Sums of a few trees: distortion, neighborhoods and time on the paper's graphs and on many points."""

import time
from typing import Any, NamedTuple

import treerep as tr

from .common import Table

SMALL = ("celegans", "diseasome", "csphd")
LARGE = ("yeast", "grid_worm", "grqc")
COUNTS = (1, 2, 5, 10)
BALANCES = (0.0, 0.2, 0.4)
CELLS = (10_000, 50_000)


class Fitted(NamedTuple):
    """A sum of trees, and a row of a table."""

    trees: tr.TreeSum
    row: dict[str, Any]


def fitted(name: str, graph: tr.GraphMetric, count: int, **options: Any) -> Fitted:
    """Fit a sum of trees and score it. `seconds` are those of one call with all cores."""
    begin = time.perf_counter()
    trees = tr.fit(graph, trees=count, **options)
    seconds = time.perf_counter() - begin
    row = {
        "graph": name,
        "points": len(graph),
        "trees": count,
        **options,
        "distortion": float(tr.average_distortion(trees, graph)),
        "MAP": float(tr.mean_average_precision(trees, graph)),
        "seconds": seconds,
    }
    print(row, flush=True)
    return Fitted(trees, row)


def embedded(name: str, graph: tr.GraphMetric, trees: tr.TreeSum) -> dict[str, Any]:
    """Embed a sum of trees in a product of planes and score the embedding."""
    begin = time.perf_counter()
    embedding = tr.embed(trees, distortion=1.01)
    seconds = time.perf_counter() - begin
    row = {
        "graph": name,
        "trees": len(trees.trees),
        "numbers per point": embedding.dim,
        "distortion, trees": float(tr.average_distortion(trees, graph)),
        "distortion, product": float(tr.average_distortion(embedding, graph)),
        "MAP, product": float(tr.mean_average_precision(embedding, graph)),
        "embed, seconds": seconds,
    }
    print(row, flush=True)
    return row


def cells(count: int) -> dict[str, Any]:
    """Compare one tree with a sum of five trees on simulated cells."""
    points = tr.datasets.branching_cells(count, dim=50).points
    metric = tr.PointMetric(points, "euclidean")
    row: dict[str, Any] = {"cells": count}
    for name, options in {"one tree": {}, "five trees": {"trees": 5}}.items():
        begin = time.perf_counter()
        found = tr.fit(metric, **options)
        row[f"{name}, seconds"] = time.perf_counter() - begin
        row[f"{name}, distortion"] = float(tr.average_distortion(found, metric, rng=1))
    print(row, flush=True)
    return row


def measure() -> list[Table]:
    small = {name: tr.datasets.load(name).metric for name in SMALL}
    large = {name: tr.datasets.load(name).metric for name in LARGE}
    tr.fit(small["celegans"], trees=2)  # compile
    tr.embed(tr.fit(small["celegans"], trees=2))
    few = {(name, count): fitted(name, small[name], count) for name in SMALL for count in COUNTS}
    many = [fitted(name, large[name], count).row for name in LARGE for count in (1, 5)]
    balances = [
        fitted(name, small[name], 10, balance=balance).row for name in SMALL[:1] for balance in BALANCES
    ]
    products = [embedded(name, small[name], few[name, count].trees) for name in SMALL for count in (5, 10)]
    note = "`fit(graph, trees=k)` with default options. Average distortion without scaling. "
    return [
        Table(
            "Sums of trees",
            [found.row for found in few.values()],
            note + "One call on two cores, after compilation.",
        ),
        Table("Sums of trees on larger graphs", many, note),
        Table(
            "Sums of ten trees by balance",
            balances,
            "`balance` is 0 for the best distances and 1 for the best neighborhoods.",
        ),
        Table(
            "Sums of trees as products of hyperbolic planes",
            products,
            "`embed(trees, distortion=1.01)`: two numbers per point and tree.",
        ),
        Table(
            "Sums of trees for many points",
            [cells(count) for count in CELLS],
            "Simulated cells in 50 dimensions. Above 5,000 points, the trees of a sample of 2,000 "
            "points are fitted, and all other points are placed in them. The distortion is that of "
            "256 sampled rows above 20,000 points.",
        ),
    ]
