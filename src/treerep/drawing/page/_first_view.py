"""The first view of a page: the layout and the edge lengths that suit a tree."""

from typing import NamedTuple

import numpy as np

from ..._core.checks import check_choice
from ...tree.tree import Tree

#: Layouts of the page.
PAGE_LAYOUTS = ("disk", "rectangular", "circular", "unrooted")
#: Powers of the edge lengths that a page can draw.
LENGTH_POWERS = {"original": 1.0, "square root": 0.5, "equal": 0.0}


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
) -> FirstView:
    """Validate the options and choose the missing ones."""
    from ...embedding.sarkar.construction import center

    if layout is not None:
        check_choice("layout", layout, PAGE_LAYOUTS)
    if lengths is not None:
        check_choice("lengths", lengths, tuple(LENGTH_POWERS))
    wanted = tree.root if root is None else root
    return FirstView(
        layout="disk" if layout is None else layout,
        lengths=readable_lengths(tree) if lengths is None else lengths,
        root=center(tree) if wanted is None else tree._node(wanted),
    )


def readable_lengths(tree: Tree) -> str:
    """Return lengths at which inner edges can be seen beside the terminal edges."""
    return "original" if tree.n_points > 0 and np.all(tree.weights >= 0) else "equal"
