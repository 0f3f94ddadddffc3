"""Writer for auspice v2 JSON, for the Nextstrain viewer.

The schema is nextstrain.org/schemas/dataset/v2.
"""

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from ...tree.exchange.node_graphs import support_by_node
from ...tree.tree import Tree
from .._node_attributes import Column, refuse_names
from .._safe_names import safe_names

_SCALES = {"number": "continuous", "boolean": "boolean", "text": "categorical"}
_RESERVED = (
    "div",
    "num_date",
    "vaccine",
    "hidden",
    "url",
    "author",
    "accession",
    "none",
    "label",
)
_BLANKS = re.compile(r"\s")


def write(tree: Tree, *, root: int | str | None = None, attributes: dict[str, Column] | None = None) -> str:
    """Return the text of an auspice file.

    The file contains the divergence from the root, support and names of clades as branch labels, and attributes as
    colors. Names in auspice cannot contain blanks. Labels with blanks therefore get names with
    underscores, and the attribute `label` is displayed.
    """
    columns = attributes or {}
    refuse_names(columns, _RESERVED, "auspice")
    labels = tree.labels or tuple(map(str, range(len(tree))))
    names = safe_names(labels, _BLANKS)
    meta: dict[str, Any] = {
        "title": "treerep",
        "updated": datetime.now(UTC).strftime("%Y-%m-%d"),
        "panels": ["tree"],
        "colorings": [
            {"key": name, "title": name, "type": _SCALES[column.kind]} for name, column in columns.items()
        ],
        "display_defaults": {"distance_measure": "div"},
    }
    if names != list(labels):
        columns = {**columns, "label": Column("text", list(labels))}
        meta["display_defaults"]["tip_label"] = "label"
    head = json.dumps({"version": "v2", "meta": meta})
    return f'{head[:-1]}, "tree": {_nested(tree, root, names, columns)}}}\n'


def _nested(tree: Tree, root: int | str | None, names: list[str], columns: dict[str, Column]) -> str:
    """Return the nested nodes, without the recursion of the json module."""
    rooted = tree.rooted(tree._default_root() if root is None else root)
    order = rooted.order.tolist()
    parent = rooted.parent.tolist()
    depth = rooted.depth.tolist()
    support = support_by_node(tree, rooted).tolist()
    clades = tree.clade_names
    prefix = "NODE_"  # the Nextstrain prefix for internal nodes
    while any(name.startswith(prefix) for name in names):
        prefix = f"_{prefix}"
    names = [*names, *(f"{prefix}{k:07d}" for k in range(tree.n_nodes - tree.n_points))]
    level = [0] * tree.n_nodes
    pieces = []
    for k, node in enumerate(order):
        above = parent[node]
        if k > 0:
            level[node] = level[above] + 1
            pieces.append("" if above == order[k - 1] else ",")
        fields = _node(node, names[node], depth[node], columns)
        marks = {} if math.isnan(support[node]) else {"support": f"{support[node]:.4g}"}
        if node in clades:
            marks["clade"] = clades[node]
        if marks:
            fields["branch_attrs"] = {"labels": marks}
        pieces.append(json.dumps(fields)[:-1])
        following = order[k + 1] if k + 1 < len(order) else None
        if following is not None and parent[following] == node:
            pieces.append(', "children": [')
            continue
        # Close this node and its ancestors up to the parent of the next node.
        next_level = 0 if following is None else level[parent[following]] + 1
        pieces.append("}" + "]}" * (level[node] - next_level))
    return "".join(pieces)


def _node(node: int, name: str, div: float, columns: dict[str, Column]) -> dict[str, Any]:
    traits: dict[str, Any] = {"div": div}
    for key, column in columns.items():
        if node < len(column.values) and column.values[node] is not None:
            traits[key] = {"value": column.values[node]}
    return {"name": name, "node_attrs": traits}
