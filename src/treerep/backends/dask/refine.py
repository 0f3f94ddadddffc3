"""Refinement on a Dask cluster: workers make the passes over all pairs that least squares need."""

from typing import Any

from ...metric.as_metric import as_metric
from ...refinement.refine import refined_tree
from ...refinement.report import RefinedTree
from ...tree.tree import Tree
from .cluster import client_for
from .runner import Spread, refuse_dask_arrays


def refine(
    tree: Tree,
    data: Any,
    *,
    client: Any,
    metric: str | None,
    weights: str,
    moves: bool,
    balance: float,
    time_limit: float | None,
    rng: Any,
    n_jobs: int | None,
) -> RefinedTree:
    """`treerep.refine` with passes by the workers of a client; see there.

    Passes for ordinary least squares are made by the workers: all of weights="l2", and those between moves of "l1".
    Everything else is done here, by threads.
    """
    refuse_dask_arrays(data=data)
    space = as_metric(data, metric=metric)
    with client_for(client) as cluster, Spread(cluster) as runner:
        return refined_tree(tree, space, weights, moves, balance, time_limit, rng, n_jobs, runner)
