"""One way to show progress: on a terminal, for work that takes a while, and silent everywhere else."""

from typing import Any


def progress_bar(total: float, what: str, unit: str) -> Any:
    """Return a tqdm bar that stays hidden unless stderr is a terminal and the work lasts over a second.

    Use it as a context manager and call `update(done)`.
    """
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, unit_scale=True, delay=1.0, disable=None, leave=False)
