"""Checks that a stored array has all of its chunks.

Zarr reads a chunk that is not stored as the fill value, by default 0. By default, zarr also does
not store chunks that contain only the fill value. A lost chunk and a chunk of zeros therefore look
alike. In a distance matrix the two can usually be told apart:

- A chunk that covers exactly one diagonal entry is always zero. (The last chunk covers one such
  entry if one row is left over.)
- d(i, j) = 0 means that i and j coincide, so rows i and j are equal. If the rows of a missing
  chunk are not all equal, the chunk was lost, and an error is raised.
- If the rows are all equal, either the points coincide, or the chunk was lost and its points are
  equally far from all other points. The data cannot tell which is the case. The matrix is read, and
  a warning names the chunk.

HDF5 stores chunks of zeros. A missing chunk was therefore never written, and an error is
raised.
"""

import hashlib
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ..._core.memory import check_memory
from ..._core.typing import ChunkedArray
from .blosc import check_blosc_chunks
from .zarr_metadata import check_zarr_metadata

Region = tuple[slice, ...]

_REMEDY = "restore the chunk, or write the array again with config={'write_empty_chunks': True}"


def check_stored(array: ChunkedArray) -> None:
    """Raise an error if an array is not safe to read. Call this before reading the first entry."""
    dtype = array.dtype
    # NumPy counts its variable-length strings ("T") as objects.
    if getattr(dtype, "hasobject", False) and dtype.kind != "T":
        raise ValueError(
            f"an array of dtype {dtype} contains Python objects, not numbers: save it as numbers"
        )
    if _is_zarr(array):
        check_zarr_metadata(array.metadata.to_dict())
        size = prod(_chunk_shape(array)) * dtype.itemsize
        check_memory(size, f"a chunk of shape {_chunk_shape(array)}", "write the array in smaller chunks")


def check_chunks(array: ChunkedArray, kind: str) -> None:
    """Raise an error if chunks of an array are lost; `kind` is "distances" or "points"."""
    check_stored(array)
    if not _is_zarr(array):
        _check_hdf5(array)
        return
    stored = _checked_chunks(array)
    missing = _missing_chunks(array, stored)
    if kind == "distances":
        missing = (
            (name, region) for name, region in missing if not _is_diagonal_entry(region, array.fill_value)
        )
    first = next(missing, None)
    if first is None:
        return
    if not any(map(stored, _chunk_indices(array))):
        raise ValueError(
            f"no chunk of the array is stored; the first is {first[0]}: restore the "
            "chunks, or write the array again"
        )
    rest = itertools.chain([first], missing)
    count = _check_coincident(array, rest) if kind == "distances" else sum(1 for _ in rest)
    meaning = (
        "these points are assumed to coincide"
        if kind == "distances"
        else "these coordinates are assumed to have this value"
    )
    more = f" and {count - 1:,} more are" if count > 1 else " is"
    warnings.warn(
        f"chunk {first[0]} ({_span(first[1])}){more} not stored. Zarr omits chunks that "
        f"contain only the fill value {array.fill_value}, so {meaning}. If a chunk was "
        "lost, restore it",
        stacklevel=2,
    )


def refuse_missing_chunks(array: ChunkedArray, what: str) -> None:
    """Raise an error if any chunk of an array is missing."""
    check_stored(array)
    for name, region in _missing_chunks(array, _checked_chunks(array)):
        raise ValueError(f"chunk {name} of {what} ({_span(region)}) is missing: {_REMEDY}")


def _is_zarr(array: ChunkedArray) -> bool:
    return hasattr(array, "store_path") and hasattr(array, "metadata")


def _check_hdf5(array: ChunkedArray) -> None:
    chunks = getattr(array, "chunks", None)
    handle: Any = getattr(array, "id", None)
    if not chunks or not hasattr(handle, "get_num_chunks"):
        return
    total = prod(_grid(array.shape, chunks))
    found = handle.get_num_chunks()
    if found < total:
        raise ValueError(f"{total - found:,} of {total:,} chunks were never written: write the whole array")


