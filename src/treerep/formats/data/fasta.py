"""Reader for aligned sequences in FASTA: `>label description`, then lines of characters."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metric.base import Metric, MetricError
from ...metric.sequences.alphabet import Alphabet, IllegalCharacterError
from ...metric.sequences.metric import check_model, check_names, choose_alphabet
from ...metric.sequences.models import DEFAULT_MODELS
from ...metric.sequences.packing import Packer, as_codes
from .._request import Request
from .._source import Line, Source

# Characters that do not count as sites.
_BLANKS = str.maketrans("", "", " \t\f\v")


class _Record(NamedTuple):
    """A header and the lines below it, without blanks."""

    line: int  # of the header
    label: str
    lines: list[Line]

    def characters(self, alphabet: Alphabet) -> NDArray[np.uint8]:
        """Return the sequence as ASCII codes."""
        text = "".join(line for _, line in self.lines)
        row = np.frombuffer(text.encode(), np.uint8) if text.isascii() else text
        return as_codes(row, self.label, alphabet)

    def line_of(self, position: int) -> int:
        """Return the line that holds a position of the sequence."""
        for number, line in self.lines:
            if position < len(line):
                return number
            position -= len(line)
        return self.line


def read(source: Source, request: Request) -> Metric:
    """Read an alignment. Memory: the packed sequences, their labels and one record."""
    check_names(request.metric, request.alphabet, request.saturated, request.missing)
    if request.kind not in (None, "sequences"):
        raise request.not_a("a FASTA file")
    alphabet = choose_alphabet(request.alphabet, request.metric, _characters(source))
    # An error before a long file is read.
    model = request.metric or DEFAULT_MODELS[alphabet.name]
    check_model(model, alphabet, request.gamma, chosen=request.alphabet is not None)
    packer = Packer(alphabet)
    lines: dict[str, int] = {}
    for record in _records(source):
        _check_label(record, lines)
        _add(packer, record)
    return request.sequences(packer.finish(), list(lines))


def _characters(source: Source) -> Iterator[bytes]:
    """Yield the characters of a file in pieces, without headers and comments.

    The first piece, which usually determines the alphabet, is small.
    """
    yield _without_headers(source.head.decode("utf-8-sig", "replace").splitlines())
    for lines in source.blocks():
        yield _without_headers(lines)


def _without_headers(lines: list[str]) -> bytes:
    text = "".join(line for line in lines if not line.startswith((">", ";")))
    return text.encode("ascii", "replace")


def _records(source: Source) -> Iterator[_Record]:
    record = None
    for number, line in source.lines():
        if line.startswith(">"):
            if record is not None:
                yield record
            label = line[1:].split(None, 1)
            record = _Record(number, label[0] if label else "", [])
        elif line.startswith(";"):  # a comment
            continue
        elif stripped := line.translate(_BLANKS):
            if record is None:
                raise ValueError(f"line {number} is above the first header: a FASTA file starts with >label")
            record.lines.append((number, stripped))
    if record is None:
        raise ValueError("the file has no sequences: a FASTA file starts with >label")
    yield record


def _check_label(record: _Record, lines: dict[str, int]) -> None:
    """Note the line of a label. An empty or a repeated label raises an error."""
    if not record.label:
        raise ValueError(f"line {record.line} has no label: write it after >")
    if record.label in lines:
        raise ValueError(
            f"line {record.line} repeats the label {record.label!r} of line "
            f"{lines[record.label]}: the first word of each header must be unique"
        )
    lines[record.label] = record.line


def _add(packer: Packer, record: _Record) -> None:
    try:
        packer.add(record.characters(packer.alphabet), record.label)
    except IllegalCharacterError as error:
        raise MetricError(f"line {record.line_of(error.position)}: {error}") from None
    except MetricError as error:
        raise MetricError(f"line {record.line}: {error}") from None
