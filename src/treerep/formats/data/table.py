"""Reader for tables of numbers (CSV, TSV, blanks or semicolons), with or without labels."""

import csv
import re
from collections.abc import Iterator
from itertools import chain, dropwhile, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ...metric.base import Metric, MetricError
from .._numerals import bad_cell, has_decimal_comma, is_number, is_numeral, read_rows
from .._request import Request
from .._source import Line, Source
from .condensed import expand
from .pairs import read_pairs

_EXCEL = re.compile(r'"?sep=.?"?', re.IGNORECASE)  # a line added by Excel
_BLOCK = 1 << 18  # numbers parsed together
_LONGEST_NAME = 1000  # lines, to detect a missing closing quote


class Layout(NamedTuple):
    """The layout of a table, derived from its first two rows."""

    delimiter: str | None  # None: any run of blanks
    header: list[str] | None
    indexed: bool  # whether the first cell of every row is a label
    width: int  # numbers in a row
    missing: bool = False  # whether an empty cell is a missing distance


def read(source: Source, request: Request, delimiter: str | None = None) -> Metric:
    """Read distances from a square table, or points or condensed distances on request."""
    records = _records(_content(source))
    first = list(islice(records, 2))
    if not first:
        raise ValueError("the file is empty: a table has at least one row")
    layout = _layout(first, delimiter, request)
    is_edges = len(first) > 1 and all(_is_edge(cells(row, layout.delimiter)) for row in first)
    if is_edges and layout.width == 2 and request.kind in (None, "distances"):
        return read_pairs(source, request)
    if request.kind is None and is_edges:
        raise ValueError("each row starts with two names: if the rows are edges, pass kind='graph'")
    body = _body(chain(first, records), layout)
    if request.kind == "points":
        values, names = _read_points(body, layout)
        return request.points(values, names)
    if request.kind == "graph":
        raise ValueError("a table is not a graph: for one edge per line pass format='edges'")
    if layout.width > 1 and (request.kind is None or len(first) > 1 or layout.indexed):
        values, names = _read_square(body, layout, source.most_bytes)
        return request.square(values, names)
    return request.distances(*_read_short(body, layout, request))


class Table(NamedTuple):
    """Numbers with the names of their rows and columns, if the file has them."""

    values: NDArray[np.float64]
    rows: list[str] | None
    columns: list[str] | None


def read_table(source: Source) -> Table:
    """Read a table with any number of rows and columns."""
    records = _records(_content(source))
    first = list(islice(records, 2))
    if not first:
        raise ValueError("the file is empty: a table has at least one row")
    layout = _layout(first, None, Request(kind="points"))
    values, names = _read_points(_body(chain(first, records), layout), layout)
    return Table(values, names, layout.header)


def _is_edge(row: list[str]) -> bool:
    return len(row) in (2, 3) and all(
        cell and not is_numeral(cell) and not has_decimal_comma(cell) for cell in row[:2]
    )


def _content(source: Source) -> Iterator[Line]:
    """Yield the lines below the comments. Further down, # may start a label."""
    lines = ((number, line) for number, line in source.lines() if line.strip())
    return dropwhile(lambda line: line[1].startswith("#") or _EXCEL.fullmatch(line[1]) is not None, lines)


