"""Sums of trees in .npz files."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..._core.checks import integer_or_none
from ..._core.io.archive import (
    check_fields,
    check_marks,
    checked_read,
    pack_archive,
    unpack_archive,
)
from ..._core.io.files import atomic_write, open_file

if TYPE_CHECKING:
    from ..tree import Tree

#: The format mark of sums, and that of single trees.
SUM_FORMAT = "treerep sum of trees"
TREE_FORMAT = "treerep tree"
_VERSION = 1


def save_trees(trees: Sequence["Tree"], path: str | os.PathLike[str]) -> None:
    """Write trees on the same points to a .npz file, completely or not at all."""
    _check_suffix(path)
    with atomic_write(path, "wb") as file:
        pack_trees(trees, file)


def load_trees(path: str | os.PathLike[str]) -> list["Tree"]:
    """Read the trees written by `save_trees`."""
    _check_suffix(path)
    with open_file(path) as file:
        return unpack_trees(file, path)


def pack_trees(trees: Sequence["Tree"], file: IO[bytes]) -> None:
    """Write trees on the same points to an open npz file."""
    first = trees[0]
    header = {
        "format": SUM_FORMAT,
        "version": _VERSION,
        "n_points": first.n_points,
        "n_trees": len(trees),
        "order_known": first.order_known,
    }
    fields: dict[str, Any] = {"labels": first.labels}
    for k, tree in enumerate(trees):
        fields[f"edges_{k}"] = tree.edges.astype(np.int32)
        fields[f"weights_{k}"] = tree.weights
    pack_archive(file, header, fields)


def unpack_trees(file: IO[bytes], path: str | os.PathLike[str]) -> list["Tree"]:
    """Read trees from an open npz file. Errors name the path."""
    from ..tree import Tree

    fields = checked_read(path, "sum of trees", lambda: unpack_archive(file, arrays=None))
    if fields.get("format") == TREE_FORMAT:
        raise ValueError(f"{path} holds one tree: use Tree.load or formats.read_tree")
    check_marks(path, fields, mark=SUM_FORMAT, version=_VERSION, writer="TreeSum.save")
    check_fields(path, fields, ("n_points", "n_trees", "labels"))
    count = integer_or_none(fields["n_trees"])
    if count is None or count < 1:
        raise ValueError(f"{path} is damaged: n_trees is not a positive number")
    trees = []
    for k in range(count):
        check_fields(path, fields, (f"edges_{k}", f"weights_{k}"))
        arrays = fields[f"edges_{k}"], fields[f"weights_{k}"]
        try:
            tree = Tree(
                fields["n_points"],
                *arrays,
                labels=fields["labels"],
                order_known=fields.get("order_known", True),
            )
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        trees.append(tree)
    return trees


def _check_suffix(path: str | os.PathLike[str]) -> None:
    suffix = Path(path).suffix.lower()
    if suffix != ".npz":
        raise ValueError(
            f"a sum of trees is saved as .npz, not {suffix or Path(path).name!r}: "
            "use a name that ends in .npz"
        )
