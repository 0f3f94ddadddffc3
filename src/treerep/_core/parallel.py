"""Run independent pieces of work on every core, in order, interruptible."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import FrameType, TracebackType
from typing import Protocol, TypeVar

from .checks import positive_number

Task = TypeVar("Task")
Result = TypeVar("Result")
Shared = TypeVar("Shared")


def count_jobs(n_jobs: int | None = None) -> int:
    """Number of threads to use; None means every core this process may run on.

    >>> count_jobs(3)
    3
    """
    if n_jobs is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    return positive_number(n_jobs, "n_jobs")


_entered: set["Workers"] = set()  # those that an interrupt stops


class Workers:
    """A pool of threads for kernels that release the GIL; with one job everything runs inline.

    Every caller makes its own, so concurrent callers never wait for each other and no pool
    submits to itself. On an error or an interrupt the tasks that have not begun are dropped,
    and `stopped` tells running ones to return early.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.jobs = count_jobs(n_jobs)
        self.stopped = threading.Event()
        self._interrupted = False
        self._pool = (
            ThreadPoolExecutor(self.jobs, thread_name_prefix="treerep")
            if self.jobs > 1
            else None
        )

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield work(task) for every task, in the order of the tasks."""
        tasks = list(tasks)
        if self._pool is None or len(tasks) < 2:
            return map(work, tasks)
        return self._pool.map(work, tasks)

    def check(self) -> None:
        """Raise KeyboardInterrupt if an interrupt came, even one that was lost on its way.

        Numba runs Python code from C when it is called, and clears exceptions raised there, a
        KeyboardInterrupt too, or turns them into a SystemError. So an interrupt also leaves a
        mark: long work calls `check` now and then, and `__exit__` tells an interrupt from
        another error.
        """
        if self.stopped.is_set():
            raise KeyboardInterrupt

    def __enter__(self) -> "Workers":
        # Only where Python's own handler is in force: whoever installed another one knows why.
        main = threading.current_thread() is threading.main_thread()
        self._listens = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        _entered.add(self)
        if self._listens:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        stop_workers()
        signal.default_int_handler(number, frame)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _entered.discard(self)
        if self._listens:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if kind is not None:
            self.stopped.set()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        if self._interrupted and kind is SystemError:
            raise KeyboardInterrupt from error


def stop_workers() -> None:
    """Mark an interrupt in all pools, so that long work notices it even if the KeyboardInterrupt is lost."""
    for workers in list(_entered):
        workers._interrupted = True
        workers.stopped.set()


def run(
    work: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int | None = None
) -> Iterator[Result]:
    """Yield work(task) for every task, in the order of the tasks, whatever the number of threads."""
    tasks = list(tasks)
    with Workers(min(count_jobs(n_jobs), max(1, len(tasks)))) as workers:
        yield from workers.map(work, tasks)


class Runner(Protocol):
    """Who does many pieces of the same work: the threads of this process, or workers elsewhere.

    The work is a function of a module, what all pieces need is shared, and a piece says little
    more than which it is: so all of them can travel, and what is shared travels once.
    """

    def map(
        self, work: Callable[[Shared, Task], Result], shared: Shared, tasks: Iterable[Task]
    ) -> Iterator[Result]:
        """Yield work(shared, task) for every task, in the order of the tasks."""
        ...


class ThreadRunner:
    """The Runner of this process."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def map(
        self, work: Callable[[Shared, Task], Result], shared: Shared, tasks: Iterable[Task]
    ) -> Iterator[Result]:
        """Yield work(shared, task) for every task, in the order of the tasks."""
        return run(partial(work, shared), tasks, self.n_jobs)
