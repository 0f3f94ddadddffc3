"""Matrices that stay on disk: which they are, and how they are laid out there."""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base import MetricError, read_only

#: A mapped file of more bytes is read only where distances are asked for. Always this number,
#: so that what a file is taken for does not depend on the machine.
LARGE = 1 << 30


def is_large_map(array: NDArray[Any]) -> bool:
    """Whether an array is (a view of) a memory-mapped file, and too large to be read for a look at it."""
    return array.nbytes > LARGE and _map_of(array) is not None


def _map_of(array: object) -> "np.memmap[Any, Any] | None":
    found = None
    while isinstance(array, np.ndarray):
        found = array if isinstance(array, np.memmap) else found
        array = array.base
    return found


def to_kernel_layout(array: NDArray[Any]) -> NDArray[Any]:
    """Return a large mapped matrix as what kernels take, never copied: one in Fortran order is read as its mirror."""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array = array.T
    size = f"this mapped matrix of {len(array):,} points"
    if not array.flags.c_contiguous:
        raise MetricError(
            f"{size} is a view with gaps, which would be copied into memory: save it by itself"
        )
    if not array.flags.aligned:
        raise MetricError(
            f"{size} begins in the middle of a number of {array.itemsize} bytes: save it by itself"
        )
    if not array.dtype.isnative:
        raise MetricError(
            f"{size} has the foreign byte order of dtype {array.dtype}: save it in that of this machine"
        )
    _check_file(array)
    return read_only(array)


def _check_file(array: NDArray[Any]) -> None:
    """Refuse a file that has become shorter since it was mapped: to read beyond its end kills a process."""
    mapped = _map_of(array)
    if (
        mapped is None
        or mapped.filename is None
        or not (path := Path(mapped.filename)).exists()
    ):
        return  # a file without a name stays as it is
    end = mapped.offset + mapped.nbytes
    size = path.stat().st_size
    if size < end:
        raise MetricError(
            f"{path} has {size:,} bytes, but the matrix in it ends at {end:,}: the file is cut short"
        )


class FileLocation(NamedTuple):
    """Where a matrix lies on a disk: what is sent to others in its stead."""

    path: str
    offset: int
    dtype: str
    shape: tuple[int, ...]


def file_location(array: NDArray[Any]) -> FileLocation:
    """Where a matrix that was laid out lies; a MetricError if nobody else can look there."""
    mapped = _map_of(array)
    if (
        mapped is None or mapped.filename is None or mapped.mode == "c"
    ):  # what is written to such a map is in memory
        raise MetricError(
            f"the matrix of {len(array):,} points lies in a temporary file or a private map, which only this process "
            "can read: save it as npy and give the path"
        )
    offset = mapped.offset + array.ctypes.data - mapped.ctypes.data
    return FileLocation(str(mapped.filename), offset, array.dtype.str, array.shape)


def open_map(place: FileLocation) -> NDArray[Any]:
    """Map a matrix again, in another process or on another machine."""
    path, offset, dtype, shape = place
    try:
        return to_kernel_layout(np.memmap(path, dtype, "r", offset, shape))
    except (OSError, ValueError) as error:
        line = " ".join(str(error).split())
        raise MetricError(
            f"{path} is needed where it is worked with and cannot be mapped there ({line})"
        ) from error


@contextmanager
def random_access(array: NDArray[Any]) -> Iterator[None]:
    """While single entries of a mapped array are read: of the disk only their own pages, not the megabytes around."""
    pages = _pages_of(array)
    if pages is not None:
        pages.madvise(mmap.MADV_RANDOM)
    try:
        yield
    finally:
        if pages is not None:
            pages.madvise(mmap.MADV_NORMAL)


def prefetch(array: NDArray[Any], entries: Iterator[tuple[int, int, int]]) -> None:
    """Let the system fetch entries start ... stop-1 of some rows of a mapped array, given as (row, start, stop).

    The disk then works on many of them at a time, while single reads wait one for another.
    """
    pages = _pages_of(array)
    mapped = _map_of(array)
    if pages is None or mapped is None:
        return
    # A map begins where a page does, at most so much before its array.
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
