"""Embeddings in .npz files."""

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._core.io.archive import (
    check_fields,
    check_marks,
    checked_read,
    read_archive,
    write_archive,
)

if TYPE_CHECKING:
    from .embedding import Embedding
    from .product import ProductEmbedding

_FORMAT = "treerep embedding"
_VERSION = 1
# Classes that a file may name, and the modules that define them.
_KINDS = {"Embedding": "embedding", "TreeEmbedding": "tree_embedding"}
_PRODUCT = "ProductEmbedding"


def save_embedding(embedding: "Embedding", path: str | os.PathLike[str]) -> None:
    """Write the fields and labels of an embedding to a .npz file, atomically.

    Every array is read back bit for bit.
    """
    _check_suffix(path)
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": _kind(embedding),
        "n_points": embedding.n_points,
    }
    if not embedding.order_known:
        header["order_known"] = False
    write_archive(
        path,
        {**header, "scale": embedding.scale},
        {**embedding._fields(), "labels": embedding.labels},
    )


def save_product(product: "ProductEmbedding", path: str | os.PathLike[str]) -> None:
    """Write the components and labels of a product to a .npz file, atomically.

    The arrays of component m have the prefix "m/". Every array is read back bit for bit.
    """
    _check_suffix(path)
    header: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "kind": _PRODUCT}
    header["n_points"] = len(product)
    header["components"] = [{"kind": _kind(part), "scale": part.scale} for part in product.components]
    if not product.order_known:
        header["order_known"] = False
    arrays = {
        f"{number}/{name}": array
        for number, part in enumerate(product.components)
        for name, array in part._fields().items()
    }
    write_archive(path, header, {**arrays, "labels": product.labels})


def _kind(embedding: "Embedding") -> str:
    kind = type(embedding).__name__
    if kind not in _KINDS:
        raise TypeError(f"cannot save a {kind}: only {', '.join(_KINDS)} can be saved")
    return kind


def load_embedding(path: str | os.PathLike[str]) -> "Embedding | ProductEmbedding":
    """Read a file written by `save_embedding` or `save_product`."""
    _check_suffix(path)
    fields = checked_read(path, "embedding", lambda: read_archive(path))
    check_marks(path, fields, mark=_FORMAT, version=_VERSION, writer="Embedding.save")
    is_product = fields.get("kind") == _PRODUCT
    check_fields(path, fields, ("kind", "n_points", "components" if is_product else "scale", "labels"))
    order_known = fields.pop("order_known", True)
    arguments = {name: value for name, value in fields.items() if name not in ("format", "version")}
    try:
        embedding = _product(arguments) if is_product else _single(arguments)
    except _UnknownKindError as error:
        raise ValueError(
            f"{path} holds an embedding of unknown kind {error.args[0]!r}: update treerep to read it"
        ) from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    embedding.order_known = order_known
    return embedding


class _UnknownKindError(Exception):
    """Raised for a kind that a later version has written."""


def _single(fields: Mapping[str, Any]) -> "Embedding":
    """Return the embedding with these fields, among them its kind."""
    kind = fields["kind"]
    if not isinstance(kind, str) or kind not in _KINDS:
        raise _UnknownKindError(kind)
    class_ = getattr(importlib.import_module(f".{_KINDS[kind]}", __package__), kind)
    arguments = {name: value for name, value in fields.items() if name != "kind"}
    embedding: Embedding = class_._from_fields(arguments)
    return embedding


def _product(fields: Mapping[str, Any]) -> "ProductEmbedding":
    """Return the product whose component m has the fields with prefix "m/"."""
    from .product import ProductEmbedding

    parts = fields["components"]
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise ValueError("components is not a list of headers")
    found = []
    for number, part in enumerate(parts):
        prefix = f"{number}/"
        arrays = {
            name.removeprefix(prefix): value for name, value in fields.items() if name.startswith(prefix)
        }
        missing = [name for name in ("kind", "scale") if name not in part]
        if missing:
            raise ValueError(f"{missing[0]} of component {number} is missing")
        shared = {"n_points": fields["n_points"], "labels": fields["labels"]}
        found.append(_single({**part, **shared, **arrays}))
    return ProductEmbedding(found)


def _check_suffix(path: str | os.PathLike[str]) -> None:
    suffix = Path(path).suffix.lower()
    if suffix != ".npz":
        raise ValueError(
            f"cannot save an embedding as {suffix or Path(path).name!r}: use a name that ends in .npz"
        )
