"""Arrays and a header in one .npz file, with a format mark and a version, and without pickles."""

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from tokenize import TokenError
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..memory import check_memory
from .arrays import read_array
from .files import atomic_write, is_of_the_machine, open_file

Content = TypeVar("Content")

_DAMAGE = (  # raised when a damaged file is read
    *(
        OSError,
        ValueError,
        LookupError,
        EOFError,
        RuntimeError,
        NotImplementedError,
        zlib.error,
        zipfile.BadZipFile,
    ),
    *(SyntaxError, TypeError, AttributeError, TokenError),
)
# The compression methods that NumPy writes. Other methods would decompress without a size
# limit.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MORE_MEMORY = "use a machine with more memory"


def write_archive(path: str | os.PathLike[str], header: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Write the header and the fields to a file, completely or not at all: see `pack_archive`."""
    with atomic_write(path, "wb") as file:
        pack_archive(file, header, fields)


def pack_archive(file: IO[bytes], header: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Write the header and the fields to an open file; fields that are not arrays become JSON.

    NumPy strings drop trailing null characters and may be very large. JSON bytes preserve any
    label.
    """
    arrays: dict[str, Any] = {
        name: value if isinstance(value, np.ndarray) else as_text(value) for name, value in fields.items()
    }
    np.savez(file, header=as_text(dict(header)), **arrays)


def as_text(value: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a value as JSON-encoded bytes."""
    return np.frombuffer(json.dumps(value).encode("ascii"), dtype=np.uint8)


def read_archive(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header and all fields of an archive: see `unpack_archive`."""
    with open_file(path) as file:
        return unpack_archive(file, None)


def unpack_archive(file: IO[bytes], arrays: tuple[str, ...] | None) -> dict[str, Any]:
    """Return the header, the requested arrays that exist (None: all arrays), and the labels.

    Other members are not read. The total size is compared with the available memory before
    anything is decompressed.
    """
    with zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        arrays = tuple(
            name
            for name in (members if arrays is None else arrays)
            if name in members and name not in ("header", "labels")
        )
        sizes = [members[name].file_size for name in ("header", *arrays, "labels") if name in members]
        check_memory(2 * sum(sizes), "its content", _MORE_MEMORY)
        header = parsed_json(_array(archive, members["header"]).tobytes())
        if not isinstance(header, dict):
            raise ValueError("no header")
        # Copy the arrays, because arrays that were read are read-only.
        fields: dict[str, Any] = {name: _array(archive, members[name]).copy(order="K") for name in arrays}
        fields["labels"] = parsed_json(_array(archive, members["labels"]).tobytes())
    return {**fields, **header}


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    if info.compress_type not in _METHODS:
        raise ValueError(f"{info.filename} uses a compression method that treerep does not write")
    with archive.open(info) as member:
        return read_array(member, info.file_size, _MORE_MEMORY)


def read_json(file: IO[bytes]) -> Any:
    """Return the content of an open JSON file, if it fits in memory."""
    check_memory(file.seek(0, os.SEEK_END), "its content", _MORE_MEMORY)
    file.seek(0)
    return parsed_json(file.read())


def parsed_json(text: bytes) -> Any:
    """Parse a JSON text, if the result fits in memory.

    >>> parsed_json(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    # Upper bounds of the memory that Python needs: 4 bytes per character, and these sizes per
    # entry, key, list and object.
    sizes = {b",": 64, b":": 100, b"[": 90, b"{": 90}
    needed = 4 * len(text) + sum(size * text.count(mark) for mark, size in sizes.items())
    check_memory(needed, f"a text of {len(text):,} bytes", _MORE_MEMORY)
    return json.loads(text)


def checked_read(path: str | os.PathLike[str], what: str, read: Callable[[], Content]) -> Content:
    """Return read(), and turn its errors into one line that names the file.

    Errors of the machine, such as a failing disk or too little memory, are not attributed to
    the file.
    """
    try:
        return read()
    except MemoryError as error:
        raise MemoryError(f"{path}: {_one_line(error) or 'it does not fit in memory'}") from error
    except _DAMAGE as error:
        if isinstance(error, OSError) and is_of_the_machine(error):
            raise
        kind = f"an {what}" if what[0] in "aeion" else f"a {what}"
        raise ValueError(
            f"{path} cannot be read: it is not {kind} file, or it is truncated ({_one_line(error)})"
        ) from error


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def check_marks(
    path: str | os.PathLike[str], fields: object, *, mark: str, version: int, writer: str
) -> None:
    """Raise a ValueError unless the fields of a file contain this format mark and version."""
    if not isinstance(fields, dict) or fields.get("format") != mark:
        raise ValueError(f"{path} was not written by {writer}")
    if fields.get("version") != version:
        raise ValueError(
            f"{path} has version {fields.get('version')!r}, but this treerep reads "
            f"version {version}: update treerep"
        )


def check_fields(path: str | os.PathLike[str], fields: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Raise a ValueError that names the first field that is missing or has the wrong type."""
    missing = [name for name in names if name not in fields]
    if missing:
        raise ValueError(f"{path} is damaged: {missing[0]} is missing")
    if not isinstance(fields["labels"], list | None):
        raise ValueError(f"{path} is damaged: labels is not a list")
    if not isinstance(fields.get("order_known", True), bool):
        raise ValueError(f"{path} is damaged: order_known is not true or false")
