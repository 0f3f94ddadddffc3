"""The largest error of trees: method linf beside other methods, and lower bounds."""

import time

import treerep as tr
from treerep.scores.largest_error import largest_error_bound

from .common import Table, seconds

GRAPHS = ("celegans", "diseasome", "csphd", "yeast")
METHODS = {
    "linf": lambda graph: tr.fit(graph, method="linf"),
    "linf, moves=False": lambda graph: tr.fit(graph, method="linf", moves=False),
    "gromov": lambda graph: tr.fit(graph, method="gromov"),
    "gromov, single linkage": lambda graph: tr.fit(graph, method="gromov", linkage="single"),
    "treerep": lambda graph: tr.fit(graph, method="treerep"),
    "neighbor_joining": lambda graph: tr.fit(graph, method="neighbor_joining"),
    "auto": lambda graph: tr.fit(graph),
    "auto, refined": lambda graph: tr.refine(tr.fit(graph), graph, balance=0.0),
}
# The mean and the best largest error in the DeltaZero paper, and the mean of HCC there.
PUBLISHED = {"celegans": (1.84, 1.76, 4.31), "csphd": (10.15, 9.47, 23.4)}


def measure() -> list[Table]:
    for work in METHODS.values():  # compile
        work(tr.GraphMetric([[k, (k + 1) % 30] for k in range(30)]))
    errors = []
    bounds = []
    for name in GRAPHS:
        graph = tr.datasets.load(name).metric
        for method, work in METHODS.items():
            start = time.perf_counter()
            tree = work(graph)
            errors.append(
                {
                    "graph": name,
                    "n": len(graph),
                    "method": method,
                    "largest error": float(tr.distance_error(tree, graph, norm="linf")),
                    "seconds": time.perf_counter() - start,
                }
            )
        bounds.append(_bounds(name, graph))
    return [
        Table(
            "Largest absolute error of trees",
            errors,
            "Seconds of one fit with compiled kernels.",
        ),
        Table(
            "Lower bounds on the largest error",
            bounds,
            "Root errors: `largest_error_bound`. Four points: half the hyperbolicity. Published: "
            "means of DeltaZero and HCC; the best DeltaZero runs reach 1.76 and 9.47.",
        ),
    ]


def _bounds(name: str, graph: tr.Metric) -> dict[str, object]:
    mean, _, clustering = PUBLISHED.get(name, ("-", "-", "-"))
    return {
        "graph": name,
        "root errors / 3": largest_error_bound(graph),
        "four points": float(tr.hyperbolicity(graph)) / 2,
        "seconds (root errors)": seconds(lambda: largest_error_bound(graph), 1),
        "DeltaZero": mean,
        "HCC": clustering,
    }
