"""Columns of the paper's tables: the call of each method, and how the paper scores it."""

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import treerep as tr

from .bartal_average import bartal_average

#: Seeds of the random methods: the paper's numbers are means of 20 runs.
SEEDS = 20
#: Torch device.
DEVICE = os.environ.get("TREEREP_DEVICE", "cpu")
#: With more points than this, scores are computed on sampled rows.
LARGE = 20_000


class Method(NamedTuple):
    """One column."""

    title: str
    learn: Callable[[Any, int], tr.Metric]  # from the data and a seed
    random: bool = False
    of_graph: bool = False  # uses the graph, if there is one, instead of a table of distances
    scaled: bool = True  # whether the paper scales its distances before scoring
    seeds: int = SEEDS


def _fit(method: str = "treerep", **options: Any) -> Callable[[Any, int], tr.Metric]:
    return lambda data, seed: tr.fit(data, method=method, rng=seed, **options)


def _default(data: Any, seed: int) -> tr.Metric:
    """Return the result without options."""
    return tr.fit(data, rng=seed)


def _embed(**options: Any) -> Callable[[Any, int], tr.Metric]:
    return lambda data, seed: tr.embed(data, rng=seed, device=DEVICE, **options)


def _refined(balance: float) -> Callable[[Any, int], tr.Metric]:
    return lambda data, seed: tr.refine(best_of(data), data, balance=balance, rng=seed)


def best_of(data: Any, **options: Any) -> tr.Tree:
    """Return the tree of lowest scaled distortion of 20."""
    return tr.fit(data, method="treerep", trials=SEEDS, **options)


#: PM and LM in the plane, with the epochs of the paper and a lower rate. The defaults stop too
#: early on Grid-worm.
PLANE = {"epochs": 1000, "rate": 0.1}

METHODS: dict[str, Method] = {
    "tr": Method("TR", _fit(pivot="closest", tol=0.1), random=True),
    "tr_ours": Method("TR, our defaults", _fit(), random=True),
    "auto": Method("Default", _default, random=True, of_graph=True, scaled=False, seeds=5),
    "tr_refined": Method("TR, refined", _refined(0.5), of_graph=True, scaled=False),
    "tr_distances": Method("TR, refined", _refined(0.0), scaled=False),  # for data without a graph
    "nj": Method("NJ", _fit(method="neighbor_joining"), scaled=False),
    "mst": Method("MST", _fit(method="minimum_spanning_tree"), random=True, of_graph=True),
    "lt": Method(
        "LT", _fit(method="level_tree", root=0), of_graph=True, scaled=False
    ),  # the root in the paper
    "lt_ours": Method("LT, our root", _fit(method="level_tree"), of_graph=True, scaled=False),
    "ct": Method("CT", _fit(method="construct_tree"), random=True),
    "ls": Method("LS", _fit(method="low_stretch"), random=True, of_graph=True),
    "bartal": Method("Bartal", lambda data, seed: bartal_average(tr.as_metric(data), rng=seed)),
    "pt2": Method("PT 2", _embed(method="pt", dim=2), of_graph=True),
    "pt200": Method("PT 200", _embed(method="pt", dim=200), of_graph=True),
    "pm2": Method("PM 2", _embed(method="poincare", dim=2, **PLANE), of_graph=True),
    "lm2": Method("LM 2", _embed(method="lorentz", dim=2, **PLANE), of_graph=True),
    "lm200": Method("LM 200", _embed(method="lorentz", dim=200), of_graph=True),
    "pm200": Method("PM 200", _embed(method="poincare", dim=200), of_graph=True),
}
TREES = (
    "tr",
    "tr_ours",
    "auto",
    "tr_refined",
    "nj",
    "mst",
    "lt",
    "lt_ours",
    "ct",
    "ls",
    "bartal",
)
EMBEDDINGS = ("pt2", "pt200", "pm2", "lm2", "lm200", "pm200")


def clock(work: Callable[[], Any], enough: float = 0.2) -> float:
    """Return the shortest of several times, after a warm-up run."""
    best, spent, runs = float("inf"), 0.0, 0
    while spent < enough and runs < 20:
        start = time.perf_counter()
        work()
        taken = time.perf_counter() - start
        best, spent, runs = min(best, taken), spent + taken, runs + 1
    return best


def scores(approx: tr.Metric, truth: tr.Metric, graph: tr.Metric | None) -> dict[str, float]:
    """Return the scores that the paper reports, and ours."""
    found = {
        "scaled": float(tr.average_distortion(approx, truth, scale="optimal")),
        "plain": float(tr.average_distortion(approx, truth)),
    }
    if graph is not None:
        found["map_rank"] = float(tr.mean_average_precision(approx, graph, ties="rank"))
        found["map"] = float(tr.mean_average_precision(approx, graph))
    return found


def measure_method(method: Method, data: Any, truth: tr.Metric, graph: tr.Metric | None) -> dict[str, Any]:
    """Return means over seeds, their range, the number of nodes, and the seconds of one run."""
    runs, nodes = [], []
    first = 0.0
    for seed in range(method.seeds if method.random else 1):
        start = time.perf_counter()
        approx = method.learn(data, seed)
        first = first or time.perf_counter() - start
        runs.append(scores(approx, truth, graph))
        nodes.append(
            len(approx) if isinstance(approx, tr.TreeSum) else getattr(approx, "n_nodes", len(approx))
        )
    # The first run may include compilation. Slow runs are not repeated.
    seconds = first if first > 10 else clock(lambda: method.learn(data, 0))
    return {
        **summary(runs),
        "nodes": float(np.mean(nodes)),
        "runs": len(runs),
        "seconds": seconds,
    }


def summary(runs: list[dict[str, float]]) -> dict[str, Any]:
    """Return the means of all scores and, for several runs, their ranges."""
    values = {name: [run[name] for run in runs] for name in runs[0]}
    found: dict[str, Any] = {name: float(np.mean(row)) for name, row in values.items()}
    if len(runs) > 1:
        found["range"] = {name: [min(row), max(row)] for name, row in values.items()}
    return found
