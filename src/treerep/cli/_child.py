"""Run work with a time limit, in a child process that can be killed."""

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TypeVar

Result = TypeVar("Result")


def run_in_child(work: Callable[[], Result], seconds: float) -> Result:
    """Return the result of `work`, raise its error, or raise a TimeoutError.

    A process is needed because compiled code cannot be interrupted. The process is forked, so
    that the data need not be loaded or sent again.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send_result, args=(work, sender), daemon=True)
    with warnings.catch_warnings():
        # Python warns about forks while threads run. The pools of earlier work are closed.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise TimeoutError(f"stopped after {seconds:g} s")
        succeeded, result = receiver.recv()
    except EOFError:
        child.join()
        raise RuntimeError(
            f"the process ended with code {child.exitcode}, perhaps out of memory: "
            "use fewer points or a machine with more memory"
        ) from None
    finally:
        child.kill()
        child.join()
        receiver.close()
    if not succeeded:
        raise result
    value: Result = result
    return value


def _send_result(work: Callable[[], object], sender: Connection) -> None:
    # The parent reports errors: hide progress bars and tracebacks of this process.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.__stderr__.fileno() if sys.__stderr__ else 2)
    try:
        sender.send((True, work()))
    except Exception as error:
        sender.send((False, RuntimeError(str(error) or type(error).__name__)))
