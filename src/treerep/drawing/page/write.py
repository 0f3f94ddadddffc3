"""`page`: one HTML file to explore a tree.

The HTML, CSS and JavaScript modules in this folder are combined into one file. `import` and
`export` statements and comments are removed, so all modules share one scope.
"""

import html
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from ..._core.checks import number_above
from ..._core.io.files import atomic_write
from ..._core.typing import MetricLike
from ...tree.tree import Tree
from ...tree.tree_sum import TreeSum
from ..figures._colors import Palette
from ._attributes import attribute_fields
from ._content import Fields, encode, shown_labels, tree_fields, true_distances
from ._dates import point_years
from ._first_view import first_view
from ._others import named_others, other_fields
from ._palette import THEME_COLORS

#: The style sheets.
STYLES = ("styles/page", "styles/legend", "styles/cards", "styles/tools", "styles/print")
#: The modules, each listed after the modules that it imports.
MODULES = (
    *("tree/newick", "tree/tree", "tree/flags", "tree/sarkar", "tree/arrange", "tree/clusters"),
    *("tree/calendar", "tree/splits", "tree/facing"),
    *("layouts/geometry", "layouts/rows", "layouts/disk_walk", "layouts/disk"),
    *("layouts/plane", "layouts/rectangular", "layouts/circular", "layouts/unrooted"),
    *("painting/scales", "painting/colors", "painting/detail", "painting/labels"),
    *("painting/faint", "painting/support_labels", "painting/highlights", "painting/strips"),
    *("painting/painter", "painting/svg"),
    *("layouts/tanglegram", "share/fragment", "share/state", "share/link"),
    *("export/names", "export/scale_bar", "export/time_axis", "export/figure_legend"),
    *("export/figure", "export/table", "view/queries", "view/searches", "view/filters"),
    *("view/arrangement", "view/viewer", "view/overview"),
    *("panel/dom", "panel/search", "panel/color_bar", "panel/legend"),
    *("panel/attribute_choice", "panel/table_text", "panel/tables", "panel/cards"),
    *("panel/tip", "panel/treetools", "panel/exports", "panel/rulers", "panel/panel"),
    *("view/input", "main"),
)
#: Notebooks show larger trees as a line of text, because outputs are stored in the notebook
#: file.
MOST_IN_NOTEBOOK = 20_000
_IMPORT = re.compile(r'^import\b[^;]*? from "[\w./]+\.js";\n', flags=re.MULTILINE)
_EXPORT = re.compile(r"^export ", flags=re.MULTILINE)
# Whole lines of comments, which are a sixth of the script.
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", flags=re.MULTILINE)
_SLOT = re.compile(r"\{\{(\w+)\}\}")


class Page:
    """An HTML page returned by `page`. Notebooks display it.

    Attributes
    ----------
    html : str
        The text of the page.

    See Also
    --------
    page : Make a page.
    draw : Draw a tree with matplotlib.
    """

    def __init__(self, text: str, tree: Tree) -> None:
        self.html = text
        self._about = repr(tree)

    def __repr__(self) -> str:
        return f"Page({self._about}, {len(self.html) / 1000:,.0f} kB)"

    def _repr_html_(self) -> str:
        # The frame keeps the styles and names of the page separate from those of the notebook.
        attributes = {
            "title": html.escape(self._about),
            "sandbox": "allow-scripts allow-downloads allow-modals",  # a modal: the dialog for printing
            "style": "width:100%;height:600px;border:1px solid #8884;border-radius:8px",
            "srcdoc": html.escape(self.html),
        }
        written = " ".join(f'{name}="{value}"' for name, value in attributes.items())
        return f"<iframe {written}></iframe>"