def _records(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield rows. A row spans several lines if a quoted label spans several lines."""
    for number, line in lines:
        if line.count('"') % 2 == 0:
            yield number, line
            continue
        pieces = [line]
        more = islice(lines, _LONGEST_NAME)
        for _, piece in more:
            pieces.append(piece)
            if piece.count('"') % 2:
                break
        else:
            raise ValueError(
                f"line {number} opens a quote that is not closed: close it, or double quotes inside a label"
            )
        yield number, "\n".join(pieces)


def cells(record: Line, delimiter: str | None) -> list[str]:
    """Split a row into its cells, without quotes.

    >>> cells((1, '"a, b",2'), ",")
    ['a, b', '2']
    """
    number, text = record
    if '"' not in text:
        return [cell.strip() for cell in text.split(delimiter)]
    blank = delimiter is None
    reader = csv.reader([text.strip() if blank else text], delimiter=delimiter or " ", skipinitialspace=True)
    try:
        return [cell.strip() for cell in next(reader)]
    except csv.Error as error:
        raise ValueError(f"line {number} cannot be split into cells ({error}): correct its quotes") from error


def find_delimiter(first: list[Line]) -> str | None:
    """Return the delimiter of the first rows: tab, semicolon, comma, or None for blanks.

    With the right delimiter, all cells of the last row except the first are numbers. If there is no
    such delimiter, a semicolon is preferred to a comma, which is then a decimal comma.

    >>> (
    ...     find_delimiter([(1, "a;b,c"), (2, "0,1")]),
    ...     find_delimiter([(1, "0;1,5;2")]),
    ...     find_delimiter([(1, "0 1")]),
    ... )
    (',', ';', None)
    """
    marks: list[str | None] = [mark for mark in "\t;," if any(mark in text for _, text in first)]
    for mark in [*marks, None]:
        row = cells(first[-1], mark)
        if len(row) > 1 and all(is_numeral(cell) or has_decimal_comma(cell) for cell in row[1:] if cell):
            return mark
    return marks[0] if marks else None


def _layout(first: list[Line], delimiter: str | None, request: Request) -> Layout:
    """Find labels and numbers in the first two rows. Bad numbers are reported later."""
    delimiter = delimiter or find_delimiter(first)
    top = cells(first[0], delimiter)
    below = cells(first[-1], delimiter)
    missing = request.missing
    if len(below) > 1 and below[-1] == "" and not (missing and len(top) >= len(below)):
        below.pop()  # a delimiter at the end of each row
    longer = len(top) > len(below) or len(first) == 1
    if len(top) > 1 and top[-1] == "" and longer:
        top.pop()
    words = not any(is_numeral(cell) or cell == "" for cell in top)
    # R omits the corner, so the header is shorter.
    shifted = len(top) == len(below) - 1 and (words or top[0] == below[0])
    # Other programs leave the corner empty or write a word there. If there is a word, the first
    # labels of the header and of the rows are equal.
    filled = len(top) > 1 and not is_numeral(top[0]) and top[1] == below[0]
    corner = (len(top) > 1 and top[0] == "") or filled
    has_header = (
        shifted
        or corner
        or (words and any(map(is_numeral, below)))
        or _numbers_columns(top, below, request.kind, first[0])
    )
    if len(first) == 1 or not has_header:
        indexed = len(top) > 1 and not is_numeral(top[0])
        return Layout(delimiter, None, indexed, len(top) - indexed, missing)
    indexed = shifted or corner or (len(below) > 1 and not is_numeral(below[0]))
    header = top[1:] if indexed and not shifted else top
    return Layout(delimiter, header, indexed, len(below) - indexed, missing)


def _numbers_columns(top: list[str], below: list[str], kind: str | None, line: Line) -> bool:
    """Return whether the first row is 0, 1, 2, ..., as pandas numbers unnamed columns."""
    numbers = [str(column) for column in range(len(top))]
    if len(top) < 2 or len(top) != len(below) or top != numbers:
        return False
    if kind != "points":
        # In a distance table, d(0, 1) = 1, so the next row starts with d(1, 0) = 1. Below a
        # header, the next row starts with d(0, 0) = 0.
        return is_number(below[0]) and float(below[0]) == 0
    if not all(cell.isdecimal() for cell in below):
        raise ValueError(
            f"line {line[0]} is 0 to {len(top) - 1}, either column numbers or a point: "
            "remove the line, or write the point as 0.0, 1.0 and so on"
        )
    return False


def _body(records: Iterator[Line], layout: Layout) -> Iterator[tuple[Line, str]]:
    """Yield the numbers, as text, and the label of every row below the header."""
    if layout.header is not None:
        number = next(records)[0]
        if len(layout.header) != layout.width:
            raise ValueError(
                f"line {number} names {len(layout.header)} columns, but rows have "
                f"{layout.width} numbers: correct it"
            )
    for record in records:
        number, text = record
        if '"' in text:
            yield _unquoted(record, layout)
            continue
        name = ""
        if layout.indexed:
            name, text = _split_name(text, layout.delimiter)
        if layout.delimiter is not None and text.count(layout.delimiter) == layout.width:
            # Ignore a trailing delimiter.
            text = text.rstrip(" ").removesuffix(layout.delimiter)
        yield (number, text), name


def _split_name(text: str, delimiter: str | None) -> tuple[str, str]:
    if delimiter is None:
        name, *rows = text.split(None, 1)
        return name, rows[0] if rows else ""
    name, _, rest = text.partition(delimiter)
    return name.strip(), rest


def _unquoted(record: Line, layout: Layout) -> tuple[Line, str]:
    number = record[0]
    delimiter = layout.delimiter or " "
    row = cells(record, layout.delimiter)
    name = row.pop(0) if layout.indexed else ""
    if len(row) == layout.width + 1 and row[-1] == "":
        row.pop()
    for cell in row:
        absent = not cell and not layout.missing
        if absent or delimiter in cell or "\n" in cell:  # would not be one cell after joining
            raise ValueError(f"line {number}: {bad_cell(cell)}")
    return (number, delimiter.join(row)), name


def _read_square(
    body: Iterator[tuple[Line, str]], layout: Layout, most_bytes: int
) -> tuple[NDArray[np.float64], list[str] | None]:
    n = layout.width
    if n * n > most_bytes:  # every number takes at least one digit and a delimiter
        raise ValueError(_not_square(f"fewer than {n} rows", n))
    check_memory(8 * n * n, f"a matrix of {n:,} points", "save it as npy, which is not read into memory")
    square = np.empty((n, n))
    names = []
    done = 0
    while block := list(islice(body, min(max(1, _BLOCK // n), n - done))):
        square[done : done + len(block)] = read_rows(
            [row for row, _ in block], layout.delimiter, n, layout.missing
        )
        names += [name for _, name in block]
        done += len(block)
    if done < n:
        raise ValueError(_not_square("1 row" if done == 1 else f"{done} rows", n))
    if next(body, None) is not None:
        raise ValueError(_not_square(f"more than {n} rows", n))
    return square, _same_names(layout, names)


def _not_square(rows: str, columns: int) -> str:
    return (
        f"expected a square distance matrix, got {rows} of {columns} numbers: correct it, "
        "or pass kind='points' or kind='graph'"
    )


def _same_names(layout: Layout, names: list[str]) -> list[str] | None:
    if not layout.indexed:
        return layout.header
    for position, (row, column) in enumerate(zip(names, layout.header or names, strict=True)):
        if row != column:
            raise MetricError(
                f"row {position} is named {row!r} but column {position} is named "
                f"{column!r}: rows and columns of a distance table need the same names in "
                "the same order"
            )
    return names


def _read_points(
    body: Iterator[tuple[Line, str]], layout: Layout
) -> tuple[NDArray[np.float64], list[str] | None]:
    if layout.width == 0:
        raise ValueError("the table has labels but no numbers: points have at least one coordinate")
    blocks: list[NDArray[np.float64]] = []
    names: list[str] = []
    while block := list(islice(body, max(1, _BLOCK // layout.width))):
        rows = [row for row, _ in block]
        blocks.append(read_rows(rows, layout.delimiter, layout.width, layout.missing))
        names += [name for _, name in block]
        # All blocks are copied once.
        check_memory(8 * layout.width * len(names), f"{len(names):,} points and more", "save them as npy")
    if not blocks:
        raise ValueError("the table has a header but no rows: points have at least one row")
    return np.concatenate(blocks), names if layout.indexed else None


def _read_short(
    body: Iterator[tuple[Line, str]], layout: Layout, request: Request
) -> tuple[NDArray[np.float64], list[str] | None]:
    """Read one row or column: a single point, or condensed distances on request."""
    values, names = _read_points(body, layout)
    if values.shape == (1, 1):
        return values, names or layout.header
    if request.kind is None:
        raise ValueError(
            f"a column of {values.size} numbers may contain condensed distances or points "
            "on a line: pass kind='distances' or kind='points'"
        )
    if names is not None:
        raise ValueError("condensed distances cannot have labels in the file: remove them, and pass labels=")
    return expand(values.reshape(-1)), None
