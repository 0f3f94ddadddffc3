"""iTOL (itol.embl.de): a Newick file with names that it takes as they are, and its tables beside: written only.

iTOL gives a meaning to blanks, brackets, colons, semicolons, commas and quotes in names, and takes a number at an inner
node for support. So names are made of letters, digits and _ . | / - alone, and the LABELS table says what each stands
for; dropped onto the tree in iTOL, it shows the labels, and it is the way back. Attributes go into a METADATA table.
"""

import re

from ..tree.tree import Tree
from .attributes import Column
from .names import safe_names

_UNSAFE = re.compile(r"[^A-Za-z0-9_.|/-]")
_NUMBER = re.compile(r"[-0-9.]+(?:[eE][-0-9]+)?")
_BREAK = re.compile(r"[\t\r\n]")


def write(
    tree: Tree, path: str, *, root: int | str | None = None, attributes: dict[str, Column] | None = None
) -> dict[str, str]:
    """Return the texts of the files: `tree.labels.tsv`, `tree.metadata.tsv` if there are attributes, and the tree."""
    if path == "-":
        raise ValueError("iTOL takes a tree and its tables, several files: give a path instead of '-'")
    labels = tree.labels or tuple(map(str, range(len(tree))))
    node = tree._default_root() if root is None else tree.rooted(root).root
    names = _names(tree, labels, node)
    stem = re.sub(r"(\.itol)?\.[^./\\]*$", "", path.removesuffix(".gz"))
    files = {f"{stem}.labels.tsv": _table("LABELS", [], names, [labels])}
    if attributes:
        columns = [
            ["" if value is None else _shown(value) for value in column.values] for column in attributes.values()
        ]
        files[f"{stem}.metadata.tsv"] = _table("METADATA", ["FIELD_LABELS", *attributes], names, columns)
    renamed = Tree(len(tree), tree.edges, tree.weights, names, support=tree.support)
    return {**files, path: renamed.newick(node) + "\n"}


def _names(tree: Tree, labels: tuple[str, ...], root: int) -> list[str]:
    inner = tree.degrees > 1
    inner[root] = True
    wished = [
        f"point_{label}" if inner[point] and _NUMBER.fullmatch(label) else label for point, label in enumerate(labels)
    ]
    return safe_names(wished, _UNSAFE)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _table(kind: str, fields: list[str], names: list[str], columns: list[list[str]] | list[tuple[str, ...]]) -> str:
    rows = [fields] if fields else []
    data = [[name, *values] for name, *values in zip(names, *columns, strict=True)]
    for row in [*rows, *data]:
        for cell in row:
            if _BREAK.search(cell):
                raise ValueError(f"{cell!r} holds a tab or a line break, which iTOL's tables cannot: rename it")
    head = [kind, "SEPARATOR TAB", *("\t".join(row) for row in rows), "DATA"]
    return "\n".join([*head, *("\t".join(row) for row in data), ""])
