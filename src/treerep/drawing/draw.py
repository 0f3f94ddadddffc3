"""`draw`: draw a tree or an embedding with matplotlib."""

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .._core.checks import check_choice
from .._core.extras import require
from ..embedding.embedding import Embedding
from ..embedding.product import ProductEmbedding
from ..embedding.tree_embedding import TreeEmbedding
from ..metric._matching import values_in_order
from ..metric.base import Metric
from ..tree.operations.distance_sums import subtree_sums
from ..tree.structure.rooted import preorder
from ..tree.tree import Tree
from ..tree.tree_sum import TreeSum
from ._arrays import FloatArray
from .figures._canvas import Style, paint
from .figures._colors import ColorValues, Palette
from .figures._panels import AxesArray, Panel, paint_panels
from .figures._picture import Lines, Picture
from .figures._support import support_texts
from .layouts._arcs import geodesic_arcs
from .layouts._passes import rooted_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

#: Each layout is a function in the module of the same name, from a tree to positions (N, 2).
LAYOUTS = ("radial", "rectangular", "hyperbolic", "equal_daylight", "euclidean_sarkar")

# If the length of the longest edge is outside this range, all lengths are divided by this length.
# Otherwise their squares would overflow or underflow float64.
_SHORT = 1e-100
_LONG = 1e100
_PAIRS = 10_000  # pairs that measure the share of a plane


@overload
def draw(
    what: Tree | Embedding,
    *,
    layout: str | None = None,
    root: int | str | None = None,
    color: ColorValues = None,
    palette: Palette = None,
    labels: bool | str | Sequence[object] | None = None,
    legend: bool = True,
    size: float | None = None,
    edge_color: "ColorType | None" = None,
    edge_width: float | None = None,
    ax: "Axes | None" = None,
) -> "Axes": ...


@overload
def draw(
    what: TreeSum | ProductEmbedding,
    *,
    layout: str | None = None,
    root: int | str | None = None,
    color: ColorValues = None,
    palette: Palette = None,
    labels: bool | str | Sequence[object] | None = None,
    legend: bool = True,
    size: float | None = None,
    edge_color: "ColorType | None" = None,
    edge_width: float | None = None,
    ax: "AxesArray | Sequence[Axes] | None" = None,
) -> AxesArray: ...


