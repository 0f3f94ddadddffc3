"""Scores on a Dask cluster: workers read the rows, and what they found is put together as on one machine."""

from typing import Any, Literal

from ..scoring.comparison import Comparison
from ..scoring.distortion import mean_distortion
from ..scoring.precision import mean_precision
from ..scoring.sampling import Rows
from ..scoring.score import Score
from .cluster import client_for
from .spread import Spread, refuse_dask_arrays


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
