"""Matrix Market files: a dense array is distances or points, a sparse matrix in coordinates is a graph or points.

Read here and not by scipy.io.mmread, which a damaged file can make crash (scipy 1.17: no rows,
a body cut short).
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ...metric.base import Metric
from .._numerals import read_rows
from .._request import Request
from .._source import Line, Source
from .npy import from_array
from .npz import check_sparse_memory, sparse_metric

_BLOCK = 1 << 16  # lines that are parsed together
_FIELDS = ("real", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric")

Places = NDArray[np.int64]


class _Header(NamedTuple):
    layout: str
    field: str
    symmetric: bool
    rows: int
    columns: int
    entries: int  # how many lines follow


def read(source: Source, request: Request) -> Metric:
    """Read a Matrix Market file: dense ones as an npy file, sparse ones as scipy's sparse matrices."""
    filled = ((number, line) for number, line in source.lines() if line.strip())
    header, lines = _read_header(filled, source.most_bytes)
    if header.layout == "array":
        return from_array(_read_array(lines, header), request)
    if request.kind == "distances":
        raise ValueError(
            "its numbers come by coordinates, and those left out are no distances: write it as an array"
        )
    if request.kind is None and header.rows != header.columns:
        raise ValueError(
            f"a matrix of {header.rows} x {header.columns} is no graph: for points say kind='points'"
        )
    return sparse_metric(_read_coordinates(lines, header), request)


def _read_header(lines: Iterator[Line], most_bytes: int) -> tuple[_Header, Iterator[Line]]:
    """Read the first lines: what they promise must fit into the file and into memory."""
    layout, field, symmetry, lines = _read_banner(lines)
    number, line = next(
        ((number, line) for number, line in lines if not line.startswith("%")), (0, "")
    )
    expected = 2 if layout == "array" else 3
    sizes = [
        int(size)
        for size in line.split()
        if size.isdecimal() and size.isascii() and len(size) < 19
    ]
    if len(sizes) != expected or len(line.split()) != expected or min(sizes[:2]) == 0:
        raise ValueError(
            f"line {number}: {line[:40]!r} are not the {expected} sizes of a matrix: correct them"
        )
    rows, columns = sizes[:2]
    symmetric = symmetry == "symmetric"
    if symmetric and rows != columns:
        raise ValueError(
            f"line {number}: a matrix of {rows} x {columns} cannot be symmetric: correct it"
        )
    entries = (
        sizes[2]
        if layout == "coordinate"
        else rows * (rows + 1) // 2
        if symmetric
        else rows * columns
    )
    if 2 * entries > most_bytes:  # a digit and the end of a line
        raise ValueError(
            f"line {number} promises {entries:,} numbers, more than the file has: it is cut short"
        )
    if layout == "coordinate":
        check_sparse_memory((rows, columns), entries)
    else:
        check_memory(
            16 * rows * columns,
            f"a matrix of {rows:,} x {columns:,}",
            "save it as npy, which is mapped",
        )
    return _Header(layout, field, symmetric, rows, columns, entries), lines


def _read_banner(lines: Iterator[Line]) -> tuple[str, str, str, Iterator[Line]]:
    """Return what line 1 says, and the lines below it.

    Network Repository leaves it out: then three sizes, and places below that are as many as
    these say, do without it.
    """
    first = next(lines, (1, ""))
    second = next(lines, (2, ""))
    words = first[1].lower().split()
    sizes = first[1].split()
    entry = second[1].split()
    if (
        len(sizes) == 3
        and len(entry) in (2, 3)
        and all(map(str.isdecimal, [*sizes, *entry[:2]]))
    ):
        return (
            "coordinate",
            "pattern" if len(entry) == 2 else "real",
            "symmetric",
            chain([first, second], lines),
        )
    if (
        len(words) != 5
        or words[:2] != ["%%matrixmarket", "matrix"]
        or words[2] not in ("array", "coordinate")
    ):
        raise ValueError(
            "line 1 is no header of Matrix Market, as '%%MatrixMarket matrix coordinate real general' is: "
            "for a bare list of edges say kind='graph'"
        )
    layout, field, symmetry = words[2:]
    if (
        field not in _FIELDS
        or symmetry not in _SYMMETRIES
        or (layout, field) == ("array", "pattern")
    ):
        raise ValueError(
            f"line 1: a matrix that is {field} and {symmetry} is not read here: write real numbers, general"
        )
    return layout, field, symmetry, chain([second] if second[1] else [], lines)


def _read_body(lines: Iterator[Line], entries: int, width: int) -> NDArray[np.float64]:
    """Read one entry a line."""
    body = np.empty((entries, width))
    done = 0
    while block := list(islice(lines, _BLOCK)):
        if done + len(block) > entries:
            raise ValueError(
                f"line {block[entries - done][0]} is one more than the {entries:,} numbers promised"
            )
        body[done : done + len(block)] = read_rows(block, None, width)
        done += len(block)
    if done < entries:
        raise ValueError(f"it promises {entries:,} numbers and has {done:,}: it is cut short")
    return body


def _read_array(lines: Iterator[Line], header: _Header) -> NDArray[np.float64]:
    """Read a dense matrix, which comes column by column; of a symmetric one, each from the diagonal on."""
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


def _read_coordinates(lines: Iterator[Line], header: _Header) -> Any:
    """Read a sparse matrix: row, column and value of every entry; of a symmetric one, those of one triangle."""
    from scipy.sparse import coo_array, csr_array

    body = _read_body(lines, header.entries, 2 if header.field == "pattern" else 3)
    places = body[:, :2]
    outside = ~(
        (places >= 1) & (places <= (header.rows, header.columns)) & (places == np.rint(places))
    ).all(axis=1)
    if outside.any():
        row, column = places[np.argmax(outside)]
        raise ValueError(
            f"an entry is at ({row:g}, {column:g}), outside of {header.rows} x {header.columns}: correct it"
        )
    i, j = (places - 1).T.astype(np.int64)
    if header.symmetric:
        i, j = np.maximum(i, j), np.minimum(i, j)  # both triangles tell the same
    values = np.ones(len(body)) if header.field == "pattern" else body[:, 2]
    i, j, values = _each_once(i, j, values, header)
    if header.symmetric:
        off = i != j
        i, j, values = (
            np.append(i, j[off]),
            np.append(j, i[off]),
            np.append(values, values[off]),
        )
    return csr_array(coo_array((values, (i, j)), shape=(header.rows, header.columns)))


def _each_once(
    i: Places, j: Places, values: NDArray[np.float64], header: _Header
) -> tuple[Places, Places, Any]:
    """Keep one of the entries at each place; two different values at one place are an error.

    scipy would add them up: an edge that a symmetric file gives in both directions would become
    twice as long.
    """
    order = np.lexsort((j, i))
    same = (i[order][1:] == i[order][:-1]) & (j[order][1:] == j[order][:-1])
    if not same.any():
        return i, j, values
    differ = same & (values[order][1:] != values[order][:-1])
    if differ.any():
        one = order[np.argmax(differ)]
        other = order[np.argmax(differ) + 1]
        place = f"({i[one] + 1}, {j[one] + 1})"
        mirrored = (
            " (or its mirror image, as the matrix is symmetric)" if header.symmetric else ""
        )
        raise ValueError(
            f"the entry {place}{mirrored} is there twice, as {values[one]:g} and as {values[other]:g}: keep one"
        )
    kept = order[np.append(True, ~same)]
    return i[kept], j[kept], values[kept]
