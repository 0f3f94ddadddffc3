"""Seconds of the default `refine` for a few thousand points, with the scores before and after."""

import time
from collections.abc import Iterator

import treerep as tr

from .common import Table

METHODS = ("auto", "treerep")
# Two sizes of the same data show the growth.
CELLS = (1500, 3000)


def cases() -> Iterator[tuple[str, tr.Metric, str]]:
    for name in ("grqc", "zeisel"):
        for method in METHODS:
            yield name, tr.datasets.load(name).metric, method
    for count in CELLS:
        points = tr.datasets.branching_cells(count).points
        yield "branching_cells", tr.as_metric(points, metric="euclidean"), "auto"


def timed(name: str, data: tr.Metric, method: str) -> dict[str, object]:
    tree = tr.fit(data, method=method)
    begin = time.perf_counter()
    report = tr.refine(tree, data, n_jobs=2).refinement
    seconds = time.perf_counter() - begin
    row = {
        "data": name,
        "points": len(data),
        "tree": method,
        "before": f"{report.distortion_before:.4f} / {report.precision_before:.4f}",
        "after": f"{report.distortion:.4f} / {report.precision:.4f}",
        "seconds": seconds,
    }
    print(row, flush=True)
    return row


def measure() -> list[Table]:
    small = tr.datasets.load("celegans").metric
    cells = tr.as_metric(tr.datasets.branching_cells(200).points, metric="euclidean")
    for data in (small, cells):
        for method in METHODS:
            tr.refine(tr.fit(data, method=method), data)  # compile before the clock starts
    rows = [timed(*case) for case in cases()]
    note = (
        "Average distortion / MAP before and after `refine(tree, data, n_jobs=2)`, with "
        "`tree = fit(data, method=...)`. Seconds of one call of `refine`, on a cloud server with two AMD EPYC cores. "
        "The neighbors of cells are their ten nearest cells."
    )
    return [Table("Time of refine", rows, note)]
