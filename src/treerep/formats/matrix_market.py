"""Matrix Market files: a dense array is distances or points, a sparse matrix in coordinates is a graph or points."""

import numpy as np

from ..common.memory import check_memory
from ..metric.base import Metric
from .npy import from_array
from .npz import check_sparse_memory, sparse_metric
from .request import Request
from .source import Source


def read(source: Source, request: Request) -> Metric:
    """Read a Matrix Market file with scipy, once its header has been found to be honest."""
    layout = _check_header(source)
    from scipy.io import mmread
    from scipy.sparse import csr_array

    with source.open() as file:
        content = mmread(file)
    if layout == "array":
        return from_array(np.ascontiguousarray(content), request)
    if request.kind == "distances":
        raise ValueError("its numbers come by coordinates, and those left out are no distances: write it as an array")
    matrix = csr_array(content)
    if request.kind is None and matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a matrix of {matrix.shape[0]} x {matrix.shape[1]} is no graph: for points say kind='points'")
    return sparse_metric(matrix, request)


def _check_header(source: Source) -> str:
    """Return "array" or "coordinate", after a look at the first lines: what is promised must fit file and memory."""
    lines = source.lines()
    words = next(lines, (1, ""))[1].lower().split()
    if len(words) < 4 or words[1] != "matrix" or words[2] not in ("array", "coordinate"):
        raise ValueError(
            "line 1 is no header of Matrix Market: it begins '%%MatrixMarket matrix array' or 'coordinate'"
        )
    if words[3] == "complex" or "hermitian" in words:
        raise ValueError("line 1: complex numbers are no distances: write real ones")
    sizes = next(((number, line) for number, line in lines if line.strip() and not line.startswith("%")), None)
    if sizes is None:
        raise ValueError("it has a header and no sizes: it is cut short")
    number, line = sizes
    expected = 2 if words[2] == "array" else 3
    lengths = line.split()
    if len(lengths) != expected or not all(length.isdecimal() and length.isascii() for length in lengths):
        raise ValueError(f"line {number}: {line[:40]!r} are not the {expected} sizes of the matrix")
    rows, columns, *entries = map(int, lengths)
    if rows == 0 or columns == 0:
        raise ValueError(f"line {number}: a matrix of {rows} x {columns} is empty: it holds at least one number")
    # Of a symmetric array half is written; every number takes a digit and the end of a line.
    written = entries[0] if entries else rows * columns // 2
    if written > source.most_bytes:
        raise ValueError(f"line {number} promises {line.strip()}, more than the file has: it is cut short")
    if entries:
        check_sparse_memory((rows, columns), entries[0])
    else:
        check_memory(8 * rows * columns, f"a matrix of {rows:,} x {columns:,}", "save it as npy, which is mapped")
    return words[2]
