"""Embeddings in .npz files."""

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from .._core.io.archive import (
    check_fields,
    check_marks,
    checked_read,
    read_archive,
    write_archive,
)

if TYPE_CHECKING:
    from .embedding import Embedding

_FORMAT = "treerep embedding"
_VERSION = 1
# Classes that a file may name, and the modules that define them.
_KINDS = {"Embedding": "embedding", "TreeEmbedding": "tree_embedding"}


def save_embedding(embedding: "Embedding", path: str | os.PathLike[str]) -> None:
    """Write the fields and labels of an embedding to a .npz file, atomically.

    Every array is read back bit for bit.
    """
    _check_suffix(path)
    kind = type(embedding).__name__
    if kind not in _KINDS:
        raise TypeError(f"cannot save a {kind}: only {', '.join(_KINDS)} can be saved")
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": kind,
        "n_points": embedding.n_points,
    }
    if not embedding.order_known:
        header["order_known"] = False
    write_archive(
        path,
        {**header, "scale": embedding.scale},
        {**embedding._fields(), "labels": embedding.labels},
    )


def load_embedding(path: str | os.PathLike[str]) -> "Embedding":
    """Read a file written by `save_embedding`."""
    _check_suffix(path)
    fields = checked_read(path, "embedding", lambda: read_archive(path, arrays=None))
    check_marks(path, fields, mark=_FORMAT, version=_VERSION, writer="Embedding.save")
    check_fields(path, fields, ("kind", "n_points", "scale", "labels"))
    kind = fields.pop("kind")
    order_known = fields.pop("order_known", True)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(
            f"{path} holds an embedding of unknown kind {kind!r}: update treerep to read it"
        )
    arguments = {
        name: value for name, value in fields.items() if name not in ("format", "version")
    }
    class_ = getattr(importlib.import_module(f".{_KINDS[kind]}", __package__), kind)
    try:
        embedding: Embedding = class_._from_fields(arguments)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    embedding.order_known = order_known
    return embedding


def _check_suffix(path: str | os.PathLike[str]) -> None:
    suffix = Path(path).suffix.lower()
    if suffix != ".npz":
        raise ValueError(
            f"cannot save an embedding as {suffix or Path(path).name!r}: use a name that ends in .npz"
        )
