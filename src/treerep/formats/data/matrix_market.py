"""Reader for Matrix Market files: dense distances or points, or a sparse graph or points.

scipy.io.mmread is not used, because damaged files can crash scipy (version 1.17: no rows, or a
truncated body).
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ...metric.base import Metric
from .._numerals import read_rows
from .._request import Request
from .._source import Line, Source
from .npy import from_array
from .npz import check_sparse_memory, sparse_metric

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BLOCK = 1 << 16  # lines parsed together
_FIELDS = ("real", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric")

Indices = NDArray[np.int64]


class _Header(NamedTuple):
    layout: str
    field: str
    symmetric: bool
    rows: int
    columns: int
    entries: int  # lines that follow


def read(source: Source, request: Request) -> Metric:
    """Read a dense matrix like an npy file, or a sparse matrix like a scipy matrix."""
    filled = ((number, line) for number, line in source.lines() if line.strip())
    header, lines = _read_header(filled, source.most_bytes)
    if header.layout == "array":
        return from_array(_read_array(lines, header), request)
    if request.kind == "distances":
        raise ValueError("the matrix is sparse, so distances are missing: write it as an array")
    if request.kind is None and header.rows != header.columns:
        raise ValueError(
            f"a matrix of {header.rows} x {header.columns} is not a graph: for points pass kind='points'"
        )
    return sparse_metric(_read_coordinates(lines, header), request)


def _read_header(lines: Iterator[Line], most_bytes: int) -> tuple[_Header, Iterator[Line]]:
    """Read the first lines. The sizes that they state must fit the file and the memory."""
    layout, field, symmetry, lines = _read_banner(lines)
    number, line = next(((number, line) for number, line in lines if not line.startswith("%")), (0, ""))
    expected = 2 if layout == "array" else 3
    words = line.split()
    sizes = [int(word) for word in words if word.isdecimal() and word.isascii() and len(word) < 19]
    if len(sizes) != expected or len(words) != expected or min(sizes[:2]) == 0:
        raise ValueError(
            f"line {number}: {line[:40]!r} does not contain the {expected} sizes of a matrix: correct it"
        )
    rows, columns = sizes[:2]
    symmetric = symmetry == "symmetric"
    if symmetric and rows != columns:
        raise ValueError(f"line {number}: a matrix of {rows} x {columns} cannot be symmetric: correct it")
    entries = rows * (rows + 1) // 2 if symmetric else rows * columns
    if layout == "coordinate":
        entries = sizes[2]
    if 2 * entries > most_bytes:  # one digit and the line end
        raise ValueError(
            f"line {number} declares {entries:,} numbers, more than the file can hold: the file is truncated"
        )
    if layout == "coordinate":
        check_sparse_memory((rows, columns), entries)
    else:
        check_memory(
            16 * rows * columns,
            f"a matrix of {rows:,} x {columns:,}",
            "save it as npy, which is memory-mapped",
        )
    return _Header(layout, field, symmetric, rows, columns, entries), lines


def _read_banner(lines: Iterator[Line]) -> tuple[str, str, str, Iterator[Line]]:
    """Return layout, field and symmetry from line 1, and the lines below it.

    Files from Network Repository lack line 1. Such files start with three sizes and an entry.
    """
    first = next(lines, (1, ""))
    second = next(lines, (2, ""))
    words = first[1].lower().split()
    sizes = first[1].split()
    entry = second[1].split()
    numeric = all(map(str.isdecimal, [*sizes, *entry[:2]]))
    if len(sizes) == 3 and len(entry) in (2, 3) and numeric:
        field = "pattern" if len(entry) == 2 else "real"
        return "coordinate", field, "symmetric", chain([first, second], lines)
    is_header = len(words) == 5 and words[:2] == ["%%matrixmarket", "matrix"]
    if not is_header or words[2] not in ("array", "coordinate"):
        raise ValueError(
            "line 1 is not a header such as '%%MatrixMarket matrix coordinate real "
            "general': for an edge list pass kind='graph'"
        )
    layout, field, symmetry = words[2:]
    dense_pattern = (layout, field) == ("array", "pattern")
    if field not in _FIELDS or symmetry not in _SYMMETRIES or dense_pattern:
        raise ValueError(f"line 1: a {field} {symmetry} matrix cannot be read: write a real general matrix")
    return layout, field, symmetry, chain([second] if second[1] else [], lines)


def _read_body(lines: Iterator[Line], entries: int, width: int) -> NDArray[np.float64]:
    """Read one entry per line."""
    body = np.empty((entries, width))
    done = 0
    while block := list(islice(lines, _BLOCK)):
        if done + len(block) > entries:
            raise ValueError(
                f"line {block[entries - done][0]} exceeds the {entries:,} declared numbers: remove it"
            )
        body[done : done + len(block)] = read_rows(block, None, width)
        done += len(block)
    if done < entries:
        raise ValueError(
            f"the header declares {entries:,} numbers, but {done:,} follow: the file is truncated"
        )
    return body


def _read_array(lines: Iterator[Line], header: _Header) -> NDArray[np.float64]:
    """Read a dense matrix by columns. Columns of a symmetric matrix start at the diagonal."""
    values = _read_body(lines, header.entries, 1)[:, 0]
    if not header.symmetric:
        return np.ascontiguousarray(values.reshape(header.columns, header.rows).T)
    n = header.rows
    begin = 0
    square = np.empty((n, n))
    for j in range(n):
        square[j, j:] = square[j:, j] = values[begin : begin + n - j]
        begin += n - j
    return square


def _read_coordinates(lines: Iterator[Line], header: _Header) -> "csr_array":
    """Read a sparse matrix: row, column and value of every entry, or of the entries of one triangle."""
    from scipy.sparse import coo_array, csr_array

    body = _read_body(lines, header.entries, 2 if header.field == "pattern" else 3)
    shape = (header.rows, header.columns)
    indices = body[:, :2]
    valid = (indices >= 1) & (indices <= shape) & (indices == np.rint(indices))
    outside = ~valid.all(axis=1)
    if outside.any():
        row, column = indices[np.argmax(outside)]
        raise ValueError(
            f"an entry is at ({row:g}, {column:g}), outside the {header.rows} x "
            f"{header.columns} matrix: correct it"
        )
    i, j = (indices - 1).T.astype(np.int64)
    if header.symmetric:  # the file may contain either triangle, or both
        i, j = np.maximum(i, j), np.minimum(i, j)
    values = np.ones(len(body)) if header.field == "pattern" else body[:, 2]
    i, j, values = _each_once(i, j, values, header)
    if header.symmetric:
        off = i != j
        rows = np.append(i, j[off])
        columns = np.append(j, i[off])
        both = np.append(values, values[off])
        return csr_array(coo_array((both, (rows, columns)), shape=shape))
    return csr_array(coo_array((values, (i, j)), shape=shape))


def _each_once(
    i: Indices, j: Indices, values: NDArray[np.float64], header: _Header
) -> tuple[Indices, Indices, NDArray[np.float64]]:
    """Keep one entry for each index. Raise an error if two values differ.

    scipy would add the two values, so that an edge in both triangles of a symmetric file would have
    twice its length.
    """
    order = np.lexsort((j, i))
    # Differences between consecutive entries.
    row_step = np.diff(i[order])
    column_step = np.diff(j[order])
    same = (row_step == 0) & (column_step == 0)
    if not same.any():
        return i, j, values
    ordered = values[order]
    differ = same & (ordered[1:] != ordered[:-1])
    if differ.any():
        one = order[np.argmax(differ)]
        other = order[np.argmax(differ) + 1]
        index = f"({i[one] + 1}, {j[one] + 1})"
        mirrored = " or its mirror image" if header.symmetric else ""
        raise ValueError(
            f"the entry {index}{mirrored} occurs twice, as {values[one]:g} and as "
            f"{values[other]:g}: keep one of them"
        )
    kept = order[np.append(True, ~same)]
    return i[kept], j[kept], values[kept]
