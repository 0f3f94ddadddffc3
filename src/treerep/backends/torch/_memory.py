"""One-line errors that state what an operation needs when the device runs out of memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..._core.memory import out_of_device_memory


@contextmanager
def memory_needed(needs: str) -> Iterator[None]:
    """Turn an out-of-memory error from torch into a one-line MemoryError.

    Use it as a context manager or as a decorator.
    """
    try:
        yield
    except RuntimeError as error:
        if not out_of_device_memory(error):
            raise
        raise MemoryError(f"the device ran out of memory: {needs}") from error
