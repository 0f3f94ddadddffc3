"""Check the size of Blosc's chunks before Blosc reads them.

Blosc reads as many bytes as the header of a chunk says, whether they are there or not. A chunk
that is cut short, by a full disk or on purpose, would end the process.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..._core.memory import check_memory
from ..._core.typing import ChunkedArray

# Versions, flags, size of an item; bytes unpacked, in a block, and packed.
_HEADER = struct.Struct("<4B3I")
_NAMES = ("blosc", "numcodecs.blosc")


def check_blosc_chunks(array: ChunkedArray, keys: Iterator[str]) -> None:
    """Refuse a zarr array in a folder if a chunk is shorter or longer than its header says."""
    root = getattr(array.store_path.store, "root", None)
    if not isinstance(root, Path) or not _is_outermost(array.metadata.to_dict()):
        return
    for key in keys:
        with (root / array.store_path.path / key).open("rb") as file:
            head = file.read(_HEADER.size)
            size = file.seek(0, 2)
        *_, unpacked, _, packed = (
            _HEADER.unpack(head) if len(head) == _HEADER.size else (0, 0, 0)
        )
        if packed != size or size < _HEADER.size:
            raise ValueError(
                f"chunk {key} has {size:,} bytes, not {packed:,} as its header says: "
                "get a new copy"
            )
        check_memory(unpacked, f"chunk {key}", "write the array in smaller chunks")


def _is_outermost(metadata: dict[str, Any]) -> bool:
    """Tell whether Blosc is the last codec. Codecs after it would notice damage."""
    if metadata.get("zarr_format") == 3:
        codecs = metadata["codecs"]
        last = codecs[-1] if codecs else ""
        return (last.get("name") if isinstance(last, dict) else last) in _NAMES
    compressor = metadata.get("compressor")
    return isinstance(compressor, dict) and compressor.get("id") in _NAMES