def _chunk_shape(array: ChunkedArray) -> tuple[int, ...]:
    """Return the shape of the part stored in one file: a chunk, or a shard of many chunks."""
    return tuple(array.shards or array.chunks)


def _grid(shape: Sequence[int], chunks: Sequence[int]) -> tuple[int, ...]:
    return tuple(-(-length // chunk) for length, chunk in zip(shape, chunks, strict=True))


def _chunk_indices(array: ChunkedArray) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, _grid(array.shape, _chunk_shape(array))))


def _missing_chunks(
    array: ChunkedArray, stored: Callable[[tuple[int, ...]], bool]
) -> Iterator[tuple[str, Region]]:
    """Yield the name and the region of every chunk that is not stored."""
    for index in _chunk_indices(array):
        if not stored(index):
            spans = zip(index, _chunk_shape(array), array.shape, strict=True)
            region = tuple(slice(k * step, min((k + 1) * step, length)) for k, step, length in spans)
            yield array.metadata.encode_chunk_key(index), region


def _checked_chunks(array: ChunkedArray) -> Callable[[tuple[int, ...]], bool]:
    """Check that the stored chunks are safe to decompress; return which chunks are stored."""
    stored = _is_stored(array)
    check_blosc_chunks(
        array,
        (array.metadata.encode_chunk_key(place) for place in _chunk_indices(array) if stored(place)),
    )
    return stored


def _is_stored(array: ChunkedArray) -> Callable[[tuple[int, ...]], bool]:
    """Return a function that tells whether the chunk at an index of the grid is stored."""
    from zarr.core.sync import sync

    store = array.store_path.store
    prefix = array.store_path.path
    head = f"{prefix}/" if prefix else ""

    async def listed() -> set[str]:
        return {key async for key in store.list_prefix(prefix)}

    if store.supports_listing:
        keys = sync(listed())
        return lambda index: head + array.metadata.encode_chunk_key(index) in keys
    return lambda index: bool(sync(store.exists(head + array.metadata.encode_chunk_key(index))))


def _is_diagonal_entry(region: Region, fill: object) -> bool:
    """Tell whether a region is one diagonal entry and the fill value is 0, the required value."""
    return len(region) == 2 and region[0] == region[1] and region[0].stop - region[0].start == 1 and fill == 0


def _check_coincident(array: ChunkedArray, missing: Iterator[tuple[str, Region]]) -> int:
    """Raise an error for the first missing chunk whose points do not coincide; count the rest."""
    rows = _CommonRows(array)
    count = 0
    for name, region in missing:
        if array.fill_value != 0:
            raise ValueError(f"chunk {name} ({_span(region)}) is missing: {_REMEDY}")
        across, down = (rows.of(span) for span in region)
        if across is None or across != down:
            raise ValueError(
                f"chunk {name} ({_span(region)}) is missing, and its points do not coincide: {_REMEDY}"
            )
        count += 1
    return count


class _CommonRows:
    """Digests of rows that several points share. Each row is read once, chunk by chunk."""

    def __init__(self, array: ChunkedArray) -> None:
        self._array = array
        self._known: dict[tuple[int, int], bytes | None] = {}

    def of(self, points: slice) -> bytes | None:
        """Return the digest of the row that these points share; None if their rows differ."""
        key = points.start, points.stop
        if key not in self._known:
            self._known[key] = self._read(points)
        return self._known[key]

    def _read(self, points: slice) -> bytes | None:
        digest = hashlib.blake2b()
        step = _chunk_shape(self._array)[1]
        for left in range(0, self._array.shape[1], step):
            block = np.asarray(self._array[points, left : left + step])
            if (block != block[:1]).any():
                return None
            digest.update((block[0] + block.dtype.type(0)).tobytes())  # -0.0 becomes 0.0
        return digest.digest()


def _span(region: Region) -> str:
    names = ("rows", "columns") if len(region) == 2 else ("entries",) * len(region)
    return ", ".join(
        f"{name} {span.start} to {span.stop - 1}" for name, span in zip(names, region, strict=True)
    )