def page(
    tree: Tree | TreeSum,
    path: str | os.PathLike[str] | None = None,
    *,
    color: str | Sequence[object] | None = None,
    labels: Sequence[object] | None = None,
    table: Mapping[Any, object] | None = None,
    title: str | None = None,
    data: MetricLike = None,
    scale: float | None = None,
    layout: str | None = None,
    lengths: str | None = None,
    root: int | str | None = None,
    palette: "Palette | Mapping[str, Palette]" = None,
    dates: str | Sequence[object] | None = None,
    other: Tree | Iterable[Tree] | Mapping[str, Tree] | None = None,
) -> Page:
    """Make an interactive page to explore a tree.

    The page is one HTML file that needs no server or network. Drag to move, scroll to zoom, click a
    node to choose it, and double-click to center it. You can switch layouts, search labels, color
    by attributes, measure paths, and select and export points. The help panel lists the keys.

    Parameters
    ----------
    tree : Tree or TreeSum
        The tree to show. A sum of trees shows its first tree beside its other trees.
    path : str or path, optional
        The HTML file to write. Without a path, no file is written, and a notebook displays the
        result.
    color : str or one value per point, optional
        A column of `table`, or values, to color by at first. The default is clusters from
        `Tree.cut`.
    labels : sequence, optional
        One label per point. The default is the labels of the tree, or numbers.
    table : DataFrame or dict of columns, optional
        Attributes of the points, one row per point. A DataFrame whose index has the labels of
        the tree is matched by label. Numbers get a color bar. Other values, and integers with
        at most 20 different values, get a legend. None, NaN and masked values are missing.
        Sparse columns of pandas stay sparse in the file, and the page finds them by name.
    title : str, optional
        Title of the page.
    data : anything `as_metric` accepts, optional
        The true distances, shown beside path lengths. Pages of more than 1,000 points do not store
        the true distances.
    scale : float, optional
        Initial hyperbolic length of one unit of the tree in the disk. The page has a slider for this
        scale. The default suits the size of the tree.
    layout : "disk", "rectangular", "circular", "unrooted" or "tanglegram", optional
        The first layout: the Poincaré disk, a phylogram, a phylogram around the root, equal angles,
        or two trees. By default, large trees get a phylogram, deep trees equal angles, and others
        the disk. The page can switch between all layouts.
    lengths : "original", "square root" or "equal", optional
        The first edge lengths. By default, the lengths are original unless terminal edges would hide
        the inner edges.
    root : int or label, optional
        The node to start from. The default is the root of the tree, or else its center.
    palette : str, Colormap, sequence or mapping, optional
        Colors of the categories, as a sequence or a mapping from category to color, or a
        matplotlib color map for numbers, as in `draw`. A dict from column to palette colors
        several columns. The default palette is safe for color-blind readers.
    dates : str or one date per point, optional
        A column of `table`, or dates or years. The rectangular layout then has a time axis. The axis
        is the regression of the dates on the distances to the root, and the page shows its R^2.
    other : Tree, sequence of trees, or dict from name to tree, optional
        Trees of the same points to compare with. The page shows two trees as a tanglegram, with
        lines between equal points and the splits of only one tree in another color.

    Returns
    -------
    Page
        Its attribute `Page.html` is the text of the page.

    See Also
    --------
    draw : Draw a tree with matplotlib.
    embed : Embed a tree.
    Tree.cut : Cluster the points.

    Notes
    -----
    O(N) time. Sarkar's construction places nodes from the focus outward, so deep nodes keep
    their precision.

    Examples
    --------
    >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels=["a", "b", "c"])
    >>> page(tree, table={"height": [1.5, 2.5, 4.0]}, color="height")
    Page(Tree(3 points, 1 Steiner node), ... kB)
    """
    if not isinstance(tree, Tree | TreeSum):
        raise TypeError("page expects a tree: fit one first, e.g. tr.page(tr.fit(data), 'tree.html')")
    others = named_others(tree, other)
    tree = tree.trees[0] if isinstance(tree, TreeSum) else tree
    if layout == "tanglegram" and not others:
        raise ValueError("layout='tanglegram' needs a second tree: pass it as other=")
    rule = "scale must be a number above 0"
    factor = None if scale is None else number_above(0, scale, rule)
    heading = (
        f"Tree of {tree.n_points:,} point{'s' if tree.n_points != 1 else ''}" if title is None else str(title)
    )
    two = bool(others) and layout in (None, "tanglegram")
    view = first_view(tree, "rectangular" if two else layout, lengths, root, factor)
    attributes, first = attribute_fields(tree, table, color, palette)
    fields = {
        "title": heading,
        **tree_fields(tree, factor, view.root),
        "layout": "tanglegram" if two else view.layout,
        "others": other_fields(tree, others),
        "lengths": view.lengths,
        "labels": shown_labels(tree, labels),
        "attributes": attributes,
        "color": first,
        "theme_colors": THEME_COLORS,
        "distances": true_distances(tree, data),
    }
    years = point_years(tree, table, dates)
    fields["dates"] = None if years is None else encode(years, "<f8")
    text = _assemble(heading, fields)
    if path is not None:
        with atomic_write(path) as file:
            file.write(text)
    return Page(text, tree)


def tree_html(tree: Tree) -> str:
    """Return the notebook representation of a tree: the page, or a line of text for a large tree."""
    if tree.n_nodes > MOST_IN_NOTEBOOK:
        call = "<code>tr.page(tree, 'tree.html')</code>"
        return f"<p>{html.escape(repr(tree))}; explore it with {call}</p>"
    return page(tree)._repr_html_()


def _assemble(title: str, fields: Fields) -> str:
    # "<" could end the script element or start a comment in it. The rest is ASCII.
    data = json.dumps(fields, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    slots = {"title": html.escape(title), "style": _style(), "script": _script(), "data": data}
    return _SLOT.sub(lambda slot: slots[slot[1]], _source("page.html"))


@cache
def _style() -> str:
    return "\n".join(_source(f"{name}.css") for name in STYLES)


@cache
def _script() -> str:
    script = "\n".join(_source(f"{name}.js") for name in MODULES)
    for pattern in (_COMMENT, _IMPORT, _EXPORT):
        script = pattern.sub("", script)
    return script


@cache
def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
