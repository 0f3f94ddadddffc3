"""`draw`: draw a tree or an embedding with matplotlib."""

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._core.checks import check_choice
from .._core.extras import require
from ..embedding.embedding import Embedding
from ..embedding.tree_embedding import TreeEmbedding
from ..metric._matching import values_in_order
from ..tree.tree import Tree
from ._arrays import FloatArray
from .figures._canvas import Style, paint
from .figures._colors import ColorValues, Palette
from .figures._picture import Lines, Picture
from .layouts._arcs import geodesic_arcs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

#: Each layout is a function in the module of the same name, from a tree to positions (N, 2).
LAYOUTS = ("radial", "rectangular", "hyperbolic", "equal_daylight", "euclidean_sarkar")

# If the longest edge is outside this range, lengths are divided by it. Otherwise their squares
# would overflow or underflow float64.
_SHORT = 1e-100
_LONG = 1e100


def draw(
    what: Tree | Embedding,
    *,
    layout: str | None = None,
    root: int | str | None = None,
    color: ColorValues = None,
    palette: Palette = None,
    labels: bool | Sequence[object] | None = None,
    legend: bool = True,
    size: float | None = None,
    edge_color: "ColorType | None" = None,
    edge_width: float | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a tree in the plane, or an embedding in the Poincaré disk.

    Needs matplotlib (`treerep[draw]`).

    Parameters
    ----------
    what : Tree or Embedding
        The edges of a TreeEmbedding are drawn as geodesics, arcs that meet the edge of the disk
        at right angles. Another Embedding is drawn as points.
    layout : str, optional
        (trees only)

        - "radial" (default): every leaf has the same share of the circle. Edges have their
          exact lengths and never cross.
        - "rectangular": distance from the root to the right, a row for each leaf.
        - "hyperbolic": Sarkar's construction in the Poincaré disk, at a scale for pictures.
        - "equal_daylight": like "radial", with the branches turned until they fill the plane
          evenly. Takes seconds for thousands of nodes.
        - "euclidean_sarkar": the edges at a node leave it at equal angles, with their exact
          lengths, and may cross. The paper's figures of trees are of this kind.
    root : node id or label, optional
        (trees only) The node at the origin or, in "rectangular", on the left. The center of
        the tree by default.
    color : optional
        One color, an (n, 3) or (n, 4) array of colors, or a sequence with a value for each
        point or for each node. A Series whose index has the labels is matched by label. Text,
        booleans and integers of at most 20 different values are categories, with a legend of
        those that occur. Other numbers have a color bar. Missing values are gray.
    palette : optional
        Colors of the categories: a sequence, a mapping of names or a color map. Numbers need a
        color map. A color map of matplotlib may be given by its name. The default suits all
        kinds of color vision. After twelve categories it repeats with other markers.
    labels : optional
        True writes the labels of all points, or their numbers if they have no labels. False
        writes none. A sequence gives the text for each point or each node, None or "" for no
        text. By default, labels are written for up to 60 points. Lines are truncated at 45
        characters.
    legend : bool
        Whether to draw the legend or color bar. A legend of more than 60 categories is left
        out.
    size : float, optional
        Area of a point in square points, as in `scatter`. The default decreases with the number
        of points. Steiner nodes are smaller, and gray.
    edge_color, edge_width : optional
        Color of the edges, and their width in points.
    ax : matplotlib Axes, optional
        Axes with linear scales to draw on. A new figure by default.

    Returns
    -------
    Axes
        `draw(tree).figure.savefig("tree.pdf")` saves it as PDF, SVG or PNG. From 5,000 nodes
        on, points and edges are pixels in a PDF or SVG.

    Notes
    -----
    Takes seconds for 100,000 nodes (see the page "Drawing"). "radial" and "equal_daylight" are
    from Felsenstein, Inferring Phylogenies (2004). "hyperbolic" is Sarkar's construction (Graph
    Drawing 2011). Edges of the straight layouts have exact lengths.

    Examples
    --------
    >>> tree = Tree(
    ...     4,
    ...     [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]],
    ...     [1.0, 1.0, 2.0, 1.0, 1.0],
    ...     labels="abcd",
    ... )
    >>> draw(tree, color=tree.cut(2)).get_legend() is None
    False
    """
    require("matplotlib", "draw")
    if isinstance(what, Tree):
        picture = _picture_of_tree(what, "radial" if layout is None else layout, root)
    elif isinstance(what, Embedding):
        if layout is not None or root is not None:
            raise ValueError(
                "layout and root apply to trees only, because the points of an embedding "
                "have fixed positions: leave them out"
            )
        picture = _picture_of_embedding(what)
    else:
        kind = type(what).__name__
        raise TypeError(
            f"draw expects a tree or an embedding, got {kind}: fit a tree first, e.g. tr.draw(tr.fit(data))"
        )
    style = Style(
        color=values_in_order(color, what.labels),
        palette=palette,
        labels=labels,
        legend=legend,
        size=size,
        edge_color=edge_color,
        edge_width=edge_width,
    )
    return paint(picture, style, ax)


def _picture_of_tree(tree: Tree, layout: str, root: int | str | None) -> Picture:
    check_choice("layout", layout, LAYOUTS)
    longest = float(tree.weights.max(initial=0.0))
    if longest > 0 and not _SHORT < longest < _LONG:
        tree = tree.with_weights(tree.weights / longest)
    place = getattr(importlib.import_module(f".layouts.{layout}", __package__), layout)
    spots: FloatArray = place(tree, root=root)
    if layout == "rectangular":
        lines: Lines = _right_angles(spots, tree.edges)
    elif layout == "hyperbolic":
        first, second = tree.edges.T
        lines = geodesic_arcs(spots[first], spots[second])
    else:
        lines = spots[tree.edges]
    return Picture(spots, tree.edges, lines, tree.n_points, tree.labels, layout)


def _right_angles(spots: FloatArray, edges: NDArray[np.integer]) -> FloatArray:
    """Return three corners per edge: up or down at the parent, then right to the child."""
    by_depth = np.argsort(spots[edges, 0], axis=1, kind="stable")
    parent, child = np.take_along_axis(edges, by_depth, axis=1).T
    corners = np.column_stack([spots[parent, 0], spots[child, 1]])
    return np.stack([spots[parent], corners, spots[child]], axis=1)


def _picture_of_embedding(embedding: Embedding) -> Picture:
    if embedding.dim != 2:
        raise ValueError(
            f"cannot draw an embedding of dimension {embedding.dim}: embed in 2 dimensions"
        )
    spots = embedding.poincare
    edges = np.empty((0, 2), np.int64)
    if isinstance(embedding, TreeEmbedding):
        child = np.flatnonzero(embedding.parent >= 0)
        edges = np.column_stack([embedding.parent[child], child]).astype(np.int64)
    lines = geodesic_arcs(spots[edges[:, 0]], spots[edges[:, 1]])
    return Picture(spots, edges, lines, embedding.n_points, embedding.labels, "hyperbolic")
