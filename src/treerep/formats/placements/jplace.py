"""jplace, the JSON format of phylogenetic placements (Matsen et al. 2012), version 3.

The tree is Newick text with the number of each edge in braces after its length.
"""

import json
import math
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...metric.base import check_labels
from ...placement.placements import Placements
from ...tree.exchange.newick_text import write_newick
from ...tree.operations.leaves import leaf_edges, points_inside
from ...tree.structure.rooted import Preorder, lower_ends
from ...tree.tree import Tree

#: Fields in the order of writing. The last is the error of least squares, which other programs skip.
_FIELDS = (
    "edge_num",
    "likelihood",
    "like_weight_ratio",
    "distal_length",
    "pendant_length",
    "error",
)
_NEEDED = ("edge_num", "like_weight_ratio", "pendant_length")
# A quoted name, a length with the number of its edge, or the number of the root.
_NUMBERED = re.compile(
    r"'[^']*'|(?P<length>:[^,():;'{}]*)\{(?P<number>\d+)\}|(?P<root>\{\d+\})(?=[^,()']*;)"
)
_NO_NUMBER = 2**52


class _Written(NamedTuple):
    """The tree of a file: all data points are leaves."""

    text: str
    number: NDArray[np.int64]  # number of each edge of the original tree
    turned: NDArray[np.bool_]  # whether the lower end in the file is the upper end in the tree


def write(found: Placements) -> str:
    """Return the text of a jplace file."""
    tree = found.tree
    root = 0 if tree.root is None else tree.root
    view = tree._view_from(root)
    lower = lower_ends(tree.edges, view)
    edge_above = np.empty(tree.n_nodes, np.int64)
    edge_above[view.order[lower]] = np.arange(len(tree.edges))
    written = _written_tree(tree, view)
    first = len(tree)
    names = found.labels or tuple(map(str, range(first, first + len(found))))
    entries = []
    for i, name in enumerate(names):
        places = []
        for k in np.flatnonzero(found.nodes[i] >= 0):
            edge = edge_above[found.nodes[i, k]]
            distal = float(found.distal[i, k])
            if written.turned[edge]:
                distal = max(float(tree.weights[edge]) - distal, 0.0)
            numbers = (
                int(written.number[edge]),
                float(found.log_likelihoods[i, k]),
                float(found.weights[i, k]),
                distal,
                float(found.pendant[i, k]),
                float(found.errors[i, k]),
            )
            # JSON has no NaN.
            places.append([x if math.isfinite(x) else None for x in numbers])
        entries.append({"p": places, "n": [name]})
    content = {
        "tree": written.text,
        "placements": entries,
        "fields": _FIELDS,
        "version": 3,
        "metadata": {"software": f"treerep {__version__}"},
    }
    return json.dumps(content, indent=1) + "\n"


def _written_tree(tree: Tree, view: Preorder) -> _Written:
    """Write the tree with all data points as leaves, and number its edges."""
    inside = points_inside(tree.edges, tree.n_points, tree.root)
    edges, lengths, nodes = leaf_edges(tree.edges, tree.weights, inside)
    notes = tree._annotations.renumbered(nodes)._replace(support_text=None)
    leafy = Tree._trusted(
        tree.n_points, edges, lengths, tree.labels, None, tree.order_known, notes
    )
    new_view = leafy._view_from(leafy._default_root())
    position = lower_ends(leafy.edges, new_view)[: len(tree.edges)]
    numbers = _postorder(new_view)
    text = write_newick(leafy, new_view, None, [f"{{{k}}}" for k in numbers])
    before = nodes[view.order[lower_ends(tree.edges, view)]]
    return _Written(text, numbers[position], new_view.order[position] != before)


def _postorder(view: Preorder) -> NDArray[np.int64]:
    """Number the positions in postorder, the order in which Newick text ends them."""
    level = np.zeros(len(view.up), np.int64)
    for k in range(1, len(level)):
        level[k] = level[view.up[k]] + 1
    # Before a position, preorder has its ancestors, and postorder has its subtree.
    return np.arange(len(level)) - level + view.size - 1


