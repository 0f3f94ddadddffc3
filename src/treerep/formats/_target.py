"""Atomic writing of plain or gzip files, and writing to standard output."""

import gzip
import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from .._core.io.files import atomic_write, write_together


@contextmanager
def open_target(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file or standard output (`-`) for writing. Paths that end in .gz are compressed.

    >>> with open_target("-") as file:
    ...     _ = file.write(b"0 1")
    0 1
    """
    name = os.fspath(path)
    if name == "-":
        yield from _standard_output()
        return
    with atomic_write(path, "wb") as file:
        if not _is_packed(name):
            yield file
            return
        with _gzip(file) as packed:
            yield packed  # type: ignore[misc]


def write_targets(contents: Mapping[str, bytes]) -> None:
    """Write several files atomically, all or none, as `open_target` writes one.

    >>> write_targets({"-": b"0 1"})
    0 1
    """
    files = {name: content for name, content in contents.items() if name != "-"}
    write_together(
        {name: _packed(content) if _is_packed(name) else content for name, content in files.items()}
    )
    if "-" in contents:
        with open_target("-") as file:
            file.write(contents["-"])


def _is_packed(name: str) -> bool:
    return name.lower().endswith(".gz")


def _packed(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with _gzip(buffer) as packed:
        packed.write(content)
    return buffer.getvalue()


def _gzip(file: IO[bytes]) -> gzip.GzipFile:
    # Omit name and time, so that equal data gives equal bytes.
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None:
        raise ValueError("standard output is closed: write to a file")
    sys.stdout.flush()
    if hasattr(sys.stdout, "buffer"):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    buffer = io.BytesIO()  # stdout of notebooks and tests accepts text only
    yield buffer
    sys.stdout.write(buffer.getvalue().decode("utf-8"))
