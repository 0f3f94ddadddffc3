"""TreeRep on a Dask cluster: the same tree as on one machine, bit for bit.

The points stay with the workers. The client keeps the zones: it sends the pivots of all large
ones out, and gets counts and the next pivots back (`_waves.py`), bytes per zone. Zones that fit
a worker are completed there (`_finish.py`). Random choices are made by one priority per point,
which every worker computes for its own, so neither the number of workers or blocks nor the
order of events has a say.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ..._core.typing import MetricLike, RNGLike
from ...fitting._finished_tree import finished_tree
from ...fitting.fit import FitRequest
from ...fitting.treerep._priorities import Priorities
from ...fitting.treerep._settings import Choices, checked_choices
from ...metric.as_metric import as_metric
from ...metric.base import Metric, MetricError, check_labels
from ...metric.points import PointMetric
from ...tree.tree import Tree
from ._run import Run
from ._spread_points import SpreadPoints, check_shape, is_dask_array, spread
from .cluster import client_for

# Zones are finished by one worker when they have at most the share of a thread divided by this,
# or so many points.
_SHARES = 4
_FINISH_POINTS = 1 << 15
# Methods that leave the points with the workers.
_SPREAD = ("treerep", "auto", "backbone")

AnyRun = TypeVar("AnyRun", bound=Run)


def read_data(request: FitRequest) -> "SpreadablePoints | Metric":
    """Return points to spread over the workers, or the metric of any other request."""
    spread_method = request.method in _SPREAD
    if is_dask_array(request.data) and (not spread_method or request.trials > 1):
        wish = f"trials={request.trials}" if spread_method else f"method={request.method!r}"
        raise ValueError(
            f"{wish} needs all points in one place: leave it out, or give the dask array's compute()"
        )
    data = spreadable_points(request.data, request.metric)
    if isinstance(data, SpreadablePoints) and (not spread_method or request.trials > 1):
        metric: Metric = data.space
        return metric
    return data


def fit_spread_points(
    client: Any,
    points: "SpreadablePoints",
    request: FitRequest,
    n_jobs: int | None,
) -> Tree:
    """Spread points over the workers of a client and learn their tree there."""
    if request.method != "treerep":
        return _backbone(client, points, request, n_jobs)
    choices = checked_choices(**request.options)
    with client_for(client) as cluster:
        held, run = run_on(cluster, points, request.rng, choices, Run)
        if run is None:
            return _single(held)
        tree = finished_tree(held, *run.skeleton.all_edges(), run.skeleton.nodes)
        return tree.contracted(run.tol) if choices.joined else tree


def _single(points: Metric) -> Tree:
    return Tree(
        1, np.empty((0, 2), np.int64), np.empty(0), labels=check_labels(points.labels, 1)
    )


def _backbone(
    client: Any,
    given: "SpreadablePoints",
    request: FitRequest,
    n_jobs: int | None,
) -> Tree:
    """Spread points over a cluster and learn their backbone tree there."""
    from .backbone import fit_backbone

    _check_number(given.n)
    with client_for(client) as cluster:
        threads = max(1, sum(cluster.nthreads().values()))
        # Who is in the sample is drawn later, from `rng` itself.
        points = spread(
            cluster,
            given.space,
            given.metric,
            Priorities(given.n, np.random.default_rng(0)),
            threads,
        )
        if given.n == 1:
            return _single(points)
        size = _finish_points(given.n, threads)
        return fit_backbone(cluster, points, size, request.rng, n_jobs, **request.options)


def _check_number(n: int) -> None:
    if not n < 2**30:
        raise ValueError(f"fit takes 1 to {2**30 - 1:,} points, not {n:,}")


def _finish_points(n: int, threads: int) -> int:
    return max(_FINISH_POINTS, n // (_SHARES * threads))


class SpreadablePoints(NamedTuple):
    """Points that can be spread: a dask array or a PointMetric, their number and the name of their metric."""

    space: Any
    n: int
    metric: str


def spreadable_points(data: MetricLike, metric: str | None) -> SpreadablePoints | Metric:
    """Return points that can be spread, or the metric of data without points."""
    if is_dask_array(data):
        return SpreadablePoints(data, check_shape(data), _named(metric))
    space = as_metric(data, metric=metric)
    if isinstance(space, PointMetric):
        return SpreadablePoints(space, len(space), space.metric)
    return space


def run_on(
    cluster: Any,
    given: SpreadablePoints,
    rng: RNGLike,
    choices: Choices,
    kind: Callable[..., AnyRun],
) -> tuple[SpreadPoints, AnyRun | None]:
    """Spread points over a cluster and run TreeRep there; no run for a single one."""
    n = given.n
    _check_number(n)
    threads = max(1, sum(cluster.nthreads().values()))
    priorities = Priorities(n, np.random.default_rng(rng))
    points = spread(cluster, given.space, given.metric, priorities, threads)
    if n == 1:
        return points, None
    finish_points = max(_finish_points(n, threads), choices.joined)
    with (
        progress_bar(n, "TreeRep", "points") as bar,
        Workers(1) as workers,
    ):  # so that no interrupt is lost
        run = kind(cluster, points, choices, finish_points, workers, bar)
        run.run(int(priorities.points_at(np.zeros(1, np.int64))[0]), 2 * threads)
    return points, run


def _named(metric: str | None) -> str:
    # As everywhere, no metric means a distance matrix. Taking it for points would give a wrong
    # tree without a word.
    if metric is None or metric == "precomputed":
        raise MetricError(
            "a distance matrix cannot be a dask array: for points add metric='euclidean', for distances give compute()"
        )
    return metric
