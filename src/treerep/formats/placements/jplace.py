"""jplace, the JSON format of phylogenetic placements (Matsen et al. 2012).

The tree is Newick text with the number of each edge in braces after its length. Version 1 has the
numbers in square brackets. Versions 1 and 2 have one multiplicity `m` for each entry, and version 3
has `nm`, a list of names with multiplicities. Version 3 is written.
"""

import json
import math
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import __version__
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
_READ = (*_FIELDS, "proximal_length")
_NEEDED = ("edge_num", "like_weight_ratio", "pendant_length")
_COMMENT = r"\[[^][]*+\]"
# A quoted name, a comment, or a length with the number of its edge, perhaps of a leaf without name.
_NUMBERED = re.compile(
    rf"'[^']*+'|{_COMMENT}|(?P<nameless>[(,]\s*+)?"
    rf"(?P<length>:[^][,():;'{{}}]*+(?:{_COMMENT}\s*+)*+)\{{(?P<number>[0-9]+)\}}"
)
# The length and the number of the edge above the root, at the end of the text.
_ROOT = re.compile(rf"(?::(?P<length>[-+.0-9eE\s]*+)(?:{_COMMENT}\s*+)*+)?(?:\{{(?P<number>[0-9]+)\}})?\Z")
_BRACKETED = re.compile(r"'[^']*+'|\[(?P<number>[0-9]+)\]")
_NO_NUMBER = 2**52
# Places may be this far beyond the end of an edge, because programs round lengths.
_SLACK = 1e-5  # plus
_RELATIVE_SLACK = 1e-3  # of the edge


class _Entry(NamedTuple):
    """An entry of a file: new points that have the same places."""

    where: str  # "placement 0 ('q')", for error messages
    names: list[str]
    multiplicities: list[float]
    has_multiplicities: bool
    places: list[Any]


class _Reference(NamedTuple):
    """The tree of a file, and its edges by their numbers."""

    tree: Tree
    root: int
    numbers: NDArray[np.float64]  # sorted
    edges: NDArray[np.int64]  # the edge of each number
    # The edge above the root, which `tree` does not have. Its number is NaN if it has none, and
    # its entry in `edges` is an edge below the root.
    root_number: float
    root_length: float


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
    counts = found.multiplicities
    key = "n" if counts is None else "nm"
    entries: list[dict[str, list[Any]]] = []
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
        # Points with the same places share an entry.
        if not entries or entries[-1]["p"] != places:
            entries.append({"p": places, key: []})
        entries[-1][key].append(name if counts is None else [name, float(counts[i])])
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
    leafy = Tree._trusted(tree.n_points, edges, lengths, tree.labels, None, tree.order_known, notes)
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


def read(text: str, negative_lengths: str = "error") -> Placements:
    """Read the text of a jplace file of version 1, 2 or 3."""
    content = json.loads(text)
    if not isinstance(content, dict) or not {"tree", "placements", "fields"} <= set(content):
        raise ValueError("a jplace file has a tree, placements and fields: check the format")
    fields = _fields(content["fields"])
    if not isinstance(content["tree"], str):
        raise ValueError("the tree must be Newick text: correct it")
    if not isinstance(content["placements"], list):
        raise ValueError("the placements must be a list: correct them")
    is_old = content.get("version") == 1
    tree_text = _BRACKETED.sub(_braced, content["tree"]) if is_old else content["tree"]
    reference = _read_tree(tree_text, negative_lengths)
    entries = [_entry(i, entry) for i, entry in enumerate(content["placements"])]
    return _placements(reference, entries, _table(entries, fields), negative_lengths)


def _fields(fields: object) -> list[str]:
    """Check the names of the columns. Other columns than those of `_READ` may hold anything."""
    if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
        raise ValueError("the fields must be a list of names: correct them")
    absent = [name for name in _NEEDED if name not in fields]
    if not {"distal_length", "proximal_length"} & set(fields):
        absent.append("distal_length")
    if absent:
        raise ValueError(f"the field {absent[0]!r} is missing: add it")
    twice = [name for name in _READ if fields.count(name) > 1]
    if twice:
        raise ValueError(f"the field {twice[0]!r} occurs twice: remove one")
    return fields