def draw(
    what: Tree | Embedding | TreeSum | ProductEmbedding,
    *,
    layout: str | None = None,
    root: int | str | None = None,
    color: ColorValues = None,
    palette: Palette = None,
    labels: bool | str | Sequence[object] | None = None,
    legend: bool = True,
    size: float | None = None,
    edge_color: "ColorType | None" = None,
    edge_width: float | None = None,
    ax: "Axes | AxesArray | Sequence[Axes] | None" = None,
) -> "Axes | AxesArray":
    """Draw a tree in the plane, or an embedding in the Poincaré disk.

    A sum of trees has one panel for each tree.

    Needs matplotlib (``pip install 'treerep[draw]'``).

    Parameters
    ----------
    what : Tree, TreeSum, Embedding or ProductEmbedding
        The edges of a `TreeEmbedding` are drawn as geodesics, which are arcs that meet the
        boundary of the disk at right angles. Other embeddings are drawn as points. A `TreeSum` and
        a `ProductEmbedding` have one panel for each tree or plane. The title of a panel gives its
        share of the mean distance. Lengths have the same scale in all panels of a sum.
    layout : str, optional
        (trees only)

        - "radial" (default): every leaf has the same share of the circle. Edges have their
          exact lengths and never cross.
        - "rectangular": the distance from the root increases to the right. Each leaf has a row.
        - "hyperbolic": Sarkar's construction in the Poincaré disk, at a scale for pictures.
        - "equal_daylight": like "radial", with branches rotated to fill the plane evenly. Takes
          seconds for thousands of nodes.
        - "euclidean_sarkar": the edges at a node have equal angles and exact lengths, and may
          cross. This is the layout of the paper's figures.
    root : int or label, optional
        (trees only) The node at the origin, or on the left in "rectangular". The default is the
        center of the tree.
    color : optional
        One color, an (n, 3) or (n, 4) array of colors, or one value per point or per node. A
        Series whose index has the labels is matched by label. Text, booleans, and integers with
        at most 20 different values are categories, and get a legend. Other numbers get a color
        bar. Missing values are gray.
    palette : optional
        Colors of the categories: a sequence, a mapping from categories to colors, or a color
        map. Numbers need a color map. You can give a matplotlib color map by name. The default
        suits all kinds of color vision. After twelve categories, colors repeat with other
        markers.
    labels : optional
        True writes the labels of all points, or their numbers if they have no labels. False writes
        no labels. (trees only) "support" also writes the support of edges, in percent, at their ends
        away from the root. A sequence gives the text of each point or node; None or "" writes no
        text. By default, labels are written for up to 60 points. Lines are truncated at 45
        characters.
    legend : bool
        Whether to draw the legend or color bar. A legend of more than 60 categories is omitted.
    size : float, optional
        Area of a point in square points, as in matplotlib's ``scatter``. The default decreases
        with the number of points. Steiner nodes are smaller and gray.
    edge_color : color, optional
        Color of the edges.
    edge_width : float, optional
        Width of the edges in points.
    ax : matplotlib Axes, optional
        Axes with linear scales to draw on, or an array of axes for several panels. The default is
        a new figure.

    Returns
    -------
    matplotlib Axes, or array of Axes
        ``draw(tree).figure.savefig("tree.pdf")`` saves the figure as PDF, SVG or PNG. Above
        5,000 nodes, points and edges are rasterized in PDF and SVG files. For a `TreeSum` or a
        `ProductEmbedding`, an array with the axes of each panel: the figure of a sum is
        ``draw(trees)[0].figure``.

    See Also
    --------
    page : Explore a tree interactively.
    pl.tree : Draw the tree of an AnnData object.
    Tree.cut : Cluster the points, for example to color them.
    embed : Embed a tree.

    Notes
    -----
    Drawing 100,000 nodes takes seconds. Edges of the straight layouts have exact lengths.
    "radial" and "equal_daylight" are described by Felsenstein, Inferring Phylogenies (2004),
    and "hyperbolic" by Sarkar (Graph Drawing 2011).

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
    if not isinstance(what, Tree | Embedding | TreeSum | ProductEmbedding):
        kind = type(what).__name__
        raise TypeError(
            f"draw expects a tree or an embedding, got {kind}: fit a tree first, e.g. tr.draw(tr.fit(data))"
        )
    parts = _parts(what)
    pictures = _pictures(parts, layout, root)
    options: dict[str, Any] = {
        "color": values_in_order(color, what.labels),
        "palette": palette,
        "legend": legend,
        "size": size,
        "edge_color": edge_color,
        "edge_width": edge_width,
    }
    styles = [Style(labels=_labels(labels, part, root), **options) for part in parts]
    if isinstance(what, Tree | Embedding):
        return paint(pictures[0], styles[0], ax)
    panels = zip(pictures, _titles(what), styles, strict=True)
    return paint_panels([Panel(*panel) for panel in panels], ax)


def _parts(
    what: Tree | Embedding | TreeSum | ProductEmbedding,
) -> Sequence[Tree] | Sequence[Embedding]:
    """Return what is drawn in each panel."""
    if isinstance(what, TreeSum):
        return what.trees
    if isinstance(what, ProductEmbedding):
        return what.components
    return [what]  # type: ignore[return-value]


def _pictures(
    parts: Sequence[Tree] | Sequence[Embedding], layout: str | None, root: int | str | None
) -> list[Picture]:
    """Return the picture of each tree or embedding. Trees have the same unit of length."""
    trees = [part for part in parts if isinstance(part, Tree)]
    if trees:
        longest = max(float(tree.weights.max(initial=0.0)) for tree in trees)
        chosen = "radial" if layout is None else layout
        return [_picture_of_tree(tree, chosen, root, longest) for tree in trees]
    if layout is not None or root is not None:
        raise ValueError(
            "layout and root apply to trees only, because the points of an embedding "
            "have fixed positions: leave them out"
        )
    return [_picture_of_embedding(part) for part in parts if isinstance(part, Embedding)]


def _titles(what: TreeSum | ProductEmbedding) -> list[str]:
    """Return the number of each panel, and its share of the mean distance."""
    if isinstance(what, TreeSum):
        noun = "tree"
        sums = np.array([_distance_sum(tree) for tree in what.trees])
    else:
        noun = "plane"
        sums = np.array([_sampled_sum(part) for part in what.components])
    total = sums.sum()
    titles = [f"{noun} {k}" for k in range(1, len(sums) + 1)]
    if not 0 < total < np.inf:
        return titles
    return [
        f"{title}: {'under 1%' if share < 0.005 else f'{share:.0%}'} of the distance"
        for title, share in zip(titles, sums / total, strict=True)
    ]


def _distance_sum(tree: Tree) -> float:
    """Return the sum of the distances of all pairs of points, in O(N)."""
    view = preorder(tree.edges, tree.weights, 0)
    below = subtree_sums(view, (view.order < tree.n_points).astype(np.float64))
    # An edge of length l with b points below it is on b (n - b) paths.
    return float((view.length * below * (tree.n_points - below)).sum())


def _sampled_sum(metric: Metric) -> float:
    """Return the sum of the distances of some pairs, which depend only on the number of points."""
    first, second = np.random.default_rng(0).integers(len(metric), size=(2, _PAIRS))
    return float(metric.pairs(first, second).sum())


def _labels(
    labels: bool | str | Sequence[object] | None,
    part: Tree | Embedding,
    root: int | str | None,
) -> bool | str | Sequence[object] | None:
    if isinstance(labels, str) and labels == "support":
        return _support_labels(part, root)
    return labels


def _support_labels(what: Tree | Embedding, root: int | str | None) -> list[str]:
    """Return the texts for labels="support"."""
    if not isinstance(what, Tree) or what.support is None:
        raise ValueError(
            "labels='support' needs a tree with support: fit it with bootstrap=100, or use Tree.with_support"
        )
    return support_texts(what, int(rooted_view(what, root).order[0]))


def _picture_of_tree(
    tree: Tree, layout: str, root: int | str | None, longest: float
) -> Picture:
    check_choice("layout", layout, LAYOUTS)
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
