"""Progress bars on a terminal."""

import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Protocol


class ProgressBar(Protocol):
    """The part of tqdm's interface that the package uses."""

    def __enter__(self) -> "ProgressBar": ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def update(self, n: float = 1) -> object:
        """Advance the bar."""

    def set_postfix(self, *, refresh: bool = True, **values: object) -> None:
        """Show named values after the bar."""

    def set_postfix_str(self, s: str, refresh: bool = True) -> None:
        """Show a text after the bar."""


def progress_bar(total: float, what: str, unit: str) -> ProgressBar:
    """Return a progress bar for a terminal.

    The bar stays hidden unless stderr is a terminal and the work takes more than a second.

    Use the bar as a context manager and call `update(done)`.
    """
    # tqdm also hides its bar in this case, but takes 20 microseconds for it.
    if not (hasattr(sys.stderr, "isatty") and sys.stderr.isatty()):
        return HIDDEN
    return _bars()(total=total, desc=what, unit=unit, unit_scale=True, delay=1.0, disable=None, leave=False)


class _HiddenBar:
    """A bar that shows nothing."""

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, n: float = 1) -> None:
        pass

    def set_postfix(self, *, refresh: bool = True, **values: object) -> None:
        pass

    def set_postfix_str(self, s: str, refresh: bool = True) -> None:
        pass


HIDDEN = _HiddenBar()


@cache
def _bars() -> Callable[..., ProgressBar]:
    """Return a subclass of tqdm whose lock is not shared between processes.

    A process shares tqdm's lock with its forks. A fork that is killed while it holds the lock,
    for example by the time limit of `treerep compare`, would block all other processes forever.
    """
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        """A bar with a separate lock."""

    def renew_lock() -> None:
        Bar.set_lock(threading.RLock())

    renew_lock()
    if hasattr(os, "register_at_fork"):
        # Another thread may hold the lock at the moment of a fork.
        os.register_at_fork(after_in_child=renew_lock)
    return Bar
