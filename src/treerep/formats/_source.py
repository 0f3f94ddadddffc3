"""Reading of bytes and lines from a plain or gzip file, or from standard input."""

import gzip
import io
import os
import stat
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

from .._core.memory import MemoryWatch, check_memory
from ._errors import file_name

_GZIP = b"\x1f\x8b"
_MOST_DEFLATED = 1032  # largest compression ratio of zlib
_HEAD = 1 << 16
_CHUNK = 1 << 20  # characters read at a time
_LONGEST_LINE = 1 << 28  # characters: a row of ten million numbers
_LONG_LINE = 1 << 22
_CELL_BYTES = 25  # of memory, per character of a line that is split into cells

Line = tuple[int, str]  # line number from 1, and text without line end


class Source:
    """A file or standard input (`-`). Gzip is decompressed.

    Standard input and pipes are kept in memory, because they can be read only once.

    >>> list(Source.of_bytes(b"0 1", name="an example").lines())
    [(1, '0 1')]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = file_name(path)
        self.path: Path | None = None
        self._data: bytes | None = None
        if path == "-":
            if sys.stdin is None:
                raise ValueError("standard input is closed: name a file")
            self._data = _read_all(sys.stdin.buffer)
            return
        file = Path(path)
        mode = file.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise ValueError("this is a device, not a file: use a file, or - for standard input")
        # Opening a folder raises a clear error later.
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            self.path = file
        else:
            with file.open("rb") as pipe:
                self._data = _read_all(pipe)

    @classmethod
    def of_bytes(cls, data: bytes, *, name: str) -> "Source":
        """Return a source for bytes in memory."""
        source = cls.__new__(cls)
        source.name = name
        source.path = None
        source._data = data
        return source

    @property
    def suffix(self) -> str:
        """The extension in lower case, without ".gz": ".csv"."""
        suffixes = [suffix.lower() for suffix in Path(self.name).suffixes]
        return next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")

    def _raw(self) -> BinaryIO:
        if self.path is None:
            return io.BytesIO(self._data or b"")
        return self.path.open("rb")

    @cached_property
    def packed(self) -> bool:
        """Whether the content is gzip, independent of the name."""
        with self._raw() as file:
            return file.read(2) == _GZIP

    def open(self) -> BinaryIO:
        """Open the decompressed bytes for reading."""
        # GzipFile closes only files that it opened itself, so pass it the bytes or the path.
        if not self.packed:
            return self._raw()
        if self.path is None:
            unpacked = gzip.GzipFile(fileobj=io.BytesIO(self._data or b""))
        else:
            unpacked = gzip.GzipFile(self.path)
        return cast("BinaryIO", unpacked)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed."""
        with self.open() as file:
            return file.read(_HEAD)

    def content(self) -> bytes:
        """Return all bytes, decompressed, if the bytes and the result fit in memory."""
        with self.open() as file:
            return _read_all(file)

    def pieces(self) -> Iterator[bytes]:
        """Yield all bytes, decompressed, in pieces. Raise an error if memory runs short."""
        watch = MemoryWatch()
        with self.open() as file:
            while piece := file.read(_CHUNK):
                yield piece
                watch.check()

    @cached_property
    def most_bytes(self) -> int:
        """The largest possible number of decompressed bytes."""
        size = len(self._data or b"") if self.path is None else self.path.stat().st_size
        return size * _MOST_DEFLATED if self.packed else size

    def lines(self) -> Iterator[Line]:
        """Yield the numbered lines of UTF-8 text, without line ends and byte order mark."""
        number = 0
        for block in self.blocks():
            for number, line in enumerate(block, start=number + 1):  # noqa: B020 - counts on
                yield number, line

    def blocks(self) -> Iterator[list[str]]:
        """Yield lists of many lines, which is faster if line numbers do not matter.

        Raise an error if memory runs short, including for a long line that is split into cells.
        """
        _refuse_other_encodings(self.head)
        watch = MemoryWatch()
        begun: list[str] = []  # pieces of an incomplete line
        size = 0
        with io.TextIOWrapper(self.open(), encoding="utf-8-sig", newline=None) as stream:
            try:
                while text := stream.read(_CHUNK):
                    first, *rest = text.split("\n")
                    begun.append(first)
                    size += len(first)
                    if size > _LONGEST_LINE:
                        raise ValueError(f"a line has more than {_LONGEST_LINE:,} characters: split it")
                    if size > _LONG_LINE:
                        check_memory(_CELL_BYTES * size, f"a line of {size:,} characters", "split it")
                    if rest:
                        yield ["".join(begun), *rest[:-1]]
                        begun = [rest[-1]]
                        size = len(rest[-1])
                    watch.check()
            except UnicodeDecodeError as error:
                raise ValueError(self._first_bad_line()) from error
        if size:
            yield ["".join(begun)]

    def exact_text(self) -> str:
        """Return the whole UTF-8 text with its original line ends, which labels may contain."""
        _refuse_utf16(self.head)  # null characters are allowed, because labels may contain them
        try:
            return self.content().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(self._first_bad_line()) from error

    def text(self) -> str:
        """Return the whole text, with newlines as line ends, if text and result fit in memory."""
        pieces = []
        size = 0
        checked = 0
        for _, line in self.lines():
            pieces.append(line)
            size += len(line) + 1
            if size > checked + _CHUNK:
                check_memory(3 * size, "the text", "save the data as npy, which is not read into memory")
                checked = size
        return "\n".join(pieces)

    def _first_bad_line(self) -> str:
        with self.open() as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as error:
                    bad = line[error.start]
                    return (
                        f"line {number} has the byte 0x{bad:02x}, which is not UTF-8: save the file as UTF-8"
                    )
        return "the file is not UTF-8 text: save it as UTF-8"


def _read_all(file: BinaryIO) -> bytes:
    """Read to the end. Check memory, because the size of a pipe or a gzip file is unknown."""
    pieces = []
    size = 0
    while piece := file.read(_CHUNK):
        pieces.append(piece)
        size += len(piece)
        check_memory(2 * size, "the input", "save the data in a plain file, as npy if they are distances")
    return b"".join(pieces)


def _refuse_utf16(head: bytes) -> None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("the file is UTF-16 text: save it as UTF-8")


def _refuse_other_encodings(head: bytes) -> None:
    _refuse_utf16(head)
    if b"\0" in head:
        raise ValueError(
            "the file is neither text nor a known binary format: see docs/reference/data_formats.md"
        )
