"""Writer for DOT, the language of Graphviz.

`len` is the length of an edge, which neato approximates.
"""

import math

from ...tree.tree import Tree
from .._node_attributes import Column, refuse_names


def write(tree: Tree, *, attributes: dict[str, Column] | None = None) -> str:
    """Return the text of a DOT file. Points are drawn as labels, and Steiner nodes as dots."""
    columns = attributes or {}
    refuse_names(columns, ("label",), "DOT")
    lines = ["graph tree {", "  node [shape=point];"]
    for point in range(tree.n_points):
        label = str(point) if tree.labels is None else tree.labels[point]
        known = {
            name: column.values[point] for name, column in columns.items() if column.values[point] is not None
        }
        attributes_of_point = {"shape": "plaintext", "label": label, **known}
        written = ", ".join(
            f"{_quoted(name)}={_quoted(value)}" for name, value in attributes_of_point.items()
        )
        lines.append(f"  {point} [{written}];")
    for node, name in tree.clade_names.items():
        lines.append(f"  {node} [xlabel={_quoted(name)}];")
    support = [math.nan] * len(tree.edges)
    if tree.support is not None:
        support = tree.support.tolist()
    for (u, v), length, share in zip(tree.edges.tolist(), tree.weights.tolist(), support, strict=True):
        lines.append(f"  {u} -- {v} [len={length}{'' if math.isnan(share) else f', support={share}'}];")
    return "\n".join([*lines, "}\n"])


def _quoted(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if "\0" in text:
        raise ValueError(f"{text!r} contains a null character, which DOT does not allow: rename the point")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
