"""Edge lists in text: one edge a line, two ends and perhaps a length."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .memory import check_memory

_BLOCK = 1 << 17  # lines that are parsed together
_COMMENT = ("#", "%")
_NUMERAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_HEADERS = ({"id1", "id2"}, {"source", "target"}, {"from", "to"}, {"u", "v"})

Line = tuple[int, str]


class EdgeList(NamedTuple):
    """Edges: ends that are the whole numbers of the file, or positions in `names` where these are no such numbers."""

    ends: NDArray[np.int64]
    lengths: NDArray[np.float64] | None
    names: list[str] | None


class _Form(NamedTuple):
    delimiter: str | None  # None: any run of blanks
    has_header: bool
    weighted: bool


def read_edge_list(lines: Callable[[], Iterable[Line]]) -> EdgeList:
    """Read edges from numbered lines; `lines` is called twice if the ends turn out to be names and not numbers.

    Lines that begin with # or % are comments. A first line `id1,id2,weight` (or source, target; from, to; u, v) is a
    header. The first edge decides between blanks, tabs, commas and semicolons, and whether there are lengths.

    >>> read_edge_list(lambda: enumerate(["# a path", "0 1", "1 2"], 1)).ends.tolist()
    [[0, 1], [1, 2]]
    >>> read_edge_list(lambda: enumerate(["a,b,2.5"], 1)).names
    ['a', 'b']
    """
    form = _form(list(islice(_content(lines()), 2)))
    numbers = _read_numbers(_content(lines()), form)
    return _read_names(_content(lines()), form) if numbers is None else numbers


def _content(lines: Iterable[Line]) -> Iterator[Line]:
    return ((number, line) for number, line in lines if line.strip() and not line.startswith(_COMMENT))


def _form(first: list[Line]) -> _Form:
    if not first:
        raise ValueError("it is empty: a graph has at least one edge")
    number, text = first[0]
    delimiter = next((mark for mark in "\t;," if mark in text), None)
    cells = _split(first[0], delimiter)
    if len(cells) not in (2, 3):
        raise ValueError(f"line {number} has {len(cells)} columns, and an edge has two ends and at most one length")
    named = {cell.lower() for cell in cells[:2]} in _HEADERS
    below = _split(first[-1], delimiter)
    heads = len(cells) == len(below) == 3 and not _NUMERAL.fullmatch(cells[2]) and bool(_NUMERAL.fullmatch(below[2]))
    return _Form(delimiter, named or heads, len(cells) == 3)


def _split(record: Line, delimiter: str | None) -> list[str]:
    number, text = record
    if '"' not in text:
        return [cell.strip() for cell in text.split(delimiter)]
    try:
        blank = delimiter is None
        row = next(csv.reader([text.strip() if blank else text], delimiter=delimiter or " ", skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"line {number} cannot be split into cells ({error}): mend its quotes") from error
    return [cell.strip() for cell in row]


def _read_numbers(content: Iterator[Line], form: _Form) -> EdgeList | None:
    """Read edges whose ends are whole numbers, fast; None if there is anything else."""
    fields = [("u", np.int64), ("v", np.int64), ("length", np.float64)][: 3 if form.weighted else 2]
    blocks = []
    for block in _blocks(content, form):
        try:
            blocks.append(np.loadtxt([text for _, text in block], fields, None, form.delimiter, ndmin=1))
        except ValueError:
            return None
        _check_memory(len(blocks) * _BLOCK)
    edges = np.concatenate(blocks)
    ends = np.stack([edges["u"], edges["v"]], axis=1)
    return EdgeList(ends, edges["length"].copy() if form.weighted else None, None)


def _read_names(content: Iterator[Line], form: _Form) -> EdgeList:
    """Read edges whose ends are names, numbered as they appear."""
    numbers: dict[str, int] = {}
    ends: list[NDArray[np.int64]] = []
    lengths: list[NDArray[np.float64]] = []
    for block in _blocks(content, form):
        rows = [_split(record, form.delimiter) for record in block]
        _check_rows(block, rows, form)
        names = [name for row in rows for name in row[:2]]
        ends.append(np.fromiter((numbers.setdefault(name, len(numbers)) for name in names), np.int64, len(names)))
        lengths.append(np.array([float(row[2]) for row in rows] if form.weighted else [], np.float64))
        _check_memory(len(ends) * _BLOCK)
    return EdgeList(
        np.concatenate(ends).reshape(-1, 2), np.concatenate(lengths) if form.weighted else None, list(numbers)
    )


def _blocks(content: Iterator[Line], form: _Form) -> Iterator[list[Line]]:
    begin = list(islice(content, 1 if form.has_header else 0))
    first = list(islice(content, _BLOCK))
    if not first:
        raise ValueError(f"line {begin[0][0]} is a header without edges below: a graph has at least one edge")
    yield first
    while block := list(islice(content, _BLOCK)):
        yield block


def _check_rows(block: list[Line], rows: list[list[str]], form: _Form) -> None:
    width = 3 if form.weighted else 2
    for (number, _), row in zip(block, rows, strict=True):
        if len(row) != width:
            raise ValueError(f"line {number} has {len(row)} columns where {width} are expected: mend it")
        if not row[0] or not row[1]:
            raise ValueError(f"line {number} names one end and not the other: an edge has two")
        if form.weighted and _NUMERAL.fullmatch(row[2]) is None:
            raise ValueError(f"line {number}: {row[2][:40]!r} is no length: mend it")


def _check_memory(edges: int) -> None:
    # The ends and lengths, sorted and in both directions: about what a GraphMetric needs on its way.
    check_memory(100 * edges, f"a graph of {edges:,} edges and more", "use a smaller part of it")
