"""Limits on time and work."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from .._core.parallel import Workers
from .._core.progress import ProgressBar

Task = TypeVar("Task")
Result = TypeVar("Result")


class LimitReached(Exception):  # noqa: N818 - a limit is not an error
    """The allowed time or work is used up."""


class Bound(NamedTuple):
    """The result of a search. Better quadruples were passed to its `Best`."""

    high: float  # upper bound of h = 2 delta
    complete: bool  # whether the search was completed


class Pace:
    """Workers with a limit. At the limit, `LimitReached` is raised; earlier results are kept."""

    def __init__(
        self,
        workers: Workers,
        seconds: float | None,
        steps: float = math.inf,
        began: float | None = None,
    ) -> None:
        self.workers = workers
        self._end = math.inf if seconds is None else (time.monotonic() if began is None else began) + seconds
        self._steps = steps

    def part(self, share: float) -> "Pace":
        """Return a pace that may use this fraction of the remaining time."""
        now = time.monotonic()
        return Pace(self.workers, share * (self._end - now) if self.limited else None, began=now)

    @property
    def limited(self) -> bool:
        """Whether there is a limit in seconds."""
        return self._end < math.inf

    def late(self) -> bool:
        """Return whether time is up."""
        try:
            self.check()
        except LimitReached:
            return True
        return False

    def map(
        self, work: Callable[[Task], Result], tasks: Iterable[Task], inline: bool = False
    ) -> Iterator[Result]:
        """Yield work(task) in order until time is up. Inline work is too small for threads."""
        self.check()
        results = map(work, tasks) if inline else self.workers.map(work, tasks)
        try:
            for result in results:
                yield result
                self.check()
        finally:
            close = getattr(results, "close", None)
            if close is not None:  # drops the pending tasks of a pool
                close()

    def run(self, work: Callable[[Task], object], tasks: Iterable[Task]) -> None:
        """Call work(task) for every task until time is up."""
        for _ in self.map(work, tasks):
            pass

    def check(self) -> None:
        """Raise KeyboardInterrupt after an interrupt, and `LimitReached` if time is up."""
        self.workers.check()
        if time.monotonic() >= self._end:
            raise LimitReached

    def spend(self, steps: int) -> None:
        """Count steps of work, which are the same on every machine; raise `LimitReached` at the limit."""
        self._steps -= steps
        if self._steps <= 0:
            raise LimitReached


class Best:
    """The least tree-like four points so far, with h = 2 delta, and a progress bar."""

    def __init__(self, bar: ProgressBar) -> None:
        self.h = 0.0
        self.witness: tuple[int, int, int, int] | None = None
        self._bar = bar

    def offer(self, h: float, four: Iterable[int]) -> None:
        """Keep the four points if their h is larger."""
        if h > self.h:
            a, b, c, d = map(int, four)
            self.h = float(h)
            self.witness = (a, b, c, d)

    def show(self, high: float) -> None:
        """Show the interval of delta in the progress bar."""
        self._bar.set_postfix_str(f"delta in [{self.h / 2:.4g}, {max(high, self.h) / 2:.4g}]", refresh=False)
        self._bar.update(1)
