"""Writer for a Newick file and tables for iTOL (itol.embl.de).

Blanks, brackets, colons, semicolons, commas and quotes in names have a meaning in iTOL. Names
therefore have only letters, digits and _ . | / -. The LABELS table maps these names to the labels.
If the table is dropped onto the tree in iTOL, the tree shows the labels. Attributes go into a
METADATA table.
"""

import re
from pathlib import Path

from ..._core.io.files import is_stream
from ...tree.tree import Tree
from .._node_attributes import Column
from .._safe_names import safe_names

_UNSAFE = re.compile(r"[^A-Za-z0-9_.|/-]")
_BREAK = re.compile(r"[\t\r\n]")


def write(
    tree: Tree,
    path: str,
    *,
    root: int | str | None = None,
    attributes: dict[str, Column] | None = None,
) -> dict[str, str]:
    """Return the contents of the files: LABELS, METADATA if there are attributes, and the tree."""
    labels_file, metadata_file = companions(path)
    labels = tree.labels or tuple(map(str, range(len(tree))))
    names = safe_names(labels, _UNSAFE)
    files = {labels_file: _table("LABELS", [], names, [labels])}
    if attributes:
        columns = [
            ["" if value is None else _shown(value) for value in column.values]
            for column in attributes.values()
        ]
        files[metadata_file] = _table("METADATA", ["FIELD_LABELS", *attributes], names, columns)
    renamed = tree._replace(labels=tuple(names))
    return {**files, path: renamed.newick(root, leaves=False) + "\n"}


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
    for path in paths:
        kind = "LABELS" if path.endswith(".labels.tsv") else "METADATA"
        file = Path(path)
        if file.is_file():
            with file.open("rb") as table:
                if table.readline(100).rstrip() == kind.encode():
                    continue
        if file.exists():
            raise FileExistsError(
                f"{path} exists and is not a table of {kind} that can be replaced: "
                "rename the file or the tree"
            )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _table(
    kind: str,
    fields: list[str],
    names: list[str],
    columns: list[list[str]] | list[tuple[str, ...]],
) -> str:
    rows = [fields] if fields else []
    data = [[name, *values] for name, *values in zip(names, *columns, strict=True)]
    for row in [*rows, *data]:
        for cell in row:
            if _BREAK.search(cell):
                raise ValueError(
                    f"{cell!r} contains a tab or a line break, which iTOL does not allow: rename it"
                )
    head = [kind, "SEPARATOR TAB", *("\t".join(row) for row in rows), "DATA"]
    return "\n".join([*head, *("\t".join(row) for row in data), ""])
