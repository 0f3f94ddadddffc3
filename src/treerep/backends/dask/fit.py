"""TreeRep on a Dask cluster. The tree is bitwise identical to the tree from one machine.

The points stay on the workers, and the client keeps the zones. In each wave, the client sends
the pivots of all large zones and receives counts and candidates for the next pivots, a few
bytes per zone (`_waves.py`). When a zone fits on one worker, that worker completes it
(`_finish.py`).

Every point has one random priority, computed by its worker, which determines all choices. The
result therefore does not depend on workers, blocks or scheduling.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ..._core.typing import DaskClient, MetricLike, RNGLike
from ...fitting._finished_tree import finished_tree
from ...fitting._request import FitRequest
from ...fitting.treerep._priorities import Priorities
from ...fitting.treerep._settings import Choices, checked_choices
from ...metric.as_metric import as_metric
from ...metric.base import Metric, MetricError, check_labels
from ...metric.points import PointMetric
from ...tree.tree import Tree
from ._spread_points import SpreadPoints, check_shape, is_dask_array, spread
from ._treerep_run import Run
from .cluster import client_for

if TYPE_CHECKING:
    import dask.array

# One worker finishes a zone of at most n / (_SHARES * threads) or _FINISH_POINTS points.
_SHARES = 4
_FINISH_POINTS = 1 << 15
# Methods that leave the points on the workers.
_SPREAD = ("treerep", "auto", "backbone")


def read_data(request: FitRequest) -> "SpreadablePoints | Metric":
    """Return points to distribute over the workers, or the metric of any other request."""
    spread_method = request.method in _SPREAD
    if is_dask_array(request.data) and (not spread_method or request.trials > 1):
        option = f"trials={request.trials}" if spread_method else f"method={request.method!r}"
        raise ValueError(
            f"{option} needs all points in one place: leave it out, or call compute() on the dask array"
        )
    data = spreadable_points(request.data, request.metric)
    if isinstance(data, SpreadablePoints) and (not spread_method or request.trials > 1):
        metric: Metric = data.space
        return metric
    return data


def fit_spread_points(
    client: "DaskClient | None",
    points: "SpreadablePoints",
    request: FitRequest,
    n_jobs: int | None,
) -> Tree:
    """Distribute points over the workers of a client and learn their tree there."""
    if request.method != "treerep":
        return _backbone(client, points, request, n_jobs)
    choices = checked_choices(**request.options)
    with client_for(client) as cluster:
        spread_points, run = _run_on(cluster, points, request.rng, choices)
        if run is None:
            return _single(spread_points)
        return finished_tree(spread_points, *run.skeleton.all_edges(), run.skeleton.nodes)


def _single(points: Metric) -> Tree:
    return Tree(1, np.empty((0, 2), np.int64), np.empty(0), labels=check_labels(points.labels, 1))


def _backbone(
    client: "DaskClient | None",
    source: "SpreadablePoints",
    request: FitRequest,
    n_jobs: int | None,
) -> Tree:
    """Distribute points over a cluster and learn their backbone tree there."""
    from .backbone import fit_backbone

    _check_number(source.n)
    with client_for(client) as cluster:
        threads = max(1, sum(cluster.nthreads().values()))
        # These priorities are not used, because `rng` draws the sample later.
        priorities = Priorities(source.n, np.random.default_rng(0))
        points = spread(cluster, source.space, source.metric, priorities, threads)
        if source.n == 1:
            return _single(points)
        size = _finish_points(source.n, threads)
        return fit_backbone(cluster, points, size, request.rng, n_jobs, **request.options)


def _check_number(n: int) -> None:
    if not n < 2**30:
        raise ValueError(f"fit supports 1 to {2**30 - 1:,} points, got {n:,}")


def _finish_points(n: int, threads: int) -> int:
    return max(_FINISH_POINTS, n // (_SHARES * threads))


class SpreadablePoints(NamedTuple):
    """Points that can be distributed over workers, their number and the name of their metric."""

    space: "dask.array.Array | PointMetric"
    n: int
    metric: str


def spreadable_points(data: MetricLike, metric: str | None) -> SpreadablePoints | Metric:
    """Return points that can be distributed, or the metric of data without points."""
    if is_dask_array(data):
        return SpreadablePoints(data, check_shape(data), _metric_name(metric))
    space = as_metric(data, metric=metric)
    # The methods for squared distances need all points.
    if isinstance(space, PointMetric) and not space.squared:
        return SpreadablePoints(space, len(space), space.metric)
    return space


def _run_on(
    cluster: DaskClient, source: SpreadablePoints, rng: RNGLike, choices: Choices
) -> tuple[SpreadPoints, Run | None]:
    """Distribute points over a cluster and run TreeRep there. A single point needs no run."""
    n = source.n
    _check_number(n)
    threads = max(1, sum(cluster.nthreads().values()))
    priorities = Priorities(n, np.random.default_rng(rng))
    points = spread(cluster, source.space, source.metric, priorities, threads)
    if n == 1:
        return points, None
    finish_points = _finish_points(n, threads)
    # `Workers` ensures that no interrupt is lost.
    with progress_bar(n, "TreeRep", "points") as bar, Workers(1) as workers:
        run = Run(cluster, points, choices, finish_points, workers, bar)
        run.run(int(priorities.points_at(np.zeros(1, np.int64))[0]), 2 * threads)
    return points, run


def _metric_name(metric: str | None) -> str:
    # As everywhere, no metric means a distance matrix. A matrix read as points would silently give
    # a wrong tree.
    if metric is None or metric == "precomputed":
        raise MetricError(
            "a distance matrix cannot be a dask array: for points add metric='euclidean', "
            "for distances call compute()"
        )
    if metric == "sqeuclidean":
        raise MetricError("squared distances need all points in one place: call compute() on the dask array")
    return metric
