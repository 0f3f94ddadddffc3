"""iTOL (itol.embl.de): a Newick file with names that it takes as they are, and its tables beside: written only.

iTOL gives a meaning to blanks, brackets, colons, semicolons, commas and quotes in names, and
takes a number at an inner node for support. So names are made of letters, digits and _ . | / -
alone, and the LABELS table says what each stands for; dropped onto the tree in iTOL, it shows
the labels, and it is the way back. Attributes go into a METADATA table.
"""

import re
from pathlib import Path

from ..._core.io.files import is_stream
from ...tree.tree import Tree
from .._node_attributes import Column
from .._safe_names import safe_names

_UNSAFE = re.compile(r"[^A-Za-z0-9_.|/-]")
_NUMBER = re.compile(r"[-0-9.]+(?:[eE][-0-9]+)?")
_BREAK = re.compile(r"[\t\r\n]")


def write(
    tree: Tree,
    path: str,
    *,
    root: int | str | None = None,
    attributes: dict[str, Column] | None = None,
) -> dict[str, str]:
    """Return the texts of the files: `tree.labels.tsv`, `tree.metadata.tsv` if there are attributes, and the tree."""
    labels_file, metadata_file = companions(path)
    labels = tree.labels or tuple(map(str, range(len(tree))))
    node = tree._default_root() if root is None else tree.rooted(root).root
    names = _names(tree, labels, node)
    files = {labels_file: _table("LABELS", [], names, [labels])}
    if attributes:
        columns = [
            ["" if value is None else _shown(value) for value in column.values]
            for column in attributes.values()
        ]
        files[metadata_file] = _table("METADATA", ["FIELD_LABELS", *attributes], names, columns)
    renamed = Tree(len(tree), tree.edges, tree.weights, names, support=tree.support)
    return {**files, path: renamed.newick(node) + "\n"}


def companions(path: str) -> tuple[str, str]:
    """Return the names of the tables beside a tree: its LABELS and its METADATA.

    >>> companions("mammals.itol.nwk")
    ('mammals.labels.tsv', 'mammals.metadata.tsv')
    """
    if path == "-" or is_stream(path):
        raise ValueError(
            f"iTOL takes a tree and its tables, several files: give the path of a file, not {path!r}"
        )
    stem = re.sub(r"(\.itol)?\.[^./\\]*$", "", path.removesuffix(".gz"))
    return f"{stem}.labels.tsv", f"{stem}.metadata.tsv"


def check_companions(*paths: str) -> None:
    """Refuse to replace a file beside the tree unless it is such a table itself, from an earlier run."""
    for path in paths:
        kind = "LABELS" if path.endswith(".labels.tsv") else "METADATA"
        file = Path(path)
        if file.is_file():
            with file.open("rb") as table:
                if table.readline(100).rstrip() == kind.encode():
                    continue
        if file.exists():
            raise FileExistsError(
                f"{path} exists and is not iTOL's table of {kind}, which would replace it: rename it, or the tree"
            )


def _names(tree: Tree, labels: tuple[str, ...], root: int) -> list[str]:
    inner = tree.degrees > 1
    inner[root] = True
    wished = [
        f"point_{label}" if inner[point] and _NUMBER.fullmatch(label) else label
        for point, label in enumerate(labels)
    ]
    return safe_names(wished, _UNSAFE)


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
                    f"{cell!r} holds a tab or a line break, which iTOL's tables cannot: rename it"
                )
    head = [kind, "SEPARATOR TAB", *("\t".join(row) for row in rows), "DATA"]
    return "\n".join([*head, *("\t".join(row) for row in data), ""])
