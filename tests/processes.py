"""Child processes that can be interrupted, however the tests were started, and that never outlive their test."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def default_signals() -> None:
    """Undo what `nohup` and background jobs of scripts hand down: ignored signals. Pass it as `preexec_fn`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a child with default signals; it is killed at the end, also after a timeout or a failed assertion."""
    with subprocess.Popen(command, preexec_fn=default_signals, **options) as process:
        try:
            yield process
        finally:
            process.kill()
