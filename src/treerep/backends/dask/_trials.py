"""Several trials of a fit on a Dask cluster: a worker learns and scores each tree, and the best is chosen here."""

from typing import Any

from ...fitting.fit import Plan, best_tree
from ...metric.as_metric import as_metric
from ...metric.base import Metric
from .cluster import client_for
from .runner import Spread, refuse_dask_arrays


def fit_trials(
    data: Any,
    *,
    client: Any,
    method: str,
    metric: str | None,
    rng: Any,
    trials: int,
    n_jobs: int | None,
    **options: Any,
) -> Metric:
    """`treerep.fit` with each trial on a worker of a client; see there.

    A trial has one thread, as its neighbours are busy with others, unless `n_jobs` says otherwise; a single one has
    all cores of its worker.
    """
    refuse_dask_arrays(data=data)
    threads = n_jobs if n_jobs is not None or trials == 1 else 1
    plan = Plan(as_metric(data, metric=metric), method, options, threads)
    with client_for(client) as cluster, Spread(cluster) as runner:
        return best_tree(plan, trials, rng, runner)
