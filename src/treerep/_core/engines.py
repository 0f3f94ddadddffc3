"""Where work is done: on this machine's threads, or elsewhere.

The package `scaling` imports those whose work it carries to a cluster or a GPU, so its functions are named here and
not imported.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .lazy import load

# (what, where) -> "module:function". The function takes what the public one takes, and `client` or `device`.
ELSEWHERE: Mapping[tuple[str, str], str] = {
    ("average_distortion", "dask"): "treerep.backends.dask.scores:average_distortion",
    ("fit", "dask"): "treerep.backends.dask.fit:fit",
    ("mean_average_precision", "dask"): "treerep.backends.dask.scores:mean_average_precision",
    ("refine", "dask"): "treerep.backends.dask.refine:refine",
    ("average_distortion", "torch"): "treerep.backends.torch.scores:average_distortion",
    ("fit", "torch"): "treerep.backends.torch.fit:fit",
    ("hyperbolicity", "torch"): "treerep.backends.torch.hyperbolicity:hyperbolicity",
    ("mean_average_precision", "torch"): "treerep.backends.torch.mean_average_precision:mean_average_precision",
    ("refine", "torch"): "treerep.backends.torch.refine:refine",
}


def elsewhere(what: str, *, engine: Any = None, device: Any = None) -> Callable[..., Any] | None:
    """Return who does `what` on the engine or device asked for; None for the threads of this machine.

    Parameters
    ----------
    engine : None, "threads", "dask" or a dask.distributed Client
    device : None or what torch calls a device: "cuda", "cuda:1", "cpu", torch.device(...)

    >>> elsewhere("fit") is None
    True
    """
    if device is not None and engine is not None:
        raise ValueError(f"engine={engine!r} and device={device!r} exclude each other: leave out one")
    if device is not None:
        return partial(_find(what, "torch", f"device={str(device)!r}"), device=device)
    if engine is None or (isinstance(engine, str) and engine == "threads"):
        return None
    if isinstance(engine, str) and engine == "dask":
        return partial(_find(what, "dask", "engine='dask'"), client=None)
    if any(kind.__module__.partition(".")[0] == "distributed" for kind in type(engine).__mro__):
        return partial(_find(what, "dask", "a Dask client"), client=engine)
    raise ValueError(f"engine is 'threads', 'dask' or a dask.distributed Client, not {engine!r}")


def _find(what: str, where: str, asked: str) -> Callable[..., Any]:
    if (what, where) not in ELSEWHERE:
        raise ValueError(f"{what} does not run with {asked}: leave it out")
    function: Callable[..., Any] = load(ELSEWHERE[what, where])
    return function
