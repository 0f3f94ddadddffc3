"""Independent tasks on every core, with ordered results. Interrupts stop the tasks."""

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
    """Return the number of threads to use; None means every core this process may run on.

    >>> count_jobs(3)
    3
    """
    if n_jobs is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    return positive_number(n_jobs, "n_jobs")


_entered: set["Workers"] = set()  # pools to stop on an interrupt


class Workers:
    """A pool of threads for kernels that release the GIL. With one job, everything runs inline.

    Every caller creates a pool, so concurrent callers never wait for each other and no pool
    submits to itself. On an error or an interrupt, pending tasks are dropped, and `stopped`
    tells running tasks to return early.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.jobs = count_jobs(n_jobs)
        self.stopped = threading.Event()
        self._interrupted = False
        self._listens = False
        self._pool = ThreadPoolExecutor(self.jobs, thread_name_prefix="treerep") if self.jobs > 1 else None

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield work(task) for every task, in the order of the tasks."""
        tasks = list(tasks)
        if self._pool is None or len(tasks) < 2:
            return map(work, tasks)
        return self._pool.map(work, tasks)

    def check(self) -> None:
        """Raise KeyboardInterrupt after an interrupt, even if numba swallowed it.

        Numba runs Python code from C when a kernel is called. It clears exceptions raised
        there, including KeyboardInterrupt, or turns them into a SystemError. An interrupt
        therefore also sets a flag. Long-running work calls `check` regularly, and `__exit__`
        uses the flag to tell an interrupt from another error.
        """
        if self.stopped.is_set():
            raise KeyboardInterrupt

    def __enter__(self) -> "Workers":
        # Only replace Python's default handler, never a custom handler. Pools inside another pool of
        # this thread need no handler.
        main = threading.current_thread() is threading.main_thread()
        self._listens = (
            main
            and not any(workers._listens for workers in list(_entered))
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
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
    """Flag an interrupt in all pools, in case the KeyboardInterrupt is lost."""
    for workers in list(_entered):
        workers._interrupted = True
        workers.stopped.set()


def run(work: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int | None = None) -> Iterator[Result]:
    """Yield work(task) for every task, in the order of the tasks."""
    tasks = list(tasks)
    with Workers(min(count_jobs(n_jobs), max(1, len(tasks)))) as workers:
        yield from workers.map(work, tasks)


class Runner(Protocol):
    """Run many tasks of the same kind, on the threads of this process or on a cluster.

    The work is a module-level function. Data that all tasks need is shared and sent once, and each
    task is small.
    """

    def map(
        self, work: Callable[[Shared, Task], Result], shared: Shared, tasks: Iterable[Task]
    ) -> Iterator[Result]:
        """Yield work(shared, task) for every task, in the order of the tasks."""
        ...


class ThreadRunner:
    """The Runner that uses the threads of this process."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def map(
        self, work: Callable[[Shared, Task], Result], shared: Shared, tasks: Iterable[Task]
    ) -> Iterator[Result]:
        """Yield work(shared, task) for every task, in the order of the tasks."""
        return run(partial(work, shared), tasks, self.n_jobs)
