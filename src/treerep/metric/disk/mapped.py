"""Matrices in memory-mapped files that stay on disk."""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base import MetricError, read_only

#: Mapped files with more bytes are read only where entries are needed. The limit is fixed, so
#: that results do not depend on the machine.
LARGE = 1 << 30


def is_large_map(array: NDArray[Any]) -> bool:
    """Tell whether an array is in a memory-mapped file too large to read at once."""
    return array.nbytes > LARGE and _map_of(array) is not None


def _map_of(array: object) -> "np.memmap[Any, Any] | None":
    found = None
    while isinstance(array, np.ndarray):
        found = array if isinstance(array, np.memmap) else found
        array = array.base
    return found


def to_kernel_layout(array: NDArray[Any]) -> NDArray[Any]:
    """Return a mapped matrix in the layout of kernels, without a copy, or raise a MetricError."""
    # symmetric, so the transpose is the same matrix
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array = array.T
    size = f"this mapped matrix of {len(array):,} points"
    if not array.flags.c_contiguous:
        raise MetricError(
            f"{size} is a view with gaps, which would be copied into memory: save the view as a new file"
        )
    if not array.flags.aligned:
        raise MetricError(
            f"{size} begins in the middle of a number of {array.itemsize} bytes: save it as a new file"
        )
    if not array.dtype.isnative:
        raise MetricError(
            f"{size} has dtype {array.dtype}, which is not in the byte order of this "
            "machine: save it in the native byte order"
        )
    _check_file(array)
    return read_only(array)


def _check_file(array: NDArray[Any]) -> None:
    """Raise an error if a file shrank after it was mapped: reading beyond its end would be fatal."""
    mapped = _map_of(array)
    if mapped is None or mapped.filename is None:
        return  # a temporary file that no other process can change
    path = Path(mapped.filename)
    if not path.exists():
        return
    end = mapped.offset + mapped.nbytes
    size = path.stat().st_size
    if size < end:
        raise MetricError(
            f"{path} has {size:,} bytes, but its matrix ends at byte {end:,}: the file is truncated"
        )


class FileLocation(NamedTuple):
    """The location of a matrix on disk, pickled in place of the matrix."""

    path: str
    offset: int
    dtype: str
    shape: tuple[int, ...]


def file_location(array: NDArray[Any]) -> FileLocation:
    """Return the location of a mapped matrix. Raise a MetricError if only this process can read it."""
    mapped = _map_of(array)
    # Changes to a copy-on-write map ("c") exist only in memory.
    if mapped is None or mapped.filename is None or mapped.mode == "c":
        raise MetricError(
            f"the matrix of {len(array):,} points is in a temporary file or a private map "
            "that only this process can read: save it as npy and pass the path"
        )
    offset = mapped.offset + array.ctypes.data - mapped.ctypes.data
    return FileLocation(str(mapped.filename), offset, array.dtype.str, array.shape)


def open_map(location: FileLocation) -> NDArray[Any]:
    """Map a matrix again, in another process or on another machine."""
    path, offset, dtype, shape = location
    try:
        return to_kernel_layout(np.memmap(path, dtype, "r", offset, shape))
    except (OSError, ValueError) as error:
        line = " ".join(str(error).split())
        raise MetricError(
            f"{path} must exist on every machine, and cannot be mapped on this one ({line})"
        ) from error


@contextmanager
def random_access(array: NDArray[Any]) -> Iterator[None]:
    """Context manager: read single pages of a mapped array from disk, without read-ahead."""
    pages = _pages_of(array)
    if pages is not None:
        pages.madvise(mmap.MADV_RANDOM)
    try:
        yield
    finally:
        if pages is not None:
            pages.madvise(mmap.MADV_NORMAL)


def prefetch(array: NDArray[Any], entries: Iterator[tuple[int, int, int]]) -> None:
    """Ask the system to fetch entries of a mapped array, given as (row, start, stop).

    The disk then serves many requests at a time. Single reads would wait for each other.
    """
    pages = _pages_of(array)
    mapped = _map_of(array)
    if pages is None or mapped is None:
        return
    # A map begins at the start of a page, at or before its array.
    address = mapped.ctypes.data - mapped.offset % mmap.ALLOCATIONGRANULARITY
    first = array.ctypes.data - address
    width = array.strides[0]
    size = array.itemsize
    for row, start, stop in entries:
        begin = first + row * width + start * size
        begin -= begin % mmap.PAGESIZE
        pages.madvise(mmap.MADV_WILLNEED, begin, first + row * width + stop * size - begin)


def _pages_of(array: NDArray[Any]) -> mmap.mmap | None:
    mapped = _map_of(array)
    pages = None if mapped is None else mapped.base
    return pages if isinstance(pages, mmap.mmap) and hasattr(mmap, "MADV_RANDOM") else None
