"""Backends: the threads of this process, a Dask cluster or a torch device.

Public functions turn `n_jobs`, `engine` and `device` into one `Backend` and call its
operations. Backends import the packages that do the work. To avoid import cycles, this module
refers to backend classes by name.
"""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from .lazy import load
from .parallel import Runner
from .typing import DeviceLike, EngineLike

if TYPE_CHECKING:
    from ..fitting._request import FitRequest
    from ..refinement.refine import RefineRequest
    from ..refinement.report import RefinedTree
    from ..tree.tree import Tree

#: The class of each backend, as "module:name".
BACKENDS = {
    "threads": "treerep.backends.threads:Threads",
    "dask": "treerep.backends.dask.backend:Dask",
    "torch": "treerep.backends.torch.backend:Torch",
}


class Backend(ABC):
    """What fits trees: threads, a cluster or a device.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads for the work done in this process; None uses every core.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    @property
    @abstractmethod
    def name(self) -> str:
        """The argument that selects this backend, for error messages."""

    def validate(self, **data: object) -> None:  # noqa: B027 (most backends accept everything)
        """Raise a TypeError for an argument, passed by name, that this backend cannot read."""

    def runner(self) -> AbstractContextManager[Runner | None]:
        """Return a context with the runner of many small tasks, or None if there is no runner."""
        return nullcontext()

    @abstractmethod
    def fit(self, request: "FitRequest") -> "Tree":
        """Fit a tree."""


class RunnerBackend(Backend):
    """Threads or a cluster, which also run many similar tasks and refine trees."""

    @abstractmethod
    def runner(self) -> AbstractContextManager[Runner]:
        """Return a context with the runner that executes the tasks."""

    @abstractmethod
    def refine(self, request: "RefineRequest") -> "RefinedTree":
        """Refine a tree."""


def backend_for(
    *,
    n_jobs: int | None = None,
    engine: EngineLike = None,
    device: DeviceLike = None,
) -> Backend:
    """Return the backend for the arguments of `fit`.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads; None uses every core.
    engine : None, "threads", "dask" or a dask.distributed Client
    device : None or a torch device: "cuda", "cuda:1", "cpu", torch.device(...)
    """
    if device is None:
        return runner_backend(n_jobs=n_jobs, engine=engine)
    if engine is not None:
        both = f"engine={engine!r} and device={device!r}"
        raise ValueError(f"{both} cannot be combined: use one of the two")
    backend: Backend = load(BACKENDS["torch"])(device, n_jobs)
    return backend


def runner_backend(*, n_jobs: int | None = None, engine: EngineLike = None) -> RunnerBackend:
    """Return the backend for the arguments `n_jobs` and `engine`, as in `backend_for`.

    >>> runner_backend(n_jobs=2).n_jobs
    2
    """
    if engine is None or (isinstance(engine, str) and engine == "threads"):
        return _make("threads", n_jobs)
    if isinstance(engine, str) and engine == "dask":
        return _make("dask", None, n_jobs)
    if _is_client(engine):
        return _make("dask", engine, n_jobs)
    raise ValueError(f"engine must be 'threads', 'dask' or a dask.distributed Client, not {engine!r}")


def _make(name: str, *arguments: object) -> RunnerBackend:
    backend: RunnerBackend = load(BACKENDS[name])(*arguments)
    return backend


def _is_client(engine: object) -> bool:
    # Compare by name, so that Dask is imported only if it is used.
    return any(kind.__module__.partition(".")[0] == "distributed" for kind in type(engine).__mro__)
