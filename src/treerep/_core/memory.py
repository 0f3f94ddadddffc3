"""Checks of the available memory before an allocation."""

import os
import sys
from pathlib import Path

_CONTAINER = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Return the bytes available without swapping, within the limits of the container and the process.

    Returns `sys.maxsize` if no limit can be determined.
    """
    return min(_on_the_machine(), _in_the_container(), _in_the_process())


def _on_the_machine() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):  # not available on this system
        return sys.maxsize


def _in_the_container() -> int:
    try:
        limit, used = (int((_CONTAINER / name).read_text()) for name in ("memory.max", "memory.current"))
        return max(0, limit - used)
    except (OSError, ValueError):  # not in a container, or the limit is "max"
        return sys.maxsize


def _in_the_process() -> int:
    try:
        import resource  # not available on every system

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return sys.maxsize
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        return max(0, limit - used)
    except (ImportError, OSError, ValueError):
        return sys.maxsize


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Raise a one-line MemoryError if `needed` bytes are not available.

    >>> check_memory(10**18, "neighbor_joining on 350,000,000 points", "use method='treerep'")
    Traceback (most recent call last):
      ...
    MemoryError: neighbor_joining on 350,000,000 points needs 931,322,574.6 GiB of memory, but ... use method='treerep'
    """
    available = available_memory()
    if needed > available:
        raise MemoryError(
            f"{what} needs {_gib(needed)} GiB of memory, but {_gib(available)} GiB are available: {remedy}"
        )


class MemoryWatch:
    """Stop reading when most of the initially available memory is used.

    Use this watch for data of unknown size that is decompressed or parsed piece by piece.
    """

    def __init__(self) -> None:
        self._at_first = available_memory()

    def check(self) -> None:
        """Raise a one-line MemoryError if less than a quarter of the memory is left."""
        left = available_memory()
        if left < self._at_first // 4:
            raise MemoryError(
                f"the data does not fit in memory ({_gib(self._at_first)} GiB were "
                f"available, {_gib(left)} are left): use a part of it"
            )


def out_of_device_memory(error: Exception) -> bool:
    """Tell whether torch ran out of memory. Some of these errors have no special class.

    >>> out_of_device_memory(RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."))
    True
    """
    return any(words in str(error) for words in ("out of memory", "can't allocate memory"))


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f}"
