"""Scores, trials and least squares on a local Dask cluster compared with threads."""

from collections.abc import Callable
from typing import Any

import numpy as np

import treerep as tr

from .common import Table, seconds

POINTS, DIMENSIONS = 10_000, 50


def works() -> dict[str, Callable[[Any], Any]]:
    """Return the operations by name, for an engine."""
    points = tr.PointMetric(tr.datasets.branching_cells(POINTS, dim=DIMENSIONS).points)
    few = tr.PointMetric(points.points[:2000])
    tree, network = tr.fit(points, method="treerep"), tr.datasets.load("grqc").metric
    its_tree = tr.fit(network, method="treerep")
    return {
        f"average distortion of {POINTS:,} points": lambda engine: tr.average_distortion(
            tree, points, engine=engine
        ),
        "mean average precision of grqc": lambda engine: tr.mean_average_precision(
            its_tree, network, engine=engine
        ),
        "20 trials of 2,000 points": lambda engine: (
            tr.fit(few, trials=20, engine=engine, method="treerep").weights
        ),
        f'weights "l2" of {POINTS:,} points': lambda engine: (
            tr.refine(tree, points, weights="l2", moves=False, engine=engine).weights
        ),
    }


def measure() -> list[Table]:
    from distributed import Client, LocalCluster

    rows = []
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        for name, work in works().items():
            assert np.array_equal(work(client), work(None)), name  # compile everything
            near, far = (
                seconds(lambda work=work: work(None)),
                seconds(lambda work=work: work(client)),
            )
            rows.append({"work": name, "two threads": near, "two workers": far, "ratio": far / near})
    note = "Seconds, least of three, with data sent to the workers each time. Results are the same bits."
    return [Table("The rest on a Dask cluster of one machine", rows, note)]
