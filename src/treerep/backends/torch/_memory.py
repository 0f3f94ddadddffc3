"""Say in one line what work on a device needs, where its memory runs out."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..._core.memory import out_of_device_memory


@contextmanager
def memory_needed(needs: str) -> Iterator[None]:
    """Turn what torch says when memory runs out into a MemoryError of one line.

    Decorates functions, too.
    """
    try:
        yield
    except RuntimeError as error:
        if not out_of_device_memory(error):
            raise
        raise MemoryError(f"the memory of the device ran out: {needs}") from error
