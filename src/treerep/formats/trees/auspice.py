"""Writer for auspice v2 JSON (nextstrain.org/schemas/dataset/v2), for the Nextstrain viewer."""

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
_RESERVED = ("div", "num_date", "vaccine", "hidden", "url", "author", "accession", "none", "label")


def write(tree: Tree, *, root: int | str | None = None, attributes: dict[str, Column] | None = None) -> str:
    """Return the text of an auspice file: divergence from the root, branch labels, and attributes as colors.

    Names in auspice have no blanks. If labels have some, `label` is displayed instead of the names.
    """
    columns = attributes or {}
    refuse_names(columns, _RESERVED, "auspice")
    labels = tree.labels or tuple(map(str, range(len(tree))))
    names = safe_names(labels, re.compile(r"\s"))
    colors = [{"key": key, "title": key, "type": _SCALES[one.kind]} for key, one in columns.items()]
    shown = {"distance_measure": "div"}
    if names != list(labels):
        columns = {**columns, "label": Column("text", list(labels))}
        shown["tip_label"] = "label"
    meta = {"title": "treerep", "updated": datetime.now(UTC).strftime("%Y-%m-%d"), "panels": ["tree"]}
    head = json.dumps({"version": "v2", "meta": {**meta, "colorings": colors, "display_defaults": shown}})
    prefix = "NODE_"  # the Nextstrain prefix for internal nodes
    while any(name.startswith(prefix) for name in names):
        prefix = f"_{prefix}"
    names += [f"{prefix}{k:07d}" for k in range(tree.n_nodes - tree.n_points)]
    rooted = tree.rooted(tree._default_root() if root is None else root)
    depth, support = rooted.depth.tolist(), support_by_node(tree, rooted).tolist()
    parent, clades = rooted.parent.tolist(), tree.clade_names
    pieces = [head[:-1], ', "tree": ']
    waiting: list[list[int]] = []  # the path to a node, and whether children are written; trees may be deep
    for node in rooted.order.tolist():
        while waiting and waiting[-1][0] != parent[node]:
            pieces.append("]}" if waiting.pop()[1] else "}")
        if waiting:
            pieces.append("," if waiting[-1][1] else ', "children": [')
            waiting[-1][1] = 1
        marks = {} if math.isnan(support[node]) else {"support": f"{support[node]:.4g}"}
        marks |= {"clade": clades[node]} if node in clades else {}
        values = {key: one.values[node] for key, one in columns.items() if node < tree.n_points}
        traits = {key: {"value": value} for key, value in values.items() if value is not None}
        fields: dict[str, Any] = {"name": names[node], "node_attrs": {"div": depth[node], **traits}}
        pieces.append(json.dumps(fields | ({"branch_attrs": {"labels": marks}} if marks else {}))[:-1])
        waiting.append([node, 0])
    pieces += ["]}" if has_children else "}" for _, has_children in reversed(waiting)]
    return "".join([*pieces, "}\n"])
