"""Where bytes go: a file, plain or gzip, whole or not at all, or standard output."""

import gzip
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ..common.files import atomic_write


@contextmanager
def open_target(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, or standard output (`-`); a path that ends in .gz is compressed.

    >>> with open_target("-") as file:
    ...     _ = file.write(b"0 1")
    0 1
    """
    name = os.fspath(path)
    if name == "-":
        yield from _standard_output()
        return
    with atomic_write(path, "wb") as file:
        if not name.lower().endswith(".gz"):
            yield file
            return
        # Without a name and a time: the same data give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


def _standard_output() -> Iterator[IO[bytes]]:
    sys.stdout.flush()
    if hasattr(sys.stdout, "buffer"):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    kept = io.BytesIO()  # for a notebook's or a test's stand-in, which takes text
    yield kept
    sys.stdout.write(kept.getvalue().decode("utf-8"))
