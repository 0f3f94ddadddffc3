"""Size checks of Blosc chunks before Blosc reads them.

Blosc reads the number of bytes given in the header of a chunk, even if the chunk is shorter. A
truncated chunk, from a full disk or an attack, would crash the process.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..._core.memory import check_memory
from ..._core.typing import ChunkedArray

# Versions, flags and item size; then the decompressed, block and compressed sizes in bytes.
_HEADER = struct.Struct("<4B3I")
_NAMES = ("blosc", "numcodecs.blosc")


def check_blosc_chunks(array: ChunkedArray, keys: Iterator[str]) -> None:
    """Raise an error if a chunk of a zarr array in a folder has a size other than its header states."""
    root = getattr(array.store_path.store, "root", None)
    if not isinstance(root, Path) or not _is_outermost(array.metadata.to_dict()):
        return
    for key in keys:
        with (root / array.store_path.path / key).open("rb") as file:
            head = file.read(_HEADER.size)
            size = file.seek(0, 2)
        *_, unpacked, _, packed = _HEADER.unpack(head) if len(head) == _HEADER.size else (0, 0, 0)
        if packed != size or size < _HEADER.size:
            raise ValueError(
                f"chunk {key} has {size:,} bytes, but its header states {packed:,}: get a new copy"
            )
        check_memory(unpacked, f"chunk {key}", "write the array in smaller chunks")


def _is_outermost(metadata: dict[str, Any]) -> bool:
    """Tell whether Blosc is the last codec. Codecs after Blosc would detect damage."""
    if metadata.get("zarr_format") == 3:
        codecs = metadata["codecs"]
        last = codecs[-1] if codecs else ""
        return (last.get("name") if isinstance(last, dict) else last) in _NAMES
    compressor = metadata.get("compressor")
    return isinstance(compressor, dict) and compressor.get("id") in _NAMES
