"""Matrices stored in compressed chunks by zarr or HDF5.

Reading a single distance decompresses a whole chunk, and the pivots of a fit touch nearly every
chunk (docs/howto/disk.md has the count). Each chunk is therefore decompressed once: into
memory, or for large matrices into a temporary file that is mapped.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.progress import progress_bar
from ..._core.typing import ChunkedArray
from ..base import MetricError
from ..matrix import MatrixMetric, check_square
from . import mapped
from .chunks import check_chunks

# Size of the blocks that are decompressed together, unless a chunk is larger.
_BLOCK_BYTES = 64 << 20


def stored_matrix(
    array: ChunkedArray,
    *,
    labels: Sequence[object] | None = None,
    symmetrize: str | None = None,
    missing: bool = False,
) -> MatrixMetric:
    """Return the MatrixMetric of a square array stored in chunks.

    A matrix of more than 1 GiB is decompressed into an unnamed temporary file. The file is
    treated like any mapped file and deleted with the metric. Lost chunks raise an error: see
    `chunks`.
    """
    shape = tuple(array.shape)
    dtype = np.dtype(array.dtype)
    check_square(shape, dtype)
    check_chunks(array, "distances")
    if shape[0] * shape[1] * dtype.itemsize <= mapped.LARGE:
        loaded = np.asarray(array[:])
        return MatrixMetric(loaded, labels=labels, symmetrize=symmetrize, missing=missing)
    matrix = _unpacked(array, shape[0], dtype.newbyteorder("="))
    return MatrixMetric(matrix, labels=labels, symmetrize=symmetrize, missing=missing)


def _unpacked(array: ChunkedArray, n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    folder = tempfile.gettempdir()
    needed = n * n * dtype.itemsize
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise MetricError(
            f"the decompressed matrix takes {needed:,} bytes, but {folder} has {free:,} "
            "bytes free: set TMPDIR to a folder with more free space"
        )
    with (
        tempfile.TemporaryFile(prefix="treerep-", dir=folder) as file,
        progress_bar(n, "unpacking", "points") as bar,
    ):
        # if the disk filled up later, the process would be killed
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, needed)
        out = np.memmap(file, dtype, "r+", shape=(n, n))
        for rows, cols in _blocks(n, dtype.itemsize, getattr(array, "chunks", None)):
            out[rows, cols] = array[rows, cols]
            bar.update(rows.stop - rows.start if cols.stop == n else 0)
    return out


def _blocks(n: int, itemsize: int, chunks: tuple[int, int] | None) -> Iterator[tuple[slice, slice]]:
    """Yield blocks of whole chunks that cover an n x n array."""
    high, wide = (min(n, int(length)) for length in chunks) if chunks else (1, n)
    across = min(n, wide * max(1, _BLOCK_BYTES // (high * wide * itemsize)))
    down = high * max(1, _BLOCK_BYTES // (high * across * itemsize))
    for top in range(0, n, down):
        for left in range(0, n, across):
            yield slice(top, min(top + down, n)), slice(left, min(left + across, n))
