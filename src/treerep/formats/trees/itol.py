"""Writer for a Newick file and tables for iTOL (itol.embl.de).

Names have only letters, digits and _ . | / -, because other characters have a meaning in iTOL. The table
LABELS maps these names to the labels if it is dropped onto the tree. Attributes are METADATA.
"""

import io
import re
from collections.abc import Sequence
from pathlib import Path

from ..._core.io.files import is_stream
from ...tree.tree import Tree
from .._node_attributes import Column
from .._safe_names import safe_names


def write(
    tree: Tree, path: str, *, root: int | str | None = None, attributes: dict[str, Column] | None = None
) -> dict[str, str]:
    """Return the contents of the files: LABELS, METADATA if there are attributes, and the tree."""
    labels_file, metadata_file = companions(path)
    labels = tree.labels or tuple(map(str, range(len(tree))))
    names = safe_names(labels, re.compile(r"[^A-Za-z0-9_.|/-]"))
    files = {labels_file: _table(["LABELS", "SEPARATOR TAB"], [names, labels])}
    if attributes:
        head = ["METADATA", "SEPARATOR TAB", "\t".join(map(_cell, ["FIELD_LABELS", *attributes]))]
        files[metadata_file] = _table(head, [names, *(column.values for column in attributes.values())])
    return {**files, path: tree._replace(labels=tuple(names)).newick(root, leaves=False) + "\n"}


def companions(path: str) -> tuple[str, str]:
    """Return the names of the two tables of a tree: LABELS and METADATA.

    >>> companions("mammals.itol.nwk")
    ('mammals.labels.tsv', 'mammals.metadata.tsv')
    """
    if path == "-" or is_stream(path):
        raise ValueError(f"iTOL needs several files: use the path of a file, not {path!r}")
    base = re.sub(r"(\.itol)?\.[^./\\]*$", "", path.removesuffix(".gz"))
    return f"{base}.labels.tsv", f"{base}.metadata.tsv"


def check_companions(*paths: str) -> None:
    """Raise an error instead of replacing a file that is not an iTOL table from an earlier run."""
    for file in filter(Path.exists, map(Path, paths)):
        kind = "LABELS" if file.name.endswith(".labels.tsv") else "METADATA"
        with file.open("rb") if file.is_file() else io.BytesIO() as table:
            first_line = table.readline(100).rstrip()
        if first_line != kind.encode():
            problem = f"{file} exists and is not a table of {kind} that can be replaced"
            raise FileExistsError(f"{problem}: rename the file or the tree")


def _table(head: list[str], columns: Sequence[Sequence[object]]) -> str:
    return "\n".join([*head, "DATA", *("\t".join(map(_cell, row)) for row in zip(*columns, strict=True)), ""])


def _cell(value: object) -> str:
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    if re.search(r"[\t\r\n]", text):
        raise ValueError(f"{text!r} contains a tab or a line break, which iTOL does not allow: rename it")
    return text
