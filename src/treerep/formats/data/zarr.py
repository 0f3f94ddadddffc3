"""Zarr: an array that is a folder of compressed chunks, or a group of arrays as in npz files.

A folder may come from anywhere, so its metadata are checked (see `common.zarr_metadata`) before
zarr opens an array. Each array is opened by the metadata in its own folder. Copies in the group
("consolidated") are not used.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..._core.extras import require
from ..._core.memory import check_memory
from ...metric.base import Metric
from ...metric.disk.chunks import check_chunks, refuse_missing_chunks
from ...metric.disk.zarr_metadata import check_zarr_metadata
from .._request import Request
from .._sniff import is_zarr
from .._source import Source
from .npz import LABELS, chosen, strings

_MOST_METADATA = 1 << 26  # bytes
_LABEL_BYTES = 100  # of one label in memory, and more where it is long


class _Node(NamedTuple):
    """What a folder says it is."""

    version: int
    metadata: dict[str, Any]
    is_array: bool


def read(source: Source, request: Request) -> Metric:
    """Read a folder of zarr: an array, or the array of a group that `use_rep` names or that is the only one.

    An array named `labels` holds the names of the points.
    """
    if not is_zarr(source):
        raise ValueError("it is not a zarr folder: leave format='zarr' out")
    zarr = require("zarr", "zarr")
    with _damage_named():
        found, labels = _opened(zarr, source, request)
        if request.kind in (None, "distances"):
            return request.stored_distances(found, labels)
        if request.kind == "graph":
            raise request.not_a("a folder of zarr")
        return request.points(_whole(found), labels)


@contextmanager
def _damage_named() -> Iterator[None]:
    """Turn the errors of zarr and its codecs on a damaged folder, which may be of any class, into one line."""
    try:
        yield
    except (ValueError, OSError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"zarr cannot read it ({type(error).__name__}: {reason}): get a new copy"
        ) from error


def _opened(zarr: Any, source: Source, request: Request) -> tuple[Any, list[str] | None]:
    """Return the array that is asked for, and the labels beside it."""
    folder = source.path
    node = None if folder is None else _node(folder)
    if folder is None or node is None:
        raise ValueError("it is not a zarr folder")
    if node.is_array:
        if request.use_rep is not None:
            raise ValueError(
                f"use_rep={request.use_rep!r} names an array of a group, and this is one array: leave it out"
            )
        return _array(zarr, folder, node), None
    arrays = {
        child.name: found
        for child in sorted(folder.iterdir())
        if (found := _node(child)) and found.is_array
    }
    labels = (
        _labels(_array(zarr, folder / LABELS, arrays[LABELS])) if LABELS in arrays else None
    )
    name = chosen(list(arrays), request.use_rep)
    return _array(zarr, folder / name, arrays[name]), labels


def _node(folder: Path) -> _Node | None:
    """Read the metadata of a folder, version 3 first, as zarr does; None if it is neither an array nor a group."""
    for name, version in (("zarr.json", 3), (".zarray", 2), (".zgroup", 2)):
        file = folder / name
        if not file.is_file():
            continue
        if file.stat().st_size > _MOST_METADATA:
            raise ValueError(
                f"{name} has {file.stat().st_size:,} bytes, too many for metadata: get a new copy"
            )
        metadata = json.loads(file.read_bytes())
        if not isinstance(metadata, dict):
            raise ValueError(f"{name} does not hold a JSON object: get a new copy")
        return _Node(
            version, metadata, name == ".zarray" or metadata.get("node_type") == "array"
        )
    return None


def _array(zarr: Any, folder: Path, node: _Node) -> Any:
    check_zarr_metadata({**node.metadata, "zarr_format": node.version})
    return zarr.open_array(store=folder, mode="r", zarr_format=node.version)


def _labels(array: Any) -> list[str]:
    if array.dtype.kind not in "UTiu":
        raise ValueError(f"its labels are of dtype {array.dtype}: save them as strings")
    check_memory(
        array.size * (array.dtype.itemsize + _LABEL_BYTES), "its labels", "leave them out"
    )
    refuse_missing_chunks(array, "its labels")
    return strings(array[:])


def _whole(array: Any) -> Any:
    check_memory(
        array.size * array.dtype.itemsize,
        f"an array of shape {array.shape}",
        "use fewer dimensions",
    )
    check_chunks(array, "points")
    return array[:]
