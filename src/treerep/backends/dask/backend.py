"""The backend of a Dask cluster: the same results as with threads, bit for bit."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..._core.parallel import Runner
from ..._core.typing import DaskClient
from ...fitting._trials import Plan, best_tree
from ...fitting.fit import FitRequest
from ...refinement.refine import RefineRequest, refined_tree
from ...refinement.report import RefinedTree
from ...tree.tree import Tree
from .._runner_backend import RunnerBackend
from .cluster import client_for
from .fit import SpreadablePoints, fit_spread_points, read_data
from .runner import Spread, refuse_dask_arrays


class Dask(RunnerBackend):
    """Work on a cluster.

    Parameters
    ----------
    client : dask.distributed Client, optional
        None means the current client, or a cluster on this machine for each operation.
    n_jobs : int, optional
        Number of threads of a trial, and of the work that stays in this process.
    """

    def __init__(self, client: "DaskClient | None" = None, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs)
        self.client = client

    @property
    def name(self) -> str:
        """The argument that selects this backend."""
        return "engine='dask'" if self.client is None else "a Dask client"

    def validate(self, **data: object) -> None:
        """Raise a TypeError for Dask arrays: every worker needs all of the data."""
        refuse_dask_arrays(**data)

    @contextmanager
    def runner(self) -> Iterator[Runner]:
        """Yield the workers of the cluster."""
        with client_for(self.client) as cluster, Spread(cluster) as runner:
            yield runner

    def fit(self, request: FitRequest) -> Tree:
        """Fit a tree. Points are spread over the workers; one worker does any other trial.

        A Dask array holds points, and `metric` names how to measure them.
        """
        data = read_data(request)
        if isinstance(data, SpreadablePoints):
            return fit_spread_points(self.client, data, request, self.n_jobs)
        # Each of several trials has one thread: the other threads do other trials.
        threads = self.n_jobs if self.n_jobs is not None or request.trials == 1 else 1
        plan = Plan(data, request.method, request.options, threads)
        with self.runner() as runner:
            return best_tree(plan, request.trials, request.rng, runner)

    def refine(self, request: RefineRequest) -> RefinedTree:
        """Refine a tree.

        The workers make the passes of ordinary least squares: all of weights="l2", and those
        between moves of "l1". Everything else is done here, by threads.
        """
        with self.runner() as runner:
            return refined_tree(request, self.n_jobs, runner)
