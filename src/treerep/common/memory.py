"""Say so before memory runs out, not after."""

import os
from pathlib import Path


def available_memory() -> int:
    """Bytes that can be had without swapping, or all of the machine's where the system does not tell."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Raise a MemoryError of one line if `needed` bytes are more than there are.

    >>> check_memory(10**18, "neighbor_joining on 350,000,000 points", "use method='treerep'")
    Traceback (most recent call last):
      ...
    MemoryError: neighbor_joining on 350,000,000 points needs 931,322,574.6 GiB of memory and ... use method='treerep'
    """
    there = available_memory()
    if needed > there:
        raise MemoryError(f"{what} needs {_gib(needed)} GiB of memory and {_gib(there)} are available: {remedy}")


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f}"
