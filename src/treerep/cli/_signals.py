"""A command that is told to end does so in order: it removes its temporary files first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from .._core.parallel import stop_workers

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def orderly_end() -> Iterator[list[int]]:
    """Let SIGTERM (`timeout`, `docker stop`) and SIGHUP act like Ctrl-C, and yield a list that gets their numbers.

    Signals that are ignored stay ignored, as `nohup` has it. This is for commands: a library
    leaves signals alone.
    """
    received: list[int] = []

    def interrupt(number: int, _: FrameType | None) -> None:
        received.append(number)
        stop_workers()
        raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    ours = [
        number for number in _SIGNALS if main and signal.getsignal(number) is signal.SIG_DFL
    ]
    try:
        for number in ours:
            signal.signal(number, interrupt)
        yield received
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
