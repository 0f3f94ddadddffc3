"""One way to show progress: on a terminal, for work that takes a while, and silent everywhere else."""

import os
import threading
from functools import cache
from typing import Any


def progress_bar(total: float, what: str, unit: str) -> Any:
    """Return a tqdm bar that stays hidden unless stderr is a terminal and the work lasts over a second.

    Use it as a context manager and call `update(done)`.
    """
    return _bars()(
        total=total, desc=what, unit=unit, unit_scale=True, delay=1.0, disable=None, leave=False
    )


@cache
def _bars() -> Any:
    """Return tqdm with a lock of its own, which processes do not share.

    The lock of tqdm itself is one for a process and all its copies: a copy that is ended while
    it holds the lock, as by the time limit of `treerep compare`, would leave everybody else
    waiting for ever.
    """
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        """A bar of ours."""

    def renew_lock() -> None:
        Bar.set_lock(threading.RLock())

    renew_lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            after_in_child=renew_lock
        )  # another thread may have held it when the copy was made
    return Bar