def _entry(index: int, entry: object) -> _Entry:
    """Check the names, multiplicities and places of an entry, but not the numbers of the places."""
    where = f"placement {index}"
    if not isinstance(entry, dict) or ("n" in entry) == ("nm" in entry):
        raise ValueError(f'{where} needs either names "n" or "nm": correct it')
    if "nm" in entry:
        pairs = entry["nm"]
        if not isinstance(pairs, list) or any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
            raise ValueError(f'{where}: "nm" must hold [name, multiplicity]: correct it')
        names = [name for name, _ in pairs]
        counts = [count for _, count in pairs]
    else:
        names = [entry["n"]] if isinstance(entry["n"], str) else entry["n"]
        counts = [entry["m"]] if "m" in entry else []
    if not isinstance(names, list) or not names or not all(isinstance(x, str) for x in names):
        raise ValueError(f"{where}: the names must be a list of text: correct them")
    where = f"placement {index} ({names[0]!r})"
    if counts and len(counts) != len(names):
        raise ValueError(f'{where}: "m" belongs to one name, not {len(names)}: use "nm"')
    multiplicities = [_number(count, "the multiplicity", where) for count in counts]
    for count in multiplicities:
        if not 0 <= count < math.inf:
            raise ValueError(
                f"{where}: the multiplicity is {_shown(count)}, which is not a finite number "
                "of at least 0: correct it"
            )
    places = entry.get("p")
    if not isinstance(places, list) or not places:
        raise ValueError(f"{where} has no places: remove it")
    return _Entry(where, names, multiplicities or [1.0] * len(names), bool(counts), places)


def _table(entries: list[_Entry], fields: list[str]) -> dict[str, NDArray[np.float64]]:
    """Return an array for each column: a row for each entry, with NaN for absent numbers."""
    width = max((len(entry.places) for entry in entries), default=1)
    columns = [(column, name) for column, name in enumerate(fields) if name in _READ]
    table = {name: np.full((len(entries), width), np.nan) for _, name in columns}
    for i, entry in enumerate(entries):
        for k, numbers in enumerate(entry.places):
            if not isinstance(numbers, list):
                raise ValueError(f"{entry.where}: each place must be a list: correct it")
            if len(numbers) != len(fields):
                raise ValueError(
                    f"{entry.where} has {len(numbers)} numbers for {len(fields)} fields: correct it"
                )
            for column, name in columns:
                table[name][i, k] = _number(numbers[column], name, entry.where)
    return table


def _number(value: object, name: str, where: str) -> float:
    """Return a number of the file, or NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where}: {name} is {value!r}, which is not a number: correct it")
    return float(value)


def _shown(number: float) -> str:
    return "null" if math.isnan(number) else f"{number:.17g}"


def _placements(
    reference: _Reference,
    entries: list[_Entry],
    table: dict[str, NDArray[np.float64]],
    negative_lengths: str,
) -> Placements:
    tree = reference.tree
    n_places = np.array([len(entry.places) for entry in entries], np.int64)
    used = np.arange(table["edge_num"].shape[1]) < n_places[:, None]
    edges, distal, pendant = _located(reference, entries, table, used, negative_lengths)
    view = tree._view_from(reference.root)
    lower = view.order[lower_ends(tree.edges, view)]
    unknown = np.full(used.shape, np.nan)
    weights = np.where(used, table["like_weight_ratio"], 0.0)
    order = np.argsort(-weights, axis=1, kind="stable")
    # Points of the same entry have the same places.
    n_names = np.array([len(entry.names) for entry in entries], np.int64)
    owner = np.repeat(np.arange(len(entries)), n_names)
    counts = [count for entry in entries for count in entry.multiplicities]

    def sorted_places(array: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(array, order, axis=1)[owner]

    return Placements(
        tree,
        tuple(name for entry in entries for name in entry.names),
        nodes=sorted_places(np.where(used, lower[edges], -1)),
        distal=sorted_places(distal),
        pendant=sorted_places(pendant),
        errors=sorted_places(table.get("error", unknown)),
        log_likelihoods=sorted_places(table.get("likelihood", unknown)),
        weights=sorted_places(weights),
        multiplicities=np.array(counts) if any(e.has_multiplicities for e in entries) else None,
    )


def _located(
    reference: _Reference,
    entries: list[_Entry],
    table: dict[str, NDArray[np.float64]],
    used: NDArray[np.bool_],
    negative_lengths: str,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Check the numbers of all places. Return the edges, distal lengths and pendant lengths."""

    def refuse(wrong: NDArray[np.bool_], name: str, problem: str) -> None:
        for i, k in np.argwhere(used & wrong)[:1]:
            number = _shown(table[name][i, k])
            raise ValueError(f"{entries[i].where}: {name} is {number}, {problem}")

    numbers = table["edge_num"]
    at = np.searchsorted(reference.numbers, numbers).clip(max=len(reference.numbers) - 1)
    refuse(
        reference.numbers[at] != numbers,
        "edge_num",
        "which is not the number of an edge of the tree: correct it",
    )
    weights = table["like_weight_ratio"]
    refuse(
        ~((weights >= 0) & np.isfinite(weights)),
        "like_weight_ratio",
        "which is not a finite number of at least 0: correct it",
    )
    edges = np.where(used, reference.edges[at], 0)
    is_root = numbers == reference.root_number
    below_root = reference.tree.weights[edges]
    lengths = np.where(is_root, reference.root_length, below_root)
    slack = _SLACK + _RELATIVE_SLACK * lengths
    along = "distal_length" if "distal_length" in table else "proximal_length"
    for name, least in (("pendant_length", 0.0), (along, -slack)):
        refuse(~np.isfinite(table[name]), name, "which is not a finite length: correct it")
        if negative_lengths == "error":
            refuse(
                table[name] < least,
                name,
                'which is negative: correct it, or pass negative_lengths="zero" to read it as 0',
            )
    on_edge = table[along]
    if negative_lengths == "zero":
        # An edge of length 0 may have been negative.
        on_edge = np.where(lengths == 0, 0.0, on_edge)
    for i, k in np.argwhere(used & (on_edge > lengths + slack))[:1]:
        raise ValueError(
            f"{entries[i].where}: {along} is {_shown(on_edge[i, k])}, but edge "
            f"{_shown(numbers[i, k])} has the length {_shown(lengths[i, k])}: correct it"
        )
    on_edge = np.clip(on_edge, 0.0, lengths)
    distal = on_edge if along == "distal_length" else lengths - on_edge
    # A place above the root is moved to the root, and its distance from the root is added to the
    # pendant length. The distances to all points of the tree remain the same.
    pendant = np.maximum(table["pendant_length"], 0.0) + np.where(is_root, distal, 0.0)
    distal = np.where(is_root, below_root, distal)
    return edges, np.where(used, distal, 0.0), np.where(used, pendant, 0.0)


