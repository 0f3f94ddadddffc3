"""The Dask backend. Its results are bitwise identical to those of the threads backend."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..._core.backend import RunnerBackend
from ..._core.parallel import Runner
from ..._core.typing import DaskClient
from ...fitting._request import FitRequest
from ...fitting._trials import Plan, check_squared, tree_of_trials
from ...metric._missing import refuse_missing
from ...refinement.refine import RefineRequest, refined_tree
from ...refinement.report import RefinedTree
from ...tree.tree import Tree
from .cluster import client_for
from .fit import SpreadablePoints, fit_spread_points, read_data
from .runner import Spread, refuse_dask_arrays


class Dask(RunnerBackend):
    """Run operations on a cluster.

    Parameters
    ----------
    client : dask.distributed Client, optional
        None means the current client, or else a temporary cluster on this machine for each
        operation.
    n_jobs : int, optional
        Number of threads per trial, and for the work done in this process.
    """

    def __init__(self, client: "DaskClient | None" = None, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs)
        self.client = client

    @property
    def name(self) -> str:
        """The argument that selects this backend."""
        return "engine='dask'" if self.client is None else "a Dask client"

    def validate(self, **data: object) -> None:
        """Raise a TypeError for Dask arrays, because every worker needs all of the data."""
        refuse_dask_arrays(**data)

    @contextmanager
    def runner(self) -> Iterator[Runner]:
        """Yield the workers of the cluster."""
        with client_for(self.client) as cluster, Spread(cluster) as runner:
            yield runner

    def fit(self, request: FitRequest) -> Tree:
        """Fit a tree.

        Points are distributed over the workers. For other data, each trial runs on one worker. A
        Dask array contains points, and `metric` names their metric.
        """
        data = read_data(request)
        if isinstance(data, SpreadablePoints):
            return fit_spread_points(self.client, data, request, self.n_jobs)
        refuse_missing(data, self.name, "leave out engine")
        check_squared(data, request.method)
        # If there are several trials, each uses one thread, so that the other threads run other
        # trials.
        threads = self.n_jobs if self.n_jobs is not None or request.trials == 1 else 1
        plan = Plan(data, request.method, request.options, threads)
        with self.runner() as runner:
            return tree_of_trials(plan, request.trials, request.keep, request.rng, runner)

    def refine(self, request: RefineRequest) -> RefinedTree:
        """Refine a tree.

        The workers perform the passes of ordinary least squares: all passes for weights="l2",
        and the passes between moves for "l1". Everything else runs here, on threads.
        """
        refuse_missing(request.metric, self.name, "leave out engine")
        with self.runner() as runner:
            return refined_tree(request, self.n_jobs, runner)
