"""Reader for the DISTANCES block of Nexus files, as written by SplitsTree, PAUP and phangorn."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ...metric.base import Metric
from .._numerals import read_rows
from .._request import Request
from .._source import Line, Source

# Possessive quantifiers (++, *+) make an incomplete file fail in linear time.
_QUOTED = r"'(?:[^']++|'')*+'"
_COMMENT = re.compile(rf"{_QUOTED}|\[[^\[\]]*+\]")
_BLOCK = re.compile(r"\bbegin\s++(taxa|data|characters|distances)\s*+;", re.IGNORECASE)
_COMMAND = re.compile(rf"\s*+([a-z]++)((?:[^';]++|{_QUOTED})*+);", re.IGNORECASE)
_NAME = re.compile(rf"\s*+({_QUOTED}|[^\s']++)")
_TRIANGLES = ("lower", "upper", "both")


class _Form(NamedTuple):
    """The FORMAT of the matrix, with the defaults of the standard."""

    triangle: str = "lower"
    diagonal: bool = True
    labeled: bool = True

    def columns(self, i: int, n: int) -> NDArray[np.int64]:
        """Return the columns of row i that are in the file."""
        first = i if self.triangle == "upper" else 0
        columns = np.arange(first, i + 1 if self.triangle == "lower" else n)
        return columns if self.diagonal else columns[columns != i]


def read(source: Source, request: Request) -> Metric:
    """Read the DISTANCES block. If the matrix has no labels, the TAXA block provides them."""
    if request.kind not in (None, "distances"):
        raise request.not_a("the DISTANCES block of a Nexus file")
    text = _without_comments(source.text())
    taxa: list[str] | None = None
    n: int | None = None
    form = _Form()
    aligned = False
    for block, command, body, start in _commands(text):
        if command == "dimensions" and (found := re.search(r"ntax\s*=\s*(\d{1,12})\b", body, re.IGNORECASE)):
            n = int(found[1])
        elif command == "taxlabels":
            taxa = [_name(match[1]) for match in _NAME.finditer(body)]
        elif command == "format" and block == "distances":
            form = _read_format(body)
        elif command == "matrix" and block == "distances":
            return _read_matrix(_lines(text, body, start), n, form, taxa, request)
        elif command == "matrix" and block in ("data", "characters"):
            aligned = True
    if aligned:
        raise ValueError("the file is an alignment in Nexus: convert it to FASTA")
    raise ValueError("the file has no DISTANCES block with a MATRIX: add one")


def _without_comments(text: str) -> str:
    """Replace comments by spaces, and keep line ends."""
    if "[" not in text:
        return text
    return _COMMENT.sub(
        lambda match: match[0] if match[0][0] == "'" else " " + "\n" * match[0].count("\n"),
        text,
    )


def _commands(text: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield block, name, body and position of the body for the commands in both blocks."""
    for block in _BLOCK.finditer(text):
        position = block.end()
        while match := _COMMAND.match(text, position):
            command = match[1].lower()
            if command in ("end", "endblock"):
                break
            yield block[1].lower(), command, match[2], match.start(2)
            position = match.end()
        else:
            raise ValueError(
                f"line {_line_number(text, position)}: the block has no END: the file is truncated"
            )


def _line_number(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _lines(text: str, body: str, start: int) -> list[Line]:
    lines = enumerate(body.split("\n"), start=_line_number(text, start))
    return [(number, line) for number, line in lines if line.strip()]


def _name(word: str) -> str:
    return word[1:-1].replace("''", "'") if word[0] == "'" else word


def _read_format(body: str) -> _Form:
    words = dict(re.findall(r"([a-z]++)(?:\s*+=\s*+(\S++))?", body.lower()))
    triangle = words.get("triangle", "lower")
    if triangle not in _TRIANGLES:
        raise ValueError(f"TRIANGLE={triangle} is unknown: it must be one of {', '.join(_TRIANGLES)}")
    if "interleave" in words:
        raise ValueError("the matrix is interleaved: write each row without breaks")
    labeled = "nolabels" not in words and words.get("labels") != "no"
    return _Form(triangle, "nodiagonal" not in words, labeled)


def _read_matrix(
    lines: list[Line], n: int | None, form: _Form, taxa: list[str] | None, request: Request
) -> Metric:
    n = len(taxa or lines) if n is None else n
    if n == 0 or n > len(lines):
        raise ValueError(
            f"the MATRIX has {len(lines)} rows for {n} points: the file is truncated, or NTAX is wrong"
        )
    check_memory(8 * n * n, f"a matrix of {n:,} points", "save it as npy, which is not read into memory")
    square = np.zeros((n, n))
    names = []
    rest = iter(lines)
    for i in range(n):
        columns = form.columns(i, n)
        width = len(columns)
        name, row = _row(rest, width, form.labeled)
        names.append(name)
        if width:
            square[i, columns] = read_rows([row], None, width, request.missing)[0]
        elif row[1].strip():
            raise ValueError(f"line {row[0]} has too many numbers: set the TRIANGLE in FORMAT")
        if form.triangle != "both":
            square[columns, i] = square[i, columns]
    if (more := next(rest, None)) is not None:
        raise ValueError(f"line {more[0]} exceeds the {n} points: correct NTAX, or remove the line")
    return request.distances(square, names if form.labeled else taxa)


def _row(lines: Iterator[Line], width: int, labeled: bool) -> tuple[str, Line]:
    """Return the label and numbers of the next row, which may span several lines."""
    number, text = next(lines, (0, ""))
    match = _NAME.match(text) if labeled else None
    if not text or (labeled and match is None):
        raise ValueError(
            f"line {number} has no label: add it"
            if text
            else "the MATRIX has too few rows: the file is truncated"
        )
    pieces = [text if match is None else text[match.end() :]]
    missing = width - len(pieces[0].split())
    while missing > 0 and (following := next(lines, None)) is not None:
        pieces.append(following[1])
        missing -= len(following[1].split())
    return "" if match is None else _name(match[1]), (number, " ".join(pieces))
