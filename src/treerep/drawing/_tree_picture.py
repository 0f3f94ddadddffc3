"""The picture of a tree: positions from a layout, lines of edges, and collapsed clades."""

import importlib
from typing import NamedTuple

import numpy as np

from .._core.checks import check_choice
from ..embedding.sarkar.construction import center
from ..tree.tree import Tree
from ._arrays import FloatArray, IntArray
from ._collapse import Collapse, Corner, collapsed
from ._lengths import drawn_lengths
from .figures._picture import ROOTED, Lines, Picture, Triangle
from .layouts._arcs import geodesic_arcs
from .layouts._passes import parents
from .layouts.circular import polar_corners

#: Each layout is a function in the module of the same name, from a tree to positions (N, 2).
LAYOUTS = (
    "radial",
    "rectangular",
    "slanted",
    "circular",
    "hyperbolic",
    "equal_daylight",
    "euclidean_sarkar",
)

# Layouts in which the leaves of a clade are next to each other.
_TRIANGLES = ("radial", "rectangular", "slanted", "circular", "equal_daylight")

# If the length of the longest edge is outside this range, all lengths are divided by this length.
# Otherwise their squares would overflow or underflow float64.
_SHORT = 1e-100
_LONG = 1e100
# Empty angle of the circular layout for the names of rings.
_OPENING = np.pi / 7


class Geometry(NamedTuple):
    """The options of `draw` that change the positions."""

    layout: str | None = None
    root: int | str | None = None
    lengths: str = "original"
    collapse: Collapse = None
    open_circle: bool = False


def picture_of_tree(tree: Tree, geometry: Geometry, longest: float) -> Picture:
    """Place all nodes of a tree. `longest` is the longest edge of all trees in the figure."""
    layout = LAYOUTS[0] if geometry.layout is None else geometry.layout
    check_choice("layout", layout, LAYOUTS)
    if geometry.collapse is not None and layout not in _TRIANGLES:
        raise ValueError(
            f"the layout {layout!r} has no collapsed clades: choose one of {', '.join(map(repr, _TRIANGLES))}"
        )
    root = drawing_root(tree, layout, geometry.root)
    whole = drawn_lengths(tree, tree._view_from(root), geometry.lengths)
    unit = 1.0 if geometry.lengths == "original" else 0.0
    if unit and longest > 0 and not _SHORT < longest < _LONG:
        unit = longest
        whole = whole.with_weights(whole.weights / longest)
    view = whole._view_from(root)
    small, kept, root, corners = collapsed(whole, view, geometry.collapse)
    spots = _place(small, root, layout, geometry.open_circle)
    parent = parents(small._view_from(root))
    lines = _lines(spots, small.edges, parent, layout)
    behind = {int(leaf) for corner in corners for leaf in corner.leaves}
    covered = np.isin(small.edges, list(behind))
    shown = np.flatnonzero(~covered.any(axis=1))
    return Picture(
        spots=spots,
        edges=small.edges[shown],
        lines=[lines[k] for k in shown.tolist()] if behind else lines,
        n_points=tree.n_points,
        n_nodes=tree.n_nodes,
        labels=tree.labels,
        layout=layout,
        kept=kept,
        parent=parent,
        view=view,
        unit=0.0 if layout == "hyperbolic" else unit,
        opening=_OPENING if geometry.open_circle else 0.0,
        triangles=[_triangle(corner, spots) for corner in corners],
        hidden=frozenset(behind | {corner.apex for corner in corners}),
    )


def drawing_root(tree: Tree, layout: str | None, root: int | str | None) -> int:
    """Return the root of a drawing: the requested one, that of the tree, or the center."""
    if root is not None:
        return tree._node(root)
    if layout in ROOTED and tree.root is not None:
        return tree.root
    return center(tree)


def _place(tree: Tree, root: int, layout: str, open_circle: bool) -> FloatArray:
    module = importlib.import_module(f".layouts.{layout}", __package__)
    options = {"opening": _OPENING} if open_circle else {}
    spots: FloatArray = getattr(module, layout)(tree, root=root, **options)
    return spots


def _lines(spots: FloatArray, edges: IntArray, parent: IntArray, layout: str) -> Lines:
    """Return a polyline for each edge."""
    first, second = edges.T
    if layout == "hyperbolic":
        return geodesic_arcs(spots[first], spots[second])
    if layout not in ("rectangular", "circular"):
        return spots[edges]
    lower = np.where(parent[first] == second, first, second)
    upper = parent[lower]
    if layout == "circular":
        return polar_corners(spots, upper, lower)
    # Up or down at the parent, then right to the child.
    corners = np.column_stack([spots[upper, 0], spots[lower, 1]])
    return np.stack([spots[upper], corners, spots[lower]], axis=1)


def _triangle(corner: Corner, spots: FloatArray) -> Triangle:
    first = corner.leaves[0]
    last = corner.leaves[-1]
    corners = spots[[corner.apex, first, last]]
    return Triangle(corners, corner.apex, corner.members, corner.text)
