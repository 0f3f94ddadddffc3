"""Genomes in FASTA files, read in pieces."""

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from .files import Name, open_file

_SUFFIXES = (".fa", ".fasta", ".fna", ".ffn", ".fas")
_BLOCK = 1 << 20


def genome_files(path: Name) -> list[Path]:
    """Return a file itself, or the FASTA files of a folder, sorted by name."""
    place = Path(path)
    if not place.is_dir():
        return [place]
    found = [file for file in sorted(place.iterdir()) if genome_name(file) != _without_gz(file.name)]
    if not found:
        raise ValueError(
            f"{os.fspath(path)} contains no genomes: a FASTA file ends in {', '.join(_SUFFIXES)}"
        )
    return found


def genome_name(path: Path) -> str:
    """Return the name of a file without its suffixes.

    >>> genome_name(Path("data/E.coli.fna.gz"))
    'E.coli'
    """
    name = _without_gz(path.name)
    for suffix in _SUFFIXES:
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def fasta_pieces(path: Name) -> Iterator[tuple[str | None, bytes]]:
    """Yield (label, b"") for each header of a FASTA file, then (None, letters) for its lines.

    A compressed file (gzip) is recognized. Memory: about a megabyte, or the longest line.
    """
    with open_file(path) as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        lines = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if packed else file
        try:
            yield from _pieces(lines, os.fspath(path))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{os.fspath(path)} is damaged: {error}") from error


def _pieces(lines: IO[bytes], name: str) -> Iterator[tuple[str | None, bytes]]:
    seen = False
    while block := lines.readlines(_BLOCK):
        letters: list[bytes] = []
        for line in block:
            if line.startswith(b";"):  # a comment
                continue
            if not line.startswith(b">"):
                letters.append(line.strip())
                continue
            text = b"".join(letters)
            if text and not seen:
                raise _no_header(name)
            if text:
                yield None, text
            letters = []
            words = line[1:].split(None, 1)
            seen = True
            yield (words[0].decode("utf-8", "replace") if words else ""), b""
        text = b"".join(letters)
        if text and not seen:
            raise _no_header(name)
        if text:
            yield None, text
    if not seen:
        raise _no_header(name)


def _no_header(name: str) -> ValueError:
    return ValueError(f"{name} is not a FASTA file: it must start with >label")


def _without_gz(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name
