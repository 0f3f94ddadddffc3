"""What commands print and write: results to stdout, remarks to stderr, files whole or not at all."""

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

import typer
from rich.console import Console

from .. import __version__
from .._core.io.files import as_utf8, atomic_write, check_writable, is_stream
from .._core.io.printing import printable
from ..formats import TREE_FORMATS
from ..formats._target import write_targets
from ..formats.tree_files import files_beside
from ..scores.score import Score

_PIPE_WIDTH = 200  # columns where the output is no terminal: a row stays a line


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints every row of a table on one line, unless the output is a terminal."""
    made = Console(highlight=False, stderr=stderr)
    # Not `made.is_terminal`: FORCE_COLOR sets it for pipes as well, to ask for colors there.
    return (
        made
        if made.file.isatty()
        else Console(highlight=False, stderr=stderr, width=_PIPE_WIDTH)
    )


def remark(text: str) -> None:
    """Print a line to the terminal, apart from the output; control characters in names are shown as escapes."""
    typer.echo(printable(text), err=True)


def print_json(fields: Mapping[str, Any]) -> None:
    """Print one object, with the version; what is infinite or no number becomes null, as JSON has neither."""
    typer.echo(
        json.dumps(
            {**{name: _plain(value) for name, value in fields.items()}, "version": __version__}
        )
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def score_fields(scores: Mapping[str, Score]) -> dict[str, Any]:
    """Return scores as numbers, whether all are exact, and the 95% intervals of those that are not."""
    intervals = {
        name: [score.low, score.high] for name, score in scores.items() if not score.exact
    }
    fields: dict[str, Any] = {**scores, "exact": not intervals}
    return {**fields, "intervals": intervals} if intervals else fields


def check_tree_output(path: str, to: str | None, source: str) -> None:
    """Refuse, before the work begins, a file of a tree that could not be written afterwards."""
    check_outputs(path, *files_beside(path, to), source=source)
    suffixes = tuple(suffix for known in TREE_FORMATS.values() for suffix in known.suffixes)
    if to is None and path != "-" and not path.lower().removesuffix(".gz").endswith(suffixes):
        raise ValueError(
            f"{path}: no format of trees has that suffix: give one of {', '.join(suffixes)}, or --to"
        )


def check_outputs(*paths: str | None, source: str, table: str | None = None) -> None:
    """Refuse, before the work begins, what cannot be written afterwards, and what is read or written already.

    A device or a pipe is written through, so several outputs may go there.
    """
    taken = {Path(path).resolve() for path in (source, table) if path and path != "-"}
    for path in paths:
        if path is None or path == "-":
            continue
        if Path(path).is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file in it")
        check_writable(path)
        if is_stream(path):
            continue
        if Path(path).resolve() in taken:
            raise ValueError(f"{path} would be overwritten: choose another name for the output")
        taken.add(Path(path).resolve())
        if not Path(path).resolve().parent.is_dir():
            raise FileNotFoundError(f"{path}: there is no such folder: make it first")


def opened(path: str, mode: str = "w") -> AbstractContextManager[IO[Any]]:
    """Open a file that appears when it is whole, or standard output for -."""
    if path == "-":
        return nullcontext(sys.stdout.buffer if "b" in mode else sys.stdout)
    return atomic_write(path, mode)


def write_outputs(texts: Iterable[tuple[str, str]]) -> None:
    """Write texts to several files, all of them or none; - is standard output, which may get several texts."""
    contents: dict[str, bytes] = {}
    for path, text in texts:
        contents[path] = contents.get(path, b"") + as_utf8(text, path)
    write_targets(contents)


def counted(number: int, what: str) -> str:
    """Return a number with its noun: 1 point, 1,000 points."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for the eye; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}g}"


def rows_as_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of text in aligned columns, for a few rows of names and values."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
