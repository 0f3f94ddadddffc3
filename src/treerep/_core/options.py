"""Options of one method among many: those that it does not take are refused by name."""

import inspect
from collections.abc import Callable
from typing import Any


def chosen_options(method: str, function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given (not None), all of which the method's function must take.

    >>> chosen_options("bfs", lambda metric, *, root=0: None, {"root": 3, "tol": None})
    {'root': 3}
    """
    takes = inspect.signature(function).parameters
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in takes:
            known = ", ".join(other for other in given if other in takes)
            raise ValueError(f"{method} takes no {name}" + (f", but {known}" if known else ": leave it out"))
    return options
