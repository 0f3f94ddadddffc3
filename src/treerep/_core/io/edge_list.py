"""Edge lists in text files: one edge per line, with two ends and optionally a length."""

import csv
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..memory import check_memory

_COMMENT = "#%"
_NUMERAL = re.compile(r"[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
_HEADERS = (
    *({"id1", "id2"}, {"id_1", "id_2"}, {"node1", "node2"}, {"node_1", "node_2"}),
    *({"source", "target"}, {"from", "to"}, {"fromnodeid", "tonodeid"}),
)
# Numbers with leading zeros are names: 007 is not 7.
_PADDED = re.compile(r"0(?<![0-9.]0)(?<![eE]0)(?<![eE][-+]0)[0-9]")


class EdgeList(NamedTuple):
    """Edges whose ends are the integers in the file, or positions in `names`."""

    ends: NDArray[np.int64]
    lengths: NDArray[np.float64] | None
    names: list[str] | None


class _Form(NamedTuple):
    delimiter: str | None  # None: any run of whitespace
    first: int  # number of the first line that is not a comment
    header: int | None  # line number of the header
    # whether the ends in the first line are not numbers, so that the line may be an unknown
    # header
    wordy: bool
    weighted: bool


def read_edge_list(lines: Callable[[], Iterable[list[str]]]) -> EdgeList:
    """Read edges from blocks of lines; `lines` is called a second time if the ends are names.

    Lines that begin with # or % are comments. A first line `id1,id2,weight` (or source, target;
    from, to; u, v) is a header. Any two words followed by lines that contain only numbers are also
    a header. The first edge determines the delimiter (whitespace, tab, comma or semicolon) and
    whether edges have lengths. Numbers with leading zeros are names.

    >>> read_edge_list(lambda: [["# a path", "0 1", "1 2"]]).ends.tolist()
    [[0, 1], [1, 2]]
    >>> read_edge_list(lambda: [["a,b,2.5"]]).names
    ['a', 'b']
    """
    form = _form(lines())
    numbers = _read_numbers(lines(), form)
    if numbers is None and form.wordy and form.header is None:
        # Words above numbers are a header. As an edge, the words would form a separate component.
        numbers = _read_numbers(lines(), form._replace(header=form.first))
    return _read_names(lines(), form) if numbers is None else numbers


def is_edge_header(line: str) -> bool:
    """Tell whether a line is the header of an edge table, such as source,target.

    >>> is_edge_header("Source;Target;Weight"), is_edge_header("x,y")
    (True, False)
    """
    cells = re.split(r"[\t;,\s]", line.strip())
    return {cell.strip('"').lower() for cell in cells[:2]} in _HEADERS


class _Numbers(dict[str, int]):
    """Names, numbered in the order in which they are first looked up."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


def _content(block: list[str]) -> list[str]:
    return [line for line in block if line and line[0] not in _COMMENT and not line.isspace()]


def _form(blocks: Iterable[list[str]]) -> _Form:
    """Determine the format from the first two lines that are not comments."""
    numbered = enumerate(chain.from_iterable(blocks), start=1)
    first = list(islice(((number, line) for number, line in numbered if _content([line])), 2))
    if not first:
        raise ValueError("it is empty: a graph has at least one edge")
    number, text = first[0]
    delimiter = next((mark for mark in "\t;," if mark in text), None)
    cells = _split(text, delimiter)
    if len(cells) not in (2, 3):
        raise ValueError(
            f"line {number} has {len(cells)} columns, but an edge has two ends and at "
            "most one length: remove the other columns"
        )
    named = {cell.lower() for cell in cells[:2]} in (*_HEADERS, {"u", "v"})
    below = _split(first[-1][1], delimiter)
    heads = (
        len(cells) == len(below) == 3
        and not _NUMERAL.fullmatch(cells[2])
        and bool(_NUMERAL.fullmatch(below[2]))
    )
    if (named or heads) and len(first) == 1:
        raise ValueError(f"line {number} is a header, but no edges follow: a graph has at least one edge")
    wordy = not any(map(_NUMERAL.fullmatch, cells[:2]))
    return _Form(delimiter, number, number if named or heads else None, wordy, len(cells) == 3)


def _split(text: str, delimiter: str | None) -> list[str]:
    if '"' not in text:
        return text.split() if delimiter is None else [cell.strip() for cell in text.split(delimiter)]
    blank = delimiter is None
    try:
        row = next(
            csv.reader(
                [text.strip() if blank else text],
                delimiter=delimiter or " ",
                skipinitialspace=True,
            )
        )
    except csv.Error as error:
        raise ValueError(f"{text[:40]!r} cannot be split into cells ({error}): correct the quotes") from error
    return [cell.strip() for cell in row]


def _read_numbers(blocks: Iterable[list[str]], form: _Form) -> EdgeList | None:
    """Read edges whose ends are integers, fast. Return None if the file contains anything else."""
    fields: Any = [("u", np.int64), ("v", np.int64), ("length", np.float64)] if form.weighted else np.int64
    found: list[NDArray[Any]] = []
    edges = 0
    for _, block in _without_header(blocks, form):
        lines = _content(block)
        if not lines:
            continue
        try:
            # Old versions of NumPy would read 1.5 as 1, and misread 10^20.
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)
                part = np.loadtxt(lines, fields, None, form.delimiter, ndmin=1 if form.weighted else 2)
        except (ValueError, DeprecationWarning):
            return None
        if (not form.weighted and part.shape[1] != 2) or _PADDED.search("\n".join(lines)):
            return None
        found.append(part)
        edges += len(part)
        _check_memory(edges)
    if not found:
        return None
    parts = np.concatenate(found)
    if not form.weighted:
        return EdgeList(parts, None, None)
    return EdgeList(np.stack([parts["u"], parts["v"]], axis=1), parts["length"].copy(), None)


def _read_names(blocks: Iterable[list[str]], form: _Form) -> EdgeList:
    """Read edges whose ends are names, numbered in the order of their appearance."""
    numbers = _Numbers()
    ends: list[NDArray[np.int64]] = []
    lengths: list[NDArray[np.float64]] = []
    edges = 0
    for begin, block in _without_header(blocks, form):
        cells = _plain_cells(block, form)
        if cells is None:
            cells = _checked_cells(begin, block, form)
        if form.weighted:
            lengths.append(np.array([float(cell) for cell in cells[2::3]]))
            del cells[2::3]
        ends.append(np.fromiter(map(numbers.__getitem__, cells), np.int64, len(cells)))
        edges += len(cells) // 2
        _check_memory(edges)
    return EdgeList(
        np.concatenate(ends).reshape(-1, 2),
        np.concatenate(lengths) if form.weighted else None,
        list(numbers),
    )


def _plain_cells(block: list[str], form: _Form) -> list[str] | None:
    """Return the cells of all lines in one list, fast. Return None if a line needs closer inspection."""
    lines = _content(block)
    width = 2 + form.weighted
    mark = form.delimiter or " "
    text = mark.join(lines)
    if '"' in text or not all(line.count(mark) == width - 1 for line in lines):
        return None
    cells = text.split(mark) if lines else []
    plain = (
        cells == text.split()
        if form.delimiter is None
        else "" not in (cells := [cell.strip() for cell in cells])
    )
    return cells if plain and all(map(_NUMERAL.fullmatch, cells[2::3] if form.weighted else ())) else None


def _checked_cells(begin: int, block: list[str], form: _Form) -> list[str]:
    """Return the cells line by line, without quotes. The first line that is not an edge raises an error."""
    cells: list[str] = []
    for number, line in enumerate(block, start=begin):
        if not _content([line]):
            continue
        row = _split(line, form.delimiter)
        if len(row) != 2 + form.weighted or not (row[0] and row[1]):
            raise ValueError(_no_edge(number, row, form))
        if form.weighted and _NUMERAL.fullmatch(row[2]) is None:
            raise ValueError(f"line {number}: {row[2][:40]!r} is not a valid length")
        cells += row
    return cells


def _no_edge(number: int, row: list[str], form: _Form) -> str:
    if len(row) != 2 + form.weighted:
        return f"line {number} has {len(row)} columns, but {2 + form.weighted} are expected"
    return f"line {number} names only one end: an edge has two"


def _without_header(blocks: Iterable[list[str]], form: _Form) -> Iterator[tuple[int, list[str]]]:
    """Yield each block with the number of its first line; the header is replaced by an empty line."""
    begin = 1
    for block in blocks:
        if form.header is not None and begin <= form.header < begin + len(block):
            yield (
                begin,
                ["" if number == form.header else line for number, line in enumerate(block, start=begin)],
            )
        else:
            yield begin, block
        begin += len(block)


def _check_memory(edges: int) -> None:
    # The ends and lengths, sorted and in both directions, roughly as GraphMetric stores them.
    check_memory(100 * edges, f"a graph of at least {edges:,} edges", "use a part of the graph")
