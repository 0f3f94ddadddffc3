"""Lower bounds for all trees on the paper's graphs, beside the scores of refined trees."""

import time
from typing import Any, NamedTuple

import treerep as tr
from treerep.scores.lower_bound import lower_bound
from treerep.scores.lower_bounds.result import LowerBound

from .common import Table

GRAPHS = ("celegans", "diseasome", "csphd", "yeast", "grqc")
# Points per subset and number of random subsets.
PLANS = ((4, 20_000), (6, 10_000), (16, 1_000))
THOROUGH = (64, 100)


class Timed(NamedTuple):
    """A bound, and the seconds of the call."""

    bound: LowerBound
    seconds: float


def timed(graph: tr.Metric, **options: Any) -> Timed:
    start = time.perf_counter()
    bound = lower_bound(graph, **options)
    return Timed(bound, time.perf_counter() - start)


def refined(graph: tr.Metric) -> tr.Tree:
    """Return the tree with the least distortion that the package finds."""
    start = tr.fit(graph, trials=20, method="treerep")
    return tr.refine(start, graph, balance=0)


def average_row(name: str, graph: tr.Metric, tree: tr.Tree) -> dict[str, Any]:
    reached = tr.average_distortion(tree, graph)
    row: dict[str, Any] = {"graph": name, "n": len(graph), "refined tree": float(reached)}
    for points, subsets in PLANS:
        bound = lower_bound(graph, points=points, subsets=subsets)
        row[f"{points} points"] = float(bound)
    default = timed(graph)
    row["default"] = float(default.bound)
    row["confidence"] = f"{default.bound.confidence:.0%}"
    row["seconds"] = default.seconds
    row["default / tree"] = default.bound / reached
    points, subsets = THOROUGH
    best = timed(graph, points=points, subsets=subsets)
    row[f"{points} points"] = float(best.bound)
    row[f"{points} points, seconds"] = best.seconds
    row[f"{points} points / tree"] = best.bound / reached
    print(row, flush=True)
    return row


def other_row(name: str, graph: tr.Metric, tree: tr.Tree) -> dict[str, Any]:
    mean = lower_bound(graph, score="l1")
    largest = timed(graph, score="linf")
    ratio = lower_bound(graph, score="worst_distortion")
    row = {
        "graph": name,
        "l1": float(mean),
        "l1, refined tree": float(tr.distance_error(tree, graph)),
        "linf": float(largest.bound),
        "linf, seconds": largest.seconds,
        "delta / 2": tr.hyperbolicity(graph, method="exact") / 2,
        "linf, refined tree": float(tr.distance_error(tree, graph, norm="linf")),
        "worst_distortion": float(ratio),
        "worst_distortion, refined tree": float(tr.worst_distortion(tree, graph)),
    }
    print(row, flush=True)
    return row


def measure() -> list[Table]:
    averages = []
    others = []
    for score in ("average_distortion", "linf"):  # compile
        lower_bound(tr.datasets.load("celegans").metric, score=score, subsets=2)
    for name in GRAPHS:
        graph = tr.datasets.load(name).metric
        tree = refined(graph)
        averages.append(average_row(name, graph, tree))
        others.append(other_row(name, graph, tree))
    samples = ", ".join(f"{subsets:,} of {points} points" for points, subsets in PLANS)
    return [
        Table(
            "Lower bounds of the average distortion",
            averages,
            "`refine(fit(graph, method='treerep', trials=20), graph, balance=0)` is the refined "
            "tree. No tree has a smaller distortion than the bounds, with 95% confidence, or 100% "
            f"if stated. Random subsets: {samples}, {THOROUGH[1]} of {THOROUGH[0]} points. "
            "`default` is `lower_bound(graph)`. Seconds include the distances, with all cores.",
        ),
        Table(
            "Lower bounds of other scores",
            others,
            "The refined tree minimizes the average distortion, not these scores. delta is "
            "the exact hyperbolicity.",
        ),
    ]
