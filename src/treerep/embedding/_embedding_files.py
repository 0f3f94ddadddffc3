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
# Classes that files may name, and their modules in this package.
_KINDS = {"Embedding": "embedding", "TreeEmbedding": "tree_embedding"}


def save_embedding(embedding: "Embedding", path: str | os.PathLike[str]) -> None:
    """Write the fields and labels of an embedding to a .npz file, whole or not at all.

    Read back, every array is the same to the last bit.
    """
    _check_suffix(path)
    kind = type(embedding).__name__
    if kind not in _KINDS:
        raise TypeError(
            f"a {kind} cannot be saved: embeddings in files are one of {', '.join(_KINDS)}"
        )
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
    """Read what `save_embedding` wrote."""
    _check_suffix(path)
    fields = checked_read(path, "embedding", lambda: read_archive(path, arrays=None))
    check_marks(path, fields, mark=_FORMAT, version=_VERSION, writer="Embedding.save")
    check_fields(path, fields, ("kind", "n_points", "scale", "labels"))
    kind = fields.pop("kind")
    order_known = fields.pop("order_known", True)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(
            f"{path} holds an embedding of the unknown kind {kind!r}: update treerep"
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
        raise ValueError(f"an embedding is saved as .npz, not {suffix or Path(path).name!r}")
