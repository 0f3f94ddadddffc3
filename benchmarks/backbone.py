"""Backbone trees: quality and time on cells and graphs, by stage and by size."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

import treerep as tr
from treerep._core.parallel import Workers
from treerep.fitting._finished_tree import finished_tree
from treerep.placement._attach import attach
from treerep.refinement.backbone import _threads, build

from .common import Table, in_child

JUDGED_ROWS = 1000  # a different seed than the rows of a fit
WHOLE = ("celegans", "diseasome", "csphd", "yeast", "grid_worm", "grqc")
GRAPHS = (("grqc", 2000), ("wordnet", None), ("enron", None))
CELLS = ("pbmc68k", "paul15", "zeisel", "cbmc")
JOINED = 10_000  # largest number of points for neighbor joining
SIZES = (20_000, 100_000, 1_000_000)
BACKBONES = (250, 500, 1000, 2000)


# Memory of the process, sampled a hundred times per second.
MEMORY = """
import json, sys, threading, time, numpy as np, treerep as tr
points = np.ascontiguousarray(tr.datasets.branching_cells(int(sys.argv[1]), dim=50, rng=0).points)
tr.fit(points[:2500], metric="euclidean")
used = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
before = peak = used()
done = threading.Event()
def watch():
    global peak
    while not done.wait(0.01):
        peak = max(peak, used())
