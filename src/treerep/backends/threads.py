"""The default backend: threads of this process."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from .._core.backend import RunnerBackend
from .._core.parallel import Runner, ThreadRunner, count_jobs

if TYPE_CHECKING:
    from ..fitting._request import FitRequest
    from ..refinement.refine import RefineRequest
    from ..refinement.report import RefinedTree
    from ..tree.tree import Tree

# Threads that wait for a disk do not need a core, and a disk serves many at a time.
_THREADS_AT_A_DISK = 16


class Threads(RunnerBackend):
    """Run operations on the threads of this process. Needs neither Dask nor torch."""

    @property
    def name(self) -> str:
        """The argument that selects this backend."""
        return "engine='threads'"

    def runner(self) -> AbstractContextManager[Runner]:
        """Return a context with the threads."""
        return nullcontext(ThreadRunner(self.n_jobs))

    def fit(self, request: "FitRequest") -> "Tree":
        """Fit a tree. Trials on few points run in parallel, and other trials one after another."""
        from ..fitting._trials import (
            EXACT_SCORES,
            Plan,
            check_measured,
            check_squared,
            tree_of_trials,
        )
        from ..metric.as_metric import as_metric

        space = as_metric(request.data, metric=request.metric)
        check_measured(space, request.method)
        check_squared(space, request.method)
        jobs = count_jobs(self.n_jobs)
        if self.n_jobs is None and space.on_disk:
            jobs = max(jobs, _THREADS_AT_A_DISK)
        side_by_side = request.trials > 1 and len(space) <= EXACT_SCORES
        plan = Plan(space, request.method, request.options, 1 if side_by_side else jobs)
        runner = ThreadRunner(jobs if side_by_side else 1)
        return tree_of_trials(plan, request.trials, request.keep, request.rng, runner)

    def refine(self, request: "RefineRequest") -> "RefinedTree":
        """Refine a tree."""
        from ..refinement.refine import refined_tree

        return refined_tree(request, self.n_jobs)