def _read_tree(text: str, negative_lengths: str) -> _Reference:
    """Read the tree, and find its edges by their numbers."""
    body = text.rstrip()
    if not body.endswith(";"):
        raise ValueError("the tree ends without a semicolon: complete it")
    body = body[:-1].rstrip()
    above = _ROOT.search(body)
    assert above is not None  # the end matches
    text = body[: above.start()] + ";"
    if not any(match["number"] for match in _NUMBERED.finditer(text)):
        raise ValueError(
            "the edges of the tree have no numbers in braces: number them, as in (a:1{0},b:2{1});"
        )
    tree = Tree.from_newick(_NUMBERED.sub(_plain, text), negative_lengths=negative_lengths)
    # In a second tree of the same shape, the length of each edge is its number.
    numbered = Tree.from_newick(_NUMBERED.sub(_as_length, text), default_length=_NO_NUMBER)
    numbers = numbered.weights.tolist()
    edges = list(range(len(numbers)))
    root = tree.root
    assert root is not None  # a tree with edges has the root of the text
    root_number = root_length = math.nan
    if above["number"]:
        root_number = float(above["number"])
        root_length = max(float((above["length"] or "").strip() or 0), 0.0)
        if math.isinf(root_length):
            raise ValueError("the root has an infinite length: correct it")
        numbers.append(root_number)
        edges.append(int(np.flatnonzero((tree.edges == root).any(axis=1))[0]))
    if len(set(numbers)) < len(numbers) or _NO_NUMBER in numbers:
        raise ValueError("the edges of the tree need different numbers in braces: number them")
    order = np.argsort(numbers)
    return _Reference(tree, root, np.array(numbers)[order], np.array(edges)[order], root_number, root_length)


def _plain(match: re.Match[str]) -> str:
    """Remove the number of an edge, which becomes the name of a leaf without a name."""
    return _numbered(match, match["length"])


def _as_length(match: re.Match[str]) -> str:
    """Replace the length of an edge by its number."""
    return _numbered(match, f":{match['number']}")


def _numbered(match: re.Match[str], length: str) -> str:
    if match["number"] is None:
        return match.group()
    name = f"{match['nameless']}'{{{match['number']}}}'" if match["nameless"] else ""
    return name + length


def _braced(match: re.Match[str]) -> str:
    return f"{{{match['number']}}}" if match["number"] else match.group()
