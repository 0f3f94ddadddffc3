"""`draw`: draw a tree or an embedding with matplotlib."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, overload

import numpy as np

from .._core.extras import require
from ..embedding.embedding import Embedding
from ..embedding.product import ProductEmbedding
from ..embedding.tree_embedding import TreeEmbedding
from ..metric._matching import values_in_order
from ..tree.structure.rooted import preorder
from ..tree.tree import Tree
from ..tree.tree_sum import TreeSum
from ._collapse import Collapse
from ._draw_options import DrawOptions, Labels, Strips
from ._titles import panel_titles
from ._tree_picture import LAYOUTS as LAYOUTS
from ._tree_picture import Geometry, drawing_root, picture_of_tree
from .figures._canvas import Style, paint
from .figures._colors import ColorValues, Palette, Range
from .figures._panels import AxesArray, Panel, paint_panels
from .figures._picture import Picture
from .figures._support import clade_texts, support_texts
from .layouts._arcs import geodesic_arcs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.typing import ColorType


@overload
def draw(what: Tree | Embedding, *, ax: "Axes | None" = None, **options: Unpack[DrawOptions]) -> "Axes": ...


@overload
def draw(
    what: TreeSum | ProductEmbedding,
    *,
    ax: "AxesArray | Sequence[Axes] | None" = None,
    **options: Unpack[DrawOptions],
) -> AxesArray: ...


def draw(
    what: Tree | Embedding | TreeSum | ProductEmbedding,
    *,
    layout: str | None = None,
    root: int | str | None = None,
    lengths: str = "original",
    collapse: Collapse = None,
    color: ColorValues = None,
    palette: Palette = None,
    norm: "str | Normalize | None" = None,
    vmin: float | None = None,
    vmax: float | None = None,
    color_label: str | None = None,
    labels: Labels = None,
    align: bool = False,
    strips: Strips = None,
    legend: bool = True,
    scale_bar: bool | None = None,
    axis: bool = False,
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
        - "slanted": like "rectangular", with straight edges.
        - "circular": "rectangular" around a circle, with the root in the center.
        - "hyperbolic": Sarkar's construction in the Poincaré disk, at a scale for pictures.
        - "equal_daylight": like "radial", with branches rotated to fill the plane evenly. Takes
          seconds for thousands of nodes.
        - "euclidean_sarkar": the edges at a node have equal angles and exact lengths, and may
          cross. This is the layout of the paper's figures.
    root : int or label, optional
        (trees only) The node at the origin, or on the left in "rectangular" and "slanted". The
        default is the center of the tree. "rectangular", "slanted" and "circular" use the root of
        the tree, if it has one.
    lengths : {"original", "square root", "equal", "cladogram"}
        (trees only) The lengths that are drawn. "equal" gives all edges the same length, and
        "cladogram" puts all leaves at the same distance from the root.
    collapse : optional
        (trees only) Clades to draw as triangles, with their names and numbers of points: a list
        of nodes or names of clades, or a dict from names to the points of each clade. A triangle
        is as long as the longest path in its clade. Not in "hyperbolic" and "euclidean_sarkar".
    color : optional
        One color, an (n, 3) or (n, 4) array of colors, or one value per point or per node. A
        Series whose index has the labels is matched by label. Text, booleans, and integers with
        at most 20 different values are categories, and get a legend. Other numbers get a color
        bar. Missing values are gray.
    palette : optional
        Colors of the categories: a sequence, a mapping from categories to colors, or a color
        map. Numbers need a color map. You can give a matplotlib color map by name. The default
        has 36 colors. The first twelve suit all kinds of color vision. After every twelve
        categories, the markers change.
    norm : {"linear", "log"} or matplotlib Normalize, optional
        How numbers become colors.
    vmin, vmax : float, optional
        The numbers at the ends of the color bar. The default is the range of the values.
    color_label : str, optional
        Title of the legend or the color bar. The default is the name of a Series.
    labels : optional
        True writes the labels of all points, or their numbers if they have no labels. False writes
        no labels. (trees only) "support" also writes the support of edges, in percent, at their ends
        away from the root, and "clades" the names of clades. A sequence gives the text of each
        point or node; None or "" writes no text. By default, labels are written for up to 60
        points. Lines are truncated at 45 characters. Many labels are rotated into the directions
        of their leaves.
    align : bool
        Whether the labels of leaves are aligned: in a column beside "rectangular" and "slanted",
        and on a circle around other layouts. Dotted lines lead to the leaves.
    strips : dict or DataFrame, optional
        (trees only) Columns beside the leaves in "rectangular" and "slanted", and rings around
        "circular": one value for each point, by name. Values become colors as in `color`. A
        table as a value makes a heat map, whose columns have one color bar.
    legend : bool
        Whether to draw legends and color bars. A legend of more than 60 categories is omitted.
    scale_bar : bool, optional
        Whether to draw a bar of a round length. By default a bar is drawn if edges have their
        exact lengths and there is no axis.
    axis : bool
        Whether to draw an axis of the distance from the root, in "rectangular" and "slanted".
    size : float, optional
        Area of a point in square points, as in matplotlib's ``scatter``. The default decreases
        with the number of points. Steiner nodes are smaller and gray.
    edge_color : color or "clade", optional
        Color of the edges. With "clade", an edge has the color of the points below it if they
        have the same color. For numbers, it has the color of their mean. This is the default if
        `color` has categories. Other edges are gray.
    edge_width : float, optional
        Width of the edges in points.
    ax : matplotlib Axes, optional
        Axes with linear scales to draw on, or an array of axes for several panels. The default is
        a new figure.

    Returns
    -------
    matplotlib Axes, or array of Axes
        ``draw(tree).figure.savefig("tree.pdf")`` saves the figure as PDF, SVG or PNG. Above
        5,000 nodes, points and edges are rasterized in PDF and SVG files. New figures embed
        TrueType fonts in PDF files, and keep text in SVG files. For a `TreeSum` or a
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
    has_rings = strips is not None and layout == "circular"
    geometry = Geometry(layout, root, lengths, collapse, has_rings)
    pictures = _pictures(parts, geometry)
    style = Style(
        color=values_in_order(color, what.labels),
        palette=palette,
        span=Range(norm, vmin, vmax),
        color_label=_title(color, color_label),
        align=align,
        strips=strips,
        legend=legend,
        scale_bar=scale_bar,
        axis=axis,
        size=size,
        edge_color=edge_color,
        edge_width=edge_width,
    )
    styles = [replace(style, labels=_labels(labels, part, geometry)) for part in parts]
    if isinstance(what, Tree | Embedding):
        return paint(pictures[0], styles[0], ax)
    panels = zip(pictures, panel_titles(what), styles, strict=True)
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


def _pictures(parts: Sequence[Tree] | Sequence[Embedding], geometry: Geometry) -> list[Picture]:
    """Return the picture of each tree or embedding. Trees have the same unit of length."""
    trees = [part for part in parts if isinstance(part, Tree)]
    if trees:
        longest = max(float(tree.weights.max(initial=0.0)) for tree in trees)
        return [picture_of_tree(tree, geometry, longest) for tree in trees]
    if geometry != Geometry():
        raise ValueError(
            "layout, root, lengths and collapse apply to trees only, because the points of an "
            "embedding have fixed positions: leave them out"
        )
    return [_picture_of_embedding(part) for part in parts if isinstance(part, Embedding)]


def _title(color: ColorValues, given: str | None) -> str | None:
    """Return the title of the legend: as given, or the name of a pandas column."""
    if given is None and hasattr(color, "iloc"):
        name = getattr(color, "name", None)
        return None if name is None else str(name)
    return given


def _labels(labels: Labels, part: Tree | Embedding, geometry: Geometry) -> Labels:
    """Return the texts for labels="support" and labels="clades"."""
    if not isinstance(labels, str) or labels not in ("support", "clades"):
        return labels
    if labels == "clades":
        if not isinstance(part, Tree):
            raise ValueError("labels='clades' needs a tree: leave it out for an embedding")
        return clade_texts(part)
    if not isinstance(part, Tree) or part.support is None:
        raise ValueError(
            "labels='support' needs a tree with support: fit it with bootstrap=100, or use Tree.with_support"
        )
    return support_texts(part, drawing_root(part, geometry.layout, geometry.root))


def _picture_of_embedding(embedding: Embedding) -> Picture:
    if embedding.dim != 2:
        raise ValueError(f"cannot draw an embedding of dimension {embedding.dim}: embed in 2 dimensions")
    spots = embedding.poincare
    edges = np.empty((0, 2), np.int64)
    parent = None
    view = None
    if isinstance(embedding, TreeEmbedding):
        parent = embedding.parent.astype(np.int64)
        child = np.flatnonzero(parent >= 0)
        edges = np.column_stack([parent[child], child])
        view = preorder(edges, np.ones(len(edges)), int(parent.argmin()))
    return Picture(
        spots=spots,
        edges=edges,
        lines=geodesic_arcs(spots[edges[:, 0]], spots[edges[:, 1]]),
        n_points=embedding.n_points,
        n_nodes=len(spots),
        labels=embedding.labels,
        layout="hyperbolic",
        kept=np.arange(len(spots)),
        parent=parent,
        view=view,
    )
