"""Let signals end a command after it has removed its temporary files."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from .._core.parallel import stop_workers

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def orderly_end() -> Iterator[list[int]]:
    """Let SIGTERM and SIGHUP act like Ctrl-C. Yield a list of the signals received.

    `timeout` and `docker stop` send SIGTERM. Ignored signals stay ignored, for `nohup`.
    """
    received: list[int] = []

    def interrupt(number: int, _: FrameType | None) -> None:
        received.append(number)
        stop_workers()
        raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()
    handled = [number for number in _SIGNALS if in_main and signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in handled:
            signal.signal(number, interrupt)
        yield received
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
