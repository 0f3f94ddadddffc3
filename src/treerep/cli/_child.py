"""Work with a time limit: in a process of its own, which can be ended wherever it is."""

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def run_in_child(work: Callable[[], Any], seconds: float) -> Any:
    """Return what `work` returns, or raise what it raises, or a TimeoutError when the time is over.

    A copy of this process does it, so nothing is loaded or sent anew; compiled code cannot be
    interrupted within one.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_do, args=(work, theirs), daemon=True)
    with warnings.catch_warnings():
        # Python warns of forks while threads run: here the pools of earlier work are closed.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    theirs.close()
    try:
        if not ours.poll(seconds):
            raise TimeoutError(f"not done after {seconds:g} s")
        good, result = ours.recv()
    except EOFError:
        child.join()
        raise RuntimeError(
            f"the process ended with code {child.exitcode}: perhaps memory ran out"
        ) from None
    finally:
        child.kill()
        child.join()
        ours.close()
    if good:
        return result
    raise result


def _do(work: Callable[[], Any], answers: Connection) -> None:
    # Bars and tracebacks of this process are nobody's; its parent tells what matters.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.__stderr__.fileno() if sys.__stderr__ else 2)
    try:
        answers.send((True, work()))
    except Exception as error:
        answers.send((False, RuntimeError(str(error) or type(error).__name__)))
