"""Trees in files: .npz is small and fast, and other programs can read .json."""

import json
import math
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from ..._core.io.archive import (
    check_fields,
    check_marks,
    checked_read,
    pack_archive,
    read_json,
    unpack_archive,
)
from ..._core.io.files import atomic_write, open_file
from .sum_files import SUM_FORMAT, TREE_FORMAT

if TYPE_CHECKING:
    from ..tree import Tree

_VERSION = 1
_ARRAYS = ("edges", "weights", "support")


def save_tree(tree: "Tree", path: str | os.PathLike[str]) -> None:
    """Write a tree completely or not at all. The suffix determines the format."""
    packed = _suffix(path) == ".npz"
    with atomic_write(path, "wb") as file:
        write_tree_fields(tree, file, packed)


def load_fields(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file written by `save_tree`; return the arguments of Tree."""
    packed = _suffix(path) == ".npz"
    with open_file(path) as file:
        return read_tree_fields(file, path, packed)


def read_tree_fields(file: IO[bytes], path: str | os.PathLike[str], packed: bool) -> dict[str, Any]:
    """Read the arguments of Tree from an open npz (`packed`) or JSON file."""
    fields = checked_read(path, "tree", lambda: unpack_archive(file, _ARRAYS) if packed else read_json(file))
    if isinstance(fields, dict) and fields.get("format") == SUM_FORMAT:
        raise ValueError(f"{path} holds a sum of trees: use TreeSum.load, or formats.read_trees for a list")
    check_marks(path, fields, mark=TREE_FORMAT, version=_VERSION, writer="Tree.save")
    names = ("n_points", "edges", "weights", "labels")
    check_fields(path, fields, names)
    others = {
        "support": _known(fields.get("support")),
        "order_known": fields.get("order_known", True),
        "root": fields.get("root"),
        "root_length": fields.get("root_length"),
        "clade_names": _by_node(path, fields.get("clade_names", {})),
        "support_text": _texts(path, fields.get("support_text"), len(fields["edges"])),
    }
    return {**{name: fields[name] for name in names}, **others}


def _texts(path: str | os.PathLike[str], texts: object, count: int) -> tuple[str, ...] | None:
    """Return support in the words of another program, by edge."""
    if texts is None:
        return None
    known = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    if not known or len(cast("list[str]", texts)) != count:
        raise ValueError(f"{path} is damaged: support_text must have a text for each edge")
    return tuple(cast("list[str]", texts))


def write_tree_fields(tree: "Tree", file: IO[bytes], packed: bool) -> None:
    """Write a tree to an open file, as npz (`packed`) or JSON."""
    if packed:
        _write_npz(tree, file)
    else:
        _write_json(tree, file)


def _marks(tree: "Tree") -> dict[str, Any]:
    # Most trees have none of these fields, and their files are as in earlier versions.
    marks = {
        "order_known": None if tree.order_known else False,
        "root": tree.root,
        "root_length": tree.root_length,
        "clade_names": {str(node): name for node, name in tree.clade_names.items()} or None,
        "support_text": tree._annotations.support_text,
    }
    return {name: value for name, value in marks.items() if value is not None}


def _by_node(path: str | os.PathLike[str], names: object) -> dict[int, str]:
    # JSON has texts as keys.
    try:
        return {int(node): name for node, name in dict(names).items()}  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise ValueError(f"{path} is damaged: clade_names must map nodes to names") from None


def _known(support: object) -> object:
    # JSON has no NaN. Trees without support, and trees from earlier versions, lack this field.
    return (
        [math.nan if share is None else share for share in support] if isinstance(support, list) else support
    )


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".json"):
        raise ValueError(
            f"trees are saved as .npz or .json, not {suffix or Path(path).name!r} (for "
            "Newick, use Tree.newick)"
        )
    return suffix


def _write_npz(tree: "Tree", file: IO[bytes]) -> None:
    header = {
        "format": TREE_FORMAT,
        "version": _VERSION,
        "n_points": tree.n_points,
        **_marks(tree),
    }
    fields: dict[str, Any] = {
        "edges": tree.edges.astype(np.int32),  # a tree has fewer than 2^31 nodes
        "weights": tree.weights,
        "labels": tree.labels,
    }
    if tree.support is not None:
        fields["support"] = tree.support
    pack_archive(file, header, fields)


def _write_json(tree: "Tree", file: IO[bytes]) -> None:
    fields = {
        "format": TREE_FORMAT,
        "version": _VERSION,
        "n_points": tree.n_points,
        **_marks(tree),
        "labels": tree.labels,
        "edges": tree.edges.tolist(),
        "weights": tree.weights.tolist(),
    }
    if tree.support is not None:
        fields["support"] = [None if math.isnan(share) else share for share in tree.support.tolist()]
    file.write(json.dumps(fields).encode("ascii"))  # much faster than json.dump
