"""Scores on a Dask cluster: workers read the rows, and what they found is put together as on one machine."""

from typing import Any, Literal

from ...scores._comparison import Comparison
from ...scores._sampling import Rows
from ...scores.distortion import mean_distortion
from ...scores.mean_average_precision import mean_precision
from ...scores.score import Score
from .cluster import client_for
from .runner import Spread, refuse_dask_arrays


def average_distortion(
    approx: Any,
    truth: Any,
    *,
    client: Any,
    scale: Literal["none", "optimal"],
    rows: Rows,
    rng: Any,
    n_jobs: int | None,  # noqa: ARG001 (the cluster knows how many threads it has)
) -> Score:
    """`treerep.average_distortion` by the workers of a client; see there."""
    refuse_dask_arrays(approx=approx, truth=truth)
    with client_for(client) as cluster, Spread(cluster) as runner:
        return mean_distortion(Comparison(approx, truth, rows, rng, runner), scale)


def mean_average_precision(
    approx: Any,
    graph: Any,
    *,
    client: Any,
    ties: Literal["definition", "rank"],
    rows: Rows,
    rng: Any,
    n_jobs: int | None,  # noqa: ARG001
) -> Score:
    """`treerep.mean_average_precision` by the workers of a client; see there."""
    refuse_dask_arrays(approx=approx, graph=graph)
    with client_for(client) as cluster, Spread(cluster) as runner:
        return mean_precision(approx, graph, ties, rows, rng, runner)
