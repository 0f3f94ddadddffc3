"""Collapsed clades: a tree in which a few leaves stand for all points of a clade."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from ..tree.structure.rooted import Preorder
from ..tree.tree import Tree
from ._arrays import IntArray
from .layouts._passes import parents, path_sums

#: A clade: a node, the name of a clade, or all points of a branch.
Clade: TypeAlias = "int | str | Iterable[int | str]"
#: See `draw`.
Collapse: TypeAlias = "Mapping[str, Clade] | Iterable[int | str] | None"


class Corner(NamedTuple):
    """A collapsed clade, in the numbers of the smaller tree."""

    apex: int
    leaves: IntArray  # stand for the points: the first and the last are corners of a triangle
    members: IntArray  # points of the whole tree
    text: str


class Collapsed(NamedTuple):
    """A tree with collapsed clades."""

    tree: Tree
    kept: IntArray  # node of the whole tree, by node
    root: int
    corners: list[Corner]


def collapsed(tree: Tree, view: Preorder, collapse: Collapse) -> Collapsed:
    """Replace each clade by a few leaves at its largest depth."""
    if collapse is None:
        nodes = np.arange(tree.n_nodes)
        return Collapsed(tree, nodes, int(view.order[0]), [])
    clades = _clades(tree, view, collapse)
    parent = parents(view)
    length = view.length[view.position]
    depth = path_sums(view.up, view.length)
    depth = depth[view.position]
    keep = np.ones(tree.n_nodes, np.bool_)
    chosen = {}
    for apex in clades:
        below = _below(view, apex)
        points = np.sort(below[below < tree.n_points])
        keep[below] = False
        # A few leaves, so that a large clade gets a little more space.
        size = len(points)
        count = min(size, 2 + int(np.log2(size)))
        ranks = np.linspace(0, size - 1, count)
        leaves = points[ranks.astype(np.int64)]
        deep = depth[points] - depth[apex]
        length[leaves] = deep.max()
        parent[leaves] = apex
        chosen[apex] = leaves, points
    for leaves, _ in chosen.values():
        keep[leaves] = True
    kept = np.flatnonzero(keep)
    number = np.cumsum(keep) - 1
    child = kept[parent[kept] >= 0]
    edges = np.column_stack([number[child], number[parent[child]]])
    points_kept = int((kept < tree.n_points).sum())
    small = Tree(points_kept, edges, length[child])
    corners = []
    for apex, name in clades.items():
        leaves, points = chosen[apex]
        text = _text(tree, apex, name, len(points))
        corners.append(Corner(int(number[apex]), number[leaves], points, text))
    root = view.order[0]
    return Collapsed(small, kept, int(number[root]), corners)


def _text(tree: Tree, apex: int, name: str | None, count: int) -> str:
    """Return the label of a collapsed clade: its name and its number of points."""
    known = tree.clade_names.get(apex) if name is None else name
    return f"{count} points" if known is None else f"{known} ({count})"


def _below(view: Preorder, node: int) -> IntArray:
    """Return all nodes below a node."""
    first = int(view.position[node])
    last = first + int(view.size[first])
    below = view.order[first + 1 : last]
    return below.astype(np.int64)


def _clades(tree: Tree, view: Preorder, collapse: Collapse) -> dict[int, str | None]:
    """Return the top node of each clade, and the name that the user gave."""
    named: list[tuple[str | None, Clade]]
    if isinstance(collapse, Mapping):
        named = [(str(name), clade) for name, clade in collapse.items()]
    elif isinstance(collapse, str) or not isinstance(collapse, Iterable):
        raise ValueError(f"collapse is {collapse!r}: pass a list of nodes, or a dict of names and points")
    else:
        named = [(None, clade) for clade in collapse]
    tops = {_top(tree, view, clade): name for name, clade in named}
    ends = [(int(view.position[top]), top) for top in tops]
    reached = 0
    for at, top in sorted(ends):
        points = _below(view, top)
        if at == 0 or (points < tree.n_points).sum() < 2:
            raise ValueError(f"cannot collapse node {top}: choose a clade of several points")
        if at < reached:
            raise ValueError(f"node {top} is inside another collapsed clade: collapse only one")
        reached = at + int(view.size[at])
    return tops


def _top(tree: Tree, view: Preorder, clade: Clade) -> int:
    """Return the top node of a clade."""
    if isinstance(clade, str):
        found = [node for node, name in tree.clade_names.items() if name == clade]
        if not found:
            raise ValueError(
                f"no clade is named {clade!r}: pass a node, or a dict such as {{{clade!r}: points}}"
            )
        return found[0]
    if not isinstance(clade, Iterable):
        return tree._node(clade)
    points = np.unique(tree._points(clade))
    if len(points) < 2:
        raise ValueError("a collapsed clade needs at least two points")
    at = view.position[points]
    top = int(at.min())
    while top + view.size[top] <= at.max():
        top = int(view.up[top])
    inside = view.order[top : top + int(view.size[top])]
    others = np.setdiff1d(inside[inside < tree.n_points], points)
    if len(others):
        raise ValueError(
            f"{len(points)} points to collapse are not a clade: "
            f"point {others[0]} is between them (choose another root or other points)"
        )
    return int(view.order[top])
