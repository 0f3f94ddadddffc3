"""Zarr: an array that is a folder of compressed chunks, or a group of arrays as in npz files."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..common.extras import require
from ..common.memory import check_memory
from ..metric.base import Metric
from .npz import LABELS, chosen, strings
from .request import Request
from .sniff import is_zarr
from .source import Source


def read(source: Source, request: Request) -> Metric:
    """Read a folder of zarr: the array, or of a group the only one that is not `labels`, or that `use_rep` names."""
    if not is_zarr(source):
        raise ValueError("it is no folder of zarr: leave format='zarr' out")
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
    """Make one line of what zarr and its codecs raise where a folder is damaged, which may be any error."""
    try:
        yield
    except (ValueError, OSError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"zarr cannot read it ({type(error).__name__}: {reason}): get it anew") from error


def _opened(zarr: Any, source: Source, request: Request) -> tuple[Any, list[str] | None]:
    """Return the array that is asked for, and the labels beside it."""
    found = zarr.open(source.path, mode="r")
    if isinstance(found, zarr.Array):
        if request.use_rep is not None:
            raise ValueError(
                f"use_rep={request.use_rep!r} names an array of a group, and this is one array: leave it out"
            )
        return found, None
    arrays = {name: found[name] for name in found.array_keys()}
    labels = strings(arrays[LABELS][:]) if LABELS in arrays else None
    return arrays[chosen(list(arrays), request.use_rep)], labels


def _whole(array: Any) -> Any:
    check_memory(array.size * array.dtype.itemsize, f"an array of shape {array.shape}", "use fewer dimensions")
    return array[:]
