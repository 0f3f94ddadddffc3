"""Reader for PHYLIP distances: the number of points, then a row for each, square or lower triangle.

Labels end at the first blank (relaxed), or are ten characters wide (strict) if only this width
leaves the right number of numbers in the first row, or if a later label has a blank.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ...metric.base import Metric
from .._numerals import is_numeral, read_rows
from .._request import Request
from .._source import Line, Source

_WIDTH = 10  # width of a strict label
_BLOCK = 1 << 18  # numbers parsed together


def read(source: Source, request: Request, strict: bool | None = None) -> Metric:
    """Read a distance matrix. If `strict` is None, the first row decides."""
    if request.kind not in (None, "distances"):
        raise request.not_a("a PHYLIP file")
    lines = ((number, line) for number, line in source.lines() if line.strip())
    n = _count(next(lines, None), source.most_bytes)
    check_memory(8 * n * n, f"a matrix of {n:,} points", "save it as npy, which is not read into memory")
    rows = _rows(lines, n)
    first = next(rows, None)
    if first is None:
        raise ValueError(f"line 1 declares {n} points but no row follows: the file is truncated")
    if strict is None:
        relaxed = _fits(first, (0, 1, n), strict=False)
        strict = not relaxed and _fits(first, (n,), strict=True)
        strict = strict or None  # decide row by row
    lower = _lower(first, n, bool(strict))
    square = np.zeros((n, n))
    names = []
    for start, block in _blocks(first, rows, max(1, _BLOCK // n)):
        if start + len(block) > n:
            raise ValueError(f"line {block[n - start][0]} exceeds the {n} rows declared in line 1: remove it")
        split = [_split(row, _is_strict(row) if strict is None else strict) for row in block]
        names += [name for name, _ in split]
        _fill(square, start, [numbers for _, numbers in split], lower, request.missing)
    if len(names) < n:
        raise ValueError(f"line 1 declares {n} points but {len(names)} rows follow: the file is truncated")
    return request.distances(square, names)


def _count(first: Line | None, most_bytes: int) -> int:
    if first is None:
        raise ValueError("the file is empty: line 1 of a PHYLIP file is the number of points")
    text = first[1].strip()
    if not (text.isdecimal() and text.isascii()) or int(text[:18]) == 0:
        aligned = len(text.split()) == 2 and all(map(str.isdecimal, text.split()))
        fault = "not the number of points: a distance file starts with it"
        if aligned:
            fault = "the head of an alignment: convert the alignment to FASTA"
        raise ValueError(f"line {first[0]}: {text[:40]!r} is {fault}")
    n = int(text[:18])
    if n * (n - 1) // 2 > most_bytes:
        raise ValueError(
            f"line {first[0]} declares {text[:40]} points, more than the file can hold: correct it"
        )
    return n


def _rows(lines: Iterator[Line], n: int) -> Iterator[Line]:
    """Yield rows. In PHYLIP, a row with fewer than n numbers continues on indented lines."""
    number = 0
    pieces = [""]
    count = 0
    for following, line in lines:
        if number and line[0] in " \t" and is_numeral(line.split(None, 1)[0]):
            count = count or len(pieces[0].split()) - 1
            if count < n:
                pieces.append(line)
                count += len(line.split())
                continue
        if number:
            yield number, " ".join(pieces)
        number = following
        pieces = [line]
        count = 0
    if number:
        yield number, " ".join(pieces)


def _blocks(first: Line, rows: Iterator[Line], size: int) -> Iterator[tuple[int, list[Line]]]:
    start = 0
    block = [first]
    for row in rows:
        if len(block) == size:
            yield start, block
            start = start + size
            block = []
        block.append(row)
    yield start, block


def _is_strict(row: Line) -> bool:
    """Whether a label of ten characters has a blank, and numbers follow only after it."""
    words = row[1][:_WIDTH].split()
    if len(words) < 2 or row[1][0].isspace():
        return False
    after = row[1][_WIDTH:].split(None, 1)
    return not is_numeral(words[1]) and bool(after) and is_numeral(after[0])


def _split(row: Line, strict: bool) -> tuple[str, Line]:
    number, text = row
    if strict:
        return text[:_WIDTH].strip(), (number, text[_WIDTH:])
    name, _, numbers = text.strip().replace("\t", " ").partition(" ")
    return name, (number, numbers)


def _fits(row: Line, counts: tuple[int, ...], *, strict: bool) -> bool:
    """Return whether only numbers follow the label, and whether their count is one of these."""
    cells = _split(row, strict)[1][1].split()
    return len(cells) in counts and all(map(is_numeral, cells))


def _lower(first: Line, n: int, strict: bool) -> int | None:
    """Return how many numbers the first row of a triangle has, 0 or 1, or None for a square."""
    count = len(_split(first, strict)[1][1].split())
    if 1 < count == n - 1:
        raise _upper(first)
    if count > 1 and count != n:
        raise ValueError(
            f"line {first[0]} has {count} numbers after its label, not {n}, 1 or 0: "
            "correct it, "
            f"or, if labels are {_WIDTH} characters wide, pass format='phylip-strict'"
        )
    return None if count == n else count


def _upper(row: Line) -> ValueError:
    return ValueError(
        f"line {row[0]} and the next are the rows of an upper triangle, which is not read: "
        "write a square matrix or a lower triangle"
    )


def _fill(
    square: NDArray[np.float64], start: int, rows: list[Line], lower: int | None, missing: bool
) -> None:
    if lower is None:
        n = len(square)
        if start == 0 and [len(text.split()) for _, text in rows[:3]] == [n, n - 1, n - 2]:
            raise _upper(rows[0])
        square[start : start + len(rows)] = read_rows(rows, None, len(square), missing)
        return
    for i, row in enumerate(rows, start=start):
        if i + lower or row[1].strip():
            square[i, : i + lower] = read_rows([row], None, i + lower, missing)[0]
            square[:i, i] = square[i, :i]
