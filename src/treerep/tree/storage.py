"""Trees in files: .npz for size and speed, .json for everyone."""

import json
import math
import os
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..common.files import atomic_write

if TYPE_CHECKING:
    from .tree import Tree

_FORMAT = "treerep tree"
_VERSION = 1


def save_tree(tree: "Tree", path: str | os.PathLike[str]) -> None:
    """Write a tree whole or not at all; the suffix chooses the format."""
    if _suffix(path) == ".npz":
        with atomic_write(path, "wb") as file:
            _write_npz(tree, file)
    else:
        with atomic_write(path) as file:
            _write_json(tree, file)


def load_fields(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `save_tree` wrote: the arguments of Tree."""
    suffix = _suffix(path)
    try:
        fields = _read_npz(path) if suffix == ".npz" else json.loads(Path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (OSError, ValueError, KeyError, EOFError, RecursionError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read: it is no tree file, or it is cut short ({_line(error)})") from error
    if not isinstance(fields, dict) or fields.get("format") != _FORMAT:
        raise ValueError(f"{path} was not written by Tree.save")
    if fields.get("version") != _VERSION:
        raise ValueError(
            f"{path} has version {fields.get('version')!r}; this treerep reads version {_VERSION}: update it"
        )
    names = ("n_points", "edges", "weights", "labels")
    missing = [name for name in names if name not in fields]
    if missing:
        raise ValueError(f"{path} is damaged: {missing[0]} is missing")
    if not isinstance(fields["labels"], list | None):
        raise ValueError(f"{path} is damaged: labels is no list")
    return {**{name: fields[name] for name in names}, "support": _known(fields.get("support"))}


def _known(support: Any) -> Any:
    # JSON has no NaN. Trees without support, and those of earlier versions, have no such field.
    return [math.nan if share is None else share for share in support] if isinstance(support, list) else support


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".json"):
        raise ValueError(
            f"a tree is saved as .npz or .json, not {suffix or Path(path).name!r} (for Newick: Tree.newick)"
        )
    return suffix


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _text(value: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
    # NumPy strings drop trailing zero characters and may be huge; JSON in bytes keeps any label.
    return np.frombuffer(json.dumps(value).encode("ascii"), dtype=np.uint8)


def _write_npz(tree: "Tree", file: IO[bytes]) -> None:
    header = {"format": _FORMAT, "version": _VERSION, "n_points": tree.n_points}
    arrays: dict[str, Any] = {
        "header": _text(header),
        "edges": tree.edges.astype(np.int32),  # a tree has fewer than 2^31 nodes
        "weights": tree.weights,
        "labels": _text(tree.labels),
    }
    if tree.support is not None:
        arrays["support"] = tree.support
    np.savez(file, **arrays)


def _read_npz(path: str | os.PathLike[str]) -> dict[str, Any]:
    with Path(path).open("rb") as file:  # np.load leaves a file that it opened and cannot read open
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("one array and no archive")
        fields = {name: json.loads(archive[name].tobytes()) for name in ("header", "labels")}
        header = fields.pop("header")
        if not isinstance(header, dict):
            raise ValueError("no header")
        arrays = {name: archive[name] for name in ("edges", "weights")}
        if "support" in archive:
            arrays["support"] = archive["support"]
        return {**header, **fields, **arrays}


def _write_json(tree: "Tree", file: IO[str]) -> None:
    fields = {
        "format": _FORMAT,
        "version": _VERSION,
        "n_points": tree.n_points,
        "labels": tree.labels,
        "edges": tree.edges.tolist(),
        "weights": tree.weights.tolist(),
    }
    if tree.support is not None:
        fields["support"] = [None if math.isnan(share) else share for share in tree.support.tolist()]
    file.write(json.dumps(fields))  # much faster than json.dump