def read(text: str) -> Placements:
    """Read the text of a jplace file."""
    content = json.loads(text)
    if not isinstance(content, dict) or not {"tree", "placements", "fields"} <= set(content):
        raise ValueError("a jplace file has a tree, placements and fields: check the format")
    fields = list(content["fields"])
    absent = [name for name in _NEEDED if name not in fields]
    if not {"distal_length", "proximal_length"} & set(fields):
        absent.append("distal_length")
    if absent:
        raise ValueError(f"the field {absent[0]!r} is missing: use jplace of version 2 or 3")
    tree, edge_of_number = _read_tree(str(content["tree"]))
    names: list[str] = []
    rows: list[list[list[Any]]] = []
    for entry in content["placements"]:
        own = entry.get("n", [pair[0] for pair in entry.get("nm", [])])
        own = [own] if isinstance(own, str) else own
        names += map(str, own)
        rows += [entry["p"]] * len(own)
    table = _table(rows, fields)
    return _placements(tree, edge_of_number, check_labels(names, len(rows)), table)


def _table(rows: list[list[list[Any]]], fields: list[str]) -> dict[str, NDArray[np.float64]]:
    """Return an (m, k) array for each field. NaN stands for absent numbers."""
    width = max((len(places) for places in rows), default=1)
    table = {name: np.full((len(rows), width), np.nan) for name in fields}
    for i, places in enumerate(rows):
        if not places:
            raise ValueError(f"placement {i} has no places: remove it")
        for k, numbers in enumerate(places):
            if len(numbers) != len(fields):
                raise ValueError(
                    f"placement {i} has {len(numbers)} numbers for {len(fields)} fields: correct it"
                )
            for name, number in zip(fields, numbers, strict=True):
                table[name][i, k] = np.nan if number is None else float(number)
    return table


def _placements(
    tree: Tree,
    edge_of_number: dict[int, int],
    labels: tuple[str, ...] | None,
    table: dict[str, NDArray[np.float64]],
) -> Placements:
    numbers = table["edge_num"]
    unknown = np.full(numbers.shape, np.nan)
    view = tree._view_from(0 if tree.root is None else tree.root)
    lower = view.order[lower_ends(tree.edges, view)]
    nodes = np.full(numbers.shape, -1)
    lengths = np.zeros(numbers.shape)
    for index in np.argwhere(~np.isnan(numbers)):
        at = tuple(index)
        number = int(numbers[at])
        if number not in edge_of_number:
            raise ValueError(f"placement {at[0]} is at edge {number}, which is not in the tree")
        edge = edge_of_number[number]
        nodes[at] = lower[edge]
        lengths[at] = tree.weights[edge]
    distal = table.get("distal_length")
    if distal is None:
        distal = lengths - table["proximal_length"]
    absent = nodes < 0
    places = (np.clip(distal, 0.0, lengths), table["pendant_length"])
    distal, pendant = (np.where(absent, 0.0, array) for array in places)
    errors = table.get("error", unknown)
    likelihoods = table.get("likelihood", unknown)
    weights = np.where(absent, 0.0, table["like_weight_ratio"])
    order = np.argsort(-weights, axis=1, kind="stable")
    if not all(np.isfinite(array).all() for array in (distal, pendant, weights)):
        raise ValueError("a length or weight is missing or infinite: correct the file")

    def sorted_places(array: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(array, order, axis=1)

    return Placements(
        tree,
        labels,
        nodes=sorted_places(nodes),
        distal=sorted_places(distal),
        pendant=sorted_places(pendant),
        errors=sorted_places(errors),
        log_likelihoods=sorted_places(likelihoods),
        weights=sorted_places(weights),
    )


def _read_tree(text: str) -> tuple[Tree, dict[int, int]]:
    """Return the tree, and its edges by their numbers in the file."""
    tree = Tree.from_newick(_NUMBERED.sub(_plain, text))
    # In a second tree of the same shape, the length of each edge is its number.
    numbers = Tree.from_newick(_NUMBERED.sub(_as_length, text), default_length=_NO_NUMBER)
    edges = {int(number): edge for edge, number in enumerate(numbers.weights)}
    if len(edges) < len(tree.edges) or _NO_NUMBER in edges:
        raise ValueError("the edges of the tree need different numbers in braces: number them")
    return tree, edges


def _plain(match: re.Match[str]) -> str:
    if match["root"]:
        return ""
    return match["length"] or match.group()


def _as_length(match: re.Match[str]) -> str:
    return f":{match['number']}" if match["length"] else _plain(match)
