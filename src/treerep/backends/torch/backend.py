"""The backend for a torch device, such as a GPU."""

from functools import partial
from typing import cast

import numpy as np

from ..._core.backend import Backend
from ..._core.extras import require
from ..._core.parallel import ThreadRunner
from ..._core.typing import DeviceLike
from ...fitting._request import FitRequest
from ...fitting._trials import Plan, tree_of_trials
from ...metric.as_metric import as_metric
from ...metric.base import Metric
from ...tree.tree import Tree
from ._memory import memory_needed
from .backbone.engine import backbone
from .fit import FIT_NEEDS, finished_on_host, fit_on_device
from .metric import PLAIN, device_metric

_METHODS = ("treerep", "auto", "backbone")


class Torch(Backend):
    """Fit trees with torch on a device.

    Parameters
    ----------
    device : str or torch.device
    n_jobs : int, optional
        Number of threads for the work on the host.
    """

    def __init__(self, device: DeviceLike, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs)
        self.device = device

    @property
    def name(self) -> str:
        """The argument that selects this backend."""
        return f"device={str(self.device)!r}"

    @memory_needed(FIT_NEEDS)
    def fit(self, request: FitRequest) -> Tree:
        """Fit a tree on the device with TreeRep or a backbone. Trials are scored on the host."""
        method = request.method
        options = request.options
        _check_fit(method)
        data = request.data
        metric = request.metric
        if not (metric in PLAIN and isinstance(data, require("torch", "embed").Tensor)):
            # A file is read only once, and a matrix is validated only once.
            data = as_metric(data, metric=metric)
            metric = None
        space = device_metric(data, metric, self.device)
        read = partial(as_metric, data, metric=metric)

        def learn(_: Metric, *, rng: np.random.Generator) -> Tree:
            if method == "treerep":
                return finished_on_host(space, fit_on_device(space, rng=rng, **options))
            return backbone(space, read, rng=rng, n_jobs=self.n_jobs, **options)

        # The metric of a plan is used only to score trials.
        host = read() if request.trials > 1 else cast("Metric", space)
        plan = Plan(host, method, {}, self.n_jobs, learn)
        return tree_of_trials(plan, request.trials, request.keep, request.rng, ThreadRunner(1))


def _check_fit(method: str) -> None:
    """Raise an error for a method that does not run on a device."""
    if method not in _METHODS:
        known = ", ".join(_METHODS)
        raise ValueError(f"{method} does not run on a device: use one of {known}, or leave out device")
