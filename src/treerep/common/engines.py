"""Where work is done: on this machine's threads, or elsewhere.

The room `scaling` stands above those whose work it carries to a cluster or a GPU. It fills this table, so that they
need not know it.
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

# (what, where) -> "module:function". The function takes what the public one takes, and `client` or `device`.
_ELSEWHERE: dict[tuple[str, str], str] = {}


def register_engine(what: str, where: str, function: str) -> None:
    """Let the function `what` run at "dask" or "torch": by a function given as "module:name", imported when needed."""
    _ELSEWHERE[what, where] = function


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
    if (what, where) not in _ELSEWHERE:
        raise ValueError(f"{what} does not run with {asked}: leave it out")
    module, _, name = _ELSEWHERE[what, where].partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