watcher = threading.Thread(target=watch)
watcher.start()
tr.fit(points, metric="euclidean")
done.set()
watcher.join()
used = {"input, MB": round(points.nbytes / 1e6), "additional, MB": round(peak - before)}
print(json.dumps({"points": len(points), **used}))
"""


def cells(n: int) -> tr.Metric:
    return tr.as_metric(tr.datasets.branching_cells(n, dim=50, rng=0).points, metric="euclidean")


def judge(tree: tr.Tree, metric: tr.Metric) -> str:
    """Return average distortion, and for graphs also mean average precision."""
    rows: Any = "all" if len(metric) <= 5000 else JUDGED_ROWS
    distortion = tr.average_distortion(tree, metric, rows=rows, rng=5)
    score = (
        f"{distortion:.4f}" if distortion.exact else f"{distortion:.4f} ± {distortion.high - distortion:.4f}"
    )
    if isinstance(metric, tr.GraphMetric):
        score += f" / {tr.mean_average_precision(tree, metric, rows=rows, rng=5):.3f}"
    return score


def placed_tree(metric: tr.Metric, tree: tr.Tree, sample: Any, rest: Any, places: Any) -> tr.Tree:
    """Return the tree with every point at its place in the backbone, without branches."""
    with Workers() as workers:
        edges, weights = attach(tree, places, None, 0.0, workers)
    steiner = len(metric) + np.arange(int(edges.max()) + 1 - len(metric))
    return finished_tree(metric, np.concatenate([sample, rest, steiner])[edges], weights)


@contextmanager
def watched(name: str, calls: list[tuple[float, Any, Any]]) -> Iterator[None]:
    """Record the seconds, the arguments and the result of a function that the fit calls."""
    module = build if hasattr(build, name) else _threads
    function = getattr(module, name)

    def call(*arguments: Any, **options: Any) -> Any:
        begin = time.perf_counter()
        result = function(*arguments, **options)
        calls.append((time.perf_counter() - begin, arguments, result))
        return result

    with mock.patch.object(module, name, call):
        yield


def stages(name: str, metric: tr.Metric, size: int) -> list[dict[str, Any]]:
    """Fit once and score the tree after each stage."""
    calls: dict[str, list[Any]] = {name: [] for name in ("small_tree", "best_places", "grow", "weighed")}
    with ExitStack() as stack:
        for function, noted in calls.items():
            stack.enter_context(watched(function, noted))
        tree = tr.fit(metric, method="backbone", size=size)
    refined, placed, grown, weighed = calls.values()
    sample, rest, places = grown[0][1][2], grown[0][1][3], grown[0][1][4]
    rows = [
        ("tree of the sample", sum(call[0] for call in refined), ""),
        (
            "places",
            sum(call[0] for call in placed),
            judge(placed_tree(metric, grown[0][1][0], sample, rest, places), metric),
        ),
        ("branches", grown[0][0], judge(finished_tree(metric, *grown[0][2]), metric)),
        ("lengths", sum(call[0] for call in weighed), judge(tree, metric)),
    ]
    print(name, size, rows, flush=True)
    return [
        {
            "data": name,
            "points": len(metric),
            "size": size,
            "stage": stage,
            "seconds": f"{seconds:.2f}",
            "result": score,
        }
        for stage, seconds, score in rows
    ]


def sizes(name: str, metric: tr.Metric) -> dict[str, Any]:
    """Fit with backbones of several sizes."""
    found: dict[str, Any] = {"data": name, "points": len(metric)}
    for size in BACKBONES:
        begin = time.perf_counter()
        tree = tr.fit(metric, method="backbone", size=size)
        seconds = time.perf_counter() - begin
        found[f"m = {size:,}"] = f"{judge(tree, metric)} in {seconds:.1f} s"
    print(found, flush=True)
    return found


def row_of(name: str, metric: tr.Metric, size: int | None = None) -> dict[str, Any]:
    """Fit by TreeRep, relaxed neighbor joining and backbone, and score all on the same rows."""
    found: dict[str, Any] = {"data": name, "points": len(metric), "size": size or "default"}
    ways = {
        "TreeRep": {"method": "treerep"},
        "relaxed NJ": {"method": "relaxed_neighbor_joining"},
    }
    for column, options in (ways | {"backbone": {"method": "backbone", "size": size}}).items():
        if column == "relaxed NJ" and len(metric) > JOINED:
            found |= {column: "", f"{column}, seconds": ""}
            continue
        begin = time.perf_counter()
        tree = tr.fit(metric, **options)
        seconds = time.perf_counter() - begin
        score = judge(tree, metric)
        found |= {column: score, f"{column}, seconds": f"{seconds:.2f}"}
    print(found, flush=True)
    return found


def measure() -> list[Table]:
    for metric in (
        cells(2000),
        tr.datasets.load("celegans").metric,
        tr.as_metric(tr.datasets.load("pbmc68k")),
    ):
        for fit in (
            {"method": "treerep"},
            {"method": "relaxed_neighbor_joining"},
            {},
            {"method": "backbone", "size": 100},
        ):
            tr.fit(metric, **fit)
    note = (
        "Average distortion without scaling; for graphs also MAP by definition, after the "
        f"slash. All pairs up to 5,000 points, otherwise {JUDGED_ROWS:,} sampled rows with a 95% "
        "interval. One run each, without compilation."
    )
    graphs = []
    for name, size in (*((name, None) for name in WHOLE), *GRAPHS):
        metric = tr.datasets.load(name).metric
        _ = metric.oracle  # hub labels are not part of a fit
        graphs.append(row_of(name, metric, size))
    points = [row_of(name, tr.as_metric(tr.datasets.load(name))) for name in CELLS]
    branching = [row_of("branching cells, 50 dimensions", cells(n)) for n in SIZES]
    grqc, many = tr.datasets.load("grqc").metric, cells(20_000)
    by_stage = [
        *stages("branching cells", many, 2000),
        *stages("branching cells", cells(100_000), 2000),
    ]
    by_stage += stages("grqc", grqc, 2000)
    by_size = [sizes("branching cells", many), sizes("grqc", grqc)]
    return [
        Table("Cells around a backbone", points + branching, note),
        Table("Graphs around a backbone", graphs, note),
        Table("Stages of a backbone tree", by_stage, note),
        Table("Sizes of a backbone", by_size, note),
        Table(
            "Memory of a fit",
            [in_child(MEMORY, n) for n in SIZES],
            "Branching cells, 50 dimensions, float32.",
        ),
    ]
