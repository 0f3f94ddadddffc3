"""Explain in one line what work on a device needs, if its memory runs out."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..._core.memory import out_of_device_memory


@contextmanager
def memory_needed(needs: str) -> Iterator[None]:
    """Turn an out-of-memory error of torch into a MemoryError of one line.

    Use it as a context manager or as a decorator.
    """
    try:
        yield
    except RuntimeError as error:
        if not out_of_device_memory(error):
            raise
        raise MemoryError(f"the memory of the device ran out: {needs}") from error
