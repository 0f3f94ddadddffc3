"""Arrays and a header in one .npz file: marked, versioned, without pickles, written whole or not at all."""

import json
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np

from .files import atomic_write

# What damaged files make readers raise: a MemoryError where a header claims more than there is, and the second line
# where NumPy takes a header for Python.
_DAMAGE = (
    *(OSError, ValueError, KeyError, EOFError, RuntimeError, MemoryError, zlib.error, zipfile.BadZipFile),
    *(SyntaxError, TypeError, AttributeError, TokenError),
)


def write_archive(path: str | os.PathLike[str], header: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Write the header and the fields to a file, whole or not at all: see `pack_archive`."""
    with atomic_write(path, "wb") as file:
        pack_archive(file, header, fields)


def pack_archive(file: IO[bytes], header: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Write the header and the fields to an open file; a field that is no array is kept as JSON text.

    NumPy strings drop trailing zero characters and may be huge; JSON in bytes keeps any label.
    """
    arrays: dict[str, Any] = {
        name: value if isinstance(value, np.ndarray) else as_text(value) for name, value in fields.items()
    }
    np.savez(file, header=as_text(dict(header)), **arrays)


def as_text(value: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a value as the bytes of its JSON text."""
    return np.frombuffer(json.dumps(value).encode("ascii"), dtype=np.uint8)


def read_archive(path: str | os.PathLike[str], texts: tuple[str, ...] = ("labels",)) -> dict[str, Any]:
    """Return what is in the header and every field of an archive, those named in `texts` read from JSON."""
    with Path(path).open("rb") as file:  # np.load leaves a file that it opened and cannot read open
        return unpack_archive(file, texts)


def unpack_archive(file: IO[bytes], texts: tuple[str, ...] = ("labels",)) -> dict[str, Any]:
    """Return the same from an open file."""
    archive = np.load(file, allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("one array and no archive")
    header = json.loads(archive["header"].tobytes())
    if not isinstance(header, dict):
        raise ValueError("no header")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of headers as Python 2 wrote them
        fields = {name: archive[name] for name in archive if name != "header"}
        for name in texts:
            fields[name] = json.loads(archive[name].tobytes())
    return {**fields, **header}


def checked_read(path: str | os.PathLike[str], what: str, read: Callable[[], Any]) -> Any:
    """Return read(); whatever a damaged or foreign file makes it raise becomes one line that names the file."""
    try:
        return read()
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except _DAMAGE as error:
        line = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read: it is no {what} file, or it is cut short ({line})") from error


def check_marks(path: str | os.PathLike[str], fields: Any, *, mark: str, version: int, writer: str) -> None:
    """Raise a ValueError unless the fields of a file carry this format mark and version."""
    if not isinstance(fields, dict) or fields.get("format") != mark:
        raise ValueError(f"{path} was not written by {writer}")
    if fields.get("version") != version:
        raise ValueError(
            f"{path} has version {fields.get('version')!r}; this treerep reads version {version}: update it"
        )


def check_fields(path: str | os.PathLike[str], fields: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Raise a ValueError that names the first field which is missing, or that is of the wrong kind."""
    missing = [name for name in names if name not in fields]
    if missing:
        raise ValueError(f"{path} is damaged: {missing[0]} is missing")
    if not isinstance(fields["labels"], list | None):
        raise ValueError(f"{path} is damaged: labels is no list")
    if not isinstance(fields.get("order_known", True), bool):
        raise ValueError(f"{path} is damaged: order_known is not true or false")
