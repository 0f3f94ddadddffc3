"""The first view of a page: the layout and the edge lengths that suit a tree.

The rules were chosen by looking at pages of mammals, cells, graphs, WordNet and random trees.
"""

import math
from typing import NamedTuple

import numpy as np

from ..._core.checks import check_choice
from ...embedding.sarkar.construction import center
from ...tree.tree import Tree
from .._arrays import FloatArray

#: Layouts of the page.
PAGE_LAYOUTS = ("disk", "rectangular", "circular", "unrooted")
#: Powers of the edge lengths that a page can draw, from the most to the least faithful.
LENGTH_POWERS = {"original": 1.0, "square root": 0.5, "equal": 0.0}

# Small trees are readable in any layout, so their lengths are not changed.
_FEW_POINTS = 100
# In the disk, the branches of larger trees cover each other.
_MOST_NODES_IN_DISK = 20_000
# The disk suits trees whose depth grows like the logarithm of their size. A caterpillar would
# be a line of dots in it.
_MOST_HOPS = 6.0
# Terminal edges that are longer than inner edges cover the branches of the disk.
_MOST_RATIO = 2.0
# Longer terminal edges leave too little width for the branches of a phylogram.
_MOST_SHARE = 0.6


class FirstView(NamedTuple):
    """What the page shows first. Users can change it in the page."""

    layout: str
    lengths: str
    root: int


def first_view(
    tree: Tree,
    layout: str | None,
    lengths: str | None,
    root: int | str | None,
    scale: float | None = None,
) -> FirstView:
    """Validate the options and choose the missing ones. A scale asks for the disk."""
    if layout is not None:
        check_choice("layout", layout, PAGE_LAYOUTS)
    if lengths is not None:
        check_choice("lengths", lengths, tuple(LENGTH_POWERS))
    wanted = tree.root if root is None else root
    start = center(tree) if wanted is None else tree._node(wanted)
    if layout is None:
        layout = "disk" if scale is not None else _readable_layout(tree, start)
    if lengths is None:
        lengths = "original" if scale is not None else _readable_lengths(tree, layout, start)
    return FirstView(layout, lengths, start)


def _readable_layout(tree: Tree, root: int) -> str:
    """Return the disk for trees that fit into it.

    Other trees are phylograms if they are large or have a root. In a phylogram of a deep tree without
    a root, the vertical lines of its long backbone would cover each other.
    """
    if tree.n_points <= _FEW_POINTS:
        return "disk"
    if tree.n_nodes > _MOST_NODES_IN_DISK:
        return "rectangular"
    hops = _median_depth(tree, np.ones(len(tree.weights)), root)
    if hops <= _MOST_HOPS * math.log2(tree.n_points):
        return "disk"
    return "unrooted" if tree.root is None else "rectangular"


def _readable_lengths(tree: Tree, layout: str, root: int) -> str:
    """Return the most faithful lengths at which terminal edges do not hide the branches."""
    if tree.n_points <= _FEW_POINTS:
        return "original"
    degree = np.bincount(tree.edges.ravel(), minlength=tree.n_nodes)
    terminal = (degree[tree.edges] == 1).any(axis=1)
    if terminal.all():  # a star has no branches to hide
        return "original"
    for name, power in LENGTH_POWERS.items():
        drawn = np.where(tree.weights > 0, tree.weights**power, 0.0)
        typical = float(np.median(drawn[terminal]))
        if layout == "disk":
            most = _MOST_RATIO * float(np.median(drawn[~terminal]))
        else:
            most = _MOST_SHARE * _median_depth(tree, drawn, root)
        if typical <= most:
            return name
    return "equal"


def _median_depth(tree: Tree, lengths: FloatArray, root: int) -> float:
    """Return the median distance of the points from the root, with the given edge lengths."""
    depth = tree.with_weights(lengths).rooted(root).depth
    return float(np.median(depth[: tree.n_points]))
