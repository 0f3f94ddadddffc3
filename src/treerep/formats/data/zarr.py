"""Reader for zarr: a folder of compressed chunks, or a group of arrays as in npz files.

The metadata are checked (see `metric/disk/zarr_metadata.py`) before zarr opens an array. Each
array is opened with the metadata in its folder, not with copies in the group ("consolidated").
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.memory import check_memory
from ...metric.base import Metric
from ...metric.disk.chunks import check_chunks, refuse_missing_chunks
from ...metric.disk.zarr_metadata import check_zarr_metadata
from .._request import Request
from .._sniff import is_zarr
from .._source import Source
from .npz import LABELS, chosen, strings

if TYPE_CHECKING:
    import zarr

_METADATA_FILES: tuple[tuple[str, Literal[2, 3]], ...] = (
    ("zarr.json", 3),
    (".zarray", 2),
    (".zgroup", 2),
)
_MOST_METADATA = 1 << 26  # bytes
_LABEL_BYTES = 100  # of memory, per label


class _Node(NamedTuple):
    """The metadata of a folder."""

    version: Literal[2, 3]
    metadata: dict[str, Any]
    is_array: bool


def read(source: Source, request: Request) -> Metric:
    """Read an array, the only array of a group, or the array named by `use_rep`.

    An array named `labels` contains the labels of the points.
    """
    if not is_zarr(source):
        raise ValueError("the path is not a zarr folder: leave out format='zarr'")
    require("zarr", "zarr")
    with _damage_named():
        array, labels = _open(source, request)
        if request.kind in (None, "distances"):
            return request.stored_distances(array, labels)
        if request.kind == "graph":
            raise request.not_a("a zarr folder")
        return request.points(_read_all(array), labels)


@contextmanager
def _damage_named() -> Iterator[None]:
    """Turn errors of zarr and its codecs, which may be of any class, into one line."""
    try:
        yield
    except (ValueError, OSError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"zarr cannot read the data ({type(error).__name__}: {reason}): get a new copy"
        ) from error


def _open(source: Source, request: Request) -> "tuple[zarr.Array[Any], list[str] | None]":
    """Return the requested array, and the labels stored with it."""
    folder = source.path
    node = None if folder is None else _node(folder)
    if folder is None or node is None:
        raise ValueError("the path is not a zarr folder")
    if node.is_array:
        if request.use_rep is not None:
            raise ValueError(
                f"use_rep={request.use_rep!r} names an array of a group, but this is a "
                "single array: leave it out"
            )
        return _open_array(folder, node), None
    nodes = {child.name: _node(child) for child in sorted(folder.iterdir())}
    arrays = {name: child for name, child in nodes.items() if child and child.is_array}
    labels = None
    if LABELS in arrays:
        labels = _read_labels(_open_array(folder / LABELS, arrays[LABELS]))
    name = chosen(list(arrays), request.use_rep)
    return _open_array(folder / name, arrays[name]), labels


def _node(folder: Path) -> _Node | None:
    """Read the metadata of a folder, version 3 first. Return None if it is not a zarr folder."""
    for name, version in _METADATA_FILES:
        file = folder / name
        if not file.is_file():
            continue
        if file.stat().st_size > _MOST_METADATA:
            raise ValueError(
                f"{name} has {file.stat().st_size:,} bytes, too many for metadata: get a new copy"
            )
        metadata = json.loads(file.read_bytes())
        if not isinstance(metadata, dict):
            raise ValueError(f"{name} does not contain a JSON object: get a new copy")
        return _Node(version, metadata, name == ".zarray" or metadata.get("node_type") == "array")
    return None


def _open_array(folder: Path, node: _Node) -> "zarr.Array[Any]":
    import zarr

    check_zarr_metadata({**node.metadata, "zarr_format": node.version})
    return zarr.open_array(store=folder, mode="r", zarr_format=node.version)


def _read_labels(array: "zarr.Array[Any]") -> list[str]:
    if array.dtype.kind not in "UTiu":
        raise ValueError(f"the labels have dtype {array.dtype}: save them as strings")
    check_memory(array.size * (array.dtype.itemsize + _LABEL_BYTES), "its labels", "leave them out")
    refuse_missing_chunks(array, "its labels")
    return strings(np.asarray(array[:]))


def _read_all(array: "zarr.Array[Any]") -> NDArray[Any]:
    check_memory(
        array.size * array.dtype.itemsize,
        f"an array of shape {array.shape}",
        "use fewer dimensions",
    )
    check_chunks(array, "points")
    return np.asarray(array[:])
