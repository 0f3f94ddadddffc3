"""Tasks that do harm to their worker. Workers import this module, so it imports little."""

import itertools
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


class Trap:
    """A task that does harm the `after`-th time it runs anywhere, and its duty at all other times."""

    def __init__(self, task: Callable[..., Any], harm: Callable[[], None], folder: Path, after: int) -> None:
        self.task, self.harm, self.folder, self.after = task, harm, folder, after
        self.__name__ = task.__name__

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if self._turn() == self.after:
            self.harm()
        return self.task(*arguments, **options)

    def _turn(self) -> int:
        """Workers count together, by files."""
        for turn in itertools.count():
            try:
                (self.folder / str(turn)).touch(exist_ok=False)
            except FileExistsError:
                continue
            return turn
        raise AssertionError

    @property
    def sprung(self) -> bool:
        return (self.folder / str(self.after)).exists()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def freeze() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def exhaust() -> None:
    hoard = []
    while True:  # until the nanny sees it
        hoard.append(np.ones(4 << 20))
        time.sleep(0.02)


def dawdle() -> None:
    time.sleep(60)
